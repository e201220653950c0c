"""Clustered bootstrap: groups are drawn with replacement, whole, and every metric is a ratio of sums over groups.

A metric is given by two numbers a group, its part of the numerator and of the denominator; its value is the ratio of the
sums. A resample is a vector of weights (how often each group was drawn), so all metrics of all judges are resampled by
one matrix product, on the same draws: differences between them are paired. Groups that look alike in every column are
one pattern, drawn by its multiplicity: the distribution is the same and the matrix smaller (paper 1, Appendix A.5).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.floating]
ENUMERABLE = 7  # clusters
BLOCK = 2_000  # resamples at once: bounds memory and keeps a block in cache
RESAMPLES = 20_000


@dataclass(frozen=True)
class Sums:
    """Per-cluster numerators and denominators: `num`, `den` of shape (clusters, metrics); every cluster counts once."""

    num: Floats
    den: Floats

    def by(self, labels: NDArray[np.integer]) -> Sums:
        """The same sums over coarser clusters, such as environments. `labels` (clusters,) are 0 ... k-1."""
        one_hot = np.zeros((int(labels.max(initial=-1)) + 1, len(labels)))
        one_hot[labels, np.arange(len(labels))] = 1.0
        return Sums(one_hot @ self.num, one_hot @ self.den)

    def value(self) -> Floats:
        """(metrics,) ratios; NaN where nothing is in the denominator."""
        return ratio(self.num.sum(0), self.den.sum(0))


def ratio(num: Floats, den: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(den > 0, num / den, np.nan)


def patterns(columns: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct rows of `columns` (clusters, k) and how often each occurs."""
    rows = np.ascontiguousarray(columns)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return rows[first], counts


def weights(counts: NDArray[np.int64], resamples: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """(resamples, patterns): how often each pattern is drawn when `counts.sum()` clusters are drawn with replacement."""
    total = int(counts.sum())
    if 4 * len(counts) <= total:  # few patterns: one multinomial draw a resample
        return rng.multinomial(total, counts / total, size=resamples).astype(np.float32)
    draws = rng.integers(0, total, size=(resamples, total), dtype=np.uint32)
    if len(counts) < total:
        draws = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)[draws]
    draws += np.arange(resamples, dtype=np.uint32)[:, None] * np.uint32(len(counts))
    return np.bincount(draws.ravel(), minlength=resamples * len(counts)).reshape(resamples, -1).astype(np.float32)


def resample(sums: Sums, resamples: int = RESAMPLES, seed: int = 0) -> NDArray[np.float32]:
    """(resamples, metrics) values of every metric under the clustered bootstrap, all on the same draws.

    NaN where a resample has nothing in a metric's denominator. The same seed gives the same draws whatever the metrics'
    order, as long as the clusters are the same.
    """
    clusters, metrics = sums.num.shape
    if clusters == 0 or metrics == 0:
        return np.full((resamples, metrics), np.nan, np.float32)
    rows, counts = patterns(np.hstack([sums.num, sums.den]).astype(np.float32))
    rng = np.random.default_rng(seed)
    result = np.empty((resamples, metrics), np.float32)
    for start in range(0, resamples, BLOCK):
        totals = weights(counts, min(BLOCK, resamples - start), rng) @ rows
        result[start : start + BLOCK] = ratio(totals[:, :metrics], totals[:, metrics:])
    return result


def enumerate_draws(clusters: int) -> tuple[Floats, Floats]:
    """(draws, clusters) weights and (draws,) probabilities of every resample that there is. For a handful of clusters,
    such as environments, they are few: C(2k - 1, k), 462 for six."""
    places = np.array(list(itertools.combinations_with_replacement(range(clusters), clusters)))
    counts = (places[:, :, None] == np.arange(clusters)).sum(1)
    logs = scipy.special.gammaln(clusters + 1) - scipy.special.gammaln(counts + 1).sum(1) - clusters * np.log(clusters)
    return counts.astype(float), np.exp(logs)


def exact_percentiles(sums: Sums, level: float = 0.95) -> tuple[Floats, Floats]:
    """Percentile interval of the clustered bootstrap over few clusters, by enumeration instead of by chance: the
    smallest value that is reached with probability (1 - level) / 2, and the same from above."""
    draws, chances = enumerate_draws(len(sums.num))
    values = ratio(draws @ sums.num, draws @ sums.den)
    order = np.argsort(values, axis=0)  # NaN last
    ordered = np.take_along_axis(values, order, 0)
    weight = np.where(np.isnan(ordered), 0.0, chances[order])
    total = weight.sum(0)
    reached = np.cumsum(weight, 0) / np.where(total > 0, total, 1.0)
    columns = np.arange(values.shape[1])
    low = ordered[np.argmax(reached >= (1 - level) / 2 - 1e-12, axis=0), columns]
    high = ordered[np.argmax(reached >= (1 + level) / 2 - 1e-12, axis=0), columns]
    return np.where(total > 0, low, np.nan), np.where(total > 0, high, np.nan)


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Lower and upper percentiles of `values` (resamples, metrics), linear between order statistics, over the resamples
    in which the metric is defined. NaN where it never is."""
    columns = np.ascontiguousarray(values.T)
    low, high = np.full(len(columns), np.nan), np.full(len(columns), np.nan)
    if not columns.size:
        return low, high
    missing = np.isnan(columns).sum(1)
    for count in np.unique(missing):
        defined = columns.shape[1] - int(count)
        if not defined:
            continue
        chosen = np.flatnonzero(missing == count)
        block = columns[chosen]  # NaN sorts last, so that the defined values come first
        places = [(1 - level) / 2 * (defined - 1), (1 + level) / 2 * (defined - 1)]
        around = sorted({int(place) + step for place in places for step in (0, 1) if int(place) + step < defined})
        block.partition(around, axis=1)
        for bound, place in zip((low, high), places, strict=True):
            floor = int(place)
            upper = block[:, min(floor + 1, defined - 1)].astype(float)
            lower = block[:, floor].astype(float)
            bound[chosen] = lower + (place - floor) * (upper - lower)
    return low, high
