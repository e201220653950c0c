"""Changes of a MiniWorld at t = 0: what an intervention says, what it touches, and ways to make one.

An edit is one of {"move": thing, "to": [x, y, z]}, {"remove": thing}, {"write": sign, "text": ...} and {"add": kind,
"color": ..., "size": ..., "at": [x, z], "dir": ...}; things are named by their index.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tasks.worlds.base import Episode, Intervention, Json, Rejected
from tasks.worlds.miniworld.child.state import AGENT_RADIUS, COLORS, RoomState
from tasks.worlds.miniworld.floor import Floor, Point
from tasks.worlds.miniworld.planner import gap

Edits = list[Json]
CLOSE = 1.0  # meters between bounding circles below which the agent is about to use a thing
APART = 1.5  # meters between agent and goal, at least, at the end of a failure


class HasFloor(Protocol):
    def floor(self, seed: int) -> Floor: ...


def edits_of(intervention: Intervention | None) -> Edits:
    edits: Edits = intervention.parameters["edits"] if intervention else []
    return edits


def changed_things(intervention: Intervention, count: int) -> set[int]:
    """Indices of the things that an intervention moves, takes away, rewrites or adds (those come last)."""
    changed, added = set(), count
    for edit in intervention.parameters["edits"]:
        named = [edit[verb] for verb in ("move", "remove", "write") if verb in edit]
        changed |= set(named)
        if "add" in edit:
            changed.add(added)
            added += 1
    return changed


def touches(state: RoomState, things: set[int]) -> bool:
    """Whether the agent, or what it carries, is close enough to one of `things` for it to matter to its next action."""
    for index in things:
        if index < len(state.things) and not state.things[index].gone:
            carried = state.carrying if state.carrying not in (-1, index) else None
            nearest = min(gap(state, index), gap(state, index, carried) if carried is not None else math.inf)
            if state.carrying == index or nearest < CLOSE:
                return True
    return False


# --- ways to make an intervention --------------------------------------------------------------------------------------


def remove(thing: int) -> Edits:
    return [{"remove": thing}]


def recolor(start: RoomState, thing: int, color: str | None = None) -> Edits:
    """Put a box of another color where a thing was: a distractor that nothing in the mission names."""
    old = start.things[thing]
    others = [name for name in COLORS if name not in {other.color for other in start.things}]
    return [
        {"remove": thing},
        {
            "add": old.kind,
            "color": color or others[start.seed % len(others)],
            "size": old.size,
            "at": [old.x, old.z],
            "dir": old.direction,
        },
    ]


def relocate(environment: HasFloor, full: Episode, thing: int, room: Sequence[Point] | None = None) -> Edits:
    """Move a thing to the free place of the floor that is farthest from the walked path, and reachable. Raises Rejected
    where every place is too near."""
    start: RoomState = full.states[0]
    moved = start.things[thing]
    floor = environment.floor(start.seed)
    places = np.array(room) if room is not None else floor.grid.reshape(-1, 2)
    others = [
        (other.x, other.z, other.radius)
        for index, other in enumerate(start.things)
        if index != thing and not other.gone and other.kind not in ("sign", "picture")
    ]
    path = np.array([(state.x, state.z) for state in full.states])
    away = np.linalg.norm(places[:, None] - path[None], axis=2).min(axis=1)
    fits = floor.free(places, moved.radius + 0.1, others) & (away > moved.radius + AGENT_RADIUS + APART + 0.5)
    for index in np.argsort(-away, kind="stable"):
        if not fits[index]:
            continue
        x, z = (float(value) for value in places[index])
        if floor.route((start.x, start.z), (x, z), AGENT_RADIUS + 0.05, others) is not None:
            return [{"move": thing, "to": [x, moved.y, z]}]
    raise Rejected("no free place far enough from the path to move it to")


def swap(start: RoomState, thing: int, other: int) -> Edits:
    """Two things change places."""
    a, b = start.things[thing], start.things[other]
    return [{"move": thing, "to": [b.x, a.y, b.z]}, {"move": other, "to": [a.x, b.y, a.z]}]


def block(full: Episode, ahead: float = 0.55, color: str = "grey") -> Edits:
    """A box in the agent's way, `ahead` of the way gone (0 to 1)."""
    states: list[RoomState] = full.states
    length = np.cumsum([0.0] + [math.hypot(b.x - a.x, b.z - a.z) for a, b in itertools.pairwise(states)])
    at = states[int(np.searchsorted(length, length[-1] * ahead))]
    return [{"add": "box", "color": color, "size": 0.9, "at": [at.x, at.z], "dir": at.direction}]
