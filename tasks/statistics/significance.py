"""Paired tests (paper 1, Appendix A.5): McNemar, Wilcoxon signed-rank, Holm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

EXACT_BELOW = 25  # discordant pairs; from here on the continuity-corrected statistic of equation 40


def mcnemar(only_first: int, only_second: int) -> tuple[float, str]:
    """Two-sided p-value and the test used (`mcnemar_exact` or `mcnemar_corrected`) for the two discordant counts; p = 1
    where no pair is discordant."""
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0, "mcnemar_exact"
    if discordant < EXACT_BELOW:
        return min(1.0, 2 * float(scipy.special.bdtr(min(only_first, only_second), discordant, 0.5))), "mcnemar_exact"
    statistic = max(abs(only_first - only_second) - 1, 0) ** 2 / discordant
    return float(scipy.stats.chi2.sf(statistic, 1)), "mcnemar_corrected"


def wilcoxon(differences: Sequence[float]) -> tuple[float | None, str]:
    """Two-sided p-value of Wilcoxon's signed-rank test on paired differences, zeros left out, exact up to 50 pairs even
    with ties (by the permutation distribution up to 15, by scipy's otherwise). None where every difference is 0."""
    kept = np.array([value for value in differences if abs(value) > 1e-12])
    if not len(kept):
        return None, "wilcoxon"
    if len(kept) <= 15:
        ranks = scipy.stats.rankdata(np.round(np.abs(kept), 12))
        signs = (np.arange(2 ** len(kept))[:, None] >> np.arange(len(kept))) & 1
        sums = signs @ ranks
        observed, center = ranks[kept > 0].sum(), ranks.sum() / 2
        return float((np.abs(sums - center) >= abs(observed - center) - 1e-9).mean()), "wilcoxon_exact"
    return float(scipy.stats.wilcoxon(kept).pvalue), "wilcoxon"


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values of one family, in the order given; None stays None and is not counted."""
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, index) in enumerate(known):
        running = max(running, min(1.0, (len(known) - rank) * p))
        adjusted[index] = running
    return adjusted
