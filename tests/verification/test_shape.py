"""Other shapes of a trace: other names of fields, texts for objects, lists for texts, JSON with liberties."""

from __future__ import annotations

import pytest

from tasks.traces.schema import problems
from tasks.verification.decode import decode
from tasks.verification.shape import mend, parts_in, unwrapped
from tasks.verification.verifier import verify

TOLD = {
    "Before": {
        "bodies": ["S = sled (no role)", "crate, 3.2 kg", {"id": "ramp", "tilt": "25°"}],
        "layout": ["crate rests on the ramp", ["sled", "left of", "ramp"], {"subject": "crate", "relation": "above", "object": "sled"}],
        "acting forces": ["weight 31.4 N, downwards", {"name": "normal force", "on": "crate", "direction": "off the ramp"}],
        "givens": ["m = 3.2 kg", "tilt 25°", {"symbol": "mu", "value": 0.2, "unit": ""}],
        "v": "2 m/s",
        "idealisations": "no air",
    },
    "change": {"law": ["Newton's second law"], "formulas": ["a = F/m", "F = 2 N"], "outcome": "it slides", "why": ["steep"]},
    "after": {"prediction": "it gets faster", "a": "2.4 m/s²"},
    "working": ["one", "two"],
    "result": ["2.4 m/s²"],
}  # fmt: skip


def test_other_names_and_shapes_become_a_trace():
    trace, repairs = mend(TOLD)
    assert problems(trace) == []
    state = trace["state_0"]
    assert [item["name"] for item in state["objects"]] == ["sled", "crate", "ramp"]
    assert state["objects"][1]["attributes"] == {"mass": "3.2 kg"}
    assert [(r["type"], r["args"]) for r in state["relations"]] == [
        ("rests on the", ["crate", "ramp"]),
        ("left of", ["sled", "ramp"]),
        ("above", ["crate", "sled"]),
    ]
    assert [(f["name"], f.get("magnitude")) for f in state["forces"]] == [
        ("weight , downwards", "31.4 N"),
        ("normal force", None),
    ]
    assert state["variables"] == {"m": "3.2 kg", "tilt": "25°", "mu": {"value": 0.2, "unit": ""}, "v": "2 m/s"}
    assert trace["transition"]["equation"] == "a = F/m\nF = 2 N"
    assert trace["state_1"]["new_variables"] == {"a": "2.4 m/s²"}
    assert (trace["derivation"], trace["answer"]) == ("one\ntwo", "2.4 m/s²")
    assert "/change: read as transition" in repairs
    assert verify(TOLD).repairs == repairs


def test_what_fits_is_left_alone_and_what_is_missing_stays_missing():
    assert verify({"transition": {}, "answer": 3}).z_schema == "invalid"
    assert mend({"hello": 1}).trace == {"hello": 1}
    assert parts_in({"initial_state": 1, "result": 2, "x": 3}) == 2
    assert unwrapped({"trace": {"state_0": {}, "answer": 1}}) == {"state_0": {}, "answer": 1}


@pytest.mark.parametrize(
    ("raw", "repair"),
    [
        ("{'state_0': {'objects': ('a', 'b')}, 'answer': None}", "tuples read as lists"),
        ('{"state_0": {"objects": ["a", "b",],}, "answer": null,}', "trailing commas removed"),
        ('{\n// a note\n"state_0": {"objects": ["a", "b"]}, # more\n "answer": null}', "comments removed"),
        ('{state_0: {objects: ["a", "b"]}, answer: null}', "names quoted"),
        ('{"state_0": {"objects": ["a", "b"]}, "answer": None}', "constants of Python read"),
        ('{“state_0”: {"objects": ["a", "b"]}, "answer": null}', "quotes read"),
        ('<think>{"state_0": {}, "answer": 7}</think>{"state_0": {"objects": ["a", "b"]}, "answer": null}', "reasoning removed"),
        ('Draft: {"answer": 3}. Now: {"state_0": {"objects": ["a", "b"]}, "answer": null} as asked', "text around the object removed"),
        ('```json\n{"state_0": {}, "answer": 1}\n```\nno,\n```json\n{"state_0": {"objects": ["a", "b"]}, "answer": null}\n```',
         "text around the object removed"),
        ('Here: {"trace": {"state_0": {"objects": ["a", "b"]}, "answer": null}} }', "text around the object removed"),
    ],
)  # fmt: skip
def test_liberties(raw, repair):
    decoded = decode(raw)
    assert decoded.trace == {"state_0": {"objects": ["a", "b"]}, "answer": None}
    assert repair in decoded.repairs


@pytest.mark.parametrize("raw", ["{'a': NaN, 'answer': 1}", "{'answer': 1, 'answer': 2}", "{'answer': " + "[" * 5000])
def test_what_must_not_be_guessed_at(raw):
    assert decode(raw).trace is None
