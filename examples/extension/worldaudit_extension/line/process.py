"""The child process of the world, and how the rest of the package calls its engine."""

from typing import Any

from worldaudit import ChildProcess
from worldaudit_extension.line import WORLD

PROCESS = ChildProcess(WORLD, WORLD.folder / "child", "WORLDAUDIT_LINE_PYTHON")
OPTIONS = {"simulator": "engine:Line", "env_id": "Line-8-v0"}


def ENGINE(role: str, method: str, *arguments: Any) -> Any:
    """`method` of the engine that plays `role`: `main`, or `fresh` for a witness."""
    return PROCESS.call(OPTIONS, role, method, *arguments)
