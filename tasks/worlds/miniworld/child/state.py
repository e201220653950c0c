"""MiniWorld's states as plain records: the agent's pose, what it carries, and every thing's pose. Both sides of the child process know them.

Positions are meters in MiniWorld's axes (x and z on the floor, y up), directions are radians counterclockwise from +x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

ACTIONS = ("turn_left", "turn_right", "move_forward", "move_back", "pickup", "drop")
COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
KINDS = ("box", "ball", "key", "sign", "mesh", "picture")
AGENT_RADIUS = 0.4
CAMERA_HEIGHT = 1.5
CAMERA_PITCH = -20.0  # degrees; MiniWorld's level camera loses sight of what the agent stands before
FIELD_OF_VIEW = 60.0  # degrees, vertical
WIDTH, HEIGHT = 256, 192  # pixels of a frame
NOWHERE = (1000.0, -1000.0, 1000.0)  # where a removed thing lies: out of reach and beyond what the camera draws


@dataclass(frozen=True)
class Thing:
    """An entity of MiniWorld. `color` is the text of a sign and the name of a mesh or picture; `size` its height."""

    kind: str
    color: str
    x: float
    y: float
    z: float
    direction: float
    size: float
    radius: float

    @property
    def name(self) -> str:
        return f"{self.color} {self.kind}"

    @property
    def gone(self) -> bool:
        return self.y < -100


@dataclass(frozen=True)
class RoomState:
    """`seed` fixes the floor plan; `things` is in MiniWorld's order; `carrying` and `goal` (what the mission names) are
    indices into it, -1 for nothing."""

    seed: int
    x: float
    z: float
    direction: float
    carrying: int
    goal: int
    things: tuple[Thing, ...]

    @property
    def pose(self) -> tuple[float, float, float]:
        return self.x, self.z, self.direction

    def distance(self, thing: Thing) -> float:
        """Meters between the agent's center and the thing's, on the floor."""
        return math.hypot(thing.x - self.x, thing.z - self.z)

    def bearing(self, thing: Thing) -> float:
        """Radians by which the agent would have to turn left to look at the thing's center, in (-pi, pi]."""
        return wrapped(math.atan2(self.z - thing.z, thing.x - self.x) - self.direction)

    def find(self, kind: str, color: str | None = None) -> int:
        """Index of the only such thing. Raises LookupError where there is none or more than one."""
        found = [
            index
            for index, thing in enumerate(self.things)
            if thing.kind == kind and color in (None, thing.color) and not thing.gone
        ]
        if len(found) != 1:
            raise LookupError(f"{len(found)} things are a {f'{color} {kind}' if color else kind}")
        return found[0]


def wrapped(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2 * math.pi)


def encode_state(state: RoomState) -> dict[str, Any]:
    """Plain JSON: seed of the floor plan, position, direction, carried thing, goal, and a list for each thing (kind, color, x, y, z, direction, size, radius). Floats are exact."""
    return {
        "layout": state.seed,
        "pos": [state.x, state.z],
        "dir": state.direction,
        "carrying": state.carrying if state.carrying >= 0 else None,
        "goal": state.goal,
        "things": [
            [thing.kind, thing.color, thing.x, thing.y, thing.z, thing.direction, thing.size, thing.radius]
            for thing in state.things
        ],
    }


def decode_state(value: dict[str, Any]) -> RoomState:
    x, z = value["pos"]
    carrying = value["carrying"]
    things = tuple(Thing(*row) for row in value["things"])
    return RoomState(value["layout"], x, z, value["dir"], -1 if carrying is None else carrying, value["goal"], things)
