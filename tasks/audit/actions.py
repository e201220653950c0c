"""Does Task A need its action? What a perfect reader could tell who sees every picture but not the action.

Such a reader knows the current state and every rule of the world, so it can strike each candidate that no action leads to.
`answers.options` says what stands at each letter: `gold`, `successor:<action>` (what another action would have led to from
the same state), `trajectory:<step>` (another step of the same trajectory). Only `gold` and successors can follow the
current state, so of m such candidates the reader picks the right one with probability 1 / m, and knows it where m = 1.
The rule uses no pixel: it credits the reader with perfect sight.

A reader may also know habits: that a candidate which shows a door opened is usually the right one, or that agents mostly move
forward. `habit` is the accuracy of choosing, among the outcomes shown, the one that is most often right among the same
outcomes in other groups. It needs the name of the true action, which the prompt states; an exam in which the asked action is
drawn evenly among the four outcomes leaves it at 1/4.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import polars as pl

LIMIT = 0.40  # above this share of items the action is not needed often enough


@dataclass(frozen=True)
class ActionNeed:
    """`told`: share of items in which only one candidate can follow; `ceiling`: the reader's expected accuracy; `plausible`:
    items by the number of candidates that can follow; `habit`: see above, None where the prompts name no known action;
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


ACTION_WORDS = (  # how a prompt names an action, and what `options` calls it
    ("pick up", "pickup"),
    ("put ", "drop"),
    ("drop", "drop"),
    ("open or close", "toggle"),
    ("toggle", "toggle"),
    ("turn left", "left"),
    ("turn right", "right"),
    ("forward", "forward"),
)
STATED = r"(?is)action\s*:\s*(.+)"


def action_need(answers: pl.DataFrame, prompts: pl.DataFrame | None = None) -> ActionNeed | None:
    """From the table `answers`, and `prompts` (uid, prompt) for `habit`; None where there are no Task A items with
    options."""
    true = answers.filter((pl.col("task") == "A") & pl.col("companion_of").is_null() & pl.col("options").is_not_null())
    if not len(true):
        return None
    can_follow = (
        pl.col("options").list.eval((pl.element() == "gold") | pl.element().str.starts_with("successor:")).list.sum()
    )
    counts = true.select(m=can_follow.cast(pl.Int64))["m"].to_list()
    plausible = dict(Counter(counts))
    told = plausible.get(1, 0) / len(counts)
    habit = None if prompts is None else _habit(true.join(prompts, on="uid"))
    return ActionNeed(len(counts), told, sum(1 / count for count in counts) / len(counts), plausible, habit)


def _habit(items: pl.DataFrame) -> float | None:
    named = [_named(text) for text in items.select(pl.col("prompt").str.extract(STATED))["prompt"]]
    if not named or None in named:
        return None
    shown = [
        (
            group,
            frozenset(_outcome(option, action) for option in options if not option.startswith("trajectory")),
            action,
        )
        for group, options, action in zip(items["group_id"], items["options"], named, strict=True)
    ]
    by_class: dict[frozenset[str], Counter[tuple[str, str | None]]] = defaultdict(Counter)
    for group, outcomes, action in shown:
        by_class[outcomes][group, action] += 1
    right = 0.0
    for group, outcomes, action in shown:
        elsewhere: Counter[str | None] = Counter()
        for (other, asked), count in by_class[outcomes].items():
            if other != group:
                elsewhere[asked] += count
        best = max(elsewhere.values(), default=0)
        guesses = [asked for asked, count in elsewhere.items() if count == best] or sorted(outcomes)
        right += (action in guesses) / len(guesses) if elsewhere else 1 / len(outcomes)
    return right / len(shown)


def _named(text: str | None) -> str | None:
    start = (text or "").lower()
    found = [(start.find(words), name) for words, name in ACTION_WORDS if words in start]
    return min(found)[1] if found else None


def _outcome(option: str, asked: str | None) -> str:
    """What a reader sees at an option. Turns and steps look the same whether asked about or not; an interaction that was
    asked about took effect, and is kept apart from one that may have had none."""
    action = str(asked) if option == "gold" else option.partition(":")[2]
    return action if action in ("left", "right", "forward") else f"{'asked' if option == 'gold' else 'other'}:{action}"
