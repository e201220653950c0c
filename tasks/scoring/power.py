"""How many groups does a difference in IDR_raw need? Sample size and power for McNemar's test on paired groups.

Two judges on the same groups differ by d = p1 - p2 with discordance psi = (only first) + (only second). If their outcomes were
independent, psi = p1 (1 - p2) + p2 (1 - p1); judges that fail on the same groups have less, down to |d|. The normal formula is
Connor's (1987, Biometrics 43:207); `power` is exact, summed over the number of discordant pairs.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import scipy

from tasks.errors import BadInput
from tasks.statistics.significance import mcnemar

MOST_GROUPS = 100_000


def discordance(first: float, second: float, correlation: float = 0.0) -> float:
    """Share of groups that only one of two judges gets right, for the rates and the correlation of their outcomes."""
    if not (0 <= first <= 1 and 0 <= second <= 1):
        raise BadInput(f"rates lie between 0 and 1, not {first} and {second}")
    independent = first * (1 - second) + second * (1 - first)
    shared = correlation * math.sqrt(first * (1 - first) * second * (1 - second))
    return max(independent - 2 * shared, abs(first - second))


def power(first: float, second: float, groups: int, correlation: float = 0.0, alpha: float = 0.05) -> float:
    """Pr(McNemar's test rejects at `alpha`) with `groups` paired groups."""
    psi, d = discordance(first, second, correlation), first - second
    if psi == 0:
        return 0.0
    share = (psi + d) / (2 * psi)
    chances = scipy.stats.binom.pmf(np.arange(groups + 1), groups, psi)
    discordant = np.flatnonzero(chances > 1e-9)
    most = np.array([_critical(int(count), alpha) for count in discordant])
    rejected = scipy.stats.binom.cdf(most, discordant, share) + scipy.stats.binom.sf(
        discordant - most - 1, discordant, share
    )
    return float(chances[discordant] @ np.minimum(rejected, 1.0))


@functools.lru_cache(maxsize=100_000)
def _critical(discordant: int, alpha: float) -> int:
    """The largest smaller count of `discordant` pairs at which McNemar's test rejects; -1 where it never does."""
    low, high = -1, discordant // 2
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if mcnemar(middle, discordant - middle)[0] <= alpha else (low, middle - 1)
    return low


def groups_needed(
    first: float, second: float, target: float = 0.8, correlation: float = 0.0, alpha: float = 0.05
) -> int:
    """The smallest number of groups from which the power is `target` or more. BadInput where the rates are equal, or nearly so."""
    psi, d = discordance(first, second, correlation), abs(first - second)
    if d == 0:
        raise BadInput("the two rates are equal: no number of groups shows a difference")
    if not 0 < target < 1:
        raise BadInput(f"power lies between 0 and 1, not {target}")
    a, b = scipy.stats.norm.ppf(1 - alpha / 2), scipy.stats.norm.ppf(target)
    guess = max(4, math.ceil(((a * math.sqrt(psi) + b * math.sqrt(psi - d * d)) / d) ** 2))
    if guess > MOST_GROUPS:
        raise BadInput(f"more than {MOST_GROUPS:,} groups would be needed; no exam has so many")
    groups = int(guess)
    while power(first, second, groups, correlation, alpha) < target:
        groups += max(1, groups // 50)
    while groups > 4 and power(first, second, groups - 1, correlation, alpha) >= target:
        groups -= 1
    return groups
