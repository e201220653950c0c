"""A world's simulator in a process of its own, which may be of another Python than this one.

A simulator may print to stdout, need an old interpreter, or kill its process. Here it does so in a child, which speaks
over two pipes of its own (`tasks/worlds/_child/wire.py` says what may be sent); what it prints goes to a log, whose last
lines are told when it dies. The child ends with this process, whatever ends it.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tasks.errors import BadInput, StageFailed
from tasks.worlds._child.wire import PROTOCOL, Closed, TooLate, Wire, encode
from tasks.worlds.base import Rejected, World

PATIENCE = 300.0  # seconds without an answer before a child counts as hung
_CHILD = Path(__file__).with_name("_child")
_ERRORS: dict[str, type[Exception]] = {"BadInput": BadInput, "StageFailed": StageFailed, "Rejected": Rejected}


class ChildProcess:
    """The one child process of a world in this process: started when first called, and again after it has ended.

    `folder` holds the world's own code for the child (see `tasks/worlds/_child/server.py`). The environment variable
    `variable` names the interpreter, this one by default; `settings` are further variables for the child.
    """

    def __init__(
        self,
        world: World,
        folder: Path,
        variable: str,
        settings: Callable[[], Mapping[str, str]] = dict,
        patience: float = PATIENCE,
    ):
        self.world, self.folder, self.variable, self.settings, self.patience = (
            world,
            folder,
            variable,
            settings,
            patience,
        )
        self._running: _Running | None = None
        self._lock = threading.Lock()
        _KNOWN.add(self)

    def call(self, engine: Mapping[str, Any], role: str, method: str, *arguments: Any) -> Any:
        """`Engine.method(*arguments)` of the engine with these options (`simulator`, `env_id`, ...) and that role
        (`main`, `fresh`), which is made at its first call.

        Raises what the engine raises as BadInput, StageFailed or Rejected, and StageFailed for any other exception and
        where the process cannot start, dies or hangs; the next call then starts another one.
        """
        request = encode({"engine": dict(engine), "role": role, "method": method, "arguments": arguments})
        with self._lock:
            answer = self._asked(request, engine["env_id"])
        if "error" not in answer:
            return answer["value"]
        kind, message = answer["error"]
        if kind in _ERRORS:
            raise _ERRORS[kind](message)
        raise StageFailed(f"{engine['env_id']}: {kind}: {message}")

    def _asked(self, request: list[Any], about: str) -> Any:
        deadline = time.monotonic() + self.patience
        title = f"{self.world.title} ({about})"
        try:
            if self._running is None or self._running.process.poll() is not None:
                self.close()
                self._running = self._started()
                self._greet(self._running, deadline)
            self._running.wire.send(request, deadline)
            return self._running.wire.receive(deadline)
        except (Closed, TooLate) as error:
            assert self._running is not None
            late = f"no answer in {self.patience:.0f} seconds"
            how = self._running.end() if isinstance(error, Closed) else late
            message = f"{title}: {how}; {self._running.last_words()} `worldaudit doctor` says what is missing."
            self.close()
            raise StageFailed(message) from error
        except BaseException:  # an interrupt in the middle: what is still to come would answer the next call
            self.close()
            raise

    def _greet(self, running: _Running, deadline: float) -> None:
        """Raises StageFailed where the child speaks another protocol."""
        hello = running.wire.receive(deadline)
        if hello.get("protocol") != PROTOCOL:
            raise StageFailed(
                f"{self.world.title}: its process ({self.interpreter}, Python {hello.get('python')}) speaks version "
                f"{hello.get('protocol')} of the protocol, this is version {PROTOCOL}; install one worldaudit for both"
            )
        self.python = hello["python"]

    @property
    def interpreter(self) -> str:
        return os.environ.get(self.variable) or sys.executable

    @property
    def pid(self) -> int | None:
        """The child's process id; None where none is running."""
        return self._running.process.pid if self._running else None

    def close(self) -> None:
        """End the child, if there is one."""
        if self._running is not None:
            self._running.finalizer()
            self._running = None

    def _started(self) -> _Running:
        command = [self.interpreter, str(_CHILD)]
        settings = {**self.settings(), "PYTHONUNBUFFERED": "1"}
        try:
            return _Running(command, [self.world.name, str(self.folder)], settings)
        except OSError as error:
            raise StageFailed(
                f"{self.world.title}: {command[0]} cannot be started: {error}; see {self.variable}"
            ) from error

    def _forget(self) -> None:
        """In a process that was forked off: leave the child to the process that it belongs to."""
        self._lock = threading.Lock()
        if self._running is not None:
            self._running.finalizer.detach()
            self._running.wire.close()
            self._running = None


_KNOWN: weakref.WeakSet[ChildProcess] = weakref.WeakSet()


def _forget_all() -> None:
    for child in list(_KNOWN):
        child._forget()


os.register_at_fork(after_in_child=_forget_all)


class _Running:
    """A child that has been started, its log and the wire to it. Raises OSError where it cannot be started."""

    def __init__(self, command: list[str], arguments: list[str], settings: Mapping[str, str]):
        theirs_to_read, ours_to_write = os.pipe()
        ours_to_read, theirs_to_write = os.pipe()
        self.wire = Wire(ours_to_read, ours_to_write)
        os.set_blocking(ours_to_write, False)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (as long-lived as the child)
        try:
            self.process = _spawned(
                [*command, str(theirs_to_read), str(theirs_to_write), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env=os.environ | settings,
                pass_fds=[theirs_to_read, theirs_to_write],
                process_group=0,  # Ctrl-C at the terminal is for the parent
            )
        except OSError:
            self.wire.close()
            raise
        finally:
            os.close(theirs_to_read)
            os.close(theirs_to_write)
        self.finalizer = weakref.finalize(self, _end, self.process, self.wire)

    def end(self) -> str:
        """How it ended; it has hung up."""
        try:
            code = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            return "its process closed its pipes"
        return (
            f"its process was killed by {signal.Signals(-code).name}"
            if code < 0
            else f"its process ended with code {code}"
        )

    def last_words(self) -> str:
        size = os.fstat(self.log.fileno()).st_size
        text = os.pread(self.log.fileno(), 4096, max(0, size - 4096)).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return f"it said last: {' | '.join(lines[-3:])[-500:]}." if lines else "it said nothing."


def _spawned(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """A process, started by a thread that stays until it has ended: Linux tells a child that its parent is gone when the
    thread that started it is."""
    started: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()

    def start_and_wait() -> None:
        try:
            process = subprocess.Popen(command, **options)
        except OSError as error:
            started.put(error)
            return
        started.put(process)
        process.wait()

    threading.Thread(target=start_and_wait, name=f"waits for {command[0]}", daemon=True).start()
    result = started.get()
    if isinstance(result, OSError):
        raise result
    return result


def _end(process: subprocess.Popen[bytes], wire: Wire) -> None:
    wire.close()
    try:
        process.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
