import pytest

from tasks.errors import BadInput
from tasks.scoring import grade
from tasks.scoring.compare import compare
from tasks.scoring.power import discordance, groups_needed, power
from tasks.scoring.simulation import Judge, exam


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
