"""Splits by trace: 60 % train, 20 % validation, 20 % test, spread over the families (120/40/40 of 200).

All pairs of a trace are in its split.
"""

from __future__ import annotations

from collections.abc import Iterable

from tasks.traces.bank import SEED, stream

SPLITS = ("train", "val", "test")
_PATTERN = ("train", "val", "train", "test", "train")


def assign(members: Iterable[tuple[str, int]], seed: int = SEED) -> dict[tuple[str, int], str]:
    """The split of each (family, index) of a bank. Families stand in one order drawn from the seed, first traces first;
    every fifth goes to validation, every fifth to testing. With 17 families each reaches every split, and the proportion is
    exactly 3:1:1 wherever the count allows it."""
    members = list(members)
    families = sorted({family for family, _ in members})
    stream("order", seed).shuffle(families)
    rank = {family: i for i, family in enumerate(families)}
    order = sorted(members, key=lambda member: (member[1], rank[member[0]]))
    return {member: _PATTERN[i % len(_PATTERN)] for i, member in enumerate(order)}
