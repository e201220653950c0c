"""A deterministic planner in continuous space.

An environment's plan is a short script of goals (`walk` to a place, `approach` a thing, `do` pickup). The planner walks
along the corners of a short way, always towards the farthest one that it can walk to straight, and turns whenever another
of the headings that it can take points closer to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from tasks.worlds.base import Rejected
from tasks.worlds.miniworld.child.state import AGENT_RADIUS, RoomState, Thing, wrapped
from tasks.worlds.miniworld.floor import Circle, Floor, Point

MARGIN = 0.1  # meters that the planner stays farther from walls and things than it must
MOST_ACTIONS = 200

Stepper = Callable[[str], tuple[RoomState, bool, bool, float]]


class Planner:
    """Drives `step` and records what it does in `actions` and `states`."""

    def __init__(self, start: RoomState, step: Stepper, floor: Floor, stride: tuple[float, float], reach: float):
        self.step, self.floor, self.reach = step, floor, reach
        self.forward, self.turn = stride[0], math.radians(stride[1])
        self.actions: list[str] = []
        self.states: list[RoomState] = [start]
        self.terminated = self.truncated = False
        self.reward = 0.0

    @property
    def state(self) -> RoomState:
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

    def walk(self, place: Point, until: Callable[[], bool], radius: float = AGENT_RADIUS, avoid: float = 0.0) -> None:
        """Towards `place` until `until()`. `radius` is that of the agent with what it carries; other things are passed
        with `avoid` meters to spare. Raises Rejected where nothing leads there or something stops the agent."""
        while not until():
            here = self.state.x, self.state.z
            obstacles = list(self._obstacles(place, avoid))
            way = self.floor.route(here, place, radius + MARGIN, obstacles)
            if way is None:
                raise Rejected(f"no way to ({place[0]:.1f}, {place[1]:.1f})")
            corners = [corner for corner in way if not self.at(corner)]
            if not corners:
                raise Rejected(f"nothing happens at ({place[0]:.1f}, {place[1]:.1f})")
            # on to the first corner, or a later one as soon as nothing lies between
            while not until() and not self.at(corners[0]):
                here = self.state.x, self.state.z
                if len(corners) > 1 and self.floor.straight(here, corners[1], radius + MARGIN, obstacles):
                    corners.pop(0)
                self._towards(corners[0])

    def at(self, place: Point) -> bool:
        """Whether the agent stands within a step of `place`."""
        return math.hypot(self.state.x - place[0], self.state.z - place[1]) < self.forward

    def _towards(self, place: Point) -> None:
        """One action towards `place`."""
        if self._turned(place, clear=True):
            return
        before = self.state.pose
        self.do("move_forward")
        if self.state.pose == before:
            raise Rejected(f"something stops the agent at ({self.state.x:.1f}, {self.state.z:.1f})")

    def _turned(self, place: Point, clear: bool = False) -> bool:
        """One turn, if another heading points closer to `place`; with `clear`, only headings count in which a step
        forward is free."""
        state = self.state
        off = wrapped(math.atan2(state.z - place[1], place[0] - state.x) - state.direction)
        turns = sorted(range(-12, 13), key=lambda count: (abs(off - count * self.turn), abs(count), count))
        if clear:
            free = (count for count in turns if self._free(state.direction + count * self.turn))
            turns = [next(free, turns[0])]
        if turns[0] == 0:
            return False
        before = state.pose
        self.do("turn_left" if turns[0] > 0 else "turn_right")
        if self.state.pose == before:  # what it carries strikes something
            self.do("move_back")
            if self.state.pose == before:
                raise Rejected(f"something keeps the agent from turning at ({state.x:.1f}, {state.z:.1f})")
        return True

    def _free(self, direction: float) -> bool:
        x = self.state.x + math.cos(direction) * self.forward
        z = self.state.z - math.sin(direction) * self.forward
        things = list(self._obstacles((math.inf, math.inf), 0.0))
        return bool(self.floor.free(np.array([[x, z]]), AGENT_RADIUS + 0.001, things)[0])

    def face(self, place: Point) -> None:
        """Turn on the spot until no other heading points closer to `place`."""
        while self._turned(place):
            pass

    def take(self, thing: int) -> None:
        """Walk up to a thing, face it and pick it up. Raises Rejected where something else comes to hand."""
        target = self.state.things[thing]
        place = target.x, target.z
        self.walk(place, until=lambda: within_pickup(self.state, target))
        self.face(place)
        self.do("pickup")
        if self.state.carrying != thing:
            raise Rejected(f"the {target.name} cannot be picked up from there")

    def approach(self, thing: int, until: Callable[[], bool] | None = None, **how: float) -> None:
        """Walk up to a thing until the episode ends, or `until`."""
        target = self.state.things[thing]
        self.walk((target.x, target.z), until or (lambda: self.terminated), **how)

    def _obstacles(self, goal: Point, spare: float) -> Iterable[Circle]:
        for index, thing in enumerate(self.state.things):
            hidden = thing.gone or thing.kind in ("sign", "picture") or index == self.state.carrying
            if not hidden and (thing.x, thing.z) != goal:
                yield thing.x, thing.z, thing.radius + spare


def within_pickup(state: RoomState, thing: Thing) -> bool:
    """MiniWorld's reach for `pickup`: a circle ahead of the agent."""
    ahead = 1.5 * AGENT_RADIUS
    x = state.x + math.cos(state.direction) * ahead
    z = state.z - math.sin(state.direction) * ahead
    return math.hypot(thing.x - x, thing.z - z) < 1.2 * AGENT_RADIUS + thing.radius


def gap(state: RoomState, thing: int, other: int | None = None) -> float:
    """Meters between the bounding circles of a thing and another one, or the agent; heights count as in MiniWorld."""
    a = state.things[thing]
    if other is None:
        return math.hypot(a.x - state.x, a.y, a.z - state.z) - a.radius - AGENT_RADIUS
    b = state.things[other]
    return math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) - a.radius - b.radius


def gap_on_floor(state: RoomState, thing: int, other: int) -> float:
    """Meters between the bounding circles of two things, whatever their heights."""
    a, b = state.things[thing], state.things[other]
    return math.hypot(a.x - b.x, a.z - b.z) - a.radius - b.radius
