"""The command `worldaudit` as tests call it, and the smallest exam."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from flows.commands.cli import run_command

TINY = str(Path(__file__).parent / "tiny.toml")
RUN = ["run", "minigrid", "--profile", TINY, "--judge", "always-success", "--judge", "coin", "--processes", "0"]


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        assert len(self.out.splitlines()) == 1, self.out
        return json.loads(self.out)


def worldaudit(*arguments: str, cwd: Path | None = None, prefect: bool = False, **environ: str) -> Done:
    """The command, without Prefect unless asked for: in this process, which is quicker, or else in one of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "WORLDAUDIT"))}
    clean |= environ if prefect else {"WORLDAUDIT_NO_PREFECT": "1", **environ}
    if prefect or cwd:
        command = [sys.executable, "-m", "flows.commands.cli", *arguments]
        clean["PYTHONPATH"] = str(Path(__file__).parents[2])
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=clean, timeout=600)
        return Done(done.returncode, done.stdout, done.stderr)
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, clean, clear=True),
        mock.patch.object(sys, "argv", ["worldaudit", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_command(list(arguments))
    return Done(code, out.getvalue(), err.getvalue())
