"""How the verifier does on natural answers: texts written by hand, each with the verdict that it should get.

A row holds `raw` (the reply as it came), `question`, `family`, `expected` (valid or invalid) and, of a wrong answer, `reason`,
the kind of its fault. The answers are judged with their question and without gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tasks.verification.decode import decode
from tasks.verification.verdict import VALID, Verdict
from tasks.verification.verifier import verify

# The labels of paper 2, Table 1, that say what is wrong with an answer whose fault is of that kind. A fault has consequences,
# which have labels of their own, and some kinds (a direction) occur at several places of a trace.
LABELS_OF = {
    "direction": {"force", "transition", "relation", "state"},
    "rule": {"transition", "intervention", "force"},
    "state": {"state", "transition"},
    "relation": {"relation", "state", "object"},
    "temporal": {"temporal", "transition", "state"},
    "force": {"force"},
    "answer": {"faithfulness", "intervention"},
    "unit_scale": {"unit_scale"},
    "cause": {"transition", "temporal"},
    "object": {"object", "state", "force", "transition"},
}


@dataclass(frozen=True)
class Judged:
    """A natural answer and what the verifier says of it; `verdict` None where it could not be decoded."""

    row: Mapping[str, Any]
    verdict: Verdict | None

    @property
    def right(self) -> bool:
        return bool(self.row["expected"] == VALID)

    @property
    def called_invalid(self) -> bool:
        return self.verdict is not None and self.verdict.valid is False

    @property
    def decided(self) -> bool:
        """Whether state, transition and answer are all valid."""
        verdict = self.verdict
        return verdict is not None and {verdict.z_state, verdict.z_trans, verdict.z_ans} == {VALID}

    @property
    def right_reason(self) -> bool:
        found = set(self.verdict.labels) if self.verdict else set()
        return self.called_invalid and bool(found & LABELS_OF[self.row["reason"]])


def judge_natural(rows: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """The verdict on each row."""
    judged = []
    for row in rows:
        trace = decode(row["raw"]).trace
        asked = {"question": row["question"], "scenario_family": row["family"]}
        judged.append(Judged(row, None if trace is None else verify({**trace, **asked})))
    return judged


def agreement(judged: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    """(count, of how many) by measure."""
    every = list(judged)
    right, wrong = [one for one in every if one.right], [one for one in every if not one.right]
    return {
        "right ones called invalid": (sum(one.called_invalid for one in right), len(right)),
        "right ones fully decided": (sum(one.decided for one in right), len(right)),
        "wrong ones caught": (sum(one.called_invalid for one in wrong), len(wrong)),
        "wrong ones caught for the right reason": (sum(one.right_reason for one in wrong), len(wrong)),
        "not decoded": (sum(one.verdict is None for one in every), len(every)),
    }
