"""The items of a release as one judge gets them: parameters, message outline, digest, size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from storage import Artifact, artifact_key
from tasks.inference.config import JudgeSpec
from tasks.inference.message import Message, Pictures, build, outline, request_digest
from tasks.questions import Constraint, Outcomes, constraint_of, outcomes_of

CHARACTERS_A_TOKEN = 4
PIXELS_A_TOKEN = 750  # Anthropic's documented rule; a middling estimate for the others


@dataclass(frozen=True, slots=True)
class AskedItem:
    """One item, ready to be asked any number of times. `requested` are the parameters that the judge's TOML and the
    item ask for, `effective` those that are really sent, under the names that the server knows; `sha256` covers both,
    the words and every byte of the pictures."""

    uid: str
    task: str
    prompt: str
    image_ids: tuple[str, ...]
    answer_format: str
    requested: dict[str, Any]
    effective: dict[str, Any]
    constraint: Constraint | None
    sha256: str
    image_bytes: int
    input_tokens: int  # an estimate

    @property
    def outcomes(self) -> Outcomes | None:
        """The words of the verdict that log-probabilities are asked for; None where none are, or its answer is no verdict."""
        return outcomes_of(self.answer_format) if self.effective.get("logprobs") else None

    @property
    def body_bytes(self) -> int:
        """About how large its request is: base64 and some JSON."""
        return 4 * ((self.image_bytes + 2) // 3) + len(self.prompt.encode()) + 256 * (1 + len(self.image_ids))

    @property
    def tokens(self) -> int:
        """The most that it may cost in tokens, estimated."""
        return self.input_tokens + int(self.requested.get("max_tokens") or 0)


def asked_items(release: Artifact, spec: JudgeSpec, pictures: Pictures) -> list[AskedItem]:
    """Every item of the release, in its order."""
    items = release.read("items")
    return [
        asked_item(spec, pictures, *row)
        for row in items.select("uid", "task", "prompt", "image_ids", "answer_format", "max_tokens").iter_rows()
    ]


def asked_item(
    spec: JudgeSpec,
    pictures: Pictures,
    uid: str,
    task: str,
    prompt: str,
    image_ids: list[str],
    answer_format: str,
    max_tokens: int,
) -> AskedItem:
    """One item as the judge gets it."""
    constraint = constraint_of(answer_format) if spec.structured else None
    requested = request_parameters(spec, max_tokens, constraint)
    effective = effective_parameters(spec, requested)
    identity = {"api": spec.api, "model": spec.model or spec.entry_point, "system": spec.system, "asked": requested}
    shown = [
        (kind, content if kind == "text" else pictures.sha256(content)) for kind, content in outline(prompt, image_ids)
    ]
    sizes = [pictures.sizes[image_id] for image_id in image_ids]
    return AskedItem(
        uid=uid,
        task=task,
        prompt=prompt,
        image_ids=tuple(image_ids),
        answer_format=answer_format,
        requested=requested,
        effective=effective,
        constraint=constraint,
        sha256=request_digest(identity | {"sent": effective}, shown),
        image_bytes=sum(pictures.bytes(image_id) for image_id in image_ids),
        input_tokens=len(prompt) // CHARACTERS_A_TOKEN
        + 8
        + sum(-(-width * height // PIXELS_A_TOKEN) for width, height in sizes),
    )


def request_parameters(spec: JudgeSpec, max_tokens: int, constraint: Constraint | None) -> dict[str, Any]:
    """What is asked of the judge beside the message. An embedded judge takes a seed and nothing else."""
    decoding = spec.decoding
    if not spec.hosted:
        return {"seed": decoding.seed} if decoding.seed is not None else {}
    asked = {
        "max_tokens": decoding.max_tokens or max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k,
        "seed": decoding.seed,
        "reasoning_effort": decoding.reasoning_effort,
        "logprobs": spec.logprobs or None,
        "structured": constraint.as_json() if constraint else None,
    }
    return {name: value for name, value in asked.items() if value is not None} | (
        {"extra": decoding.extra} if decoding.extra else {}
    )


def effective_parameters(spec: JudgeSpec, requested: dict[str, Any]) -> dict[str, Any]:
    """What is really sent: without what the TOML drops, under the names that the server knows."""
    decoding = spec.decoding
    return {decoding.rename.get(name, name): value for name, value in requested.items() if name not in decoding.drop}


def message_of(item: AskedItem, pictures: Pictures) -> Message:
    return build(item.prompt, item.image_ids, pictures)


def jobs(asked: list[AskedItem], replicates: int) -> Iterator[tuple[AskedItem, int]]:
    """Every (question, replicate); a whole round of the exam before the next."""
    for replicate in range(replicates):
        for entry in asked:
            yield entry, replicate


def journal_key(spec: JudgeSpec, release_key: str, asking: str | None = None) -> str:
    """Where a judge's answers to a release are kept. The judge's name and the number of replicates are no part of it,
    so that neither a new name nor one more replicate asks anything twice. `asking` names an asking of everything anew."""
    identity = spec.identity() | ({"asking": asking} if asking else {})
    identity.pop("replicates")
    return artifact_key("journal", 1, identity, {"release": release_key})


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
