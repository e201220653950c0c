import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tasks.statistics.bootstrap import Sums, exact_percentiles, patterns, percentile_interval, ratio, resample, weights
from tasks.statistics.intervals import difference_interval, effective_groups, exact_interval, rate_interval
from tasks.statistics.significance import holm, mcnemar, wilcoxon


def sums_of(num, den=None):
    num = np.asarray(num, float).reshape(len(num), -1)
    return Sums(num, np.ones_like(num) if den is None else np.asarray(den, float).reshape(num.shape))


# --- bootstrap -----------------------------------------------------------------------------------------------------------


def test_the_clustered_bootstrap_has_the_closed_form_error():
    """50 clusters of 6 equal rows: repeated draws must count, and rows of a cluster stay together."""
    rng = np.random.default_rng(1)
    cluster = (rng.random(50) < 0.5).astype(float)
    p = cluster.mean()
    drawn = resample(sums_of(cluster * 6, np.full(50, 6.0)), 20_000, seed=1)
    assert drawn.std() == pytest.approx(math.sqrt(p * (1 - p) / 50), rel=0.02)


def test_rows_repeated_within_a_group_change_nothing():
    rng = np.random.default_rng(2)
    num, den = rng.integers(0, 4, 30).astype(float), np.full(30, 4.0)
    once, four = sums_of(num, den), sums_of(4 * num, 4 * den)
    assert np.allclose(resample(once, 500, 3), resample(four, 500, 3))
    for one, two in zip(rate_interval(once)[:2], rate_interval(four)[:2], strict=True):
        assert np.allclose(one, two)


def test_patterns_and_single_groups_are_drawn_alike():
    rng = np.random.default_rng(4)
    binary = (rng.random((400, 2)) < [0.3, 0.7]).astype(float)
    few = resample(Sums(binary, np.ones_like(binary)), 20_000, 5)  # 4 patterns: multinomial
    noise = np.arange(400.0)[:, None] * 1e-9  # every group its own pattern: draws of indices
    many = resample(Sums(binary + noise, np.ones_like(binary)), 20_000, 6)
    assert np.allclose(few.std(0), many.std(0), rtol=0.03)
    assert np.corrcoef(few.T)[0, 1] == pytest.approx(np.corrcoef(many.T)[0, 1], abs=0.03)


def test_weights_draw_every_group_equally_often():
    counts = np.array([1] * 5 + [35])
    drawn = weights(counts, 5000, np.random.default_rng(0))
    assert (drawn.sum(1) == 40).all()
    assert drawn.mean(0) == pytest.approx(counts, rel=0.1)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_patterns_keep_the_totals(rows):
    columns = np.array(rows, np.float32)
    distinct, counts = patterns(columns)
    assert counts.sum() == len(rows)
    assert np.allclose(counts @ distinct, columns.sum(0))


def test_same_seed_same_draws_and_differences_are_paired():
    rng = np.random.default_rng(0)
    one = (rng.random((60, 1)) < 0.5).astype(float)
    both = Sums(np.hstack([one, one]), np.ones((60, 2)))
    drawn = resample(both, 300, 9)
    assert np.array_equal(drawn[:, 0], drawn[:, 1])
    assert np.array_equal(drawn, resample(both, 300, 9))
    assert not np.array_equal(drawn, resample(both, 300, 10))


def test_a_denominator_that_can_be_empty():
    drawn = resample(sums_of([1, 0, 0], [1, 0, 0]), 2000, 0)
    assert np.isnan(drawn).any() and np.nanmin(drawn) == 1
    low, high = percentile_interval(drawn)
    assert (low[0], high[0]) == (1, 1)
    assert np.isnan(percentile_interval(np.full((10, 1), np.nan))[0]).all()


def test_percentiles_are_numpys():
    values = np.random.default_rng(3).random((999, 4)).astype(np.float32)
    values[::7, 1] = np.nan
    low, high = percentile_interval(values)
    expected = np.nanpercentile(values.astype(float), [2.5, 97.5], axis=0)
    assert np.allclose([low, high], expected, atol=1e-6)


def test_enumerated_resamples_are_what_sampling_converges_to():
    sums = sums_of([1, 3, 0, 2, 5, 4], [5, 5, 2, 5, 5, 5])
    low, high = exact_percentiles(sums)
    sampled = percentile_interval(resample(sums, 60_000, 1))
    assert low[0] == pytest.approx(sampled[0][0], abs=0.02) and high[0] == pytest.approx(sampled[1][0], abs=0.02)


def test_sums_by_coarser_clusters():
    by = sums_of([1, 2, 3, 4]).by(np.array([0, 1, 0, 1]))
    assert by.num.ravel().tolist() == [4, 6] and by.den.ravel().tolist() == [2, 2]
    assert np.isnan(ratio(np.array([1.0]), np.array([0.0])))[0]


# --- intervals -----------------------------------------------------------------------------------------------------------


def test_all_or_none_gets_the_exact_interval():
    low, high, method = rate_interval(Sums(np.array([[1.0, 0.0]] * 10), np.ones((10, 2))))
    assert method == ["exact", "exact"]
    assert (low[0], high[0]) == pytest.approx(exact_interval(10, 10))
    assert (low[1], high[1]) == pytest.approx(exact_interval(0, 10))


def test_one_verdict_a_group_is_wilson():
    low, high, method = rate_interval(sums_of([1] * 13 + [0] * 35))
    expected = stats.binomtest(13, 48).proportion_ci(method="wilson")
    assert method == ["wilson"]
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=0.02)


def test_dependent_answers_count_as_fewer():
    equal = np.repeat([1.0, 0.0], 24)
    assert effective_groups(sums_of(equal * 9, np.full(48, 9.0)))[0] == pytest.approx(48, rel=0.03)
    mixed = np.random.default_rng(1).binomial(9, 0.5, 48).astype(float)
    assert effective_groups(sums_of(mixed, np.full(48, 9.0)))[0] > 250


def test_paired_difference_is_bonett_and_prices():
    """12 pairs only the first gets right, 3 only the second, 33 alike: p12 = 13/50, p21 = 4/50."""
    low, high, method = difference_interval(sums_of([1] * 12 + [-1] * 3 + [0] * 33))
    p12, p21 = 13 / 50, 4 / 50
    half = 1.959964 * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / 50)
    assert method == ["adjusted"]
    assert (low[0], high[0]) == pytest.approx((p12 - p21 - half, p12 - p21 + half))


def test_nothing_observed_has_no_interval():
    low, high, method = rate_interval(sums_of([0, 0], [0, 0]))
    assert np.isnan(low[0]) and np.isnan(high[0]) and method == [""]
    assert difference_interval(sums_of([0, 0], [0, 0]))[2] == [""]


@pytest.mark.parametrize("p", [0.05, 0.2, 0.5, 0.8, 0.95])
def test_coverage_of_a_rate_at_48_groups(p):
    """Exact: every possible count, weighted by its probability, averaged over a small range of p."""
    low, high, _ = rate_interval(Sums((np.arange(48)[:, None] < np.arange(49)[None]).astype(float), np.ones((48, 49))))
    near = np.linspace(p - 0.03, p + 0.03, 61)
    chances = stats.binom.pmf(np.arange(49)[None], 48, near[:, None])
    covered = (chances * ((low[None] <= near[:, None]) & (near[:, None] <= high[None]))).sum(1)
    assert 0.93 <= covered.mean() <= 0.97


def test_coverage_of_a_paired_difference_at_48_groups():
    rng = np.random.default_rng(7)
    for first, second in ((0.5, 0.5), (0.7, 0.5), (0.9, 0.6)):
        drawn = (rng.random((48, 4000)) < first).astype(float) - (rng.random((48, 4000)) < second)
        low, high, _ = difference_interval(Sums(drawn, np.ones_like(drawn)))
        assert 0.93 <= ((low <= first - second) & (first - second <= high)).mean() <= 0.97


# --- tests -----------------------------------------------------------------------------------------------------------------


def test_mcnemar_exact_and_corrected():
    assert mcnemar(9, 0) == (pytest.approx(stats.binomtest(9, 9).pvalue), "mcnemar_exact")
    assert mcnemar(3, 7)[0] == pytest.approx(stats.binomtest(3, 10).pvalue)
    p_value, test = mcnemar(40, 20)
    assert test == "mcnemar_corrected" and p_value == pytest.approx(stats.chi2.sf(19**2 / 60, 1))
    assert mcnemar(0, 0)[0] == 1


def test_holm_by_hand():
    assert holm([0.01, 0.04, None, 0.03]) == [pytest.approx(0.03), pytest.approx(0.06), None, pytest.approx(0.06)]
    assert holm([]) == []


def test_wilcoxon_reproduces_table_3():
    """Paper 1, Table 2 gives each judge's IDR_raw under Composite and Split, Table 3 the p-value 0.063 (5 wins, 5 ties)."""
    composite = [0.06, 0.22, 0.06, 0.67, 0.28, 0.00, 0.36, 0.00, 0.00, 0.00]
    split = [0.12, 0.72, 0.06, 0.67, 0.56, 0.53, 0.72, 0.00, 0.00, 0.00]
    p_value, test = wilcoxon([two - one for one, two in zip(composite, split, strict=True)])
    assert test == "wilcoxon_exact" and p_value == pytest.approx(0.0625)
    assert wilcoxon([0.0, 0.0])[0] is None
