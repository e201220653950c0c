"""What the numbers mean, in plain words: judges by their failure modes, and every metric by what it asks.

Failure modes: paper 1, Appendix A.4. Metrics: paper 1, Appendix A.3 and Table 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

# A judge is described by the first of these that it shows; what it shows beside that follows.
PHRASES = {
    "all_fail_degenerate": "rejects almost everything",
    "success_biased_degenerate": "accepts almost everything",
    "causal_misgrounding": "seldom tells a success from its matched failure",
    "presentation_leakage": "changes its verdict with the presentation",
    "representation_fragility": "answers one storyboard otherwise than the same frames as separate pictures",
    "action_ignorant_heuristic": "picks next states without heeding the action",
    "stability_trap": "is consistent without being right",
    "low_activation_unstable": "accepts too few successes for IDR_cond to count",
}
IMPLIED = {  # what follows from a degenerate verdict and would only repeat it
    "all_fail_degenerate": ("causal_misgrounding", "stability_trap", "low_activation_unstable"),
    "success_biased_degenerate": ("causal_misgrounding", "stability_trap", "low_activation_unstable"),
}
NAMES = {
    "all_fail_degenerate": "All-fail",
    "success_biased_degenerate": "Success-biased",
    "causal_misgrounding": "Causal misgrounding",
    "presentation_leakage": "Presentation leakage",
    "representation_fragility": "Representation fragility",
    "action_ignorant_heuristic": "Action-ignorant",
    "stability_trap": "Stability trap",
    "low_activation_unstable": "Low activation",
}
VERDICTS = {"present": "●", "undecided": "◐", "absent": "○"}

HEADLINE = (
    "JAcc_neu", "Acc_full", "Acc_nocue", "Acc_cf", "SuccC", "p_active", "IDR_raw", "IDR_cond", "IDR_rev", "VCC_rep",
    "Acc_A1", "delta_shuffle", "delta_mask", "B_MeanScore", "B_Acc", "E_Acc",
)  # fmt: skip
FAMILIES: dict[str, tuple[str, ...]] = {  # beginnings of metric names
    "representation": ("VCC_",),
    "local tasks": ("Acc_A1", "B_", "E_", "chose_"),
    "stability": ("NS_", "JCR_", "Flip_"),
    "leakage": ("LES_", "d_logit_", "effect_", "odds_ratio_"),
    "matched probes": ("degradation_", "rescue_", "correctness_flip_", "delta_acc_"),
    "compliance": ("share_", "retest"),
}
OTHER = "other"

GLOSSARY = {
    "JAcc_neu": "share of genuine successes (Full) that are accepted, at the neutral presentation",
    "Acc_full, Acc_nocue": "the same by variant; NoCue hides the decisive objects, its outcome is still a success",
    "Acc_cf": "share of counterfactual failures (CF) that are rejected",
    "SuccC": "share of all items that are called a success, whatever they are: a bias, not a merit",
    "p_active": "share of groups whose Full trajectory is accepted; without this, rejecting a CF says nothing",
    "IDR_raw": "share of groups whose Full is accepted and whose CF is rejected: the main number of causal sensitivity",
    "IDR_cond": "share of CF rejected among the groups whose Full is accepted; needs 10 such groups to count",
    "IDR_rev": "share of groups judged exactly the wrong way round",
    "NS": "share of probes that get the verdict of the unprobed item",
    "JCR": "share of groups that keep one verdict under every probe of a family; Flip is 1 - JCR",
    "LES": "largest shift of the log-odds of a success verdict that a probe of the family causes; d_logit is LES "
    "divided by pi / sqrt(3); odds_ratio is the factor on the odds",
    "VCC_rep": "share of items that get one verdict as a storyboard and as separate pictures",
    "Acc_A1": "share of next states picked rightly; chance is 0.25",
    "delta_shuffle, delta_mask": "how much of Acc_A1 is lost when the action is replaced by another, or withheld",
    "B_MeanScore, B_Acc": "how well one frame is described: mean score of its parts; share of frames at 0.90 or more",
    "E_Acc": "share of questions about the first object picked up that are answered rightly",
    "degradation, rescue": "share of items that a probe turns from right to wrong, or from wrong to right",
    "share_...": "what became of the answers: strict, recovered, unparsed, truncated, refused, failed, pending",
}


def family_of(metric: str) -> str:
    if metric in HEADLINE:
        return "headline"
    for family, prefixes in FAMILIES.items():
        if metric.startswith(prefixes):
            return family
    return OTHER


def seat(task: str, representation: str | None) -> str:
    """`C split`, as tables name where a number or finding comes from."""
    return f"{task} {representation}" if representation else task


def described(findings: pl.DataFrame) -> str:
    """A judge in a sentence, from its rows of `findings`. Where a mode shows is named unless it shows everywhere."""
    if not len(findings):
        return "Nothing can be said of it: it has no scores."
    places: dict[str, list[str]] = {}
    for task, representation, name in (
        findings.filter(pl.col("verdict") == "present")
        .sort("task", "representation")
        .select("task", "representation", "finding")
        .iter_rows()
    ):
        places.setdefault(name, []).append(seat(task, representation))
    undecided = set(findings.filter(pl.col("verdict") == "undecided")["finding"]) - set(places)
    if not places and undecided == set(findings["finding"]):
        return "Nothing can be said of it: too little was read."
    unsure = ", ".join(title.lower() for name, title in NAMES.items() if name in undecided)
    rest = f" Undecided: {unsure}." if unsure else ""
    implied = {name for regime, names in IMPLIED.items() if regime in places for name in names}
    told = [name for name in PHRASES if name in places and name not in implied]
    if not told:
        return ("Shows none of the failure modes that could be decided." if rest else "Shows no failure mode.") + rest
    asked = dict(findings.group_by("finding").len().iter_rows())
    parts = [
        PHRASES[name] + ("" if len(places[name]) == asked[name] else f" ({', '.join(places[name])})") for name in told
    ]
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "." + rest


def configured(spec: Mapping[str, Any], sent: Mapping[str, Any] | None, left_out: list[str]) -> str:
    """How a judge was asked. `sent`: the parameters that were really sent; `left_out`: asked for and not sent."""
    if not spec:
        return "answers collected elsewhere"
    if spec["api"] == "embedded":
        return "embedded baseline: no model, no network"
    words = [spec["api"], spec.get("model") or spec.get("entry_point") or ""]
    if spec["api"] != "python":
        words += [f"{name} {value}" for name, value in sorted((sent or {}).items())]
        words.append("seeded" if "seed" in (sent or {}) else "unseeded")
    if left_out:
        words.append("asked for and not sent: " + ", ".join(left_out))
    return " · ".join(word for word in words if word)
