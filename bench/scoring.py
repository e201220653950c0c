"""What scoring costs: the clustered bootstrap against a plain loop and scipy, and the whole of scoring ten judges.

    python bench/scoring.py

Times are CPU seconds of this process (other work on the machine does not count), with BLAS on one thread.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ[name] = "1"

import itertools  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

from tasks.scoring import assess, grade  # noqa: E402
from tasks.scoring.les import _fit  # noqa: E402
from tasks.scoring.simulation import Judge, exam, sit  # noqa: E402
from tasks.statistics.bootstrap import Sums, percentile_interval, resample  # noqa: E402

RESAMPLES, GROUPS, JUDGES = 20_000, 432, 4
METRICS = (
    "p_active",
    "Acc_cf",
    "IDR_raw",
    "IDR_cond",
    "IDR_rev",
    "NS_visual",
    "JCR_visual",
    "NS_framing",
    "JCR_framing",
)


def timed(function, repeats: int = 3) -> float:
    """The least CPU time of a few calls."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def outcomes(seed: int = 0) -> Sums:
    """(432, 36) numerators and denominators: nine metrics of four judges on the same groups."""
    rng = np.random.default_rng(seed)
    num, den = [], []
    for p in rng.uniform(0.2, 0.8, JUDGES):
        y = (rng.random((GROUPS, 5)) < p).astype(float)  # full, cf, style, pos, neg
        full, cf = y[:, 0], y[:, 1]
        ones = np.ones(GROUPS)
        same = (y[:, 2:] == full[:, None]).astype(float)
        num += [
            full,
            1 - cf,
            full * (1 - cf),
            full * (1 - cf),
            (1 - full) * cf,
            same[:, 0],
            same[:, 0],
            same[:, 1:].mean(1),
        ]
        num += [same[:, 1:].min(1)]
        den += [ones, ones, ones, full, ones, ones, ones, ones, ones]
    return Sums(np.array(num).T, np.array(den).T)


def ours(sums: Sums) -> None:
    """Every metric of every judge and every difference between two judges, with percentile intervals."""
    drawn = resample(sums, RESAMPLES, 1)
    percentile_interval(drawn)
    by_judge = drawn.reshape(RESAMPLES, JUDGES, len(METRICS))
    percentile_interval(
        np.concatenate([by_judge[:, a] - by_judge[:, b] for a, b in itertools.combinations(range(JUDGES), 2)], axis=1)
    )


def loop(sums: Sums, resamples: int) -> None:
    """The same, one resample after another."""
    rng = np.random.default_rng(1)
    found = np.empty((resamples, sums.num.shape[1]))
    for index in range(resamples):
        chosen = rng.integers(0, GROUPS, GROUPS)
        found[index] = sums.num[chosen].sum(0) / sums.den[chosen].sum(0)
    by_judge = found.reshape(resamples, JUDGES, len(METRICS))
    np.percentile(found, [2.5, 97.5], axis=0)
    for a, b in itertools.combinations(range(JUDGES), 2):
        np.percentile(by_judge[:, a] - by_judge[:, b], [2.5, 97.5], axis=0)


def scipys(sums: Sums, columns: int) -> None:
    """scipy.stats.bootstrap, batched, paired numerator and denominator; no differences between judges."""
    for column in range(columns):
        stats.bootstrap(
            (sums.num[:, column], sums.den[:, column]),
            lambda n, d, axis: n.sum(axis=axis) / d.sum(axis=axis),
            n_resamples=RESAMPLES, method="percentile", paired=True, vectorized=True, batch=1000, rng=1,
        )  # fmt: skip


def main() -> None:
    sums = outcomes()
    columns = sums.num.shape[1]
    print(f"{RESAMPLES:,} clustered resamples, {GROUPS} groups, {JUDGES} judges, {columns} metrics and 54 differences")
    fast = timed(lambda: ours(sums))
    plain = timed(lambda: loop(sums, RESAMPLES // 10), 1) * 10
    scipy_time = timed(lambda: scipys(sums, 4), 1) * columns / 4
    print(f"  ours                    {fast:8.3f} s   (target 0.5 s)")
    print(f"  a plain loop            {plain:8.3f} s   {plain / fast:6.1f}x   (timed on a tenth)")
    print(f"  scipy.stats.bootstrap   {scipy_time:8.3f} s   {scipy_time / fast:6.1f}x   (metrics only, timed on four)")
    few = Sums(sums.num[:, :3], sums.den[:, :3])
    print(f"  three metrics, one judge{timed(lambda: resample(few, RESAMPLES, 1)):8.3f} s   (few patterns)")

    answers = exam()
    rng = np.random.default_rng(0)
    judges = [
        Judge(
            f"judge {n}",
            full=rng.normal(0.5, 2),
            cf=rng.normal(-1, 2),
            effects={"pos": rng.normal(), "neg": rng.normal()},
            split=rng.normal(),
            unread=0.02,
        )
        for n in range(10)
    ]
    responses, parsed = sit(answers, judges)

    def whole() -> None:
        _fit.cache_clear()
        assess(grade(answers, responses, parsed))

    print(
        f"scoring 10 judges on the base exam ({len(answers):,} items each, 20,000 resamples, LES, comparisons, findings)"
    )
    print(f"  ours                    {timed(whole, 2):8.3f} s   (target 5 s)")


if __name__ == "__main__":
    main()
