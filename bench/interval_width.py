"""How wide the interval of IDR_raw is at 12 groups and at Scale-2's 432, and how many groups a difference needs.

    python -m bench.interval_width [--figure docs/figures/interval_width.png]

A group gives 0 or 1, so that the group bootstrap of k successes in n groups is a binomial with n and k / n: its percentile
interval is written down without resampling. The baseline is the width at 12 groups.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats

from tasks.scoring.power import groups_needed, power

GROUPS = (12, 24, 54, 108, 216, 432)
RATES = (0.1, 0.3, 0.5)
DIFFERENCES = ((0.6, 0.4), (0.5, 0.4), (0.32, 0.09), (0.3, 0.2))


def width(rate: float, groups: int) -> float:
    """Of the 95 % percentile interval of the group bootstrap, averaged over what `groups` groups may show."""
    shown = np.arange(groups + 1)
    low, high = (stats.binom.ppf(at, groups, shown / groups) / groups for at in (0.025, 0.975))
    return float(stats.binom.pmf(shown, groups, rate) @ (high - low))


def draw(path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.2), layout="constrained")
    sizes = np.unique(np.geomspace(8, 600, 40).astype(int))
    for rate in RATES:
        axes.plot(sizes, [width(rate, int(size)) for size in sizes], label=f"IDR_raw = {rate}")
    for groups in (12, 432):
        axes.axvline(groups, color="0.7", linewidth=0.8)
        axes.annotate(f"{groups} groups", (groups, axes.get_ylim()[1]), rotation=90, va="top", ha="right", fontsize=8)
    axes.set_xscale("log")
    axes.set_xticks(GROUPS, [str(size) for size in GROUPS])
    axes.minorticks_off()
    axes.set(xlabel="trajectory groups", ylabel="width of the 95 % interval", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--figure", help="draw it here")
    options = arguments.parse_args()
    print("groups " + "".join(f"  IDR {rate:.1f}" for rate in RATES) + "   (width of the 95 % interval)")
    for groups in GROUPS:
        print(f"{groups:6} " + "".join(f"  {width(rate, groups):7.3f}" for rate in RATES))
    print(f"12 against 432 groups, IDR 0.3: {width(0.3, 12) / width(0.3, 432):.1f}x as wide")
    print("\ndifference     groups for power 0.8   power at 12   at 432")
    for first, second in DIFFERENCES:
        needed = groups_needed(first, second)
        print(
            f"{first} - {second:<6}  {needed:20}   {power(first, second, 12):11.2f}   {power(first, second, 432):6.2f}"
        )
    if options.figure:
        draw(options.figure)


if __name__ == "__main__":
    main()
