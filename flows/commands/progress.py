"""How far a run is, on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

from flows.operations.launch import Reporter
from tasks.printable import printable
from tasks.stage import ShardResult


def say(text: str) -> None:
    """Progress and remarks go to stderr; stdout belongs to the result."""
    print(printable(text), file=sys.stderr, flush=True)


class PlainProgress(Reporter):
    """A line for each step as it ends."""

    def __init__(self) -> None:
        self.name, self.left, self.computed, self.began = "", 0, 0, 0.0
        self.rows: Counter[str] = Counter()

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def step(self, name: str, shards: int) -> None:
        self.name, self.left, self.computed, self.began, self.rows = name, shards, 0, time.monotonic(), Counter()

    def shard(self, result: ShardResult) -> None:
        self.left -= 1
        self.computed += not result.reused
        if result.differs:
            say(
                f"{self.name}[{result.shard}]: computed anew it came out otherwise; {result.ref.stage} "
                f"{result.ref.key[:12]} stays as it was. Where the stage's code has changed, its version is to be raised"
            )
        self.rows.update(result.rows)
        if not self.left:
            self.finished()

    def warn(self, text: str) -> None:
        say(text)

    def finished(self) -> None:
        rows = ", ".join(f"{count:,} {table}" for table, count in sorted(self.rows.items()))
        how = f"{time.monotonic() - self.began:6.1f} s" if self.computed else "  reused"
        say(f"{self.name:<10} {how}  {rows}")


class TerminalProgress(PlainProgress):
    """A bar for the step that runs, besides."""

    def __init__(self) -> None:
        super().__init__()
        self.bar: Any = None

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self, name: str, shards: int) -> None:
        from tqdm import tqdm

        super().step(name, shards)
        if self.bar is not None:  # of a step that failed
            self.bar.close()
        self.bar = tqdm(total=shards, desc=f"{name:<10}", leave=False, unit="shard", file=sys.stderr)

    def shard(self, result: ShardResult) -> None:
        self.bar.update()
        super().shard(result)

    def finished(self) -> None:
        self.bar.close()
        super().finished()
