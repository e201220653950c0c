"""Preference pairs: counts, identity, one typed violation each, and gates that catch what is broken on purpose."""

from __future__ import annotations

import collections
import dataclasses

import pytest

from tasks.errors import BadInput
from tasks.traces import bank, pairs, splits
from tasks.traces.perturbations import HELD_OUT, LABELS, PERTURBATIONS, PLACES, SEEN
from tasks.traces.record import pointers, render
from tasks.traces.schema import problems


@pytest.fixture(scope="module")
def made():
    return list(pairs.generate(bank.generate(200)))


def test_the_default_bank(made):
    assert len(made) == 3200
    assert set(collections.Counter(pair.chosen.trace_id for pair in made).values()) == {16}
    assert collections.Counter(pair.split for pair in made) == {"train": 1920, "val": 640, "test": 640}
    assert len({pair.pair_id for pair in made}) == 3200
    assert len({pairs.content_of(pair.rendered) for pair in made}) == 3200
    assert {pair.label for pair in made} == set(LABELS)


def test_registry():
    assert (len(SEEN), len(HELD_OUT)) == (15, 10)
    for label in LABELS:
        pools = {p.held_out for p in PERTURBATIONS.values() if p.label == label}
        assert pools == {False, True}, f"{label} has a seen and a held-out perturbation"


def test_held_out_perturbations_are_in_no_training_pair(made):
    assert not [pair for pair in made if pair.split == "train" and pair.perturbation in HELD_OUT]
    assert {pair.perturbation for pair in made if pair.split != "train"} == set(PERTURBATIONS)


def test_every_pair_is_one_typed_violation(made):
    for pair in made:
        assert not problems(pair.rendered, strict=True)
        assert pair.changed == tuple(p for p in pointers(render(pair.chosen), pair.rendered) if p != "/id")
        assert all(pointer.startswith(PLACES[pair.label]) for pointer in pair.changed)
        assert pairs.violations(pair.chosen, pair.rejected)
        assert pair.rendered["question"] == str(pair.chosen.question)


def test_the_same_seed_makes_the_same_pairs(made):
    record = bank.trace(made[0].chosen.family, made[0].chosen.index)
    again = list(pairs.make(record, made[0].split))
    assert [(p.pair_id, p.rendered) for p in again] == [(p.pair_id, p.rendered) for p in made[:16]]
    other = list(pairs.make(record, made[0].split, seed=7))
    assert [p.rendered for p in other] != [p.rendered for p in made[:16]]


def test_gates_catch_what_is_broken_on_purpose(made):
    pair = made[0]

    def failed(broken, seen=None):
        return {gate.gate for gate in pairs.check_pair(broken, seen) if not gate.passed}

    assert failed(pair) == set()
    noop = dataclasses.replace(pair, rejected=pair.chosen, rendered=render(pair.chosen), changed=())
    assert failed(noop) == {"changed", "wrong"}
    wrong_label = dataclasses.replace(pair, label=next(label for label in LABELS if label != pair.label))
    assert failed(wrong_label) == {"label"}
    assert failed(pair, {pairs.content_of(pair.rendered)}) == {"distinct"}
    held = next(pair for pair in made if pair.perturbation in HELD_OUT)
    assert failed(dataclasses.replace(held, split="train")) == {"split"}
    elsewhere = dataclasses.replace(pair, changed=("/metadata/source",))
    assert failed(elsewhere) == {"label"}


def test_a_value_said_in_another_unit_is_no_violation(made):
    pair = next(pair for pair in made if pair.perturbation == "unit_replaced" and "variables" in pair.changed[0])
    from tasks.traces.record import Value, canonical, stated

    position = next(
        i
        for i, (one, other) in enumerate(zip(pair.chosen.variables, pair.rejected.variables, strict=True))
        if one != other
    )
    key, said = pair.rejected.variables[position]
    truth = pair.chosen.variables[position][1]
    assert isinstance(said, Value)
    same = stated(canonical(truth), said.unit)
    variables = (*pair.chosen.variables[:position], (key, same), *pair.chosen.variables[position + 1 :])
    assert pairs.violations(pair.chosen, dataclasses.replace(pair.chosen, variables=variables)) == []


def test_splits_are_exact_and_by_trace():
    members = [(record.family.name, record.index) for record in bank.generate(200)]
    table = splits.assign(members)
    assert collections.Counter(table.values()) == {"train": 120, "val": 40, "test": 40}
    assert table == splits.assign(reversed(members))
    for split in splits.SPLITS:
        assert len({family for (family, _), s in table.items() if s == split}) == 17


def test_trace_ids_do_not_depend_on_what_else_is_made():
    small = {record.trace_id: render(record) for record in bank.generate(34)}
    large = {record.trace_id: render(record) for record in bank.generate(68)}
    assert small.items() <= large.items()


def test_bad_requests():
    with pytest.raises(BadInput, match="unknown family alchemy"):
        bank.counts(5, ("alchemy",))
    with pytest.raises(BadInput, match="at least 1"):
        bank.counts(0)
