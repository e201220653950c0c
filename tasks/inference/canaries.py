"""Two questions whose answers are known, asked of a server before the exam: does it keep pictures apart and in order?

order   three plain frames, red, green and blue; the color of the second, for three orders. A server that moves or swaps
        pictures gets some of them wrong; so does a model that cannot tell colors.
twins   two views that differ in one tile, asked alone and then interleaved under load. Every answer under load has to be
        the one that the same picture got alone: whatever is answered otherwise belongs to another picture or to nobody.

They warn; they decide nothing. A result is a row of the table `canaries`.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from storage import digest
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Backend, Reply
from tasks.inference.exam import AskedItem, effective_parameters, request_parameters
from tasks.inference.message import Message, Png, Text
from tasks.questions import Constraint

COLORS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
ORDERS = (("red", "green", "blue"), ("green", "blue", "red"), ("blue", "red", "green"))
TWIN_REQUESTS = 200
ANSWER_TOKENS = 16


@dataclass(frozen=True)
class Result:
    """`passed` is None where the canary could tell nothing, and `detail` says why."""

    canary: str
    asked: int
    agreed: int
    passed: bool | None
    detail: str

    def row(self, judge: str) -> dict[str, Any]:
        return {"judge": judge, **self.__dict__}


async def check(backend: Backend, spec: JudgeSpec) -> list[Result]:
    """The canaries that the judge's table names, in its order."""
    ask = {"order": _order, "twins": _twins}
    return [await ask[name](backend, spec) for name in spec.canaries]


async def _order(backend: Backend, spec: JudgeSpec) -> Result:
    answers = []
    for order in ORDERS:
        parts: list[Text | Png] = []
        for number, color in enumerate(order, start=1):
            parts += [Text(f"Image {number}:"), _png(np.full((112, 112, 3), COLORS[color], dtype=np.uint8))]
        parts.append(Text("What color is image 2? Answer with one word: red, green or blue."))
        reply = await backend.ask(*_item(spec, f"canary.order.{'-'.join(order)}", parts, order))
        answers.append((order[1], _color(reply)))
    right = sum(expected == answered for expected, answered in answers)
    told = ", ".join(f"{answered or 'nothing'} for {expected}" for expected, answered in answers)
    detail = f"the second frame's color: {told}"
    if right < len(answers):
        detail += "; pictures may reach the model in another order, or it cannot tell colors"
    return Result("order", len(answers), right, right == len(answers), detail)


async def _twins(backend: Backend, spec: JudgeSpec) -> Result:
    twins = [
        _item(
            spec,
            f"canary.twins.{color}",
            [_twin(rgb), Text("What color is the bright square? Answer with one word: yellow or blue.")],
            ("yellow", "blue"),
        )
        for color, rgb in (("yellow", (255, 255, 0)), ("blue", (0, 0, 255)))
    ]
    alone = [[_said(await backend.ask(*twin)) for _ in range(2)] for twin in twins]
    if any(first != second for first, second in alone):
        return Result("twins", 4, 0, None, "answers vary even alone, so that load cannot be told from chance")
    if alone[0][0] == alone[1][0]:
        return Result("twins", 4, 4, None, f"both twins got the same answer alone ({alone[0][0]!r}): nothing to mix up")
    gate = asyncio.Semaphore(spec.concurrency)

    async def one(number: int) -> str:
        async with gate:
            return _said(await backend.ask(*twins[number % 2]))

    answers = await asyncio.gather(*(one(number) for number in range(TWIN_REQUESTS)))
    agreed = sum(answer == alone[number % 2][0] for number, answer in enumerate(answers))
    swapped = sum(answer == alone[1 - number % 2][0] for number, answer in enumerate(answers))
    detail = (
        f"{TWIN_REQUESTS} interleaved at {spec.concurrency} in flight: {agreed} as alone, {swapped} as the other twin"
    )
    if agreed < TWIN_REQUESTS:
        others = Counter(answer for number, answer in enumerate(answers) if answer != alone[number % 2][0])
        detail += f"; otherwise most often {others.most_common(1)[0][0]!r}; try without prefix caching (vLLM: "
        detail += "--no-enable-prefix-caching) or with fewer in flight"
    return Result("twins", TWIN_REQUESTS, agreed, agreed == TWIN_REQUESTS, detail)


def _item(spec: JudgeSpec, uid: str, parts: list[Text | Png], choice: tuple[str, ...]) -> tuple[AskedItem, Message]:
    message = Message(tuple(parts))
    constraint = Constraint(choice=choice) if spec.structured else None
    requested = request_parameters(spec, ANSWER_TOKENS, constraint)
    pictures = message.images
    item = AskedItem(
        uid=uid,
        task="canary",
        prompt=message.text,
        image_ids=("",) * len(pictures),
        answer_format="text",
        requested=requested,
        effective=effective_parameters(spec, requested),
        constraint=constraint,
        sha256="",
        image_bytes=sum(map(len, pictures)),
        input_tokens=100 * len(pictures),
    )
    return item, message


def _png(pixels: np.ndarray) -> Png:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return Png(out.getvalue(), digest(out.getvalue()))


def _twin(color: tuple[int, int, int]) -> Png:
    """A 7x7 view of 32 px tiles, grey lines on black, one tile in color."""
    pixels = np.zeros((224, 224, 3), dtype=np.uint8)
    pixels[::32] = pixels[:, ::32] = 100
    pixels[97:127, 129:159] = color
    return _png(pixels)


def _said(reply: Reply) -> str:
    """What was said, cut off or not, or why nothing was."""
    return (reply.text or "").strip() if reply.status in ("ok", "truncated") else f"({reply.status})"


def _color(reply: Reply) -> str | None:
    """The one color that an answer names."""
    named = set(re.findall(r"\b(red|green|blue)\b", (reply.text or "").lower()))
    return named.pop() if reply.status == "ok" and len(named) == 1 else None
