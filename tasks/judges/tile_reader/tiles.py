"""Frames -> what is in their cells, by the nearest picture of a tile.

Colors may be changed in a way that is not known. So each picture gets a color map of its own, an affine one a channel,
fitted in turn with the cells: read them under the map, fit the map to what was read, until nothing changes. The agent's
red triangle, which is always at the same place, ties the map down; of several first guesses the one counts that leaves
the least difference. Tiles are compared by the means of their 4x4 blocks of pixels: an affine map commutes with taking
means, and noise in single pixels fades.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tasks.worlds.minigrid.atlas import shipped

TILE, SIDE = 32, 7
ROW, COLUMN = 6, 3  # of the agent
BLOCK = 4
FIRST_GUESSES = (0.5, 0.65, 0.8, 1.0, 1.25, 1.6)  # contrast
ROUNDS = 12
TRIANGLE_WEIGHT = 0.25  # against all tiles together
NOISE = 4.0  # mean squared difference of a tile below which its colors count as unchanged (levels squared)
LEGIBLE = 0.9  # least share of the variance that the tiles must explain
TRIANGLE = np.array([255.0, 76.0, 76.0])

_KINDS = {1: "empty", 2: "wall", 3: "floor", 4: "door", 5: "key", 6: "ball", 7: "box", 8: "goal", 9: "lava"}
_COLORS = ("red", "green", "blue", "purple", "yellow", "grey")


class Thing(NamedTuple):
    """What a cell holds. `color` of keys, balls, boxes, doors and the goal; `state` of doors: 0 open, 1 closed, 2 locked."""

    kind: str
    color: str | None = None
    state: int | None = None


UNSEEN, EMPTY = Thing("unseen"), Thing("empty")


class View(NamedTuple):
    """`cells` is 7 rows of 7, the farthest first; the agent's own cell holds what it stands on."""

    cells: tuple[tuple[Thing, ...], ...]
    carrying: Thing | None

    @property
    def front(self) -> Thing:
        return self.cells[ROW - 1][COLUMN]

    @property
    def beneath(self) -> Thing:
        return self.cells[ROW][COLUMN]


def _thing(code: int) -> Thing:
    """The thing of a shipped picture, which is numbered with MiniGrid's own indices: type, color, state."""
    kind = _KINDS[code >> 6]
    colored = kind in ("door", "key", "ball", "box", "goal")
    return Thing(kind, _COLORS[code >> 3 & 7] if colored else None, code & 7 if kind == "door" else None)


def _blocks(frames: np.ndarray) -> np.ndarray:
    """(n, 224, 224, 3) -> (n, 49, 192) float32: the means of each tile's blocks, the channels together at the end."""
    n, per_tile = len(frames), TILE // BLOCK
    rows = frames.reshape(n, SIDE * per_tile, BLOCK, -1)
    sums = functools.reduce(np.add, [rows[:, :, row].astype(np.uint16) for row in range(BLOCK)])
    columns = sums.reshape(n, SIDE * per_tile, SIDE * per_tile, BLOCK, 3)
    sums = functools.reduce(np.add, [columns[:, :, :, column] for column in range(BLOCK)])
    tiles = sums.reshape(n, SIDE, per_tile, SIDE, per_tile, 3).transpose(0, 1, 3, 5, 2, 4)  # channel by channel
    return tiles.reshape(n, SIDE * SIDE, 3 * per_tile * per_tile).astype(np.float32) / BLOCK**2


class _Pictures:
    """The shipped pictures, brought into the forms in which frames are compared with them."""

    def __init__(self) -> None:
        codes, tiles, icons, cover = shipped()
        self.things = [UNSEEN] + [_thing(int(code)) for code in codes]
        plain = np.zeros((len(tiles), SIDE * TILE, SIDE * TILE, 3), dtype=np.uint8)
        plain[:, :TILE, :TILE] = tiles
        self.blocks = _blocks(plain)[:, 0]  # (k, 192)

        # The agent's own tile: the ground shows where neither triangle nor carried thing can be.
        corner = np.zeros((TILE, TILE), dtype=bool)
        corner[1:17, 1:17] = True
        inner = np.zeros((TILE, TILE), dtype=bool)
        inner[2:16, 2:16] = True
        self.ring = corner & ~inner & (cover == 0)  # white around a carried thing
        self.ground = ~corner & (cover == 0)
        self.triangle = (cover == cover.max()) & ~corner
        self.grounds = tiles[:, self.ground].astype(np.float32)
        self.ground_rings = tiles[:, self.ring].astype(np.float32)
        movable = [row for row, thing in enumerate(self.things) if thing.kind in ("key", "ball", "box")]
        self.carried = [self.things[row] for row in movable]
        self.icons = icons[[row - 1 for row in movable]].reshape(len(movable), -1, 3).astype(np.float32)


@functools.cache
def _pictures() -> _Pictures:
    return _Pictures()


class ColorMap(NamedTuple):
    """Shipped level -> level on the page: level * gain + offset, a channel each."""

    gain: np.ndarray
    offset: np.ndarray

    def __call__(self, levels: np.ndarray) -> np.ndarray:
        """`levels` (..., 3)."""
        return levels if self is IDENTITY else levels * self.gain + self.offset


IDENTITY = ColorMap(np.ones(3), np.zeros(3))


def read(frames: Sequence[np.ndarray]) -> list[View]:
    """The views of the frames of one picture, which share their colors; none where they are not made of known tiles.
    `frames` are (224, 224, 3) uint8."""
    if not frames:
        return []
    pictures = _pictures()
    # One by one: a frame fits the processor's cache, a page does not.
    blocks = np.concatenate([_blocks(frame[None]) for frame in frames])
    agents = np.stack([frame[ROW * TILE :, COLUMN * TILE : (COLUMN + 1) * TILE] for frame in frames]).astype(np.float32)
    own = ROW * SIDE + COLUMN  # the agent's tile

    fit = Fit(np.delete(blocks, own, axis=1), agents[:, pictures.triangle].mean(axis=(0, 1)))
    nearest, colors, explained = fit.best()
    if explained < LEGIBLE:
        return []
    beneath, carried = _agent_tiles(agents, colors)
    rows = np.insert(nearest.reshape(len(frames), -1), own, beneath, axis=1)
    things = [pictures.things[row] for row in rows.ravel().tolist()]
    return [
        View(
            tuple(tuple(things[at : at + SIDE]) for at in range(first, first + SIDE * SIDE, SIDE)),
            None if held < 0 else pictures.carried[held],
        )
        for first, held in zip(range(0, len(things), SIDE * SIDE), carried.tolist(), strict=True)
    ]


class Fit:
    """The search for a color map. All that it needs of the tiles are their products with the shipped pictures, taken once,
    so that a round costs little."""

    def __init__(self, blocks: np.ndarray, triangle: np.ndarray):
        """`blocks` is (frames, tiles of a frame, 192), in all n tiles; `triangle` (3,), the mean color of the agent's
        triangle."""
        frames, tiles, _ = blocks.shape
        n, k = frames * tiles, len(_pictures().blocks)
        seen = blocks.reshape(n, 3, -1).swapaxes(0, 1)  # (3, n, 64)
        shipped = _pictures().blocks.reshape(k, 3, -1).swapaxes(0, 1)  # (3, k, 64)
        self.values = seen.shape[2]
        self.triangle = triangle
        # A product a frame: BLAS would use threads for one of all, which on a busy machine costs ten times the work.
        products = seen.reshape(3, frames, tiles, -1) @ shipped.swapaxes(1, 2)[:, None]
        self.products = products.reshape(3, n, k).astype(np.float64)
        self.seen_sum = seen.sum(axis=2, dtype=np.float64)  # (3, n)
        self.seen_squares = np.einsum("cni,cni->n", seen, seen, dtype=np.float64)
        self.sum = shipped.sum(axis=2, dtype=np.float64)  # (3, k)
        self.squares = np.einsum("cki,cki->ck", shipped, shipped, dtype=np.float64)

    def best(self) -> tuple[np.ndarray, ColorMap, float]:
        """The nearest shipped picture of each tile, (n,), the color map under which it is that, and the share of the
        tiles' variance that both explain: with the colors as shipped where they fit, else with what the best of the
        first guesses leads to."""
        nearest, difference = self.nearest(IDENTITY)
        colors, left = IDENTITY, self.left(IDENTITY, difference)
        if difference.max() > NOISE:
            gains = (np.full(3, contrast) for contrast in FIRST_GUESSES)
            ways = [self.settle(ColorMap(gain, self.triangle - TRIANGLE * gain)) for gain in gains]
            nearest, colors, left = min(ways, key=lambda way: way[2])
        squares = self.weighted(self.seen_squares.mean() / (3 * self.values), (self.triangle**2).mean())
        means = self.weighted(self.seen_sum.mean(axis=1) / self.values, self.triangle)
        variance = squares - float((means**2).mean())
        return nearest, colors, 1 - left / variance if variance > 1 else 0.0

    @staticmethod
    def weighted(of_tiles: Any, of_triangle: Any) -> Any:
        """The mean of a value over all tiles and over the triangle."""
        return (of_tiles + TRIANGLE_WEIGHT * of_triangle) / (1 + TRIANGLE_WEIGHT)

    def left(self, colors: ColorMap, difference: np.ndarray) -> float:
        """The mean squared difference of tiles and triangle under `colors`, given that of each tile."""
        return float(self.weighted(difference.mean(), ((colors(TRIANGLE) - self.triangle) ** 2).mean()))

    def settle(self, colors: ColorMap) -> tuple[np.ndarray, ColorMap, float]:
        """Read and fit in turn until the reading stays. Also gives the mean squared difference that is left."""
        before = None
        for _ in range(ROUNDS):
            nearest, difference = self.nearest(colors)
            if before is not None and (nearest == before).all():
                break
            before = nearest
            colors = self.fitted(nearest)
        return nearest, colors, self.left(colors, difference)

    def nearest(self, colors: ColorMap) -> tuple[np.ndarray, np.ndarray]:
        """The nearest shipped picture under `colors` and its mean squared difference, both (n,)."""
        gain, offset = colors.gain[:, None], colors.offset[:, None]
        mapped_squares = (gain**2 * self.squares + 2 * gain * offset * self.sum + offset**2 * self.values).sum(axis=0)
        products = np.einsum("c,cnk->nk", colors.gain, self.products) + (colors.offset @ self.seen_sum)[:, None]
        distances = mapped_squares - 2 * products
        nearest = distances.argmin(axis=1)
        least = distances[np.arange(len(nearest)), nearest] + self.seen_squares
        return nearest, least / (3 * self.values)

    def fitted(self, nearest: np.ndarray) -> ColorMap:
        """Least squares of the tiles on their shipped pictures, a channel each. The triangle counts as much as a quarter
        of all tiles."""
        n = len(nearest)
        values = n * self.values
        x = self.weighted(self.sum[:, nearest].sum(axis=1) / values, TRIANGLE)
        y = self.weighted(self.seen_sum.sum(axis=1) / values, self.triangle)
        xx = self.weighted(self.squares[:, nearest].sum(axis=1) / values, TRIANGLE**2) - x * x
        products = self.products[:, np.arange(n), nearest].sum(axis=1)
        xy = self.weighted(products / values, TRIANGLE * self.triangle) - x * y
        gain = np.where(xx > 1, xy / np.maximum(xx, 1), 1).clip(0.1, 4)
        return ColorMap(gain, y - gain * x)


def _agent_tiles(agents: np.ndarray, colors: ColorMap) -> tuple[np.ndarray, np.ndarray]:
    """For each agent's tile, (n, 32, 32, 3), the picture of what it stands on and of what it carries (-1: nothing)."""
    pictures = _pictures()
    ground = _closest(agents[:, pictures.ground], colors(pictures.grounds))
    ring = agents[:, pictures.ring]
    to_white = np.abs(ring - colors(np.full(3, 255.0))).mean(axis=(1, 2))
    to_ground = np.abs(ring - colors(pictures.ground_rings)[ground]).mean(axis=(1, 2))
    icons = agents[:, 2:16, 2:16].reshape(len(agents), -1, 3)
    return ground, np.where(to_white < to_ground, _closest(icons, colors(pictures.icons)), -1)


def _closest(seen: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(n, p, 3) and (k, p, 3) -> for each of the n the nearest of the k."""
    a, b = seen.reshape(len(seen), -1), known.reshape(len(known), -1)
    products = (a[:, None] @ b.T)[:, 0]  # a product a frame, as in `Fit`
    nearest: np.ndarray = ((b**2).sum(axis=1) - 2 * products).argmin(axis=1)
    return nearest
