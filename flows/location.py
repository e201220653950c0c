"""Where a store lies, as users name it."""

from __future__ import annotations

import os
from pathlib import Path

from tasks.errors import BadInput

DEFAULT_STORE = "worldaudit-store"


def store_location(named: str | None) -> str:
    """The place that is named, or ./worldaudit-store: an URI as it is, a folder by its absolute path. Raises BadInput for what
    can be no folder."""
    place = named or DEFAULT_STORE
    if "://" in place:
        return place
    try:
        return str(Path(os.path.expanduser(place)).resolve())  # as a shell: ~ alone or of a user that there is
    except (RuntimeError, ValueError, OSError) as error:
        raise BadInput(f"--store {place!r} names no folder: {error}") from error
