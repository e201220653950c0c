import numpy as np
import pytest
from scipy import stats

from tasks.scoring.les import cochran_q, leakage


def judge(groups, effects, seed, intercept=0.3, spread=1.0):
    rng = np.random.default_rng(seed)
    logit = intercept + spread * rng.standard_normal((groups, 1)) + np.array([0.0, *effects])
    return (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(float)


def test_effects_are_recovered():
    fit = leakage(judge(2000, (1.0, -1.5), 3), ("pos", "neg"))
    assert fit.effects == pytest.approx([1.0, -1.5], abs=0.2)
    assert fit.spread == pytest.approx(1.0, abs=0.25)
    assert fit.les_low < 1.5 < fit.les_high and not fit.separated and fit.p_value < 1e-6


def test_order_of_groups_does_not_matter():
    table = judge(30, (1.0, -1.0), 5)
    one, two = leakage(table, ("pos", "neg")), leakage(table[::-1], ("pos", "neg"))
    assert one == two or np.allclose(one.effects, two.effects)


def test_separation_is_finite_and_says_so():
    table = np.array([[1, 1, 0]] * 9 + [[0, 1, 0]] * 3, float)
    fit = leakage(table, ("pos", "neg"))
    assert fit.separated == ("pos", "neg")
    assert fit.les == pytest.approx(4.68, abs=0.02)  # the same model by another program: see docs/statistics.md
    assert fit.les_high == pytest.approx(22.1, abs=0.5) and fit.low[1] == pytest.approx(-16.4, abs=0.5)  # by the prior
    assert fit.les_low > 0.68  # the exact conditional bound for 9 against 0 discordant pairs
    assert np.isfinite([*fit.low, *fit.high, fit.les_high]).all()


def test_a_judge_that_never_changes_has_no_leak():
    fit = leakage(np.ones((20, 3)), ("pos", "neg"))
    assert fit.n_changed == 0 and fit.p_value is None and fit.les_low == 0 and fit.les < 0.2


def test_missing_verdicts_and_too_few_groups():
    table = judge(40, (2.0, 0.0), 8)
    table[::4, 1] = np.nan
    assert leakage(table, ("pos", "neg")).effects[0] > 0.5
    assert leakage(np.array([[1.0, 0.0, 1.0]]), ("pos", "neg")).reason.startswith("1 groups")
    assert leakage(np.full((5, 3), np.nan), ("pos", "neg")).les is None


def test_cochran_q_is_mcnemar_for_two():
    table = np.array([[1, 0]] * 12 + [[0, 1]] * 3 + [[1, 1]] * 5, float)
    assert cochran_q(table) == pytest.approx(stats.chi2.sf((12 - 3) ** 2 / 15, 1))
