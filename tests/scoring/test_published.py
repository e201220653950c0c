"""The published table of ten judges on reference-aided Task D, from their answers."""

import json
from pathlib import Path

import pytest

from tasks.parsing import parse_answer
from tests.scoring.helpers import INDEX, RULES, VERDICT, assessed, published_graded, read_csv

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "taskd_r"
COLUMNS = {
    "JAccneu_D": ("JAcc_neu", "all"),
    "Acc_full_D": ("Acc_full", "all"),
    "Acc_nocue_D": ("Acc_nocue", "all"),
    "Acc_cf_D": ("Acc_cf", "all"),
    "IDR_raw_D": ("IDR_raw", "eligible"),
    "IDR_cond_D": ("IDR_cond", "eligible"),
    "p_active_D": ("p_active", "eligible"),
    "NS_frame_D": ("NS_framing", "eligible"),
    "JCR_frame_D": ("JCR_framing", "eligible"),
    "NS_vis_D": ("NS_visual", "eligible"),
    "JCR_vis_D": ("JCR_visual", "eligible"),
}
# Paper 1, Table 13: p_active, IDR_raw, group interval, environment interval.
TABLE_13 = {
    "claude-sonnet-4-6": (0.250, 0.250, 0.000, 0.500, 0.000, 0.583),
    "gemini-2.0-flash": (0.667, 0.583, 0.333, 0.833, 0.250, 0.917),
    "gemini-2.5-flash-lite": (0.750, 0.167, 0.000, 0.417, 0.000, 0.333),
    "gemini-3-flash-preview": (0.833, 0.167, 0.000, 0.417, 0.000, 0.500),
    "gpt-4o": (0.750, 0.500, 0.250, 0.750, 0.167, 0.833),
    "gpt-5.4": (0.750, 0.333, 0.083, 0.583, 0.083, 0.667),
    "kimi-k2.5": (0.167, 0.000, 0.000, 0.000, 0.000, 0.000),
    "qwen3-235b-a22b": (1.000, 0.000, 0.000, 0.000, 0.000, 0.000),
    "qwen3-32b": (0.000, 0.000, 0.000, 0.000, 0.000, 0.000),
    "qwen3-8b": (1.000, 0.000, 0.000, 0.000, 0.000, 0.000),
}


@pytest.fixture(scope="module")
def published():
    return assessed(published_graded("published"), 20_000)


@pytest.mark.parametrize("row", read_csv("taskd_published_metrics.csv"), ids=lambda row: row["model"])
def test_every_cell_of_the_published_table(published, row):
    made, metrics = published
    for column, (metric, protocol) in COLUMNS.items():
        found = metrics[row["model"], "D", None, metric, protocol, "all"]["value"]
        if row[column] == "":
            assert found is None, column
        else:
            assert found == pytest.approx(float(row[column]), abs=5.1e-7), column
    conditional = metrics[row["model"], "D", None, "IDR_cond", "eligible", "all"]
    active = metrics[row["model"], "D", None, "p_active", "eligible", "all"]
    assert active["n_groups"] == int(row["G_D"])
    assert conditional["n_groups"] == int(row["G_active_D"])
    regimes = {f["finding"] for f in made["findings"] if f["judge"] == row["model"] and f["verdict"] == "present"} & {
        "all_fail_degenerate",
        "success_biased_degenerate",
    }
    assert regimes == {f"{row['Degenerate_D']}_degenerate"} - {"nondegenerate_degenerate"}


def test_table_13_values_and_intervals():
    _, metrics = assessed(published_graded("leading"), 20_000)
    for judge, expected in TABLE_13.items():
        raw = metrics[judge, "D", None, "IDR_raw", "all", "all"]
        active = metrics[judge, "D", None, "p_active", "all", "all"]["value"]
        found = (active, raw["value"], raw["boot_low"], raw["boot_high"], raw["env_low"], raw["env_high"])
        assert found == pytest.approx(expected, abs=6e-4), judge
    assert raw["ci_high"] > 0.2  # 0 of 12 groups is not a certain 0: the project's own interval is exact there


@pytest.mark.parametrize("judge", ["gpt-4o", "qwen3-235b-a22b"])
def test_leakage_under_separation_is_large_and_finite(published, judge):
    les = published[1][judge, "D", None, "LES_framing", "eligible", "all"]
    assert 4 < les["value"] < 10
    assert 1 < les["ci_low"] < les["value"] < les["ci_high"] < 50
    assert les["flag"] == "separated"
    assert published[1][judge, "D", None, "JCR_framing", "eligible", "all"]["value"] == 0


def test_what_changes_under_the_robust_rule():
    changed = {}
    for row in read_csv("taskd_verdicts.csv"):
        for judge, cell in row.items():
            if judge not in INDEX and cell[RULES["published"]] != cell[RULES["robust"]]:
                changed[judge, row["uid"].split(".", 3)[3]] = (VERDICT[cell[0]], VERDICT[cell[1]])
    kimi = {uid: change for (judge, uid), change in changed.items() if judge == "kimi-k2.5"}
    # three answers that begin with Fail and end on a success word
    assert [change for change in kimi.values() if change[1]] == [("success", "fail")] * 3
    # eight that were cut off before any verdict
    assert sum(change[1] is None for change in kimi.values()) == 8
    # two of Gemini 3: "No," inside a cut-off thought, and a verdict that the answer goes on to re-read and breaks off
    assert sorted(change for (judge, _), change in changed.items() if judge == "gemini-3-flash-preview") == [
        ("fail", None),
        ("success", None),
    ]
    assert len(changed) == 13


def test_the_fact_table_is_what_the_parsers_read():
    if not REFERENCE.is_dir():
        pytest.skip("the published answers are not here; the fact table stands for them")
    heads = json.loads((REFERENCE / "kimi-k2.5.heads.json").read_text())
    table = {row["uid"]: row for row in read_csv("taskd_verdicts.csv")}
    for path in sorted(REFERENCE.glob("*.jsonl")):
        if path.stem == "exam_index":
            continue
        for line in path.read_text().splitlines():
            row = json.loads(line)
            text = row.get("raw", row.get("raw_tail"))
            if row["uid"] in heads and path.stem == "kimi-k2.5":
                text = heads[row["uid"]] + "\n[...]\n" + text
            for rule, place in RULES.items():
                if "pred_norm" in row and rule == "published":
                    continue  # only tails are kept: the release's own parse stands in the table
                expected = VERDICT[table[row["uid"]][path.stem][place]]
                assert parse_answer(text, "success_fail", rule).value == expected, (path.stem, row["uid"], rule)
