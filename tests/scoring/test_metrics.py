import json

import polars as pl
import pytest

from storage import Store
from storage.tables import SCHEMAS
from tasks.errors import BadInput
from tasks.parsing import PARSING
from tasks.scoring import SCORING, assess, grade
from tasks.scoring.simulation import Judge, exam, sit
from tasks.stage import Ref, produce
from tests.scoring.helpers import assessed, keyed

LEAKY = Judge("leaky", full=1.2, cf=-0.5, spread=1.0, effects={"pos": 2.0, "neg": -2.2, "rev": -0.6}, split=1.8)
SOLID = Judge("solid", full=6.0, cf=-6.0, spread=0.2, action=0.9, without_action=0.25, scene=1.0)
IGNORANT = Judge("ignorant", full=6.0, cf=6.0, spread=0.2, action=0.6, without_action=None)
SILENT = Judge("partial", full=1.0, cf=-1.0, unread=0.15)
JUDGES = [LEAKY, SOLID, IGNORANT, SILENT]


@pytest.fixture(scope="module")
def planted():
    answers = exam(groups_c=240, groups_d=480, items_a=600, items_b=600)
    responses, parsed = sit(answers, JUDGES, seed=11)
    return assessed(grade(answers, responses, parsed))


def test_planted_truth_is_recovered(planted):
    """Every metric of every judge within its 95% interval, but for the share that may miss by chance."""
    _, metrics = planted
    checked, missed = 0, []
    for judge in JUDGES:
        for task, representation in (
            ("C", "composite"),
            ("C", "composite/split"),
            ("D", None),
            ("A", None),
            ("B", None),
            ("E", None),
        ):
            for metric, truth in judge.truth(task).items():
                row = metrics.get(
                    (judge.name, task, representation, metric, "all" if metric == "share_parsed" else "eligible", "all")
                )
                if row is None:
                    continue
                checked += 1
                if not row["ci_low"] - 1e-9 <= truth <= row["ci_high"] + 1e-9:
                    missed.append((judge.name, task, metric, truth, row["value"], row["ci_low"], row["ci_high"]))
    assert checked > 150
    assert len(missed) <= 0.09 * checked, missed


def test_judges_get_the_failure_modes_they_were_built_to_have(planted):
    present = {(f["judge"], f["task"], f["finding"]) for f in planted[0]["findings"] if f["verdict"] == "present"}
    for task in "CD":
        assert ("leaky", task, "presentation_leakage") in present
        assert ("ignorant", task, "success_biased_degenerate") in present
        assert ("ignorant", task, "stability_trap") in present
        assert ("ignorant", task, "causal_misgrounding") in present
    assert ("leaky", "C", "representation_fragility") in present
    assert ("ignorant", "A", "action_ignorant_heuristic") in present
    assert not [found for found in present if found[0] == "solid"]
    absent = {(f["judge"], f["task"], f["finding"]) for f in planted[0]["findings"] if f["verdict"] == "absent"}
    for mode in ("presentation_leakage", "causal_misgrounding", "stability_trap", "all_fail_degenerate"):
        assert ("solid", "C", mode) in absent
    assert ("solid", "A", "action_ignorant_heuristic") in absent


def test_always_fail_is_all_fail_and_its_numbers_say_so():
    answers = exam(tasks="CD")
    made, metrics = assessed(grade(answers, *sit(answers, [Judge("never", full=-9.0, cf=-9.0, spread=0.0)])))
    assert metrics["never", "D", None, "p_active", "all", "all"]["flag"] == "all_fail"
    assert metrics["never", "D", None, "Acc_cf", "all", "all"]["value"] == 1
    conditional = metrics["never", "D", None, "IDR_cond", "all", "all"]
    assert conditional["value"] is None and "no group accepts" in conditional["reason"]
    verdicts = {f["finding"]: f["verdict"] for f in made["findings"] if f["task"] == "D"}
    assert verdicts["all_fail_degenerate"] == "present" and verdicts["success_biased_degenerate"] == "absent"


def test_counts_of_the_base_exam():
    answers = exam()
    base = answers.filter(pl.col("companion_of").is_null())
    assert dict(base.group_by("task").len().iter_rows()) == {"A": 103, "B": 144, "C": 486, "D": 144, "E": 325}


def one_judge(answers, values, status="ok"):
    """Graded answers of a judge that says `values` (uid -> value or None; absent uids were never answered)."""
    rows = pl.DataFrame(
        [(uid, "j", 0, status, value) for uid, value in values.items()],
        schema={"uid": pl.String, "judge": pl.String, "replicate": pl.Int32, "status": pl.String, "value": pl.String},
        orient="row",
    )
    mode = pl.when(pl.col("value").is_null()).then(pl.lit("none")).otherwise(pl.lit("strict"))
    reason = pl.when(pl.col("value").is_null()).then(pl.lit("no_answer"))
    parsed = rows.drop("status").with_columns(parse_mode=mode, reason=reason)
    return grade(answers, rows.drop("value"), parsed)


def test_denominators_all_and_eligible():
    """4 groups: right pair, CF unread, Full unread, never answered."""
    answers = exam(groups_d=4, tasks="D").filter((pl.col("visual") == "clean") & (pl.col("framing") == "neu"))
    said = {}
    for row in answers.iter_rows(named=True):
        group = int(row["group_id"][-1])
        if group == 3 or row["variant"] == "nocue":
            continue
        unread = (group, row["variant"]) in {(1, "cf"), (2, "full")}
        said[row["uid"]] = None if unread else row["gold"]
    _, metrics = assessed(one_judge(answers, said))

    def of(metric, protocol):
        row = metrics["j", "D", None, metric, protocol, "all"]
        return row["value"], row["n_planned"], row["n_ok"], row["n_groups"]

    assert of("IDR_raw", "all") == (0.25, 4, 1, 4)
    assert of("IDR_raw", "eligible") == (1.0, 4, 1, 1)
    assert of("p_active", "all") == (0.5, 4, 1, 4)
    assert of("JAcc_neu", "eligible") == (1.0, 4, 2, 2)
    bounds = metrics["j", "D", None, "IDR_raw", "all", "all"]
    assert (bounds["bound_low"], bounds["bound_high"]) == (0.25, 1.0)
    assert metrics["j", "D", None, "share_pending", "all", "all"]["value"] == pytest.approx(6 / 12)
    assert metrics["j", "D", None, "share_unparsed", "all", "all"]["value"] == pytest.approx(2 / 12)


def test_errors_leave_the_rate_of_what_was_answered_and_its_bounds():
    """100 items, 10 errors, 80 right of 90."""
    answers = exam(tasks="E").head(48).vstack(exam(tasks="E").slice(48, 48)).vstack(exam(tasks="E").slice(96, 4))
    said = {
        uid: gold if n < 80 else "wrong"
        for n, (uid, gold) in enumerate(answers.select("uid", "gold").iter_rows())
        if n < 90
    }
    _, metrics = assessed(one_judge(answers, said))
    row = metrics["j", "E", None, "E_Acc", "all", "all"]
    assert metrics["j", "E", None, "E_Acc", "eligible", "all"]["value"] == pytest.approx(80 / 90)
    assert (row["value"], row["n_planned"], row["n_ok"]) == (0.8, 100, 90)
    assert (row["bound_low"], row["bound_high"]) == (pytest.approx(0.8), pytest.approx(0.9))


def test_a_missing_group_half_is_left_out_of_pairs():
    answers = exam(groups_d=6, tasks="D")
    half = answers.filter(~((pl.col("group_id").str.ends_with("0")) & (pl.col("variant") == "cf")))
    said = dict(half.select("uid", "gold").iter_rows())
    _, metrics = assessed(one_judge(half, said))
    assert metrics["j", "D", None, "IDR_raw", "all", "all"]["n_groups"] == 5
    assert metrics["j", "D", None, "JAcc_neu", "all", "all"]["n_groups"] == 6


def test_an_all_unparsed_judge_has_no_numbers_and_says_why():
    answers = exam()
    made, metrics = assessed(one_judge(answers, dict.fromkeys(answers["uid"])))
    row = metrics["j", "D", None, "IDR_raw", "eligible", "all"]
    assert row["value"] is None and row["reason"] == "none of 12 answers could be read"
    assert all(m["reason"] for m in made["metrics"] if m["value"] is None)
    assert {f["verdict"] for f in made["findings"]} == {"undecided"}
    assert all(f["evidence"] for f in made["findings"])


def test_one_group_only_has_values_without_intervals():
    answers = exam(groups_c=1, groups_d=1, tasks="CD")
    made, metrics = assessed(grade(answers, *sit(answers, [SOLID, LEAKY])))
    row = metrics["solid", "D", None, "JAcc_neu", "all", "all"]
    assert row["value"] == 1 and row["ci_low"] is None and row["flag"] == "one_group"
    assert all(m["reason"] for m in made["metrics"] if m["value"] is None)


def test_position_bias_shows():
    """A judge that always says A scores chance and is seen to say A."""
    answers = exam(tasks="A")
    _, metrics = assessed(one_judge(answers, dict.fromkeys(answers["uid"], "A")))
    assert metrics["j", "A", None, "chose_A", "all", "all"]["value"] == 1
    assert metrics["j", "A", None, "Acc_A1", "all", "all"]["value"] == pytest.approx(0.25, abs=0.01)
    assert metrics["j", "A", None, "delta_mask", "all", "all"]["value"] == 0


def test_probe_baselines_are_matched_exactly():
    """Task C asks temporal and visual probes without a preamble: their baseline is that item, not the neutral one."""
    answers = exam(groups_c=6, tasks="C")
    said = {}
    for row in answers.iter_rows(named=True):
        flips = row["visual"] == "noisy" or (row["framing"] == "neu")
        right = row["gold"] if not flips else {"yes": "no", "no": "yes"}[row["gold"]]
        said[row["uid"]] = right
    _, metrics = assessed(one_judge(answers, said))

    def of(metric, representation="composite"):
        return metrics["j", "C", representation, metric, "all", "all"]["value"]

    assert of("JCR_temporal") == 1 and of("NS_visual") == 0.5 and of("JCR_visual") == 0
    assert of("NS_framing") == 0 and of("JCR_framing") == 0 and of("Flip_framing") == 1
    assert of("degradation_noise") == 1 and of("rescue_noise") == 0 and of("delta_acc_noise") == -1
    assert of("degradation_style") == 0 and of("rescue_positive") == 1
    assert of("VCC_rep", "composite/split") == 1


def test_a_scene_counts_from_090():
    """A wrong position costs 0.1 and is let pass, a wrong carried object costs 0.2 and is not."""
    answers = exam(tasks="B", items_b=2)
    first, second = (json.loads(gold) for gold in answers["gold"])
    first["agent"]["dir"], second["agent"]["carrying"] = "down", {"type": "key", "color": "red"}
    graded = one_judge(answers, dict(zip(answers["uid"], map(json.dumps, (first, second)), strict=True)))
    assert graded["score"].to_list() == [pytest.approx(0.9), pytest.approx(0.8)]
    assert graded["right"].to_list() == [True, False]


def test_wrong_choices_are_named():
    answers = exam(tasks="A").filter(pl.col("condition") == "true").head(4)
    graded = one_judge(answers, dict.fromkeys(answers["uid"], "A"))
    assert graded["failure"].to_list() == [None, *["chose successor:left"] * 3]


def test_replicates_agree_or_not():
    answers = exam(groups_d=6, tasks="D")
    one, two = one_judge(answers, dict(answers.select("uid", "gold").iter_rows())), {}
    for uid, gold in answers.select("uid", "gold").iter_rows():
        two[uid] = {"success": "fail", "fail": "success"}[gold]
    again = one_judge(answers, two).with_columns(replicate=pl.lit(1, pl.Int32))
    metrics = keyed(assess(pl.concat([one, again]), 200)["metrics"])
    assert metrics["j", "D", None, "retest_agreement", "all", "all"]["value"] == 0
    assert metrics["j", "D", None, "IDR_raw", "all", "all"]["value"] == 1  # the first replicate is the headline


def test_unknown_and_repeated_uids_are_refused():
    answers = exam(groups_d=2, tasks="D")
    with pytest.raises(BadInput, match=r"1 responses are about items .*'nowhere'"):
        one_judge(answers, {"nowhere": "fail"})
    responses, parsed = sit(answers, [SOLID])
    with pytest.raises(BadInput, match="occur twice"):
        grade(answers, pl.concat([responses, responses]), parsed)


def test_comparisons_pair_the_same_groups():
    answers = exam(groups_c=48, groups_d=48, tasks="CD")
    made, metrics = assessed(grade(answers, *sit(answers, [LEAKY, SOLID], seed=2)))
    rows = {
        (r["family"].split(":")[0], r["task"], r["representation"], r["metric"], r["slice"], r["judge"]): r
        for r in made["comparisons"]
    }
    raw = rows["judges", "D", None, "IDR_raw", "all", "leaky"]
    assert raw["against"] == "solid" and raw["difference"] < 0 and raw["ci_high"] < 0
    assert raw["only_second"] - raw["only_first"] == pytest.approx(-raw["difference"] * 48)
    assert raw["p_value"] <= raw["p_holm"]
    conditional = rows["judges", "D", None, "IDR_cond", "all", "leaky"]
    assert conditional["ci_method"] == "percentile" and conditional["p_value"] is None
    split = rows["representation", "C", "composite/split", "Acc", "full", "leaky"]
    assert split["difference"] > 0 and split["n_pairs"] == 48 * 9
    for metric, count in (("gain_full", "only_first"), ("loss_full", "only_second")):
        found = metrics["leaky", "C", "composite/split", metric, "all", "all"]["value"]
        assert found * split["n_pairs"] == pytest.approx(split[count]) and split[count] > 0
    pooled = rows["probes", "C", "composite", "Acc", "noise all", "(all judges)"]
    assert pooled["n_pairs"] == 2 * 48 * 3 and pooled["p_value"] is None
    family = [r for r in made["comparisons"] if r["family"] == "probes: simulated C" and r["p_holm"] is not None]
    assert len(family) == 2 * 3 * 3 * 2  # judges, kinds, variants, representations


def test_the_stages_read_and_write_the_store(tmp_path):
    store = Store(tmp_path)
    answers = exam(groups_c=3, groups_d=6)
    formats = {"A": "letter", "B": "scene", "C": "yes_no", "D": "success_fail", "E": "label"}
    release = store.writer("release", "r")
    release.add(
        "items",
        (
            {"uid": uid, "task": task, "prompt": "?", "image_ids": [], "answer_format": formats[task], "max_tokens": 9}
            for uid, task in answers.select("uid", "task").iter_rows()
        ),
    )
    release.commit(1, {}, {})
    hidden = store.writer("answers", "a")
    hidden.add("answers", answers)
    hidden.commit(1, {}, {"release": "r"})
    inputs = {"answers": Ref("answers", "a")}
    for judge in ("one", "two"):
        writer = store.writer("inference", judge)
        texts = [
            json.dumps({"answer": gold}) if task == "E" else gold
            for task, gold in answers.select("task", "gold").iter_rows()
        ]
        rows = answers.select("uid").with_columns(text=pl.Series(texts), judge=pl.lit(judge), status=pl.lit("ok"))
        writer.add("responses", rows.with_columns(replicate=pl.lit(0, pl.Int32)))
        writer.commit(1, {}, {"release": "r"})
        refs = {"release": Ref("release", "r"), "responses": Ref("inference", judge)}
        parsed = produce(str(tmp_path), PARSING, judge, {"policy": "robust"}, refs)
        inputs |= {f"responses.{judge}": Ref("inference", judge), f"parsed.{judge}": parsed.ref}
    scored = produce(str(tmp_path), SCORING, "all", {"resamples": 200, "seed": 1}, inputs)
    assert scored.rows["scores"] == 2 * len(answers)
    again = produce(str(tmp_path), SCORING, "all", {"resamples": 200, "seed": 1}, inputs, refresh=True)
    artifact = store.get("scoring", scored.ref.key)
    assert artifact.manifest["parts"] == store.get("scoring", again.ref.key).manifest["parts"]  # the same bytes
    metrics = artifact.read("metrics").filter((pl.col("slice") == "all") & (pl.col("protocol") == "all"))
    for metric in ("JAcc_neu", "IDR_raw", "Acc_A1", "B_Acc", "E_Acc", "VCC_rep", "share_strict"):
        assert set(metrics.filter(pl.col("metric") == metric)["value"]) == {1.0}, metric
    assert artifact.arrow("findings").schema == SCHEMAS["findings"]


def test_p_success_of_a_response_is_in_its_score():
    answers = exam(tasks="D")
    verdicts = answers.head(4)
    key = verdicts.select("uid", judge=pl.lit("j"), replicate=pl.lit(0, pl.Int32))
    responses = key.with_columns(status=pl.lit("ok"), p_success=pl.lit(0.7))
    parsed = key.with_columns(parse_mode=pl.lit("strict"), value=pl.lit("success"), reason=pl.lit(None, pl.String))
    assert grade(verdicts, responses, parsed)["p_success"].to_list() == [0.7] * 4
    assert grade(verdicts, responses.drop("p_success"), parsed)["p_success"].null_count() == 4
