"""What a run would send and cost, without sending anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from storage import Artifact
from tasks.errors import BadInput
from tasks.inference.answered import answered_and_failed, journal_of
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import cost_of
from tasks.inference.exam import asked_items, jobs
from tasks.inference.hosted import check_sizes
from tasks.inference.message import Pictures


@dataclass(frozen=True)
class Plan:
    """Tokens are estimates: a picture counts width * height / 750, a text a quarter of its characters, an answer its
    whole budget. So `cost` is an upper bound for models that count as Anthropic documents it, and None without prices.
    `problem` is what would stop the run before it spends anything, None where nothing is known to."""

    judge: str
    api: str
    model: str
    planned: int  # items times replicates
    cached: int  # answered before
    calls: int
    images: int
    upload_mb: float
    input_tokens: int
    output_tokens: int
    cost: float | None
    currency: str | None
    largest_item: str | None
    largest_mb: float
    largest_images: int
    problem: str | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        cost = "no prices given" if self.cost is None else f"at most about {self.cost:.2f} {self.currency}"
        lines = [
            f"{self.judge} ({self.api} {self.model}): {self.calls} calls of {self.planned} planned, {self.cached} answered "
            f"before; {self.images} images, {self.upload_mb:.1f} MB, about {self.input_tokens} tokens in and at most "
            f"{self.output_tokens} out; {cost}"
        ]
        if self.largest_item:
            lines.append(
                f"  the largest request is {self.largest_item}: {self.largest_images} images, {self.largest_mb:.2f} MB"
            )
        return "\n".join(lines + ([f"  would not start: {self.problem}"] if self.problem else []))


def plan(
    release: Artifact, spec: JudgeSpec, judge: str = "", asking: str | None = None, images: Sequence[Artifact] = ()
) -> Plan:
    """What asking `spec` the items of `release` would take; `images` are artifacts that hold more of their pictures.
    Sends nothing; needs no key."""
    with Pictures(release, *images) as pictures:
        asked = asked_items(release, spec, pictures)
    answered, _ = answered_and_failed(journal_of(release.store, release.key, spec, asking))
    planned = list(jobs(asked, spec.replicates))
    missing = [entry for entry, replicate in planned if (entry.uid, replicate, entry.sha256) not in answered]
    largest = max(missing, key=lambda entry: (entry.body_bytes, len(entry.image_ids)), default=None)
    problem = None
    try:
        spec.api_key() if spec.hosted else None
        check_sizes(spec, missing)
    except BadInput as error:
        problem = str(error)
    shown = sum(len(entry.image_ids) for entry in missing)
    input_tokens = sum(entry.input_tokens for entry in missing) if spec.hosted else 0
    output_tokens = sum(int(entry.requested.get("max_tokens") or 0) for entry in missing)
    return Plan(
        judge=judge or spec.model,
        api=spec.api,
        model=spec.model or spec.entry_point or "",
        planned=len(planned),
        cached=len(planned) - len(missing),
        calls=len(missing),
        images=shown,
        upload_mb=sum(entry.body_bytes for entry in missing) / 1e6 if spec.hosted else 0.0,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=cost_of(spec, input_tokens, output_tokens, shown) if spec.prices else None,
        currency=spec.prices.currency if spec.prices else None,
        largest_item=largest.uid if largest else None,
        largest_mb=largest.body_bytes / 1e6 if largest else 0.0,
        largest_images=len(largest.image_ids) if largest else 0,
        problem=problem,
    )
