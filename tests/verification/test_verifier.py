"""The verifier on the bank: false positives, rewrites, detection, settings, and single checks by hand."""

from __future__ import annotations

import collections
import copy
import json
import random

import pytest

from tasks.traces import bank, pairs
from tasks.traces.families import FAMILIES
from tasks.traces.perturbations import LABELS, PERTURBATIONS
from tasks.traces.record import render
from tasks.verification.rewrites import REWRITES, rewrite
from tasks.verification.verdict import gold_of
from tasks.verification.verifier import verify
from tasks.verification.words import relation_type, response_of

RECORDS = list(bank.generate(102))


@pytest.fixture(scope="module")
def rejected():
    return list(pairs.generate(RECORDS))


@pytest.mark.parametrize("setting", ["gold", "trace", "no_question"])
def test_no_false_positives_on_gold(setting):
    for record in RECORDS:
        verdict = verify(
            render(record), gold_of(record) if setting == "gold" else None, question=setting != "no_question"
        )
        assert verdict.labels == (), (record.trace_id, [c for c in verdict.checks if c.status == "invalid"])
        assert (verdict.z_schema, verdict.z_state, verdict.z_trans) == ("valid", "valid", "valid")


@pytest.mark.parametrize("name", REWRITES)
def test_rewritten_gold_keeps_its_verdict(name):
    wrong, changed = collections.Counter(), 0
    for record in RECORDS:
        trace = rewrite(render(record), name, random.Random(record.trace_id))
        changed += json.dumps(trace) != json.dumps(render(record))
        for gold in (gold_of(record), None):
            wrong.update(verify(trace, gold).labels)
    assert changed > 0.4 * len(RECORDS)
    assert sum(wrong.values()) <= 0.02 * 2 * len(RECORDS), wrong


def rates(made, setting):
    total, found, right = collections.Counter(), collections.Counter(), collections.Counter()
    for pair in made:
        gold = gold_of(pair.chosen) if setting == "gold" else None
        labels = verify(pair.rendered, gold).labels
        key = (pair.label, PERTURBATIONS[pair.perturbation].held_out)
        total[key] += 1
        found[key] += bool(labels)
        right[key] += pair.label in labels
    return {key: (found[key] / n, right[key] / n) for key, n in total.items()}


@pytest.mark.parametrize(("setting", "seen", "held_out"), [("gold", 0.95, 0.9), ("trace", 0.85, 0.85)])
def test_detection(rejected, setting, seen, held_out):
    measured = rates(rejected, setting)
    assert {label for label, _ in measured} == set(LABELS)
    for (label, held), (found, right) in measured.items():
        assert found >= (held_out if held else seen), (label, held)
        assert right >= 0.85, (label, held)
    assert sum(right for _, right in measured.values()) / len(measured) >= 0.9


def test_a_verifier_without_its_equation_check_misses_wrong_results(rejected, monkeypatch):
    """The detection test can fail: with one check gone, its perturbation is missed."""
    from tasks.verification import verifier
    from tasks.verification.checks import transition

    without = tuple(checker for checker in verifier.FAMILY if checker is not transition.equations)
    monkeypatch.setattr(verifier, "FAMILY", without)
    swapped = [pair for pair in rejected if pair.perturbation == "substitution_swapped"]
    found = [bool(verify(pair.rendered).labels) for pair in swapped]
    assert sum(found) < 0.2 * len(found)


def test_checks_say_what_was_expected_and_found():
    record = bank.trace(FAMILIES["circuit"], 0)
    trace = render(record)
    trace["state_0"]["variables"]["voltage"]["value"] *= 3
    verdict = verify(trace)
    assert verdict.labels == ("state",)
    check = next(check for check in verdict.checks if check.status == "invalid")
    assert check.pointer == "/state_0/variables/voltage"
    assert str(check.expected).startswith("V = ")
    assert check.rule


def test_unknown_family_says_what_it_can():
    trace = render(bank.trace(FAMILIES["lever"], 0))
    trace["scenario_family"] = "alchemy"
    trace["state_0"]["forces"][0]["target"] = "philosopher"
    verdict = verify(trace)
    assert verdict.family is None
    assert verdict.labels == ("object",)
    assert (verdict.z_state, verdict.z_trans, verdict.z_ans) == ("invalid", "abstain", "abstain")


def test_contrary_relations_of_one_pair():
    for stated, contrary in (
        (("on", "box", "floor"), ("apart", "box", "floor")),
        (("above", "a", "b"), ("below", "a", "b")),
        (("left_of", "a", "b"), ("left_of", "b", "a")),
    ):
        trace = {
            "state_0": {"objects": [{"name": n} for n in {*stated[1:]}], "variables": {}, "relations": [{"type": t, "args": list(a)} for t, *a in (stated, contrary)]},
            "transition": {"effect": ""},
            "state_1": {},
            "answer": 1,
        }  # fmt: skip
        assert verify(trace).labels == ("relation",)
        trace["state_0"]["relations"][1] = trace["state_0"]["relations"][0]
        assert verify(trace).labels == ()


def test_words():
    assert relation_type("resting on top of") == "on"
    assert relation_type("to the left of") == "left_of"
    assert relation_type("owes money to") is None
    assert response_of("it increases") == "increases"
    assert response_of("It does not increase, it decreases.") == "decreases"
    assert response_of("it never increases") is None
    assert response_of("there is no change") == "stays the same"


@pytest.mark.parametrize(
    "junk", [None, [], "text", 7, {}, {"state_0": 3, "transition": [], "state_1": "x", "answer": {"value": {"a": 1}}}]
)
def test_never_raises_on_content(junk):
    assert verify(junk).z_schema == "invalid"


@pytest.mark.parametrize("seed", range(40))
def test_never_raises_on_damaged_traces(seed):
    rng = random.Random(seed)
    trace = copy.deepcopy(render(rng.choice(RECORDS)))
    for _ in range(4):
        holder, key = trace, None
        while isinstance(holder, dict | list) and holder:
            parent = holder
            key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
            holder = holder[key]
            if rng.random() < 0.3:
                break
        parent[key] = rng.choice([None, True, -1e308, "", "\x0c", [], {}, {"value": None, "unit": 3}, "nine", 10**400])
    verify(trace)
    verify(trace, gold_of(RECORDS[0]))
