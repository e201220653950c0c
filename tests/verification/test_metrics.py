import polars as pl
import pytest

from tasks.traces.perturbations import LABELS
from tasks.verification.audit import audit_rows
from tasks.verification.metrics import metric_rows
from tasks.verification.rewrites import REWRITES


def verdicts(**columns):
    n = len(columns["correct"])
    base = {
        "family": ["lever"] * n,
        "trace_id": [f"t{i}" for i in range(n)],
        "z_schema": ["valid"] * n,
        "z_faith": ["valid"] * n,
        "matches_gold": [None] * n,
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
    assert rows["AnswerAcc"]["value"] == pytest.approx(3 / 5)
    assert rows["AnswerAcc_decided"]["value"] == pytest.approx(3 / 4)
    assert rows["Abstention_state"]["value"] == pytest.approx(1 / 5)
    assert rows["PrimaryFailure_state"]["value"] == 1
    assert rows["PrimaryFailure_state"]["n_ok"] == 2
    none = verdicts(correct=[False], z_state=["invalid"])
    row = next(r for r in metric_rows(none, "m", "trace") if r["metric"] == "HIR_correct")
    assert row["value"] is None
    assert row["reason"]


def test_denominators_are_named():
    """Of four right answers one is in a broken form, one in wrong physics; three can be compared with gold."""
    table = verdicts(
        correct=[True, True, True, True, None],
        z_state=["valid", "valid", "invalid", "valid", "valid"],
        z_schema=["valid", "invalid", "valid", "valid", "invalid"],
        matches_gold=[True, False, True, None, None],
    )
    values = {row["metric"]: row["value"] for row in metric_rows(table, "m", "trace") if row["slice"] == "all"}
    assert values["AnswerAcc"] == pytest.approx(4 / 5) and values["AnswerAcc_decided"] == 1
    assert values["AnswerAcc_gold"] == pytest.approx(2 / 3)
    assert values["HIR_correct"] == pytest.approx(2 / 4) and values["HIR_correct_physics"] == pytest.approx(1 / 4)
    assert values["HIR_all"] == pytest.approx(2 / 5) and values["HIR_all_physics"] == pytest.approx(1 / 5)


def test_samples_of_one_question_are_one_group():
    """Eight traces: of eight questions, of two, of one."""
    table = verdicts(correct=[True] * 4 + [False] * 4, z_state=["valid"] * 8)

    def answer_acc(clusters):
        return next(r for r in metric_rows(table, "m", "trace", clusters) if r["metric"] == "AnswerAcc")

    alone, two, one = answer_acc(None), answer_acc(list("aaaabbbb")), answer_acc(list("aaaaaaaa"))
    assert [row["value"] for row in (alone, two, one)] == [0.5] * 3
    assert [row["n_groups"] for row in (alone, two, one)] == [8, 2, 1]
    assert two["ci_low"] < alone["ci_low"] < 0.5 < alone["ci_high"] < two["ci_high"]
    assert alone["ci_method"] == "wilson"
    assert one["ci_low"] is None and one["flag"] == "one_group" and one["reason"]


def test_none_of_a_few_is_not_a_certain_none():
    rows = metric_rows(verdicts(correct=[True] * 12, z_state=["valid"] * 12), "m", "trace")
    row = next(r for r in rows if r["metric"] == "HIR_all")
    assert (row["value"], row["ci_low"], row["ci_method"]) == (0, 0, "exact") and 0.2 < row["ci_high"] < 0.3


def test_families_keep_their_slices_and_metrics_their_order():
    table = verdicts(correct=[True] * 4, z_state=["valid"] * 4, family=["lever", "lever", "circuit", None])
    rows = metric_rows(table, "m", "trace")
    assert list(dict.fromkeys(row["slice"] for row in rows)) == ["all", "circuit", "lever"]
    assert [row["metric"] for row in rows[:3]] == ["AnswerAcc", "AnswerAcc_decided", "AnswerAcc_gold"]
    assert len(rows) == 3 * (15 + 2 * len(LABELS))


def test_the_audit_has_intervals_over_gold_traces():
    """Two pairs a trace: the traces are the groups, not the pairs."""
    names = [f"t{number}" for number in range(12)]
    traces = pl.DataFrame({"trace_id": names})
    pairs = pl.DataFrame(
        [
            {"pair_id": f"{name}-p{n}", "trace_id": name, "perturbation": "x", "label": LABELS[0], "held_out": False}
            for name in names
            for n in range(2)
        ]
    )
    subjects = [(name, []) for name in names]
    subjects += [(f"{name}/{rewritten}", []) for name in names for rewritten in REWRITES]
    subjects += [(pair, [LABELS[0]] if pair.endswith("p0") else [LABELS[1]]) for pair in pairs["pair_id"]]
    verdicts = pl.DataFrame(
        {"trace_id": [name for name, _ in subjects], "labels": [labels for _, labels in subjects]},
        schema_overrides={"labels": pl.List(pl.String)},
    ).with_columns(
        setting=pl.lit("gold"),
        family=pl.lit("lever"),
        **{z: pl.lit("valid") for z in ("z_state", "z_trans", "z_ans", "z_faith")},
    )
    rows = {(row["slice"], row["metric"]): row for row in audit_rows(traces, pairs, verdicts)}
    missed = rows["all", "FalsePositive"]
    assert (missed["value"], missed["ci_low"], missed["n_groups"]) == (0, 0, 12) and 0.2 < missed["ci_high"] < 0.3
    assert rows[f"rewrite={next(iter(REWRITES))}", "FalsePositive"]["n_ok"] == 12
    right = rows["pool=seen", "RightLabel"]
    assert (right["value"], right["n_ok"], right["n_groups"]) == (0.5, 24, 12)
    assert right["ci_low"] < 0.5 < right["ci_high"]
    assert rows["pool=seen", "Detection"]["ci_method"] == "exact"
    assert rows[f"injected={LABELS[0]},found={LABELS[1]}", "Confusion"]["value"] == 0.5
