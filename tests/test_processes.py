"""How processes of the project end: all that is registered is called, and the interpreter is not torn down."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks.processes import NOT_FLUSHED, pool

ABORTS = """
import atexit, os, sys, threading

class Late:
    def __del__(self, abort=os.abort):  # as a thread of Arrow's that lets go of a Python buffer
        abort()

sys.late = Late()
atexit.register(print, "registered", end="")
threading.Thread(target=lambda: (threading.main_thread().join(), print("thread", end=" "))).start()
"""


def _ended(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", ABORTS + code], capture_output=True, text=True)


@pytest.mark.parametrize(("arguments", "code"), [(["runs"], 0), (["show", "nothing"], 2)])
def test_the_command_ends_before_its_interpreter_is_torn_down(tmp_path: Path, arguments: list[str], code: int) -> None:
    done = _ended(f"from flows.commands.cli import main; main({[*arguments, '--store', str(tmp_path)]})")
    assert done.returncode == code, done.stderr
    assert done.stdout.endswith("thread registered")


def test_what_cannot_be_written_at_the_end_is_told() -> None:
    done = _ended("sys.stdout = open('/dev/full', 'w'); from tasks.processes import end; end(0)")
    assert done.returncode == NOT_FLUSHED, done.stderr


class _Late:
    def __init__(self, folder: Path):
        self.folder = str(folder / "torn down")

    def __del__(self, make=os.mkdir) -> None:  # type: ignore[no-untyped-def]
        make(self.folder)


def _leave_something(folder: Path) -> None:
    sys.late = _Late(folder)  # type: ignore[attr-defined]
    atexit.register((folder / "registered").write_text, "")


def test_a_process_of_a_pool_ends_before_its_interpreter_is_torn_down(tmp_path: Path) -> None:
    with pool(1) as processes:
        processes.submit(_leave_something, tmp_path).result()
    assert os.listdir(tmp_path) == ["registered"]


def _at_work(folder: Path) -> None:
    """Work without an end, by a process that says who it is."""
    (folder / "begun").write_text(str(os.getpid()))
    (folder / "begun").rename(folder / "pid")
    while True:
        time.sleep(0.05)


PARENT = """
import sys
from pathlib import Path
from flows.runner import Runner
from tests.test_processes import _at_work

if __name__ == "__main__":
    with Runner("nowhere", processes=1) as runner:
        runner.pool.submit(_at_work, Path(sys.argv[1])).result()
"""


def _appears(there: Path) -> str:
    while not there.exists():
        time.sleep(0.05)
    return there.read_text()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_process_of_a_pool_ends_with_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, str(tmp_path / "parent.py"), str(tmp_path)]
    parent = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.getcwd()}, stderr=subprocess.DEVNULL)
    child = int(_appears(tmp_path / "pid"))
    parent.send_signal(how)  # to the parent alone, as a scheduler does, and no terminal
    parent.wait(60)
    for _ in range(600):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("it went on")
