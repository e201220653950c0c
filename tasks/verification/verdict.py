"""What the verifier says: checks and the verdict, and what it may be told of the scene besides the trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tasks.traces.family import State
from tasks.traces.perturbations import LABELS
from tasks.traces.record import Record, Value, canonical

VALID, INVALID, ABSTAIN = "valid", "invalid", "abstain"
AREAS = ("state", "trans", "ans", "faith")

# name of a check -> (the z that it decides, the failure of paper 2, Table 1, that it usually stands for)
CHECKS: dict[str, tuple[str, str]] = {
    "entity": ("state", "object"),
    "relations agree": ("state", "relation"),
    "relation": ("state", "relation"),
    "relation holder": ("state", "relation"),
    "temporal words": ("state", "temporal"),
    "temporal words after": ("trans", "temporal"),
    "variable": ("state", "state"),
    "unit known": ("state", "unit_scale"),
    "bounds": ("state", "state"),
    "attribute": ("state", "state"),
    "condition": ("state", "state"),
    "plausible": ("state", "state"),
    "force direction": ("state", "force"),
    "force magnitude": ("state", "force"),
    "force body": ("state", "force"),
    "force missing": ("state", "force"),
    "force": ("state", "force"),
    "rule": ("trans", "transition"),
    "effect": ("trans", "transition"),
    "effect value": ("trans", "transition"),
    "subject": ("trans", "object"),
    "equation": ("trans", "transition"),
    "formula": ("trans", "transition"),
    "equation result": ("trans", "transition"),
    "evidence": ("trans", "transition"),
    "predicted change": ("trans", "transition"),
    "new variable": ("trans", "transition"),
    "intervention": ("trans", "intervention"),
    "intervention size": ("trans", "intervention"),
    "explanation": ("trans", "transition"),
    "answer": ("ans", "faithfulness"),
    "answer in trace": ("faith", "faithfulness"),
    "conclusion": ("faith", "faithfulness"),
}


class Check(NamedTuple):
    """One check. `area` is schema or the z that it decides; `label` is the failure it stands for when invalid; `expected` and
    `found` are anything whose text says it."""

    name: str
    area: str
    status: str
    label: str
    pointer: str
    expected: Any
    found: Any
    rule: str


class Expected(NamedTuple):
    """A recomputed quantity, in its canonical unit."""

    key: str
    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value:.4g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Verdict:
    """Each z is valid, invalid or abstain; `labels` are in the order of Table 1."""

    z_schema: str
    z_state: str
    z_trans: str
    z_ans: str
    z_faith: str
    labels: tuple[str, ...]
    checks: tuple[Check, ...] = field(repr=False)
    family: str | None = None

    @property
    def valid(self) -> bool | None:
        """Whether nothing is invalid; None where nothing could be decided."""
        zs = (self.z_state, self.z_trans, self.z_ans, self.z_faith)
        if INVALID in zs or self.z_schema == INVALID:
            return False
        return None if all(z == ABSTAIN for z in zs) else True


@dataclass(frozen=True)
class Gold:
    """What is known of the scene beside the trace. `relations` are (type, first, second), `attributes` are numbers in
    canonical units by object and attribute."""

    state: State
    names: dict[str, str]
    target: str
    question_type: str
    intervened: tuple[str, float] | None
    relations: tuple[tuple[str, str, str], ...]
    attributes: dict[str, dict[str, float]]


def gold_of(record: Record) -> Gold:
    return Gold(
        state=record.state,
        names=record.names,
        target=record.target,
        question_type=record.question_type,
        intervened=record.intervened,
        relations=tuple((r.type, r.first, r.second) for r in record.relations),
        attributes={
            thing.name: {key: canonical(value) for key, value in thing.attributes if isinstance(value, Value)}
            for thing in record.objects
        },
    )


__all__ = [
    "ABSTAIN",
    "AREAS",
    "CHECKS",
    "INVALID",
    "LABELS",
    "VALID",
    "Check",
    "Expected",
    "Gold",
    "Verdict",
    "gold_of",
]
