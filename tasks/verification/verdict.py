"""What the verifier says: checks and the verdict, and what it may be told of the scene besides the trace."""

from __future__ import annotations

from collections.abc import Sequence
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
    "assumption": ("state", "state"),
    "force surplus": ("state", "force"),
    "exchanged outcome": ("trans", "object"),
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
    "calculation": ("trans", "transition"),
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

SUBSTANTIAL = frozenset(
    (
        "variable", "attribute", "condition", "relation", "force direction", "force magnitude", "force body", "effect",
        "effect value", "equation", "formula", "equation result", "new variable", "predicted change", "answer",
        "answer in trace", "conclusion", "intervention", "entity",
    )
)  # fmt: skip


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


def check(
    name: str, ok: bool | None, pointer: str, expected: Any, found: Any, rule: str, label: str | None = None
) -> Check:
    """One check: `ok` None abstains. Area and label are those of the table CHECKS unless `label` says otherwise."""
    area, usual = CHECKS[name]
    status = ABSTAIN if ok is None else VALID if ok else INVALID
    return Check(name, area, status, label or usual, pointer, expected, found, rule)


class Expected(NamedTuple):
    """A recomputed quantity, in its canonical unit."""

    key: str
    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value:.4g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Verdict:
    """Each z is valid, invalid or abstain; `labels` are in the order of Table 1, `repairs` what was brought into the shape of a
    trace before it was read."""

    z_schema: str
    z_state: str
    z_trans: str
    z_ans: str
    z_faith: str
    labels: tuple[str, ...]
    checks: tuple[Check, ...] = field(repr=False)
    family: str | None = None
    repairs: tuple[str, ...] = ()

    @property
    def valid(self) -> bool | None:
        """Whether nothing is invalid; None where nothing could be decided."""
        zs = (self.z_state, self.z_trans, self.z_ans, self.z_faith)
        if INVALID in zs or self.z_schema == INVALID:
            return False
        return None if all(z == ABSTAIN for z in zs) else True


def verdict_of(checks: Sequence[Check], family: str | None, repairs: tuple[str, ...] = ()) -> Verdict:
    """The verdict that checks amount to: a z is invalid where a check of its area is, else valid where one that says
    something substantial is."""
    zs = dict.fromkeys(AREAS, ABSTAIN)
    z_schema, failures = VALID, set()
    for one in checks:
        if one.status == INVALID:
            failures.add(one.label)
            if one.area == "schema":
                z_schema = INVALID
            else:
                zs[one.area] = INVALID
        elif one.status == VALID and zs[one.area] == ABSTAIN and one.name in SUBSTANTIAL:
            zs[one.area] = VALID
    labels = tuple(label for label in LABELS if label in failures)
    return Verdict(z_schema, zs["state"], zs["trans"], zs["ans"], zs["faith"], labels, tuple(checks), family, repairs)


class ToldForce(NamedTuple):
    """A force as a trace tells it: its known name, its body in lower case, its direction in words, its magnitude as written."""

    name: str
    target: str
    direction: str
    magnitude: float | None


class Told(NamedTuple):
    """What a trusted trace tells and no solution of its physics gives: its forces, and its effect and change in words."""

    forces: tuple[ToldForce, ...]
    effect: str
    change: str


@dataclass(frozen=True)
class Gold:
    """What is known of the scene beside the trace. `relations` are (type, first, second), `attributes` are numbers in
    canonical units by object and attribute, `told` is what a trace that is held to be right says of it."""

    state: State
    names: dict[str, str]
    target: str
    question_type: str
    intervened: tuple[str, float] | None
    relations: tuple[tuple[str, str, str], ...]
    attributes: dict[str, dict[str, float]]
    told: Told | None = None


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
