"""Bias and coverage of LES on simulated judges whose truth is known.

    python bench/les_simulation.py [REPLICATIONS]

Each line: groups, intercept, sd of the group intercepts, true effects; mean error of each effect, coverage of its 95% interval,
and how often the 95% interval of LES covers the true largest absolute effect.
"""

from __future__ import annotations

import sys

import numpy as np

from tasks.scoring.les import leakage

TRUTHS = ((0.0, 0.0), (0.7, -0.7), (1.5, -1.5), (0.0, 2.5), (3.0, -3.0))


def simulate(groups: int, intercept: float, spread: float, effects: tuple[float, ...], rng: np.random.Generator):
    logits = intercept + spread * rng.standard_normal((groups, 1)) + np.array([0.0, *effects])
    return (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)


def main(replications: int) -> None:
    print("groups  b0   sd   truth           mean error        coverage of effects   coverage of LES   LES mean error")
    for groups in (12, 18, 48):
        for intercept, spread in ((0.0, 0.5), (0.8, 1.5)):
            for effects in TRUTHS:
                rng = np.random.default_rng(
                    [groups, int(10 * intercept), int(10 * spread), *[int(10 + e) for e in effects]]
                )
                errors, covered, les_covered, les_error = [], [], [], []
                truth = np.array(effects)
                for _ in range(replications):
                    fit = leakage(simulate(groups, intercept, spread, effects, rng), ("pos", "neg"))
                    errors.append(fit.effects - truth)
                    covered.append((fit.low <= truth) & (truth <= fit.high))
                    largest = np.abs(truth).max()
                    les_covered.append(fit.les_low <= largest <= fit.les_high)
                    les_error.append(fit.les - largest)
                print(
                    f"{groups:5d} {intercept:5.1f} {spread:4.1f}   {effects!s:14s} {np.round(np.mean(errors, 0), 2)!s:18s}"
                    f"{np.round(np.mean(covered, 0), 3)!s:20s} {np.mean(les_covered):12.3f} {np.mean(les_error):15.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
