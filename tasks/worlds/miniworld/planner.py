"""A deterministic planner in continuous space.

An environment's plan is a short script of goals (`walk` to a place, `approach` a thing, `do` pickup). The planner walks
along the corners of a short way, always towards the farthest one that it can walk to straight, and turns whenever another
of the headings that it can take points closer to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from tasks.worlds.base import Rejected
from tasks.worlds.miniworld.floor import Circle, Floor, Point
from tasks.worlds.miniworld.state import AGENT_RADIUS, State, wrapped

MARGIN = 0.1  # meters that the planner stays farther from walls and things than it must
MOST_ACTIONS = 200

Stepper = Callable[[str], tuple[State, bool, bool, float]]


class Planner:
    """Drives `step` and records what it does in `actions` and `states`."""

    def __init__(self, start: State, step: Stepper, floor: Floor, stride: tuple[float, float], reach: float):
        self.step, self.floor, self.reach = step, floor, reach
        self.forward, self.turn = stride[0], math.radians(stride[1])
        self.actions: list[str] = []
        self.states: list[State] = [start]
        self.terminated = self.truncated = False
        self.reward = 0.0

    @property
    def state(self) -> State:
        return self.states[-1]

    def find(self, kind: str, color: str | None = None) -> int:
        """Index of the only such thing. Raises Rejected where there is none or more than one."""
        try:
            return self.state.find(kind, color)
        except LookupError as error:
            raise Rejected(str(error)) from error

    def do(self, action: str) -> None:
        """One action. Raises Rejected where the episode is over or grows too long."""
        if self.terminated or self.truncated or len(self.actions) >= MOST_ACTIONS:
            raise Rejected(f"the plan goes on after {len(self.actions)} actions")
        state, self.terminated, self.truncated, self.reward = self.step(action)
        self.actions.append(action)
        self.states.append(state)

    def near(self, thing: int, other: int | None = None) -> bool:
        """MiniWorld's own measure of contact: two bounding circles less than `reach` apart."""
        return gap(self.state, thing, other) < self.reach

    def walk(self, place: Point, until: Callable[[], bool], radius: float = AGENT_RADIUS, avoid: float = 0.0) -> None:
        """Towards `place` until `until()`. `radius` is that of the agent with what it carries; other things are passed
        with `avoid` meters to spare. Raises Rejected where nothing leads there or something stops the agent."""
        while not until():
            state = self.state
            obstacles = list(self._obstacles(place, avoid))
            way = self.floor.route((state.x, state.z), place, radius + MARGIN, obstacles)
            if way is None:
                raise Rejected(f"no way to ({place[0]:.1f}, {place[1]:.1f})")
            corner = way[0]
            # walk to this corner, unless a later one comes into straight reach
            while not until() and not self._arrived(corner):
                here = (self.state.x, self.state.z)
                if len(way) > 1 and self.floor.straight(here, way[1], radius + MARGIN, obstacles):
                    way.pop(0)
                    corner = way[0]
                self._towards(corner)

    def _arrived(self, place: Point) -> bool:
        return math.hypot(self.state.x - place[0], self.state.z - place[1]) < self.forward

    def _towards(self, place: Point) -> None:
        if self._turned(place):
            return
        before = self.state.pose
        self.do("move_forward")
        if self.state.pose == before:
            raise Rejected(f"something stops the agent at ({self.state.x:.1f}, {self.state.z:.1f})")

    def _turned(self, place: Point) -> bool:
        """One turn, if another heading points closer to `place`."""
        state = self.state
        off = wrapped(math.atan2(state.z - place[1], place[0] - state.x) - state.direction)
        if abs(off) <= self.turn / 2 + 1e-6:
            return False
        before = state.pose
        self.do("turn_left" if off > 0 else "turn_right")
        if self.state.pose == before:
            raise Rejected(f"something keeps the agent from turning at ({state.x:.1f}, {state.z:.1f})")
        return True

    def face(self, place: Point) -> None:
        """Turn on the spot until no other heading points closer to `place`."""
        while self._turned(place):
            pass

    def approach(self, thing: int, until: Callable[[], bool] | None = None, **how: float) -> None:
        """Walk up to a thing until the episode ends, or `until`."""
        target = self.state.things[thing]
        self.walk((target.x, target.z), until or (lambda: self.terminated), **how)

    def _obstacles(self, goal: Point, spare: float) -> Iterable[Circle]:
        for index, thing in enumerate(self.state.things):
            hidden = thing.gone or thing.kind in ("sign", "picture") or index == self.state.carrying
            if not hidden and (thing.x, thing.z) != goal:
                yield thing.x, thing.z, thing.radius + spare


def gap(state: State, thing: int, other: int | None = None) -> float:
    """Meters between the bounding circles of a thing and another one, or the agent; heights count as in MiniWorld."""
    a = state.things[thing]
    if other is None:
        return math.hypot(a.x - state.x, a.y, a.z - state.z) - a.radius - AGENT_RADIUS
    b = state.things[other]
    return math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) - a.radius - b.radius
