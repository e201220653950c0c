"""A deterministic shortest-path planner over MiniGrid's symbolic state.

An environment's plan is a short script of goals (`face` the key, `do` pickup, `reach` the goal); the planner finds the
fewest actions for each, and opens the doors on its way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX

from tasks.worlds.base import Rejected
from tasks.worlds.minigrid.simulator import DIRECTIONS, EMPTY, GridState, Simulator, cell, color, door_state, kind

Pose = tuple[int, int, int]  # x, y, direction
MOST_ACTIONS = 200


class Planner:
    """Drives `simulator` and records what it does in `actions` and `states`."""

    def __init__(self, simulator: Simulator):
        self.simulator = simulator
        self.actions: list[str] = []
        self.states: list[GridState] = [simulator.state]

    @property
    def state(self) -> GridState:
        return self.states[-1]

    def find(self, wanted: str, of_color: str | None = None) -> tuple[int, int]:
        """The one cell that holds such a thing. Raises Rejected where there is none or more than one."""
        places = places_of(self.state, wanted, of_color)
        if len(places) != 1:
            raise Rejected(f"{len(places)} things are a {of_color or ''} {wanted}".replace("  ", " "))
        return places[0]

    def do(self, action: str) -> None:
        """One action. Raises Rejected where the episode is over or grows too long."""
        if self.simulator.terminated or len(self.actions) >= MOST_ACTIONS:
            raise Rejected(f"the plan goes on after {len(self.actions)} actions")
        self.actions.append(action)
        self.states.append(self.simulator.step(action))

    def face(self, target: tuple[int, int]) -> None:
        """Stand before `target` and look at it."""
        self._go(lambda pose: _ahead(pose) == target, f"nothing leads to {target}", avoid={target})

    def reach(self, target: tuple[int, int]) -> None:
        """Stand on `target`."""
        self._go(lambda pose: pose[:2] == target, f"no way to {target}", enter={target})

    def drop(self, keep_clear: Iterable[tuple[int, int]] = ()) -> None:
        """Put the carried thing down on the nearest free cell beside the way, not on one of `keep_clear`."""
        kept = set(keep_clear)

        def free(pose: Pose) -> bool:
            place = _ahead(pose)
            return self.state.at(place) == EMPTY and place not in kept and not self._narrow(place)

        self._go(free, "no free cell to drop on")
        self.do("drop")

    def _narrow(self, place: tuple[int, int]) -> bool:
        """Whether a thing at `place` could block a doorway or a corridor: a door beside it, or walls on both sides."""
        x, y = place
        around = [kind(self.state.at((x + dx, y + dy))) for dx, dy in DIRECTIONS]
        return "door" in around or around[0] == around[2] == "wall" or around[1] == around[3] == "wall"

    def _go(
        self,
        done: Callable[[Pose], bool],
        otherwise: str,
        enter: Iterable[tuple[int, int]] = (),
        avoid: Iterable[tuple[int, int]] = (),
    ) -> None:
        for action in shortest(self.state, done, set(enter), set(avoid), otherwise):
            self.do(action)


def places_of(state: GridState, wanted: str, of_color: str | None = None) -> list[tuple[int, int]]:
    """Cells that hold such a thing, row by row."""
    found = state.cells >> 6 == OBJECT_TO_IDX[wanted]
    if of_color is not None:
        found &= (state.cells >> 3 & 7) == COLOR_TO_IDX[of_color]
    return [(x, y) for y, x in np.argwhere(found).tolist()]


def _ahead(pose: Pose) -> tuple[int, int]:
    dx, dy = DIRECTIONS[pose[2]]
    return pose[0] + dx, pose[1] + dy


def shortest(
    state: GridState,
    done: Callable[[Pose], bool],
    enter: set[tuple[int, int]],
    avoid: set[tuple[int, int]],
    otherwise: str,
) -> list[str]:
    """The fewest actions from `state` to a pose that is `done`; ties go to the first in the order left, right,
    forward, toggle-and-forward. Closed doors are opened on the way, locked ones where their key is carried. Only cells
    of `enter` are entered although something overlappable lies there. Raises Rejected(otherwise)."""
    start: Pose = (state.x, state.y, state.direction)
    cells = state.cells.tolist()
    key_color = color(state.carrying) if kind(state.carrying) == "key" else None

    def price(place: tuple[int, int]) -> int:
        """Actions to move onto `place` from before it; 0 where that cannot be."""
        if place in avoid:
            return 0
        code = cells[place[1]][place[0]]
        if code == EMPTY:
            return 1
        match kind(code):
            case "door" if door_state(code) == 0:
                return 1
            case "door" if door_state(code) == 1 or color(code) == key_color:
                return 2
            case "goal" if place in enter:
                return 1
        return 0

    best: dict[Pose, int] = {start: 0}
    before: dict[Pose, tuple[Pose, list[str]]] = {}
    queue: list[tuple[int, int, Pose]] = [(0, 0, start)]
    order = 0
    while queue:
        cost, _, pose = heapq.heappop(queue)
        if cost > best[pose]:
            continue
        if done(pose):
            actions: list[str] = []
            while pose != start:
                pose, step = before[pose]
                actions[:0] = step
            return actions
        x, y, direction = pose
        moves: list[tuple[Pose, list[str]]] = [
            ((x, y, (direction - 1) % 4), ["left"]),
            ((x, y, (direction + 1) % 4), ["right"]),
        ]
        place = _ahead(pose)
        if toll := price(place):
            moves.append(((*place, direction), ["forward"] if toll == 1 else ["toggle", "forward"]))
        for following, step in moves:
            total = cost + len(step)
            if total < best.get(following, total + 1):
                best[following] = total
                before[following] = (pose, step)
                order += 1
                heapq.heappush(queue, (total, order, following))
    raise Rejected(otherwise)


def door(of_color: str, state: int) -> int:
    return cell("door", of_color, state)
