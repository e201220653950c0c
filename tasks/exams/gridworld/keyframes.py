"""Which steps of a trajectory a storyboard shows: the events, their eve, and what NoCue hides (paper 1, C.2).

The choice is made on Full and used for every variant of the group, so that matched items show the same steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tasks.trajectories import Group

MOST_FRAMES = 12
MOST_MASKED = 5  # frames for the sake of NoCue's mask alone; what is masked may be a long row of nearly equal frames


def keyframes(group: Group, last: int | None = None, most: int = MOST_FRAMES) -> list[int]:
    """Steps in order, from 0 to `last` (the final state by default), at most `most` of them. In order of precedence:
    first and last step, steps at which something happened, the first step that NoCue masks, the steps before
    something happened, a few more masked steps, and then whatever halves the longest gap."""
    full = group.episodes["full"]
    end = len(full.states) - 1 if last is None else last
    happened = sorted({event.step for event in full.events if event.step <= end})
    masked = sorted(step for step in group.mask_by_step if step <= end)
    chosen: list[int] = []
    precedence = [
        [0, end],
        happened,
        masked[:1],
        [step - 1 for step in happened],
        masked[:: -(-len(masked) // MOST_MASKED) or 1],
        _halving(chosen, end),
    ]
    for steps in precedence:
        for step in steps:
            if len(chosen) == min(most, end + 1):
                return sorted(chosen)
            if 0 <= step <= end and step not in chosen:
                chosen.append(step)
    return sorted(chosen)


def _halving(chosen: list[int], end: int) -> Iterator[int]:
    """Steps in the middle of the longest gap of `chosen`, which grows meanwhile."""
    while True:
        steps = sorted(chosen)
        length, start = max((b - a, -a) for a, b in itertools.pairwise(steps))
        if length < 2:
            return
        yield -start + length // 2
