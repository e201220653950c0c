"""How processes of the project end, and pools of processes that end so.

An interpreter that tears itself down is aborted ("terminate called without an active exception", exit code 134) where a
thread of Arrow's lets go of a Python buffer at that moment (https://github.com/apache/arrow/issues/34314). `end` does all
that an interpreter does before that point, and then leaves.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import NoReturn

NOT_FLUSHED = 120  # what Python itself ends with where standard output cannot be written


def end(code: int) -> NoReturn:
    """End this process: wait for its threads, call what is registered to be called at exit, write what is buffered."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing ends its forked processes
        atexit._run_exitfuncs()
        code = code if _flushed() else code or NOT_FLUSHED
    finally:  # also where Ctrl-C comes in between
        os._exit(code)


def _flushed() -> bool:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except OSError:
        return False
    return True


class _Process(SpawnProcess):
    def run(self) -> None:
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().run()
        end(0)


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended, however it did: what nobody waits for is not computed, nor asked."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


class _Context(SpawnContext):
    Process = _Process


def pool(processes: int, initializer: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """Processes that are spawned rather than forked: the parent has threads."""
    return ProcessPoolExecutor(processes, mp_context=_Context(), initializer=initializer)


def abandon(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whatever they are at."""
    for process in list(pool._processes.values()):
        process.kill()
