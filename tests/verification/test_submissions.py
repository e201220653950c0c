"""Files of other people's traces: every problem is named by line and field, the rest is verified all the same."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.record import render
from tasks.verification.metrics import interval, metric_rows
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


def verdicts(**columns):
    n = len(columns["correct"])
    base = {
        "family": ["lever"] * n,
        "trace_id": [f"t{i}" for i in range(n)],
        "z_schema": ["valid"] * n,
        "z_faith": ["valid"] * n,
    }
    base |= {"z_ans": ["valid"] * n, "labels": [["state"] if s == "invalid" else [] for s in columns["z_state"]]}
    return pl.DataFrame({**base, "z_trans": ["valid"] * n, **columns})


def test_metrics():
    table = verdicts(
        correct=[True, True, True, False, None], z_state=["valid", "invalid", "valid", "invalid", "abstain"]
    )
    rows = {row["metric"]: row for row in metric_rows(table, "m", "trace") if row["slice"] == "all"}
    assert rows["HIR_correct"]["value"] == pytest.approx(1 / 3)
    assert rows["HIR_all"]["value"] == pytest.approx(1 / 5)
    assert rows["StateAcc"]["value"] == pytest.approx(2 / 5)
    assert rows["AnswerAcc"]["value"] == pytest.approx(3 / 4)
    assert rows["Abstention_state"]["value"] == pytest.approx(1 / 5)
    assert rows["PrimaryFailure_state"]["value"] == 1
    assert rows["PrimaryFailure_state"]["n_ok"] == 2
    none = verdicts(correct=[False], z_state=["invalid"])
    row = next(r for r in metric_rows(none, "m", "trace") if r["metric"] == "HIR_correct")
    assert row["value"] is None
    assert row["reason"]


def test_intervals_resample_clusters():
    import numpy as np

    hits = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    ones, alone = np.ones(8), np.arange(8)
    wide = interval(hits, ones, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    narrow = interval(hits, ones, alone)
    assert wide == (0.0, 1.0)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]
    assert interval(hits, ones, np.zeros(8)) is None
