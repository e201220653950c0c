"""Where a store lies, as users name it."""

from __future__ import annotations

from pathlib import Path

DEFAULT_STORE = "worldaudit-store"


def store_location(named: str | None) -> str:
    """The place that is named, or ./worldaudit-store: an URI as it is, a folder by its absolute path."""
    place = named or DEFAULT_STORE
    return place if "://" in place else str(Path(place).expanduser().resolve())
