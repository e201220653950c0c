import polars as pl
import pytest

from storage import Store
from tasks.errors import BadInput
from tasks.scoring import grade
from tasks.scoring.compare import COMPARISON, Comparison, compare, gates
from tasks.scoring.power import discordance, groups_needed, power
from tasks.scoring.simulation import Judge, exam
from tasks.stage import Ref, produce


def graded(judge, seed=0, **shape):
    answers = exam(tasks="D", **shape)
    return grade(answers, *judge.answer(answers, seed))


GOOD = Judge("good", full=3.0, cf=-3.0)
WORSE = Judge("worse", full=3.0, cf=1.0)


def test_a_fall_beyond_the_limit_is_a_regression():
    made = compare(graded(GOOD, groups_d=96), graded(WORSE, 1, groups_d=96), ("a", "b"), {"D.IDR_raw": 0.05}, 2000)
    (gate,) = made.gates
    assert gate.verdict == "fell" and gate.ci_high < -0.05 and made.regressed
    row = next(row for row in made.rows if row["metric"] == "IDR_raw")
    assert (row["judge"], row["against"]) == ("b", "a") and row["p_holm"] < 0.001


def test_no_fall_and_too_little_evidence_are_told_apart():
    same = compare(graded(GOOD, groups_d=400), graded(GOOD, 1, groups_d=400), ("a", "b"), {"IDR_raw": 0.1}, 2000)
    assert same.gates[0].verdict == "held" and not same.regressed
    few = compare(graded(GOOD, groups_d=6), graded(GOOD, 3, groups_d=6), ("a", "b"), {"IDR_raw": 0.05}, 2000)
    assert few.gates[0].verdict == "cannot_tell" and not few.regressed


def test_a_judge_against_itself_changes_nothing():
    one = graded(GOOD)
    made = compare(one, one, ("a", "b"), resamples=500)
    assert len(made.changed) == 0 and all(row["difference"] in (0, None) for row in made.rows)


def test_changed_items_are_listed_with_both_answers():
    made = compare(graded(GOOD), graded(WORSE, 1), ("a", "b"), resamples=500)
    assert set(made.changed.columns) >= {"uid", "gold", "first", "second", "first_right", "second_right"}
    assert (made.changed["first"] != made.changed["second"]).all() and len(made.changed) > 10


def test_unequal_read_rates_are_not_compared():
    silent = Judge("silent", full=3.0, cf=-3.0, unread=0.4)
    made = compare(graded(GOOD, groups_d=48), graded(silent, 1, groups_d=48), ("a", "b"), {"IDR_raw": 0.05}, 500)
    assert made.gates[0].verdict == "not_comparable" and made.regressed
    assert all(row["reason"].startswith("not comparable") for row in made.rows)


def test_nothing_in_common_and_unknown_metrics():
    with pytest.raises(BadInput, match="no item in common"):
        compare(graded(GOOD), graded(GOOD).head(0), ("a", "b"))
    with pytest.raises(BadInput, match=r"no metric 'IDR'.*D.IDR_raw"):
        compare(graded(GOOD), graded(GOOD), ("a", "b"), {"IDR": 0.1}, 100)


# --- sample size ---------------------------------------------------------------------------------------------------------


def test_the_stated_number_of_groups_has_the_stated_power():
    groups = groups_needed(0.6, 0.4)
    assert power(0.6, 0.4, groups) >= 0.8 > power(0.6, 0.4, groups - 1) - 0.02
    assert 90 <= groups <= 115  # Connor's formula gives 95


def test_power_by_simulation():
    import numpy as np

    from tasks.statistics.significance import mcnemar

    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(2000):
        one, two = rng.random(60) < 0.7, rng.random(60) < 0.45
        rejected += mcnemar(int((one & ~two).sum()), int((two & ~one).sum()))[0] <= 0.05
    assert rejected / 2000 == pytest.approx(power(0.7, 0.45, 60), abs=0.03)


def test_judges_that_fail_together_need_fewer_groups():
    assert groups_needed(0.5, 0.4, correlation=0.6) < groups_needed(0.5, 0.4)
    assert discordance(0.5, 0.4, 1.0) == pytest.approx(0.1)
    with pytest.raises(BadInput, match="equal"):
        groups_needed(0.3, 0.3)
    with pytest.raises(BadInput, match="between 0 and 1"):
        groups_needed(1.3, 0.3)


# --- as a stage ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sides(tmp_path):
    """A store in which `good` and `worse` have answered an exam, and the inputs of their comparison."""
    store, inputs = Store(tmp_path), {}
    answers = exam(tasks="D", groups_d=96)
    writer = store.writer("answers", "a")
    writer.add("answers", answers)
    writer.commit(1, {}, {})
    for side, judge in (("first", GOOD), ("second", WORSE)):
        responses, parsed = judge.answer(answers, side == "second")
        for stage, table, rows in (("inference", "responses", responses), ("parsing", "parsed", parsed)):
            writer = store.writer(stage, side)
            writer.add(table, rows)
            writer.commit(1, {}, {})
        inputs |= {
            f"answers.{side}": Ref("answers", "a"),
            f"responses.{side}": Ref("inference", side),
            f"parsed.{side}": Ref("parsing", side),
        }
    return store, inputs


CONFIG = {"names": ["good", "worse"], "resamples": 500, "seed": 3, "max_gap": 0.1}


def test_a_comparison_is_rebuilt_from_its_artifact(sides):
    store, inputs = sides
    ref = produce(store.location, COMPARISON, "all", CONFIG, inputs).ref
    artifact = store.get(ref.stage, ref.key)
    rebuilt = Comparison.from_artifact(artifact, {"D.IDR_raw": 0.05})
    first, second = graded(GOOD, groups_d=96), graded(WORSE, 1, groups_d=96)
    made = compare(first, second, ("good", "worse"), {"D.IDR_raw": 0.05}, 500, 3)
    assert (rebuilt.first, rebuilt.second, rebuilt.read, rebuilt.gates) == ("good", "worse", made.read, made.gates)
    assert rebuilt.rows == made.rows and rebuilt.changed.equals(made.changed) and len(made.changed)
    assert rebuilt.regressed and made.read == {"simulated D": (1.0, 1.0)}


def test_limits_are_decided_on_afterwards(sides):
    """Another limit is the same artifact."""
    store, inputs = sides
    result = produce(store.location, COMPARISON, "all", CONFIG, inputs)
    again = produce(store.location, COMPARISON, "all", CONFIG, inputs)
    assert again.reused and again.ref == result.ref
    rows = store.get("comparison", result.ref.key).read("comparisons").to_dicts()
    assert gates({"D.IDR_raw": 0.99}, rows)[0].verdict == "held"
    assert gates({"D.IDR_raw": 0.05}, rows)[0].verdict == "fell"
    with pytest.raises(BadInput, match=r"no metric 'IDR'.*D.IDR_raw"):
        gates({"IDR": 0.1}, rows)


def test_answers_to_another_exam_and_no_answers_are_refused(sides):
    store, inputs = sides
    other = exam(tasks="D", groups_d=1).with_columns(uid=pl.lit("X.") + pl.col("uid"))
    responses, parsed = GOOD.answer(other)
    for key, tables in (("other", (other, responses, parsed)), ("none", (other, responses.head(0), parsed.head(0)))):
        for stage, table, rows in zip(
            ("answers", "inference", "parsing"), ("answers", "responses", "parsed"), tables, strict=True
        ):
            writer = store.writer(stage, key)
            writer.add(table, rows)
            writer.commit(1, {}, {})
        odd = {
            "answers.second": Ref("answers", key),
            "responses.second": Ref("inference", key),
            "parsed.second": Ref("parsing", key),
        }
        why = {"other": "no item in common; compare answers to the same exam", "none": "worse answered nothing"}[key]
        with pytest.raises(BadInput, match=why):
            produce(store.location, COMPARISON, "all", CONFIG, inputs | odd)
