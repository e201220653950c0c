"""95% intervals in closed form for clustered ratios, and which one is used where.

The percentile bootstrap that paper 1 uses covers too seldom near 0 and 1 and with few groups (docs/statistics.md has the
simulation), so it is reported beside, not as, the interval of a rate:

    wilson      a rate in [0, 1]: Wilson's score interval at the effective number of groups
    exact       a rate of exactly 0 or 1: Clopper and Pearson over the groups
    adjusted    a signed mean in [-1, 1]: one pseudo-group at +1 and one at -1 (Bonett and Price, for paired proportions)
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from tasks.statistics.bootstrap import Floats, Sums, ratio


def clustered_variance(sums: Sums) -> Floats:
    """(metrics,) linearized variance of each ratio over independent clusters, with the G / (G - 1) correction."""
    present = sums.den > 0
    clusters = present.sum(0)
    value = sums.value()
    residual = np.where(present, sums.num - np.nan_to_num(value) * sums.den, 0.0)
    return ratio((residual**2).sum(0) * ratio(clusters, clusters - 1.0), sums.den.sum(0) ** 2)


def effective_groups(sums: Sums) -> Floats:
    """(metrics,) how many independent yes/no answers carry as much information as the clustered ones.

    p (1 - p) over the clustered variance, kept between Kish's effective number of clusters and, for counts, the number
    of observations; at p = 0 or 1 the former.
    """
    value, variance = np.nan_to_num(sums.value()), clustered_variance(sums)
    observations = sums.den.sum(0)
    kish = np.nan_to_num(ratio(observations**2, (sums.den**2).sum(0)))
    counts = np.all(sums.num == np.round(sums.num), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        implied = np.where(variance > 0, value * (1 - value) / variance, kish)
    return np.maximum(np.where(counts, np.minimum(implied, np.maximum(observations, kish)), implied), kish)


def _several(sums: Sums) -> NDArray[np.bool_]:
    """Metrics in which a cluster may count more than once, so that the variance is estimated between clusters."""
    several: NDArray[np.bool_] = np.any((sums.den != 0) & (sums.den != 1), axis=0)
    return several


def rate_interval(sums: Sums, level: float = 0.95) -> tuple[Floats, Floats, list[str]]:
    """Lower, upper and method (`wilson` or `exact`) for rates in [0, 1]; NaN and "" where nothing is observed."""
    value, size = sums.value(), effective_groups(sums)
    clusters = (sums.den > 0).sum(0)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = scipy.stats.t.ppf((1 + level) / 2, np.maximum(clusters - 1, 1))
        size = np.where(_several(sums), size * (z / t) ** 2, size)  # the variance is estimated from few clusters
        center = (value + z**2 / (2 * size)) / (1 + z**2 / size)
        half = z / (1 + z**2 / size) * np.sqrt(np.maximum(value * (1 - value), 0) / size + z**2 / (4 * size**2))
        tail = ((1 - level) / 2) ** (1 / np.maximum(clusters, 1))
    low, high = np.maximum(center - half, 0.0), np.minimum(center + half, 1.0)
    none, every = value == 0, value == 1
    low = np.where(none, 0.0, np.where(every, tail, low))
    high = np.where(every, 1.0, np.where(none, 1 - tail, high))
    empty = np.isnan(value)
    low[empty], high[empty] = np.nan, np.nan
    method = np.where(empty, "", np.where(none | every, "exact", "wilson"))
    return low, high, [str(name) for name in method]


def difference_interval(sums: Sums, level: float = 0.95) -> tuple[Floats, Floats, list[str]]:
    """Lower, upper and method (`adjusted`) for signed means of per-group differences in [-1, 1].

    Each cluster counts by its mean difference, so `sums.den` should be equal over clusters or nearly so.
    """
    means = ratio(sums.num, sums.den)
    clusters = (sums.den > 0).sum(0)
    total, squares = np.nansum(means, axis=0), np.nansum(means**2, axis=0)
    size = clusters + 2.0
    center = total / size
    variance = np.maximum((squares + 2.0) / size - center**2, 0.0) / size
    half = scipy.stats.norm.ppf((1 + level) / 2) * np.sqrt(variance)
    low, high = np.maximum(center - half, -1.0), np.minimum(center + half, 1.0)
    empty = clusters == 0
    low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    return low, high, ["" if nothing else "adjusted" for nothing in empty]


def exact_interval(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson for `successes` of `trials`; (0, 1) for no trials."""
    if trials == 0:
        return 0.0, 1.0
    found = scipy.stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return float(found.low), float(found.high)
