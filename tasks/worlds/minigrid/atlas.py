"""The pictures of tiles that are shipped, as they are in `tiles.npz`; of use without a simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).with_name("tiles.npz")  # written by `python -m tasks.worlds.minigrid.tiles`


class Shipped(NamedTuple):
    """`codes` (n,) are cells, numbered by Minigrid's indices: type << 6 | color << 3 | state. All others are uint8."""

    codes: np.ndarray[Any, Any]
    tiles: np.ndarray[Any, Any]  # (1 + n, 32, 32, 3); row 0 is the cell out of sight
    icons: np.ndarray[Any, Any]  # (n, 14, 14, 3), as they are drawn of carried things
    triangle: np.ndarray[Any, Any]  # (32, 32): how many ninths of each pixel the agent covers


def shipped() -> Shipped:
    with np.load(FILE) as arrays:
        return Shipped(*(arrays[name] for name in Shipped._fields))
