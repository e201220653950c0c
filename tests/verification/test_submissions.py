"""Files of other people's traces: every problem is named by line and field, the rest is verified all the same."""

from __future__ import annotations

import json

import pytest

from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.record import render
from tasks.verification.submissions import verify_lines
from tasks.verification.verdict import gold_of


@pytest.fixture(scope="module")
def good():
    return [render(bank.trace(family, 0)) for family in list(FAMILIES.values())[:4]]


def test_problems_are_named_and_the_rest_is_verified(good):
    broken = {**good[1], "id": "wrong-schema", "state_0": {**good[1]["state_0"], "objects": "none"}}
    lines = [
        json.dumps(good[0]),
        "not json",
        json.dumps(broken),
        json.dumps({**good[2], "scenario_family": "alchemy"}),
        json.dumps({**good[3], "id": "long", "derivation": "x" * 10_000_000}),
        json.dumps(good[0]),
        "",
        json.dumps({"id": "raw", "raw": "I cannot help with that."}),
        json.dumps({"id": "chatty", "response": "Sure:\n```json\n" + json.dumps(good[3]) + "\n```"}),
        "[1, 2]",
    ]
    result = verify_lines(lines)
    text = "\n".join(result.problems)
    assert "line 2: not JSON" in text
    assert "line 3: /state_0/objects" in text
    assert "line 4: /scenario_family 'alchemy' is not known" in text
    assert "line 5: /derivation holds 10,000,000 characters" in text
    assert f"line 6: /id {good[0]['id']!r} was on line 1 already" in text
    assert "line 8: /raw: no JSON" in text
    assert "line 10: a list, not an object" in text
    assert len(result.problems) == 7
    by_id = {row["trace_id"]: row for row in result.verdicts}
    assert set(by_id) == {good[0]["id"], "wrong-schema", good[2]["id"], "raw", "chatty"}
    assert by_id[good[0]["id"]]["labels"] == []
    assert by_id["wrong-schema"]["z_schema"] == "invalid"
    assert by_id["raw"]["decoded"] == "none"
    assert by_id["chatty"]["repairs"] == ["text around the object removed"]
    assert by_id["chatty"]["z_ans"] == "valid"


def test_gold_states_are_used_where_they_are_known():
    record = bank.trace(FAMILIES["lever"], 0)
    trace = render(record)
    raw = {key: value for key, value in trace.items() if key not in ("question", "scenario_family", "id")}
    line = json.dumps({"id": "sample-1", "gold_id": record.trace_id, "raw": json.dumps(raw)})
    result = verify_lines([line], {record.trace_id: (gold_of(record), trace)})
    assert result.verdicts[0]["setting"] == "gold"
    assert result.verdicts[0]["correct"] is True
    assert result.clusters == [record.trace_id]
