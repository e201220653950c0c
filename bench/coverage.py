"""Coverage of the 95% intervals by simulation: the percentile bootstrap beside the intervals that the project uses.

    python bench/coverage.py [REPLICATIONS] [GROUPS]

Groups draw a latent intercept; a judge's verdicts are independent given it. Truth is by quadrature. `used` is rate_interval
(or difference_interval for a difference), `percentile` the clustered percentile bootstrap with 1,000 resamples.
"""

from __future__ import annotations

import sys

import numpy as np

from tasks.statistics.bootstrap import Sums, percentile_interval, resample
from tasks.statistics.intervals import difference_interval, rate_interval

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def logistic(x):
    return 1 / (1 + np.exp(-x))


def mean(values) -> float:
    return float(WEIGHTS @ values)


def scenarios():
    """(name, truth, draw) where draw(rng, groups) gives (num, den) of shape (groups,)."""
    for base in (-3.0, -2.0, -1.0, 0.0, 1.5, 3.0):

        def one(rng, groups, base=base):
            u = rng.standard_normal(groups)
            return (rng.random(groups) < logistic(base + u)).astype(float), np.ones(groups)

        yield f"one verdict a group, logit {base:+.1f}", mean(logistic(base + NODES)), one
    for full, cf in ((1.0, -1.0), (2.0, 0.0), (-1.0, -2.0), (3.0, 2.5)):

        def pair(rng, groups, full=full, cf=cf, given=False):
            u = rng.standard_normal(groups)
            active = (rng.random(groups) < logistic(full + u)).astype(float)
            rejected = (rng.random(groups) < 1 - logistic(cf + u)).astype(float)
            return active * rejected, active if given else np.ones(groups)

        p, q = logistic(full + NODES), 1 - logistic(cf + NODES)
        yield f"IDR_raw, logits {full:+.1f} {cf:+.1f}", mean(p * q), pair
        yield (
            f"IDR_cond, logits {full:+.1f} {cf:+.1f}",
            mean(p * q) / mean(p),
            lambda rng, groups, f=pair: f(rng, groups, given=True),
        )
    for base, spread, items in ((0.0, 1.0, 27), (2.0, 1.0, 27), (2.5, 2.0, 9), (-2.0, 0.3, 9), (0.0, 2.0, 2)):

        def many(rng, groups, base=base, spread=spread, items=items):
            p = logistic(base + spread * rng.standard_normal((groups, 1)))
            return (rng.random((groups, items)) < p).sum(1).astype(float), np.full(groups, float(items))

        yield f"{items} verdicts a group, logit {base:+.1f} sd {spread}", mean(logistic(base + spread * NODES)), many
    for base, effects in ((1.0, (0.5, -0.5)), (0.0, (2.0, 2.0)), (2.0, (0.0, 0.0))):

        def stable(rng, groups, base=base, effects=effects):
            logit = base + rng.standard_normal((groups, 1)) + np.array([0.0, *effects])
            y = rng.random((groups, 3)) < logistic(logit)
            return (y[:, 1:] == y[:, :1]).mean(1), np.ones(groups)

        p = [logistic(base + NODES + effect) for effect in (0.0, *effects)]
        yield (
            f"NS, logit {base:+.1f} effects {effects}",
            mean(np.mean([p[0] * x + (1 - p[0]) * (1 - x) for x in p[1:]], 0)),
            stable,
        )
    for first, second in ((0.0, 0.0), (1.0, 0.0), (2.5, 2.5), (3.0, 1.0), (3.0, -3.0)):

        def difference(rng, groups, first=first, second=second):
            u = rng.standard_normal(groups)
            a, b = (rng.random(groups) < logistic(x + u) for x in (first, second))
            return a.astype(float) - b, np.ones(groups)

        truth = mean(logistic(first + NODES) - logistic(second + NODES))
        yield f"difference, logits {first:+.1f} {second:+.1f}", truth, difference


def main(replications: int, groups: int) -> None:
    print(f"{groups} groups, {replications} replications{'':14s}truth    used   percentile")
    for name, truth, draw in scenarios():
        rng = np.random.default_rng(20260101)
        drawn = [draw(rng, groups) for _ in range(replications)]
        sums = Sums(np.array([num for num, _ in drawn]).T, np.array([den for _, den in drawn]).T)
        signed = name.startswith("difference")
        low, high, _ = difference_interval(sums) if signed else rate_interval(sums)
        covered = np.nanmean(np.where(np.isnan(low), np.nan, (low <= truth + 1e-12) & (truth - 1e-12 <= high)))
        share = []
        for start in range(0, replications, 100):  # the bootstrap's draws must differ between replications
            some = Sums(sums.num[:, start : start + 100], sums.den[:, start : start + 100])
            boot = percentile_interval(resample(some, 1000, seed=start))
            share.append(np.nanmean((boot[0] <= truth + 1e-9) & (truth - 1e-9 <= boot[1])))
        print(f"{name:48s}{truth:7.3f}{covered:8.3f}{np.mean(share):10.3f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 48)
