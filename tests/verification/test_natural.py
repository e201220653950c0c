"""The open half of the natural answers (tests/data/natural): how far the verifier agrees with what is expected of it."""

from __future__ import annotations

import json
from pathlib import Path

from tasks.verification.natural import agreement, judge_natural

OPEN = Path(__file__).parents[1] / "data/natural/open.jsonl"


def test_the_open_half():
    rows = [json.loads(line) for line in OPEN.read_text(encoding="utf-8").splitlines()]
    counts = agreement(judge_natural(rows))
    print(*(f"{measure}: {count} of {among}" for measure, (count, among) in counts.items()), sep="\n")
    assert counts["not decoded"] == (0, 82)
