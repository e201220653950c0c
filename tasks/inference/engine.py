"""Asks a judge whatever is missing, with so many questions in flight, and makes every answer durable as it lands."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tasks.inference.config import JudgeSpec
from tasks.inference.exam import AskedItem, as_json, message_of
from tasks.inference.journal import Journal
from tasks.inference.message import Message, Pictures
from tasks.inference.progress import Progress
from tasks.printable import without_surrogates

HOPELESS = 10  # items that fail one after the other, with no answer in between
Job = tuple[str, int, str]  # uid, replicate, SHA-256 of the request
Status = Literal["ok", "truncated", "refused", "api_error"]


@dataclass(frozen=True)
class Reply:
    """What came back for one question. `text` is what the judge said to us, `reasoning` what it said to itself."""

    status: Status
    text: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None
    error: str | None = None
    server: str | None = None
    p_success: float | None = None
    seeded: bool | None = None  # whether the server says that it honors a seed


class Stopped(Exception):
    """The run cannot or may not go on; unsent questions stay pending.

    `culprit` is the question that the server died of, where there is one: it counts as failed. `abort` ends what is in
    flight as well; without it those answers are still awaited, since they are paid for.
    """

    def __init__(self, reason: str, culprit: str | None = None, abort: bool = True, bad_input: bool = False):
        super().__init__(reason)
        self.culprit, self.abort, self.bad_input = culprit, abort, bad_input


class Backend(Protocol):
    """One judge, open for questions."""

    async def ask(self, item: AskedItem, message: Message) -> Reply:
        """An answer, or a Reply that says why there is none. Stopped where no further question makes sense."""
        ...


def job_key(item: AskedItem, replicate: int) -> Job:
    return item.uid, replicate, item.sha256


def row_of(item: AskedItem, replicate: int, reply: Reply) -> dict[str, Any]:
    """A row of the table `responses`, less the judge's name."""
    effective = dict(item.effective)
    if reply.seeded is not None:
        effective["seeded"] = reply.seeded
    row = {
        "uid": item.uid,
        "replicate": replicate,
        "status": reply.status,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish_reason": reply.finish_reason,
        "requested": as_json(item.requested),
        "effective": as_json(effective),
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "latency_ms": reply.latency_ms,
        "error": reply.error,
        "request_sha256": item.sha256,
        "server": reply.server,
        "p_success": reply.p_success,
    }
    return {name: without_surrogates(value) if isinstance(value, str) else value for name, value in row.items()}


def cost_of(spec: JudgeSpec, input_tokens: int | None, output_tokens: int | None, images: int) -> float:
    """In the currency of the judge's prices; 0 without prices."""
    if spec.prices is None:
        return 0.0
    tokens = (input_tokens or 0) * spec.prices.input + (output_tokens or 0) * spec.prices.output
    return tokens / 1e6 + images * spec.prices.image


async def ask_all(
    backend: Backend,
    spec: JudgeSpec,
    journal: Journal,
    missing: Iterable[tuple[AskedItem, int]],
    pictures: Pictures,
    progress: Progress,
    failed: Collection[Job] = (),
) -> Stopped | None:
    """Ask every missing (question, replicate). Returns why it stopped early, or None when everything was asked.

    `failed` are those that failed in an earlier run: they may well fail again, one after the other, so that only the others
    tell whether anything still gets through.

    Raises StoreError where answers can no longer be made durable: better none than lost ones.
    """
    source: Iterator[tuple[AskedItem, int]] = iter(missing)
    stopping: list[Stopped] = []
    in_a_row = 0

    async def one(item: AskedItem, replicate: int) -> None:
        progress.in_flight += 1
        try:
            reply = await backend.ask(item, message_of(item, pictures))
        finally:
            progress.in_flight -= 1
        await journal.append(row_of(item, replicate, reply))
        count(progress, spec, item, reply)
        nonlocal in_a_row
        if reply.status != "api_error":
            in_a_row = 0
        elif job_key(item, replicate) not in failed:
            in_a_row += 1
            if in_a_row == HOPELESS:
                raise Stopped(f"{HOPELESS} items in a row failed, the last is {item.uid}: {reply.error}", abort=False)

    async def worker() -> None:
        for item, replicate in source:
            if stopping:
                return
            if spec.limits.budget is not None:
                _check_budget(spec, progress, item)
            await one(item, replicate)

    async def ticker() -> None:
        while True:
            await asyncio.sleep(0.2)
            progress.show()

    progress.begin()
    tick = asyncio.create_task(ticker())
    workers = {asyncio.create_task(worker()) for _ in range(spec.concurrency)}
    try:
        running = set(workers)
        while running:
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
            for task in ended:
                error = task.exception()
                if error is None:
                    continue
                if not isinstance(error, Stopped):
                    raise error
                stopping.append(error)
                if error.abort:
                    for other in running:
                        other.cancel()
                    await asyncio.gather(*running, return_exceptions=True)
                    running = set()
    finally:
        tick.cancel()
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, tick, return_exceptions=True)
        with contextlib.suppress(OSError):
            progress.show(last=True)
    return stopping[0] if stopping else None


def count(progress: Progress, spec: JudgeSpec, item: AskedItem, reply: Reply) -> None:
    """One landed reply, for the eye and for the budget."""
    if reply.status == "api_error":
        progress.failed += 1
        progress.first_failure(item.uid, reply.error or "no reason given")
    else:
        progress.done += 1
        progress.truncated += reply.status == "truncated"
        progress.refused += reply.status == "refused"
    if reply.status == "api_error":
        return
    # A server that counts no tokens is taken at the estimate: a budget must not be blind to it.
    used = item.input_tokens if reply.input_tokens is None else reply.input_tokens
    made = int(item.requested.get("max_tokens") or 0) if reply.output_tokens is None else reply.output_tokens
    progress.input_tokens += used
    progress.output_tokens += made
    progress.cost += cost_of(spec, used, made, len(item.image_ids))


def _check_budget(spec: JudgeSpec, progress: Progress, item: AskedItem) -> None:
    """Stopped before a question that could cost more than what is left, counting what is in flight at its dearest."""
    assert spec.limits.budget is not None and spec.prices is not None
    dearest = cost_of(spec, item.input_tokens, int(item.requested.get("max_tokens") or 0), len(item.image_ids))
    if progress.cost + dearest * (progress.in_flight + 1) > spec.limits.budget:
        raise Stopped(
            f"the budget of {spec.limits.budget:g} {spec.prices.currency} would be passed "
            f"({progress.cost:.4f} spent, the next answer may cost {dearest:.4f})",
            abort=False,
        )
