"""PutNext in the child process: the mission names the box to go to."""

from __future__ import annotations

from typing import Any

from .simulator import Simulator


class PutNext(Simulator):
    def target(self, env: Any) -> Any:
        return env.yellow_box
