"""Failure modes and degenerate regimes (paper 1, Appendix A.4), each a rule over metrics with its evidence in words.

A rule says `present` or `absent` only where the 95% interval lies on one side of its limit; otherwise `undecided`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tasks.questions import question_of_task
from tasks.scoring.families.stability import PROBE_FAMILIES
from tasks.statistics.metric import MIN_ACTIVE
from tasks.statistics.parts import ALL, POOLED

ALL_FAIL_BELOW, SUCCESS_BIASED_ABOVE, CF_ACCEPTED_ABOVE = 0.1, 0.9, 0.9  # paper 1, Appendix A.4
STABLE_FROM = 0.80  # a judge that keeps its verdict in fewer groups than this leaks or is fragile
SENSITIVE_FROM = 0.50  # telling fewer than half of the Full/CF pairs apart is misgrounding
SMALL_DROP = 0.10  # an ablation that costs less accuracy than this leaves the action unused
CHANCE_A = 0.25

Metric = dict[str, Any]
Verdict = tuple[str, str]


@dataclass(frozen=True)
class Measured:
    """The metrics of one judge, world, task and representation, by metric and protocol."""

    judge: str
    world: str
    task: str
    representation: str | None
    rows: dict[tuple[str, str], Metric]

    def get(self, metric: str, protocol: str = "all") -> Metric | None:
        """The row of a metric; None where it is not there or has no value."""
        row = self.rows.get((metric, protocol))
        return row if row is not None and row["value"] is not None else None


def _shown(name: str, row: Metric) -> str:
    if row["ci_low"] is None:
        return f"{name} {row['value']:.2f}"
    return f"{name} {row['value']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"


def _side(row: Metric, limit: float) -> str:
    """Where the interval of `row` lies: below, above (or at), or across `limit`."""
    if row["ci_low"] is None:
        return "across"
    return "below" if row["ci_high"] < limit else "above" if row["ci_low"] >= limit else "across"


def all_fail(measured: Measured) -> Verdict:
    active = measured.get("p_active", "eligible")
    if active is None:
        return "undecided", _why(measured, "p_active")
    return ("present" if active["value"] < ALL_FAIL_BELOW else "absent"), _shown("p_active", active)


def success_biased(measured: Measured) -> Verdict:
    active, rejected = measured.get("p_active", "eligible"), measured.get("Acc_cf", "eligible")
    if active is None or rejected is None:
        return "undecided", _why(measured, "p_active")
    holds = active["value"] > SUCCESS_BIASED_ABOVE and 1 - rejected["value"] > CF_ACCEPTED_ABOVE
    return (
        "present" if holds else "absent"
    ), f"{_shown('p_active', active)}; accepts {1 - rejected['value']:.2f} of CF"


def low_activation(measured: Measured) -> Verdict:
    conditional = measured.get("IDR_cond", "eligible")
    if conditional is None:
        active = measured.get("p_active", "eligible")
        if active is None:
            return "undecided", _why(measured, "p_active")
        return "absent", "no active group: IDR_cond is undefined"
    groups = conditional["n_groups"]
    return ("present" if groups < MIN_ACTIVE else "absent"), f"{groups} active groups"


def presentation_leakage(measured: Measured) -> Verdict:
    evidence, verdicts = [], []
    for family in PROBE_FAMILIES:
        same, effect = measured.get(f"JCR_{family.name}", "eligible"), measured.get(f"LES_{family.name}", "eligible")
        if same is None:
            continue
        text = _shown(f"{family.name}: JCR", same)
        leaks = effect is not None and effect["ci_low"] is not None and effect["ci_low"] > 0
        if effect is not None:
            separated = " (separated)" if effect["flag"] == "separated" else ""
            text += f", {_shown('LES', effect)}{separated}"
        side = _side(same, STABLE_FROM)
        verdicts.append("present" if leaks or side == "below" else "absent" if side == "above" else "undecided")
        evidence.append(text)
    if not verdicts:
        return "undecided", "no probe family could be read"
    return _worst(verdicts), "; ".join(evidence)


def representation_fragility(measured: Measured) -> Verdict:
    found = [(name, row) for name in ("VCC_rep", "VCC_oracle") if (row := measured.get(name, "eligible"))]
    if not found:
        return "undecided", _why(measured, "VCC_rep")
    sides = {"below": "present", "above": "absent", "across": "undecided"}
    return _worst([sides[_side(row, STABLE_FROM)] for _, row in found]), "; ".join(_shown(*pair) for pair in found)


def action_ignorant(measured: Measured) -> Verdict:
    accuracy = measured.get("Acc_A1")
    drops = [(name, row) for name in ("delta_shuffle", "delta_mask") if (row := measured.get(name))]
    if accuracy is None or not drops or measured.get("Acc_A1", "eligible") is None:
        return "undecided", _why(measured, "Acc_A1")
    text = "; ".join([_shown("Acc_A1", accuracy), *(_shown(*pair) for pair in drops)])
    if any(row["ci_low"] is not None and row["ci_low"] > 0 for _, row in drops):
        return "absent", text
    if _side(accuracy, CHANCE_A) != "above" or accuracy["ci_low"] == CHANCE_A:
        return "undecided", f"{text}; accuracy is not above chance"
    small = all(row["ci_high"] is not None and row["ci_high"] < SMALL_DROP for _, row in drops)
    return ("present" if small else "undecided"), text


def causal_misgrounding(measured: Measured) -> Verdict:
    raw = measured.get("IDR_raw")
    if raw is None or measured.get("IDR_raw", "eligible") is None:
        return "undecided", _why(measured, "IDR_raw")
    text = _shown("IDR_raw", raw)
    if active := measured.get("p_active"):
        text += f"; {_shown('p_active', active)}"
    conditional = measured.get("IDR_cond")
    strong = conditional is not None and conditional["n_groups"] >= MIN_ACTIVE
    if conditional is not None:
        text += f"; {_shown('IDR_cond', conditional)}" + ("" if strong else " (too few active groups to count)")
    sides = [_side(raw, SENSITIVE_FROM)]
    if conditional is not None and strong:
        sides.append(_side(conditional, SENSITIVE_FROM))
    if "below" in sides:
        return "present", text
    return ("absent" if all(side == "above" for side in sides) else "undecided"), text


def stability_trap(measured: Measured) -> Verdict:
    stable = [(f"JCR {f.name}", row) for f in PROBE_FAMILIES if (row := measured.get(f"JCR_{f.name}", "eligible"))]
    raw, correct = measured.get("IDR_raw"), measured.get("JAcc_neu")
    if not stable or raw is None or correct is None or measured.get("IDR_raw", "eligible") is None:
        return "undecided", _why(measured, "IDR_raw")
    text = "; ".join([*(_shown(*pair) for pair in stable), _shown("IDR_raw", raw), _shown("JAcc_neu", correct)])
    sides = [_side(raw, SENSITIVE_FROM), _side(correct, SENSITIVE_FROM)]
    if any(row["value"] < STABLE_FROM for _, row in stable) or all(side == "above" for side in sides):
        return "absent", text
    return ("present" if "below" in sides else "undecided"), text


def _worst(verdicts: list[str]) -> str:
    return next(name for name in ("present", "undecided", "absent") if name in verdicts)


def _why(measured: Measured, metric: str) -> str:
    row = measured.rows.get((metric, "eligible")) or measured.rows.get((metric, "all"))
    return (row or {}).get("reason") or f"{metric} is not there"


RULES: dict[str, tuple[Callable[[Measured], Verdict], str]] = {
    "all_fail_degenerate": (
        all_fail,
        f"rarely accepts a genuine success (p_active below {ALL_FAIL_BELOW}): high rejection or stability says nothing",
    ),
    "success_biased_degenerate": (
        success_biased,
        f"accepts almost everything (p_active above {SUCCESS_BIASED_ABOVE} and more than {CF_ACCEPTED_ABOVE} of CF): "
        "high accuracy on successes says nothing",
    ),
    "low_activation_unstable": (
        low_activation,
        f"accepts fewer than {MIN_ACTIVE} genuine successes: IDR_cond is descriptive only",
    ),
    "presentation_leakage": (
        presentation_leakage,
        "the verdict depends on how the same trajectory is shown: in some probe family LES is above 0, or the verdict "
        f"stays in fewer than {STABLE_FROM:.0%} of groups (95% interval)",
    ),
    "representation_fragility": (
        representation_fragility,
        "the same frames as one storyboard and as separate images get the same verdict in fewer than "
        f"{STABLE_FROM:.0%} of items (95% interval)",
    ),
    "action_ignorant_heuristic": (
        action_ignorant,
        "picks the next state better than chance, and no worse with a wrong or hidden action (both drops below "
        f"{SMALL_DROP}, 95% interval)",
    ),
    "causal_misgrounding": (
        causal_misgrounding,
        f"tells fewer than {SENSITIVE_FROM:.0%} of Full/CF pairs apart, or rejects fewer than that of the CF twins of "
        "the successes it accepts (95% interval)",
    ),
    "stability_trap": (
        stability_trap,
        f"keeps its verdict under presentation (JCR {STABLE_FROM} or more in every family) while correctness or "
        f"discrimination is below {SENSITIVE_FROM:.0%} (95% interval)",
    ),
}
JUDGING = tuple(name for name in RULES if name not in ("representation_fragility", "action_ignorant_heuristic"))
DEGENERATE = tuple(name for name in RULES if name.endswith(("degenerate", "unstable")))


def _rules_for(measured: Measured) -> tuple[str, ...]:
    question = question_of_task(measured.task).name
    if question == "verdict":
        return ("representation_fragility",) if "/" in (measured.representation or "") else JUDGING
    return ("action_ignorant_heuristic",) if question == "letter" else ()


def findings(metrics: list[Metric]) -> list[dict[str, Any]]:
    """Rows of `findings` for every judge, task and representation of `metrics`."""
    by_judge: dict[tuple[str, str, str, str | None], dict[tuple[str, str], Metric]] = {}
    for row in metrics:
        if row["slice"] == ALL and row["judge"] != POOLED:
            key = (row["judge"], row["world"], row["task"], row["representation"])
            by_judge.setdefault(key, {})[row["metric"], row["protocol"]] = row
    return [row for key, rows in by_judge.items() for row in _found(Measured(*key, rows))]


def _found(measured: Measured) -> Iterator[dict[str, Any]]:
    for name in _rules_for(measured):
        rule, words = RULES[name]
        verdict, evidence = rule(measured)
        yield {
            "judge": measured.judge,
            "world": measured.world,
            "task": measured.task,
            "representation": measured.representation,
            "finding": name,
            "verdict": verdict,
            "evidence": evidence,
            "rule": words,
        }


FLAGGED = ("JAcc_neu", "Acc_full", "Acc_cf", "p_active", "IDR_raw", "SuccC")


def flagged(metrics: list[Metric], found: list[dict[str, Any]]) -> list[Metric]:
    """`metrics` with the degenerate regime of a judge named on the numbers that it makes misleading."""
    regime = {
        (row["judge"], row["world"], row["task"], row["representation"]): row["finding"].rsplit("_", 1)[0]
        for row in found
        if row["verdict"] == "present" and row["finding"] in DEGENERATE[:2]
    }
    return [
        {**row, "flag": flag}
        if row["metric"] in FLAGGED
        and not row["flag"]
        and (flag := regime.get((row["judge"], row["world"], row["task"], row["representation"])))
        else row
        for row in metrics
    ]
