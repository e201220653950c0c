"""Files of other people's traces: every problem is named by line and field, the rest is verified all the same."""

from __future__ import annotations

import json

import pytest

from storage.tables import conform
from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.record import render
from tasks.verification.submissions import verify_lines
from tasks.verification.verdict import gold_of


@pytest.fixture(scope="module")
def good():
    return [render(bank.trace(family, 0)) for family in list(FAMILIES.values())[:4]]


def test_problems_are_named_and_the_rest_is_verified(good):
    broken = {**good[1], "id": "wrong-schema", "answer": {"unit": "N"}}
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
    result = verify_lines(enumerate(lines, start=1))
    text = "\n".join(map(str, result.problems))
    assert "line 2: not JSON" in text
    assert "line 3: /answer" in text
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
    result = verify_lines([(1, line)], {record.trace_id: (gold_of(record), trace)})
    assert result.verdicts[0]["setting"] == "gold"
    assert result.verdicts[0]["correct"] is True
    assert result.clusters == [record.trace_id]


def changed(trace, **parts):
    """A copy of a trace with parts put at places such as `transition__equation`."""
    trace = json.loads(json.dumps(trace))
    for place, value in parts.items():
        *parents, last = place.split("__")
        holder = trace
        for parent in parents:
            holder = holder[parent]
        holder[last] = value
    return trace


def nested(levels):
    return json.dumps({"id": "deep"})[:-1] + ', "a": ' + "[" * levels + "]" * levels + "}"


STRANGE = {  # what is put where, and what must be said of it; without that the verdict abstains or judges
    "a family that is a list": ({"scenario_family": ["lever"]}, "/scenario_family ['lever'] is not known"),
    "a family that is a number": ({"scenario_family": 7}, "/scenario_family 7 is not known"),
    "an exponent beyond a float": ({"state_0__variables": {"mass": "1e400 kg"}}, None),
    "a power of ten beyond a float": ({"transition__effect": "It tips with 1 × 10^99999 N·m, or 1e-99999999999 N·m"}, None),
    "an exponent of thousands of digits": ({"transition__effect": f"It gains 2e{'9' * 6000} N·m or 3*10^{'9' * 6000} N"}, None),
    "a number of thousands of digits": ({"transition__effect": f"It gains {'9' * 6000} N·m"}, None),
    "infinity": ({"state_0__variables": {"mass": float("inf"), "arm": float("nan")}}, None),
    "an equation of a tuple": ({"transition__equation": "M = 1, 2 = 3"}, None),
    "an equation of nothing": ({"transition__equation": "M = () = (1, 2) = 9**9**9**9"}, None),
    "a unit that is a tower of powers": ({"answer": {"value": 3, "unit": "kg**9**9**9**9"}}, None),
    "a unit that is a list": ({"answer": {"value": 3, "unit": ["kg"]}}, "/answer"),
    "a value within values": ({"answer": {"value": {"value": {"value": {"value": []}}}}}, "/answer"),
    "half of a character": ({"derivation": "the answer is \ud800"}, "/derivation holds half of a character"),
    "half of a character in a name": ({"state_0__variables": {"\udfff": 3}}, "names a field by half of a character"),
    "spaces without end": ({"derivation": "the answer is x" + " " * 15_000 + "y" + " " * 4_000}, None),
    "many conclusions": ({"derivation": "the answer is " * 1_400}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("place", ["the line", "raw"])
def test_a_strange_line_costs_nothing_but_itself(good, name, place):
    parts, complaint = STRANGE[name]
    strange = changed(good[0], id="strange", **parts)
    line = json.dumps(strange if place == "the line" else {"id": "strange", "raw": json.dumps(strange)})
    result = verify_lines(enumerate([line, json.dumps(good[1])], start=1))
    said = [problem.problem for problem in result.problems if problem.number == 1]
    assert not [text for text in said if "unexpected" in text]
    assert any(complaint in text for text in said) if complaint else place == "raw" or not said
    assert "strange" in {row["trace_id"] for row in result.verdicts} or any("not verified" in text for text in said)
    assert result.verdicts[-1]["trace_id"] == good[1]["id"]
    assert result.verdicts[-1]["labels"] == []
    assert {problem.number for problem in result.problems} <= {1}
    conform("verdicts", result.verdicts)  # what is named can be stored
    conform("checks", result.checks)
    conform("problems", [problem._asdict() for problem in result.problems])


def test_deep_nesting_is_named(good):
    lines = [nested(90), nested(101), nested(3_000), nested(200_000), json.dumps(good[0])]
    result = verify_lines(enumerate(lines, start=1))
    text = "\n".join(map(str, result.problems))
    assert "line 2: " in text
    assert "nested more than 100 levels deep" in text
    assert "unexpected" not in text
    assert result.verdicts[-1]["labels"] == []


def test_a_slip_of_the_verifier_costs_one_line(good, monkeypatch):
    from tasks.verification import submissions

    def slips(trace, gold, question):
        if trace["id"] == good[0]["id"]:
            raise ZeroDivisionError("of \ud800")
        return plain(trace, gold, question=question)

    plain = submissions.verify
    monkeypatch.setattr(submissions, "verify", slips)
    result = verify_lines(enumerate(map(json.dumps, good), start=1))
    assert [str(problem) for problem in result.problems] == [
        "line 1: unexpected ZeroDivisionError: of \\ud800; not verified"
    ]
    assert [row["trace_id"] for row in result.verdicts] == [trace["id"] for trace in good[1:]]
