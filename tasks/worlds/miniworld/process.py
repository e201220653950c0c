"""MiniWorld in a process of its own.

OpenGL may print to stdout, refuse to load or kill its process. Here it does so in a child, which speaks over a socket:
(method, arguments) one way, a value or an error the other. The child draws in software, without a display, so that the
pixels are the same on machines with and without a GPU.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
import weakref
from collections import OrderedDict
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socketpair
from typing import Any

from tasks.errors import BadInput, StageFailed
from tasks.worlds.base import Rejected

PACKAGES = "libgl1 libglu1-mesa libegl1 libgl1-mesa-dri libfontconfig1 libfreetype6"
MOST_ENGINES = 24  # environments that a child keeps; the one that was used longest ago goes
PATIENCE = 300.0  # seconds without an answer before a child counts as hung
_MESA = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")
_ERRORS: dict[str, type[Exception]] = {"BadInput": BadInput, "StageFailed": StageFailed, "Rejected": Rejected}


class Child:
    """A child process with the engines of environment configurations, by role (`main`, `fresh`). Raises StageFailed, with
    what the child said last, where MiniWorld cannot be loaded or the process dies."""

    def __init__(self) -> None:
        ours, theirs = socketpair()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (as long-lived as the child)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tasks.worlds.miniworld.process", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | _software(),
                pass_fds=[theirs.fileno()],
            )
        self.connection = Connection(ours.detach())
        self.alive = True
        self._named: set[str] = set()
        self._finalizer = weakref.finalize(self, _end, self.process, self.connection)

    def call(self, environment: type, env_id: str, role: str, method: str, *arguments: Any) -> Any:
        """`Engine.method(*arguments)` of that configuration's engine with that role, which is made at its first call."""
        name = f"{environment.__module__}:{environment.__qualname__}"
        try:
            path = None if name in self._named else list(sys.path)  # which may have grown since the child started
            self._named.add(name)
            self.connection.send((path, name, env_id, role, method, arguments))
            if not self.connection.poll(PATIENCE):
                self.close()
                raise StageFailed(f"MiniWorld ({env_id}): no answer in {PATIENCE:.0f} seconds; {self._last_words()}")
            error, value = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError) as broken:
            self.alive = False
            raise StageFailed(f"MiniWorld ({env_id}): {self._obituary()}") from broken
        if error is not None:
            raise _ERRORS.get(error, StageFailed)(value)
        return value

    def close(self) -> None:
        self.alive = False
        self._finalizer()

    def _obituary(self) -> str:
        code = self.process.wait(timeout=30)
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return f"its process {how}; {self._last_words()} `worldaudit doctor` says what is missing."

    def _last_words(self) -> str:
        self.log.seek(0)
        lines = [line for line in self.log.read().decode(errors="replace").splitlines() if line.strip()]
        return f"it said last: {lines[-1].strip()[:300]}." if lines else "it said nothing."


_child: Child | None = None
_owner = 0


def child() -> Child:
    """The one child of this process, started when first needed and again after it died. Stages that run in the same
    process share it, and with it what takes long to load."""
    global _child, _owner
    if _child is None or not _child.alive or _owner != os.getpid():
        _child, _owner = Child(), os.getpid()
    return _child


def _software() -> dict[str, str]:
    """Environment variables that make Mesa draw in software wherever it is installed."""
    chosen = {
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "GALLIUM_DRIVER": "llvmpipe",
        "PYGLET_HEADLESS": "1",
        "LP_NUM_THREADS": "0",  # a frame is small, threads cost more than they do; shards run side by side instead
    }
    return chosen | ({"__EGL_VENDOR_LIBRARY_FILENAMES": str(_MESA)} if _MESA.exists() else {})


def _end(process: subprocess.Popen[bytes], connection: Connection) -> None:
    connection.close()
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- in the child ---------------------------------------------------------------------------------------------------


def main(descriptor: str) -> None:
    """Answer calls until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    connection = Connection(int(descriptor))
    engines: OrderedDict[tuple[str, str, str], Any] = OrderedDict()
    while True:
        try:
            path, name, env_id, role, method, arguments = connection.recv()
        except EOFError:
            return
        sys.path[:] = path or sys.path
        answer: tuple[str | None, Any]
        try:
            key = name, env_id, role
            if key not in engines:
                engines[key] = _engine(_load(name), env_id)
                if len(engines) > MOST_ENGINES:
                    engines.popitem(last=False)
            engines.move_to_end(key)
            answer = None, getattr(engines[key], method)(*arguments)
        except (BadInput, StageFailed, Rejected) as error:
            answer = type(error).__name__, str(error)
        except Exception as error:
            traceback.print_exc()
            answer = "StageFailed", f"{env_id}: {type(error).__name__}: {error}"
        connection.send_bytes(pickle.dumps(answer, protocol=5))


def _load(name: str) -> Any:
    module, _, qualified = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    return found


def _engine(environment: Any, env_id: str) -> Any:
    try:
        import pyglet

        pyglet.options["headless"] = True
        pyglet.options["debug_gl"] = False  # asks for errors after every call; the engine asks once a frame
        import miniworld.miniworld  # noqa: F401  (loads OpenGL)
    except Exception as error:  # pyglet raises anything from ImportError to its own NoSuchDisplayException
        raise StageFailed(
            f"MiniWorld cannot draw on this machine: {type(error).__name__}: {error}. On Debian or Ubuntu: "
            f"apt-get install {PACKAGES}. `worldaudit doctor` says what is missing."
        ) from error
    from tasks.worlds.miniworld.engine import Engine

    return Engine(environment, env_id)


if __name__ == "__main__":
    main(*sys.argv[1:])
