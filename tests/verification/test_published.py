"""The 200 published traces of World Models in Words: none is called invalid but where its physics is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tasks.verification.verifier import verify

FILE = Path(__file__).parents[3] / "shared/reference/wmw/published_traces.jsonl"


@pytest.mark.skipif(not FILE.exists(), reason=f"the published traces are not here ({FILE.name})")
def test_published_traces():
    invalid = {}
    abstained = 0
    for line in FILE.read_text(encoding="utf-8").splitlines():
        trace = json.loads(line)
        verdict = verify(trace)
        if verdict.labels:
            invalid[trace["id"]] = [str(check.found) for check in verdict.checks if check.status == "invalid"]
        abstained += "abstain" in (verdict.z_state, verdict.z_trans, verdict.z_ans)
    # ice above its melting point: a state that cannot exist
    assert {trace_id for trace_id, found in invalid.items() if not any("ice at" in text for text in found)} == set()
    assert len(invalid) == 2
    assert abstained <= 10
