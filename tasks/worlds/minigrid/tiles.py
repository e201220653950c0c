"""Frames of the agent's view, put together from pictures of tiles.

Minigrid draws a tile pixel by pixel in Python (12-245 ms for a new one), so its pictures are taken once and shipped in
`tiles.npz` (`python -m tasks.worlds.minigrid.tiles` writes it; a test compares it with Minigrid's renderer). A thing that
is not in it, such as one of a user's own environment, is drawn by Minigrid when it is first needed.

One tile differs from Minigrid's: the agent's own. Minigrid erases what the agent stands on, so that a success frame
looks like plain floor, and hides what it carries behind the agent's triangle. Here that tile shows what the agent stands
on, the triangle over it, and what it carries as a small picture in the tile's top left corner.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from tasks.pictures.pixels import Pixels
from tasks.worlds.base import MaskBox
from tasks.worlds.minigrid.atlas import FILE, shipped
from tasks.worlds.minigrid.simulator import (
    AGENT_COLUMN,
    AGENT_ROW,
    EMPTY,
    UNSEEN,
    VIEW,
    WALL,
    View,
    cell,
    thing_of,
)

TILE = 32
FRAME = VIEW * TILE
ICON = 14  # side of the carried thing's picture, inside a white border of one pixel
_RED = np.array([255, 76, 76], dtype=np.uint16)  # Minigrid's agent red under its highlight

COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
KNOWN = (
    [EMPTY, WALL, cell("goal", "green"), cell("lava", "red")]
    + [cell(kind, color) for kind in ("key", "ball", "box") for color in COLORS]
    + [cell("door", color, state) for color in COLORS for state in (0, 1, 2)]
)


def render_tile(code: int, highlight: bool) -> Pixels:
    """The (32, 32, 3) picture that Minigrid's own renderer makes of a cell."""
    from minigrid.core.grid import Grid

    return Grid.render_tile(thing_of(code), highlight=highlight, tile_size=TILE).astype(np.uint8)


def render_triangle() -> np.ndarray:
    """(32, 32) uint8: how many ninths of each pixel the agent's triangle covers when it looks up."""
    from minigrid.core.grid import Grid

    with_agent = Grid.render_tile(None, agent_dir=3, tile_size=TILE, subdivs=3)
    return np.rint(with_agent[:, :, 0].astype(float) * 9 / 255).clip(0, 9).astype(np.uint8) * (with_agent[:, :, 1] < 99)


class Atlas:
    """Pictures of tiles by cell code. `seen[code]` is (32, 32, 3) uint8."""

    def __init__(self) -> None:
        codes, tiles, icons, triangle = shipped()
        self.tiles: np.ndarray = tiles  # row 0 is the cell out of sight
        self.triangle: np.ndarray = triangle
        self.row = {UNSEEN: 0} | {int(code): row for row, code in enumerate(codes, 1)}
        self.icons = {int(code): icon for code, icon in zip(codes, icons, strict=True)}
        self.lookup = np.full(16 << 6, -1, dtype=np.int32)
        for code, row in self.row.items():
            self.lookup[code] = row

    def rows(self, codes: np.ndarray) -> np.ndarray:
        rows: np.ndarray = self.lookup[codes]
        if (rows < 0).any():
            for code in np.unique(codes[rows < 0]).tolist():
                self._draw(code)
            rows = self.lookup[codes]
        return rows

    def _draw(self, code: int) -> None:
        self.lookup[code] = self.row[code] = len(self.tiles)
        self.tiles = np.concatenate([self.tiles, render_tile(code, highlight=True)[None]])
        self.icons[code] = icon_of(code)

    @functools.lru_cache(maxsize=1024)  # noqa: B019  (one atlas a process)
    def agent_tile(self, beneath: int, carrying: int) -> Pixels:
        """The agent's own tile: what it stands on, its triangle, and what it carries."""
        ground = self.tiles[self.rows(np.array([beneath]))[0]].astype(np.uint16)
        cover = self.triangle[:, :, None].astype(np.uint16)
        tile: Pixels = ((ground * (9 - cover) + _RED * cover) // 9).astype(np.uint8)
        if carrying != EMPTY:
            self.rows(np.array([carrying]))
            tile[1 : ICON + 3, 1 : ICON + 3] = 255
            tile[2 : ICON + 2, 2 : ICON + 2] = self.icons[carrying]
        return tile


def icon_of(code: int) -> Pixels:
    """The (14, 14, 3) picture of a carried thing: its tile without grid lines, at half size."""
    tile = render_tile(code, highlight=False)[2:30, 2:30].astype(np.uint16)
    icon: Pixels = (tile.reshape(ICON, 2, ICON, 2, 3).sum(axis=(1, 3)) // 4).astype(np.uint8)
    return icon


@functools.cache
def atlas() -> Atlas:
    return Atlas()


def draw(view: View) -> Pixels:
    """The frame of a view, (224, 224, 3) uint8; not to be written to, since equal views share it."""
    return _draw(view.cells.tobytes(), view.carrying)


@functools.lru_cache(maxsize=512)
def _draw(cells: bytes, carrying: int) -> Pixels:
    codes = np.frombuffer(cells, dtype=np.uint16).reshape(VIEW, VIEW)
    pictures = atlas()
    frame: Pixels = pictures.tiles[pictures.rows(codes)].transpose(0, 2, 1, 3, 4).reshape(FRAME, FRAME, 3)
    top, left = AGENT_ROW * TILE, AGENT_COLUMN * TILE
    beneath = int(codes[AGENT_ROW, AGENT_COLUMN])
    frame[top : top + TILE, left : left + TILE] = pictures.agent_tile(beneath, carrying)
    frame.flags.writeable = False
    return frame


def box(step: int, row: int, column: int) -> MaskBox:
    return MaskBox(step, column * TILE, row * TILE, TILE, TILE)


def hide(frame: Pixels, boxes: Iterable[MaskBox]) -> Pixels:
    """A copy of `frame` in which each box looks like a cell out of sight."""
    unseen = atlas().tiles[0]
    frame = frame.copy()
    for mask in boxes:
        frame[mask.top : mask.top + mask.height, mask.left : mask.left + mask.width] = unseen
    return frame


def main() -> None:
    """Take the pictures from Minigrid's renderer and write `tiles.npz`."""
    tiles = [render_tile(EMPTY, highlight=False)] + [render_tile(code, highlight=True) for code in KNOWN]
    np.savez_compressed(
        FILE,
        codes=np.array(KNOWN, dtype=np.uint16),
        tiles=np.stack(tiles),
        icons=np.stack([icon_of(code) for code in KNOWN]),
        triangle=render_triangle(),
    )


if __name__ == "__main__":
    main()
