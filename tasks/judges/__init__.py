"""Judges that need no key, no GPU and no network. One file each; each gets the message that any model gets.

A judge is a class in the attribute JUDGE with a method `answer(message) -> str`. Two class attributes are read where they
are there: `version`, raised whenever the judge would answer otherwise (1 without it), and `draws`: it takes a seed. An
installed package offers a judge of its own by an entry point of the group `worldaudit.judges`: such a class.
"""

from __future__ import annotations

from typing import Any

from tasks.judges._message import Judge, Message, Png, Text
from tasks.registry import Registry

JUDGES: Registry[type[Any]] = Registry("embedded judge", "tasks.judges", "JUDGE", "worldaudit.judges")


def make(name: str, seed: int = 0) -> Judge:
    """The embedded judge of that name. `seed` matters to those that draw."""
    kind = JUDGES[name]
    judge: Judge = kind(seed) if getattr(kind, "draws", False) else kind()
    return judge


def version(name: str) -> int:
    """A number that changes with what the judge answers: part of the key of its answers."""
    return int(getattr(JUDGES[name], "version", 1))


__all__ = ["JUDGES", "Judge", "Message", "Png", "Text", "make", "version"]
