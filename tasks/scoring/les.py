"""Presentation leakage: LES and its parts (paper 1, equations 24-26).

Verdicts of Full trajectories under the presentations of one probe family follow a logistic model with a random intercept a
group, integrated by Gauss-Hermite quadrature:

    logit Pr(Y_gk = 1) = b0 + b_k + u_g,   u_g ~ N(0, sigma^2),   b_0 = 0;   LES = max_k |b_k|

Where a presentation never (or always) changes the verdict in one direction the likelihood grows without bound and "the
effect" is the optimizer's stopping rule. Weakly informative priors keep it finite: Cauchy(0, 2.5) on the effects, Cauchy(0,
10) on the intercept (Gelman et al. 2008, Ann. Appl. Stat. 2:1360), half-normal(0, 5) on sigma. The estimate is the posterior
mode; intervals are profile intervals of the posterior; `separated` says that the data alone have no finite estimate.

A fit works on outcome patterns (at most 3^K of them), not on rows, so its cost does not grow with the exam.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
LOG_WEIGHTS = np.log(WEIGHTS / WEIGHTS.sum())
EFFECT_SCALE, INTERCEPT_SCALE, SPREAD_SCALE = 2.5, 10.0, 5.0
LOGISTIC_SD = math.pi / math.sqrt(3)  # equation 26


@dataclass(frozen=True)
class Leakage:
    """One family. `effects`, `low`, `high`: log-odds a probe against the baseline, in the order of `probes`. `les` is the
    largest absolute effect, with `les_low`, `les_high` at simultaneous confidence. `p_value` is Cochran's Q over the
    groups (null where no group changes its verdict). `reason` is set where there is nothing to fit."""

    probes: tuple[str, ...]
    n_groups: int
    n_changed: int
    effects: Array = field(default_factory=lambda: np.zeros(0))
    low: Array = field(default_factory=lambda: np.zeros(0))
    high: Array = field(default_factory=lambda: np.zeros(0))
    les: float | None = None
    les_low: float | None = None
    les_high: float | None = None
    p_value: float | None = None
    spread: float | None = None
    separated: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def d_logit(self) -> float | None:
        return None if self.les is None else self.les / LOGISTIC_SD


class _Model:
    """Log posterior of (b0, b_1 ... b_K, sigma) with gradient and Hessian, over patterns (P, K + 1) of 0, 1 and NaN."""

    def __init__(self, patterns: Array, counts: Array):
        self.seen = (~np.isnan(patterns)).astype(float)
        self.yes = np.nan_to_num(patterns)
        self.no = self.seen - self.yes
        self.counts = counts
        self.levels = patterns.shape[1]
        self.size = self.levels + 1
        # d eta[q, j] / d theta: 1 for b0, an indicator for b_k, the node for sigma
        design = np.zeros((len(NODES), self.levels, self.size))
        design[:, :, 0] = 1.0
        for level in range(1, self.levels):
            design[:, level, level] = 1.0
        design[:, :, -1] = NODES[:, None]
        self.flat = design.reshape(-1, self.size)
        self.scale = np.array([INTERCEPT_SCALE, *[EFFECT_SCALE] * (self.levels - 1)])

    def _prior(self, theta: Array) -> tuple[float, Array, Array]:
        b, s = theta[:-1], theta[-1]
        square = self.scale**2 + b**2
        gradient, curvature = np.empty(self.size), np.zeros((self.size, self.size))
        gradient[:-1], gradient[-1] = -2 * b / square, -s / SPREAD_SCALE**2
        curvature.flat[:: self.size + 1] = [*(-2 * (self.scale**2 - b**2) / square**2), -1 / SPREAD_SCALE**2]
        value = -np.log(square / self.scale**2).sum() - 0.5 * (s / SPREAD_SCALE) ** 2
        return float(value), gradient, curvature

    def __call__(self, theta: Array) -> tuple[float, Array, Array]:
        eta = (self.flat @ theta).reshape(len(NODES), self.levels)
        log_yes, log_no = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
        joint = self.yes @ log_yes.T + self.no @ log_no.T + LOG_WEIGHTS  # (P, Q)
        top = joint.max(1, keepdims=True)
        posterior = np.exp(joint - top)
        mass = posterior.sum(1, keepdims=True)
        posterior /= mass
        value = float(self.counts @ (np.log(mass) + top).ravel())
        mean = np.exp(log_yes)
        surprise = self.yes[:, None, :] - self.seen[:, None, :] * mean  # (P, Q, J)
        total = surprise.sum(2, keepdims=True)
        score = np.concatenate([total, surprise[:, :, 1:], total * NODES[:, None]], axis=2)  # (P, Q, D)
        weighted = self.counts[:, None] * posterior
        average = (posterior[:, None, :] @ score)[:, 0]  # (P, D)
        gradient = self.counts @ average
        information = (weighted.T @ self.seen) * mean * (1 - mean)
        hessian = -self.flat.T @ (information.reshape(-1, 1) * self.flat)
        rows = score.reshape(-1, self.size)
        hessian += rows.T @ (weighted.reshape(-1, 1) * rows)
        hessian -= average.T @ (self.counts[:, None] * average)
        prior, prior_gradient, prior_hessian = self._prior(theta)
        return value + prior, gradient + prior_gradient, hessian + prior_hessian

    def maximize(self, theta: Array, free: NDArray[np.bool_]) -> tuple[float, Array]:
        """The maximum over the `free` coordinates, by damped Newton steps."""
        theta = theta.copy()
        value, gradient, hessian = self(theta)
        block = np.ix_(free, free)
        for _ in range(100):
            slope = gradient[free]
            if np.abs(slope).max(initial=0.0) < 1e-3:
                break
            step = _ascent(-hessian[block], slope)
            for _ in range(30):
                candidate = theta.copy()
                candidate[free] += step
                found = self(candidate)
                if found[0] >= value:
                    break
                step = step / 2
            else:
                break
            gained = found[0] - value
            theta, (value, gradient, hessian) = candidate, found
            if gained < 1e-7:
                break
        return value, theta


def _ascent(curvature: Array, slope: Array) -> Array:
    """A Newton step of at most 3 a coordinate that goes uphill even where the curvature is not positive."""
    try:
        np.linalg.cholesky(curvature)
        step = np.asarray(np.linalg.solve(curvature, slope), float)
    except np.linalg.LinAlgError:
        eigen, basis = np.linalg.eigh(curvature)
        step = basis @ ((basis.T @ slope) / np.maximum(np.abs(eigen), 1e-3))
    return step * min(1.0, 3.0 / float(np.abs(step).max()))


def _profile(model: _Model, best: float, mode: Array, index: int, drop: float, sign: int) -> float:
    """Where the profile of coordinate `index` has fallen by `drop`, on one side of the mode."""
    free = np.ones(model.size, bool)
    free[index] = False

    def fall(at: float, start: Array) -> tuple[float, Array]:
        start = start.copy()
        start[index] = at
        value, theta = model.maximize(start, free)
        return best - value - drop, theta

    _, _, hessian = model(mode)
    curvature = max(-1.0 / np.linalg.inv(hessian - 1e-9 * np.eye(model.size))[index, index], 1e-3)
    reach = math.sqrt(2 * drop / curvature)
    inner, outer, theta = mode[index], mode[index] + sign * reach, mode
    inner_fall = -drop
    for _ in range(40):
        outer_fall, theta = fall(outer, theta)
        if outer_fall > 0:
            break
        inner, inner_fall = outer, outer_fall
        reach *= 1.6
        outer = outer + sign * reach
    for _ in range(60):  # Illinois
        if abs(outer - inner) < 1e-3:
            break
        middle = outer - outer_fall * (outer - inner) / (outer_fall - inner_fall)
        if not min(inner, outer) < middle < max(inner, outer):
            middle = (inner + outer) / 2
        middle_fall, theta = fall(middle, theta)
        if abs(middle_fall) < 3e-3:
            return float(middle)
        if middle_fall > 0:
            outer, outer_fall = middle, middle_fall
            inner_fall /= 2
        else:
            inner, inner_fall = middle, middle_fall
            outer_fall /= 2
    return float((inner + outer) / 2)


def cochran_q(verdicts: Array) -> float | None:
    """p-value of Cochran's Q over complete rows of 0/1 (groups, k): do the presentations get equally many yes? None
    where no row changes."""
    complete = verdicts[~np.isnan(verdicts).any(1)]
    rows, columns = complete.sum(1), complete.sum(0)
    k = complete.shape[1]
    spread = k * rows.sum() - (rows**2).sum()
    if len(complete) == 0 or spread == 0:
        return None
    q = (k - 1) * (k * (columns**2).sum() - rows.sum() ** 2) / spread
    return float(scipy.stats.chi2.sf(q, k - 1))


def leakage(verdicts: Array, probes: tuple[str, ...], level: float = 0.95) -> Leakage:
    """LES of one family. `verdicts` (groups, 1 + len(probes)) of 0, 1 and NaN (not read), the baseline first."""
    verdicts = np.ascontiguousarray(verdicts, float)
    ordered = verdicts[np.lexsort(np.nan_to_num(verdicts, nan=-1.0).T)] if verdicts.size else verdicts
    return _fit(ordered.tobytes(), verdicts.shape, probes, level)


@functools.lru_cache(maxsize=4096)  # judges that answer alike are fitted once
def _fit(data: bytes, shape: tuple[int, ...], probes: tuple[str, ...], level: float) -> Leakage:
    verdicts = np.frombuffer(data).reshape(shape)
    seen = ~np.isnan(verdicts)
    verdicts = verdicts[seen.sum(1) >= 2]
    groups = len(verdicts)
    changed = int((np.nanmax(verdicts, 1) != np.nanmin(verdicts, 1)).sum()) if groups else 0
    if groups < 2:
        return Leakage(probes, groups, changed, reason=f"{groups} groups with two verdicts or more: nothing to fit")
    patterns, counts = np.unique(np.nan_to_num(verdicts, nan=-1.0), axis=0, return_counts=True)
    model = _Model(np.where(patterns < 0, np.nan, patterns), counts.astype(float))
    start = np.zeros(model.size)
    start[-1] = 1.0
    best, mode = model.maximize(start, np.ones(model.size, bool))
    size = len(probes)
    alpha = 1 - level
    single = scipy.stats.chi2.ppf(level, 1) / 2
    joint = scipy.stats.chi2.ppf(1 - alpha / size, 1) / 2
    effects = mode[1:-1]
    bounds = {
        drop: np.array([[_profile(model, best, mode, 1 + k, drop, sign) for sign in (-1, 1)] for k in range(size)])
        for drop in {single, joint}
    }
    near = np.where(np.prod(bounds[joint], axis=1) <= 0, 0.0, np.abs(bounds[joint]).min(1))
    return Leakage(
        probes,
        groups,
        changed,
        effects=effects,
        low=bounds[single][:, 0],
        high=bounds[single][:, 1],
        les=float(np.abs(effects).max()),
        les_low=float(near.max()),
        les_high=float(np.abs(bounds[joint]).max()),
        p_value=cochran_q(verdicts),
        spread=float(abs(mode[-1])),
        separated=_separated(verdicts, probes),
    )


def _separated(verdicts: Array, probes: tuple[str, ...]) -> tuple[str, ...]:
    """Probes whose verdicts differ from the baseline's in one direction only, in two groups or more."""
    found = []
    for index, probe in enumerate(probes, start=1):
        difference = verdicts[:, index] - verdicts[:, 0]
        up, down = int((difference > 0).sum()), int((difference < 0).sum())
        if max(up, down) >= 2 and min(up, down) == 0:
            found.append(probe)
    return tuple(found)
