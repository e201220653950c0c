"""A trace that is held to be right, as the gold that other answers to its question are judged by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.traces.families import FAMILIES
from tasks.verification.fields import as_text
from tasks.verification.reading import read
from tasks.verification.reference import refer
from tasks.verification.verdict import Gold, Told, ToldForce


def gold_from_trace(trace: Mapping[str, Any]) -> Gold:
    """What a trace, of this project or of any other shape that is read, says of its scene. ValueError where its family is not
    known."""
    family = FAMILIES.get(str(trace.get("scenario_family")))
    if family is None:
        raise ValueError(f"the family {trace.get('scenario_family')!r} is not known")
    reading, binding = read(trace, family)
    assert binding is not None
    known = refer(reading, binding, None)
    asked = known.asked
    forces = (
        ToldForce(
            force.name, force.target, as_text(force.direction), force.magnitude.value if force.magnitude else None
        )
        for force in reading.forces
    )
    return Gold(
        state=known.state,
        names=dict(binding.names),
        target=asked.target or "",
        question_type=asked.kind or "",
        intervened=(asked.parameter, asked.factor) if asked.parameter else None,
        relations=tuple((r.kind, r.args[0], r.args[1]) for r in reading.relations if r.kind and len(r.args) >= 2),
        attributes={name: dict(given) for name, given in known.given_attributes.items()},
        told=Told(tuple(forces), reading.effect.text, reading.change.text),
    )
