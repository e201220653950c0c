"""What a metric says of itself: its record decides how its numbers are made and where they are shown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from tasks.errors import StageFailed

MIN_ACTIVE = 10  # paper 1, Appendix A.5: below it IDR_cond is descriptive only


@dataclass(frozen=True)
class Few:
    """A number from fewer than `below` groups is descriptive only: it gets `flag`, and `groups` says what the groups are."""

    below: int
    flag: str
    groups: str


@dataclass(frozen=True)
class Metric:
    """One metric, or several whose names differ in a level only.

    `name`: its name in the table `metrics`, or a pattern such as `chose_*`.
    `counts`: what it counts, in a sentence. `source`: section or equation of the paper.
    `interval`: `rate` for shares and scores in [0, 1], `difference` for signed means in [-1, 1] (see intervals.py); None
        where whoever makes the number gives its interval, too.
    `resampled`: whether bootstrap percentiles stand beside its interval; not for bookkeeping.
    `compared`: its place among the metrics in which judges and runs are compared; None: it is not compared.
    `glance`: its place among the metrics of a first look at a judge; None: it is not shown there. `glance_tasks` are the
        only tasks where it is shown; any task where there are none.
    `across_judges`: whether the change from one representation to another is also tested across judges (paper 1, Table 3).
    `few`: when it has too few groups to count. `undefined`: why it has no value where answers were read.
    """

    name: str
    counts: str
    source: str
    interval: Literal["rate", "difference"] | None = "rate"
    resampled: bool = True
    compared: int | None = None
    glance: int | None = None
    glance_tasks: tuple[str, ...] = ()
    across_judges: bool = False
    few: Few | None = None
    undefined: str = "no case meets the condition"

    def at_a_glance(self, task: str) -> bool:
        return self.glance is not None and (not self.glance_tasks or task in self.glance_tasks)


def by_name(metrics: Iterable[Metric]) -> Callable[[str], Metric]:
    """A look-up of a metric's record by its name in a table: the record of that name, else that of the longest pattern
    which fits.

    The look-up raises StageFailed for a metric that no record describes.
    """
    exact = {record.name: record for record in metrics}
    patterns = sorted(exact, key=len, reverse=True)

    @functools.cache
    def record_of(name: str) -> Metric:
        if name in exact:
            return exact[name]
        for pattern in patterns:
            if fnmatchcase(name, pattern):
                return exact[pattern]
        raise StageFailed(f"metric {name!r} has no record; its family has to name it among its metrics")

    return record_of
