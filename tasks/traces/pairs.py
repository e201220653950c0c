"""Preference pairs: for each trace, rejected traces that differ by one typed violation (paper 2, section 5.2), and the
gates that each of them must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tasks.traces.bank import SEED, identity, stream
from tasks.traces.equations import NotMath, evaluate
from tasks.traces.perturbations import HELD_OUT, PERTURBATIONS, PLACES, SEEN
from tasks.traces.record import Record, Slot, Value, canonical, pointers, render
from tasks.traces.splits import assign
from tasks.traces.units import dimension

PER_TRACE = 16
SYMMETRIC = ("touching", "apart", "attached_to", "connected_to", "beside")


@dataclass(frozen=True)
class Pair:
    pair_id: str
    chosen: Record
    rejected: Record
    perturbation: str
    label: str
    split: str
    changed: tuple[str, ...]  # JSON pointers
    rendered: dict[str, Any]  # the rejected trace


@dataclass(frozen=True)
class Gate:
    """What one gate said of one trace or pair."""

    subject_id: str
    gate: str
    passed: bool
    detail: str


def _wrong_value(one: Any, other: Any) -> str | None:
    """How two statements of the same thing differ in meaning; None where they do not."""
    if isinstance(one, Value) and isinstance(other, Value):
        if dimension(one.unit) != dimension(other.unit):
            return f"{other} has another dimension than {one}"
        truth, said = canonical(one), canonical(other)
        by = 5.0 if dimension(one.unit) == "temperature" else 0.08 * max(abs(truth), abs(said))
        return f"{other} where {one} holds" if abs(truth - said) > by else None
    return f"{other} where {one} holds" if one != other else None


def _relation_set(record: Record) -> set[tuple[str, ...]]:
    pairs: set[tuple[str, ...]] = set()
    inverse = {"left_of": "right_of", "right_of": "left_of", "above": "below", "below": "above"}
    for kind, first, second in record.relations:
        if kind in SYMMETRIC:
            pairs |= {(kind, first, second), (kind, second, first)}
        else:
            pairs |= {(kind, first, second), (inverse.get(kind, kind + "'"), second, first)}
    return pairs


def violations(chosen: Record, rejected: Record) -> list[str]:
    """What is physically wrong in `rejected`, by comparison with the recomputed statements of the same scene. Empty for a
    rejected trace that only says the same in other words."""
    wrong = [
        f"{where}: {reason}"
        for where, true, said in _statements(chosen, rejected)
        if true is not said and true != said and (reason := _wrong_value(true, said))
    ]
    if chosen.relations is not rejected.relations and _relation_set(chosen) != _relation_set(rejected):
        wrong.append("relations: another set of relations")
    if chosen.equation is not rejected.equation:
        wrong += _wrong_equation(chosen, rejected)
    return wrong


Statement = tuple[str, Any, Any]  # where, what the chosen trace says there, what the rejected one says


def _statements(chosen: Record, rejected: Record) -> Iterator[Statement]:
    """The statements at which two records of one scene may differ."""
    for one, other in zip(chosen.objects, rejected.objects, strict=True):
        if one is not other:
            yield from _entries(f"{one.name}.", one.attributes, other.attributes)
    for force, other_force in zip(chosen.forces, rejected.forces, strict=True):
        if force is not other_force:
            for part in ("target", "direction", "magnitude"):
                yield f"force {force.name}.{part}", getattr(force, part), getattr(other_force, part)
    for field in ("variables", "new_variables"):
        if getattr(chosen, field) is not getattr(rejected, field):
            yield from _entries("", getattr(chosen, field), getattr(rejected, field))
    sentences = [("evidence", *facts) for facts in zip(chosen.evidence, rejected.evidence, strict=True)]
    sentences += [
        (name, getattr(chosen, name), getattr(rejected, name))
        for name in ("effect", "change", "derivation", "explanation")
    ]
    for name, true, said in sentences:
        if true is not said:
            yield from _entries(f"{name}.", true.slots, said.slots)
    yield "answer", chosen.answer, rejected.answer
    if chosen.intervention is not None and rejected.intervention is not None:
        yield "response", chosen.intervention.response, rejected.intervention.response
        yield "new value", chosen.intervention.new_value, rejected.intervention.new_value
    yield "result", chosen.equation.get("result"), rejected.equation.get("result")


Entries = tuple[tuple[str, Slot], ...]


def _entries(prefix: str, chosen: Entries, rejected: Entries) -> Iterator[Statement]:
    for (key, true), (_, said) in zip(chosen, rejected, strict=True):
        yield f"{prefix}{key}", true, said


def _wrong_equation(chosen: Record, rejected: Record) -> list[str]:
    try:
        truth, result = (evaluate(str(record.equation).split(" = ")[2], {}) for record in (chosen, rejected))
    except NotMath as error:
        return [f"equation: {error}"]
    alike = abs(truth - result) <= 0.05 * max(abs(truth), abs(result))
    return [] if alike else [f"equation: gives {result:.4g} where {truth:.4g} holds"]


def check_pair(pair: Pair, seen: set[bytes] | None = None) -> list[Gate]:
    """The gates of one pair: `changed`, `wrong`, `label`, `split` and, with `seen` (the contents so far), `distinct`."""
    spec = PERTURBATIONS[pair.perturbation]
    wrong = violations(pair.chosen, pair.rejected)
    places = PLACES[spec.label]
    strays = [pointer for pointer in pair.changed if not pointer.startswith(places)]
    results = [
        ("changed", bool(pair.changed), "no JSON pointer differs" if not pair.changed else ""),
        ("wrong", bool(wrong), "; ".join(wrong) or "the rejected trace is as true as the chosen one"),
        (
            "label",
            pair.label == spec.label and not strays,
            f"labelled {pair.label}, {pair.perturbation} is {spec.label}"
            if pair.label != spec.label
            else ", ".join(strays),
        ),
        ("split", not (spec.held_out and pair.split == "train"), f"{pair.perturbation} is held out from training"),
    ]
    if seen is not None:
        content = content_of(pair.rendered)
        results.append(("distinct", content not in seen, "another rejected trace says the same"))
        seen.add(content)
    return [Gate(pair.pair_id, name, passed, "" if passed else detail) for name, passed, detail in results]


def content_of(trace: dict[str, Any]) -> bytes:
    """What a trace says, without its id."""
    return orjson.dumps({key: value for key, value in trace.items() if key != "id"}, option=orjson.OPT_SORT_KEYS)


def make(record: Record, split: str, per_trace: int = PER_TRACE, seed: int = SEED) -> Iterator[Pair]:
    """`per_trace` pairs of one trace. Training traces use seen perturbations only; the others use seen and held-out ones
    in turn. Candidates that fail a gate are passed over."""
    rng = stream("pairs", seed, record.trace_id)
    chosen = render(record)
    seen = {content_of(chosen)}
    names = list(SEEN) if split == "train" else [*SEEN, *HELD_OUT]
    rng.shuffle(names)
    if split != "train":  # as many held-out as seen ones, as far as they apply
        seen_names = [name for name in names if not PERTURBATIONS[name].held_out]
        held_names = [name for name in names if PERTURBATIONS[name].held_out]
        longest = max(len(seen_names), len(held_names))
        names = [pool[i] for i in range(longest) for pool in (seen_names, held_names) if i < len(pool)]
    streams = {name: PERTURBATIONS[name].apply(record, rng) for name in names}
    made = 0
    while made < per_trace and streams:
        for name in list(streams):
            if made >= per_trace:
                break
            for candidate in streams[name]:
                pair_id = f"{record.family.name}_{identity('pair', seed, record.trace_id, name, made)}"
                rejected = replace(candidate, trace_id=pair_id)
                rendered = render(rejected)
                changed = tuple(pointer for pointer in pointers(chosen, rendered) if pointer != "/id")
                pair = Pair(pair_id, record, rejected, name, PERTURBATIONS[name].label, split, changed, rendered)
                if all(gate.passed for gate in check_pair(pair, seen)):
                    yield pair
                    made += 1
                    break
            else:
                del streams[name]


def generate(records: Iterable[Record], per_trace: int = PER_TRACE, seed: int = SEED) -> Iterator[Pair]:
    """Pairs of a whole bank, each trace in the split that `splits.assign` gives it."""
    records = list(records)
    splits = assign(((record.family.name, record.index) for record in records), seed)
    for record in records:
        yield from make(record, splits[record.family.name, record.index], per_trace, seed)
