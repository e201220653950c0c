"""How fast requests may leave: rates a minute, and waits that the server asked for."""

from __future__ import annotations

import asyncio
import time


class Bucket:
    """A token bucket: `per_minute` on average, at most a second's worth (or one request) at once."""

    def __init__(self, per_minute: float):
        self.rate = per_minute / 60
        self.capacity = max(self.rate, 1.0)
        self.level = self.capacity
        self.at = time.monotonic()

    def take(self, amount: float) -> float:
        """Take `amount`, on credit if need be; returns the seconds to wait before using it."""
        now = time.monotonic()
        self.level = min(self.capacity, self.level + (now - self.at) * self.rate)
        self.at = now
        self.level -= amount
        return max(0.0, -self.level / self.rate)

    def give_back(self, amount: float) -> None:
        """What was taken and turned out not to be used (negative: what was used on top)."""
        self.level += amount


class Pace:
    """The gate before every request of one judge. Belongs to one event loop."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None):
        self.requests = Bucket(requests_per_minute) if requests_per_minute else None
        self.tokens = Bucket(tokens_per_minute) if tokens_per_minute else None
        self.closed_until = 0.0

    def reserve(self, tokens: int) -> float:
        """Seconds after which a request of about `tokens` tokens may leave. The place in the row is taken."""
        wait = self.requests.take(1) if self.requests else 0.0
        return max(wait, self.tokens.take(tokens)) if self.tokens else wait

    async def enter(self, wait: float) -> None:
        """Returns after `wait` seconds and when the server lets requests in again."""
        if wait:
            await asyncio.sleep(wait)
        while (left := self.closed_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    def used(self, estimated: int, really: int | None) -> None:
        """Settle the estimate with what the server counted."""
        if self.tokens and really is not None:
            self.tokens.give_back(estimated - really)

    def close(self, seconds: float) -> None:
        """No request leaves for so long: the server said so."""
        self.closed_until = max(self.closed_until, time.monotonic() + seconds)
