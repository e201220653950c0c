"""The floor plan as a planner sees it: walls that stop a circle, what a circle can see, and short ways around."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

Point = tuple[float, float]
Circle = tuple[float, float, float]  # x, z, radius
SPACING = 0.25  # meters between the points of the planner's grid
LINKS = 12  # points of the grid that start and end are tied to


class Floor:
    """`walls` is (n, 2, 2) float64: both ends (x, z) of every wall segment, in meters."""

    def __init__(self, walls: np.ndarray):
        self.walls = walls
        self._from, self._along = walls[:, 0], walls[:, 1] - walls[:, 0]
        self._squared = (self._along**2).sum(axis=1)

    def clearance(self, points: np.ndarray) -> np.ndarray:
        """Meters from each of the (m, 2) points to the nearest wall."""
        along = ((points[:, None] - self._from) * self._along).sum(axis=2) / self._squared
        nearest = self._from + along.clip(0, 1)[:, :, None] * self._along
        meters: np.ndarray = np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1)
        return meters

    def free(self, points: np.ndarray, radius: float, obstacles: Sequence[Circle]) -> np.ndarray:
        """Whether a circle of `radius` fits at each of the (m, 2) points."""
        fits = self.clearance(points) >= radius
        for x, z, size in obstacles:
            fits &= np.hypot(points[:, 0] - x, points[:, 1] - z) >= radius + size
        return fits

    def straight(self, start: Point, end: Point, radius: float, obstacles: Sequence[Circle]) -> bool:
        """Whether a circle of `radius` can move straight from `start` to `end`."""
        steps = max(2, int(np.hypot(end[0] - start[0], end[1] - start[1]) / 0.1) + 1)
        return bool(self.free(np.linspace(start, end, steps), radius, obstacles).all())

    def sees(self, start: Point, end: Point) -> bool:
        """Whether no wall crosses the straight line between two points."""
        p, r = np.array(start), np.array(end) - np.array(start)
        a, s = self._from, self._along
        cross = r[0] * s[:, 1] - r[1] * s[:, 0]
        safe = np.where(np.abs(cross) < 1e-12, np.inf, cross)
        d = a - p
        t = (d[:, 0] * s[:, 1] - d[:, 1] * s[:, 0]) / safe
        u = (d[:, 0] * r[1] - d[:, 1] * r[0]) / safe
        return not ((t > 0) & (t < 1) & (u >= 0) & (u <= 1)).any()

    @functools.cached_property
    def grid(self) -> np.ndarray:
        """(rows, columns, 2): the points of a regular grid over the floor plan."""
        low, high = self.walls.min(axis=(0, 1)), self.walls.max(axis=(0, 1))
        xs, zs = (np.arange(a, b + SPACING / 2, SPACING) for a, b in zip(low, high, strict=True))
        return np.stack(np.meshgrid(xs, zs), axis=2)

    def route(self, start: Point, end: Point, radius: float, obstacles: Iterable[Circle]) -> list[Point] | None:
        """Corners of a short way from `start` to `end` for a circle of `radius`; None where there is none."""
        blocked = list(obstacles)
        if self.straight(start, end, radius, blocked):
            return [end]
        rows, columns, _ = self.grid.shape
        points = np.concatenate([self.grid.reshape(-1, 2), [start, end]])
        fits = self.free(points, radius, blocked)
        fits[-2:] = True
        number = np.arange(rows * columns).reshape(rows, columns)
        pairs = np.concatenate(
            [
                np.stack([a.ravel(), b.ravel()], axis=1)
                for a, b in (
                    (number[:, 1:], number[:, :-1]),
                    (number[1:], number[:-1]),
                    (number[1:, 1:], number[:-1, :-1]),
                    (number[1:, :-1], number[:-1, 1:]),
                )
            ]
        )
        inside = np.flatnonzero(fits[:-2])
        if not len(inside):
            return None
        ends = []
        for index in (len(points) - 2, len(points) - 1):
            nearest = np.argsort(np.hypot(*(points[inside] - points[index]).T), kind="stable")[:LINKS]
            ends.append([(index, near) for near in inside[nearest]])
        pairs = np.concatenate([pairs, *(np.array(some).reshape(-1, 2) for some in ends)])
        pairs = pairs[fits[pairs].all(axis=1)]
        lengths = np.hypot(*(points[pairs[:, 0]] - points[pairs[:, 1]]).T)
        graph = csr_array((lengths, (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points)))
        distance, before = dijkstra(graph, directed=False, indices=len(points) - 1, return_predecessors=True)
        if not np.isfinite(distance[len(points) - 2]):
            return None
        way = [len(points) - 2]
        while way[-1] != len(points) - 1:
            way.append(int(before[way[-1]]))
        return self._straightened([(float(x), float(z)) for x, z in points[way]], radius, blocked)

    def _straightened(self, way: list[Point], radius: float, obstacles: Sequence[Circle]) -> list[Point]:
        corners, at = [], 0
        while at < len(way) - 1:
            reachable = [
                index for index in range(at + 1, len(way)) if self.straight(way[at], way[index], radius, obstacles)
            ]
            at = reachable[-1] if reachable else at + 1
            corners.append(way[at])
        return corners
