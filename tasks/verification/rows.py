"""Verdicts as rows of the tables `verdicts` and `checks`, and gold states out of rows of `traces`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from tasks.traces.units import to_canonical
from tasks.verification.decode import Decoded
from tasks.verification.verdict import ABSTAIN, INVALID, VALID, Gold, Verdict

NO_VERDICT = Verdict(INVALID, ABSTAIN, ABSTAIN, ABSTAIN, ABSTAIN, (), ())


def gold_from_row(row: Mapping[str, Any]) -> Gold:
    """The gold state of a row of `traces`."""
    trace = orjson.loads(row["trace"])
    attributes = {
        thing["name"]: {
            key: to_canonical(value["value"], value["unit"])
            for key, value in thing.get("attributes", {}).items()
            if isinstance(value, dict)
        }
        for thing in trace["state_0"]["objects"]
    }
    return Gold(
        state=orjson.loads(row["state"]),
        names=orjson.loads(row["names"]),
        target=row["target"],
        question_type=row["question_type"],
        intervened=(row["parameter"], row["factor"]) if row["parameter"] else None,
        relations=tuple((r["type"], *r["args"]) for r in trace["state_0"]["relations"]),
        attributes=attributes,
    )


def verdict_row(
    trace_id: str, setting: str, verdict: Verdict, decoded: Decoded | None = None, matches_gold: bool | None = None
) -> dict[str, Any]:
    """A row of `verdicts`; `matches_gold`: whether the answer is the gold answer, where there is one."""
    open_checks = [f"{check.name}: {check.rule}" for check in verdict.checks if check.status == ABSTAIN]
    return {
        "trace_id": trace_id,
        "setting": setting,
        "family": verdict.family,
        "decoded": decoded.status if decoded else "ok",
        "repairs": [*(decoded.repairs if decoded else ()), *verdict.repairs],
        "z_schema": verdict.z_schema,
        "z_state": verdict.z_state,
        "z_trans": verdict.z_trans,
        "z_ans": verdict.z_ans,
        "z_faith": verdict.z_faith,
        "labels": list(verdict.labels),
        "correct": {VALID: True, INVALID: False}.get(verdict.z_ans),
        "matches_gold": matches_gold,
        "reason": (decoded.reason if decoded and decoded.reason else "; ".join(dict.fromkeys(open_checks))) or None,
    }


def check_rows(trace_id: str, setting: str, verdict: Verdict, all_of_them: bool = True) -> list[dict[str, Any]]:
    """One row a check; without `all_of_them` only those that are not valid."""
    return [
        {
            "trace_id": trace_id,
            "setting": setting,
            "number": number,
            "name": check.name,
            "area": check.area,
            "status": check.status,
            "label": check.label or None,
            "pointer": check.pointer,
            "expected": str(check.expected),
            "found": str(check.found)[:200],
            "rule": check.rule,
        }
        for number, check in enumerate(verdict.checks)
        if all_of_them or check.status != VALID
    ]
