"""How much work a call is, counted: what a busy machine does not change, as seconds do."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType

GUARD_S = 120
"""After this many seconds a call counts as one that does not end. No measure of speed."""


def calls(function: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called while `function` runs.

    A regular expression is one call however long it takes: the guard ends a call that does not end (main thread only).
    """
    count = 0

    def one(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    def endless(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {GUARD_S} s")

    before = signal.signal(signal.SIGALRM, endless)
    signal.setitimer(signal.ITIMER_REAL, GUARD_S)
    sys.setprofile(one)
    try:
        function()
    finally:
        sys.setprofile(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return count
