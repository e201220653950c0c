"""Judges in plain words."""

from __future__ import annotations

import polars as pl
import pytest

from tasks.reports import words
from tasks.scoring.modes import RULES


def found(*rows: tuple[str, str | None, str, str]) -> pl.DataFrame:
    schema = {"task": pl.String, "representation": pl.String, "finding": pl.String, "verdict": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_every_failure_mode_has_a_name_and_a_phrase() -> None:
    assert set(words.NAMES) == set(words.PHRASES) == set(RULES)


def test_a_degenerate_judge_is_described_by_that_alone() -> None:
    said = words.described(
        found(
            ("C", "composite", "success_biased_degenerate", "present"),
            ("C", "split", "success_biased_degenerate", "present"),
            ("C", "composite", "causal_misgrounding", "present"),
        )
    )
    assert said == "Accepts almost everything."


def test_where_a_mode_shows_is_named_when_it_is_not_everywhere() -> None:
    said = words.described(
        found(
            ("C", "composite", "presentation_leakage", "present"),
            ("D", "composite", "presentation_leakage", "absent"),
            ("A", None, "action_ignorant_heuristic", "undecided"),
        )
    )
    assert said == "Changes its verdict with the presentation (C composite). Undecided: action-ignorant."


def test_nothing_found_is_not_the_same_as_nothing_known() -> None:
    assert words.described(found(("C", "composite", "stability_trap", "absent"))) == "Shows no failure mode."
    some = found(("C", "split", "stability_trap", "undecided"), ("C", "split", "causal_misgrounding", "absent"))
    assert words.described(some) == "Shows none of the failure modes that could be decided. Undecided: stability trap."
    assert "too little was read" in words.described(found(("C", "split", "stability_trap", "undecided")))
    assert "no scores" in words.described(found())


@pytest.mark.parametrize(
    ("metric", "family"),
    [
        ("IDR_raw", "headline"), ("Acc_A1", "headline"), ("Acc_A1_shuffle", "local tasks"), ("VCC_rep_cf", "representation"),
        ("delta_acc_noise", "matched probes"), ("JCR_visual", "stability"), ("LES_framing", "leakage"),
        ("share_pending", "compliance"), ("something_new", "other"),
    ],
)  # fmt: skip
def test_metrics_are_found_under_their_family(metric: str, family: str) -> None:
    assert words.family_of(metric) == family
