"""Does Task A need its action? What a perfect reader could tell who sees every picture but not the action.

Such a reader knows the current state and every rule of the world, so it can strike each candidate that no action leads to.
`answers.options` says what stands at each letter: `gold`, `successor:<action>` (what another action would have led to from
the same state), `trajectory:<step>` (another step of the same trajectory). Only `gold` and successors can follow the
current state, so of m such candidates the reader picks the right one with probability 1 / m, and knows it where m = 1.
The rule uses no pixel: it credits the reader with perfect sight.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

LIMIT = 0.40  # above this share of items the action is not needed often enough


@dataclass(frozen=True)
class ActionNeed:
    """`told`: share of items in which only one candidate can follow; `ceiling`: the reader's expected accuracy; `plausible`:
    items by the number of candidates that can follow; `too_easy`: `told` exceeds LIMIT."""

    items: int
    told: float
    ceiling: float
    plausible: dict[int, int]

    @property
    def too_easy(self) -> bool:
        return self.told > LIMIT

    def as_text(self) -> str:
        counts = ", ".join(f"{n} items with {m}" for m, n in sorted(self.plausible.items()))
        text = (
            f"Task A: without the action a perfect reader knows the answer of {self.told:.0%} of {self.items} items and "
            f"scores {self.ceiling:.2f} (candidates that can follow: {counts})"
        )
        return text + (f"; more than {LIMIT:.0%}: add successors of the same state" if self.too_easy else "")


def action_need(answers: pl.DataFrame) -> ActionNeed | None:
    """From the table `answers`; None where it has no Task A items with options."""
    true = answers.filter((pl.col("task") == "A") & pl.col("companion_of").is_null() & pl.col("options").is_not_null())
    if not len(true):
        return None
    can_follow = (
        pl.col("options").list.eval((pl.element() == "gold") | pl.element().str.starts_with("successor:")).list.sum()
    )
    counts = true.select(m=can_follow.cast(pl.Int64))["m"]
    plausible = dict(counts.value_counts().iter_rows())
    return ActionNeed(len(true), float((counts == 1).mean() or 0.0), float((1 / counts).mean() or 0.0), plausible)  # type: ignore[arg-type]
