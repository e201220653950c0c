"""How far a judge is: one line that rewrites itself on a terminal, a plain line at most every five seconds elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO

from tasks.printable import printable

PLAIN_EVERY_S = 5.0
TERMINAL_EVERY_S = 0.2


@dataclass
class Progress:
    """Counts of one judge's run. `reused` answers were there before; `waiting_until` is when a rate limit lets go."""

    judge: str
    planned: int
    reused: int = 0
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    currency: str | None = None
    done: int = 0
    failed: int = 0
    truncated: int = 0
    refused: int = 0
    in_flight: int = 0
    waiting_until: float = 0.0
    waiting_for: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    before: int = 0
    quoted: bool = False
    started: float = field(default_factory=lambda: time.monotonic())
    shown: float = field(default_factory=lambda: time.monotonic())

    @property
    def pending(self) -> int:
        return self.planned - self.reused - self.done - self.failed

    def begin(self) -> None:
        """The rate counts from here: a server has been started and tried by now."""
        self.started, self.before = time.monotonic(), self.done + self.failed

    def line(self) -> str:
        """One line: done, in flight, waiting, failed, rate, time left, cost so far."""
        elapsed = max(time.monotonic() - self.started, 1e-9)
        landed = self.done + self.failed - self.before
        rate = landed / elapsed
        parts = [f"{self.judge}: {self.reused + self.done}/{self.planned} done"]
        if self.reused:
            parts[0] += f" ({self.reused} from before)"
        if self.in_flight:
            parts.append(f"{self.in_flight} in flight")
        if (left := self.waiting_until - time.monotonic()) > 0.5:
            parts.append(f"waiting {left:.0f} s ({self.waiting_for})")
        parts.append(f"{self.failed} failed")
        if self.truncated or self.refused:
            parts.append(f"{self.truncated} truncated, {self.refused} refused")
        parts.append(f"{rate:.1f}/s")
        if landed > 0 and self.pending:
            parts.append(f"{_duration(self.pending / rate)} left")
        if self.currency:
            parts.append(f"{self.cost:.4f} {self.currency} so far")
        return ", ".join(parts)

    def show(self, last: bool = False) -> None:
        """Write the line if it is due. A run that ends within five seconds writes nothing to a file."""
        terminal = self.stream.isatty()
        now = time.monotonic()
        if now - self.shown < (TERMINAL_EVERY_S if terminal else PLAIN_EVERY_S) and not (last and terminal):
            return
        self.shown = now
        if terminal:
            print(f"\r\x1b[2K{printable(self.line())}", end="\n" if last else "", file=self.stream, flush=True)
        else:
            print(printable(self.line()), file=self.stream, flush=True)

    def say(self, text: str) -> None:
        """A line of its own."""
        print(("\r\x1b[2K" if self.stream.isatty() else "") + printable(text), file=self.stream, flush=True)

    def first_failure(self, uid: str, error: str) -> None:
        """The first failure is quoted; the others are counted."""
        if not self.quoted:
            self.quoted = True
            self.say(f"{self.judge}: first failure at {uid}: {error}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
