"""Does Task A need its action? What a perfect reader could tell who sees every picture but not the action.

Such a reader knows the current state and every rule of the world, so it can strike each candidate that no action leads to.
`answers.options` says what stands at each letter: `gold:<outcome>`, `successor:<outcome>` (what another action would have led
to from the same state), `trajectory:<step>` (another step of the same trajectory). Only `gold` and successors can follow the
current state, so of m such candidates the reader picks the right one with probability 1 / m, and knows it where m = 1.
The rule uses no pixel: it credits the reader with perfect sight.

A reader may also know habits: that a candidate which shows a door opened is usually the right one, or that agents mostly move
forward. Options name the outcome that they show (`gold:forward`, `successor:unchanged`), and `habit` is the accuracy of
choosing, among the outcomes shown, the one that is most often right among the same outcomes in other groups. An exam in which
the asked action is drawn evenly among the four outcomes leaves it near 1/4.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import polars as pl

LIMIT = 0.40  # above this share of items the action is not needed often enough


@dataclass(frozen=True)
class ActionNeed:
    """`told`: share of items in which only one candidate can follow; `ceiling`: the reader's expected accuracy; `plausible`:
    items by the number of candidates that can follow; `habit`: see above, None where the options name no outcomes;
    `too_easy`: either exceeds LIMIT."""

    items: int
    told: float
    ceiling: float
    plausible: dict[int, int]
    habit: float | None = None

    @property
    def too_easy(self) -> bool:
        return max(self.told, self.habit or 0.0) > LIMIT

    def as_text(self) -> str:
        counts = ", ".join(f"{n} items with {m}" for m, n in sorted(self.plausible.items()))
        text = (
            f"Task A: without the action a perfect reader knows the answer of {self.told:.0%} of {self.items} items and "
            f"scores {self.ceiling:.2f} (candidates that can follow: {counts})"
        )
        if self.habit is not None:
            text += f"; one who also knows which outcome is usually asked about scores {self.habit:.2f}"
        mend = []
        if self.told > LIMIT:
            mend.append("add successors of the same state")
        if (self.habit or 0.0) > LIMIT:
            mend.append("ask about each of the outcomes equally often")
        return text + (f"; more than {LIMIT:.0%}: {' and '.join(mend)}" if mend else "")


def action_need(answers: pl.DataFrame) -> ActionNeed | None:
    """From the table `answers`; None where there are no Task A items with options."""
    true = answers.filter((pl.col("task") == "A") & pl.col("companion_of").is_null() & pl.col("options").is_not_null())
    if not len(true):
        return None
    can_follow = pl.col("options").list.eval(~pl.element().str.starts_with("trajectory:")).list.sum()
    counts = true.select(m=can_follow.cast(pl.Int64))["m"].to_list()
    plausible = dict(Counter(counts))
    told = plausible.get(1, 0) / len(counts)
    return ActionNeed(len(counts), told, sum(1 / count for count in counts) / len(counts), plausible, _habit(true))


def _habit(items: pl.DataFrame) -> float | None:
    """None where the options do not name their outcomes."""
    shown: list[tuple[str, frozenset[str], str]] = []
    for group, options in zip(items["group_id"], items["options"], strict=True):
        named = dict(reversed(option.partition(":")[::2]) for option in options if not option.startswith("trajectory:"))
        asked = [outcome for outcome, place in named.items() if place == "gold"]
        if not asked or not asked[0]:
            return None
        shown.append((group, frozenset(named), asked[0]))
    by_class: dict[frozenset[str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for group, outcomes, asked_one in shown:
        by_class[outcomes][group, asked_one] += 1
    right = 0.0
    for group, outcomes, asked_one in shown:
        elsewhere: Counter[str] = Counter()
        for (other, outcome), count in by_class[outcomes].items():
            if other != group:
                elsewhere[outcome] += count
        best = max(elsewhere.values(), default=0)
        guesses = [outcome for outcome, count in elsewhere.items() if count == best]
        right += (asked_one in guesses) / len(guesses) if guesses else 1 / len(outcomes)
    return right / len(shown)
