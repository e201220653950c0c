"""YMaze: go to the red box in one of the two arms of a Y-shaped hallway.

Causal chain  enter the arm -> reach the box
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            the box is in the other arm, is removed, or is replaced by one of another color
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Event
from tasks.worlds.miniworld import tmaze
from tasks.worlds.miniworld.child.state import RoomState


class YMaze(tmaze.TMaze):
    name = "ymaze"
    default_id = "MiniWorld-YMaze-v0"

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        inside = (step for step, state in enumerate(states) if state.x > 0)  # the middle of the hub
        return [Event(step, "enter arm") for step in list(inside)[:1]]
