"""The release's perturbed traces without marker words, each judged with the published trace that it was made from as gold.

Not every perturbation makes a trace that cannot be true. `harmless` sorts out those that do not, by kind, with the reason; the
others are held for violations, and nine of ten of each label must be caught. docs/traces.md has the list and the rates.
"""

from __future__ import annotations

import collections
import json
from pathlib import Path

import pytest

from tasks.verification.trusted import gold_from_trace
from tasks.verification.verifier import verify

FOLDER = Path(__file__).parents[3] / "shared/reference/wmw"
SYMMETRIC = ("connected", "attached", "contact", "adjacent")
LINKS = ("connected", "attached", "contact", "in", "on", "supported_by")


def harmless(row, gold):
    """Why a perturbed trace can be as true as the one that it was made from; None where it is held for a violation."""
    before, after = gold["state_0"], row["trace"]["state_0"]
    if row["label"] == "relation":
        return _harmless_relation(before["relations"], after["relations"])
    numbered = any(isinstance(force.get("magnitude"), int | float) for force in after["forces"])
    if row["label"] == "unit_scale" and all("/forces/" in place for place in row["changed"]) and not numbered:
        return "the unit of a force that has no number"
    rule = row["trace"]["transition"]["rule"].lower()
    if row["changed"] == ["/transition/rule"] and row["family"] == "em_induction" and "induction" in rule:
        return "the same law in fewer words"
    return None


def _harmless_relation(before, after):
    added = [relation for relation in after if relation not in before]
    gone = [relation for relation in before if relation not in after]
    if len(added) != 1:
        return None
    (new,), pair = added, set(added[0]["args"])
    linked = [r for r in before if r["type"] in LINKS and set(r["args"]) == pair]
    if gone:
        same = new["type"] == gone[0]["type"] and pair == set(gone[0]["args"]) and new["type"] in SYMMETRIC
        return "a relation that holds both ways, told the other way" if same else None
    if new["type"] == "aligned":
        return "objects may be aligned beside what they are"
    if new in before or (linked and linked[0]["type"] in SYMMETRIC and new["type"] in SYMMETRIC):
        return "the same link in another word"
    if new["type"] == "supported_by" and linked and linked[0]["args"] == new["args"]:
        return "what hangs on a thing, lies on it or floats in it is supported by it"
    wires = {name for r in before if r["type"] == "connected" for name in r["args"]}
    if pair <= wires and new["type"] in LINKS:
        return "parts of one circuit or string: nothing follows from which of them touch"
    return None


def _read(name):
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def golds():
    return {trace["id"]: trace for trace in _read("published_traces.jsonl")}


def test_violations_are_caught_with_gold(golds):
    caught, total, left_out = collections.Counter(), collections.Counter(), collections.Counter()
    for row in _read("perturbed_dev.jsonl"):
        gold = golds[row["gold_id"]]
        if why := harmless(row, gold):
            left_out[row["label"], why] += 1
            continue
        total[row["label"]] += 1
        caught[row["label"]] += verify(row["trace"], gold_from_trace(gold)).valid is False
    print(*(f"{label}: {caught[label]} of {n}" for label, n in total.items()), sep="\n")
    print(*(f"left out, {label}: {n}, {why}" for (label, why), n in left_out.items()), sep="\n")
    assert all(caught[label] >= 0.9 * n for label, n in total.items()), (caught, total)
    assert sum(left_out.values()) <= 0.08 * sum(total.values())


def test_harmless_ones_are_not_called_wrong(golds):
    wrong = [
        (row["id"], why)
        for row in _read("perturbed_dev.jsonl")
        if (why := harmless(row, golds[row["gold_id"]]))
        and verify(row["trace"], gold_from_trace(golds[row["gold_id"]])).valid is False
    ]
    assert wrong == []


def test_a_trusted_trace_agrees_with_itself(golds):
    assert (
        sum(verify(trace, gold_from_trace(trace)).valid is False for trace in golds.values()) == 2
    )  # the impossible ones
