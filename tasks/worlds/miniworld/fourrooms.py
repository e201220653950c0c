"""FourRooms: go to the red box in another one of four connected rooms.

Causal chain  pass a doorway -> reach the box
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            a grey box bars the way, or the red box is moved off the path, removed or replaced
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions
from tasks.worlds.miniworld.child.state import RoomState
from tasks.worlds.miniworld.edits import block, recolor, relocate, remove
from tasks.worlds.miniworld.oneroom import OneRoom


class FourRooms(OneRoom):
    name = "fourrooms"
    default_id = "MiniWorld-FourRooms-v0"
    causal_chain = ("pass doorway", "reach goal")

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        inside = [abs(state.x) < 1 or abs(state.z) < 1 for state in states]  # between the rooms' walls
        return [Event(step, "pass doorway") for step in range(1, len(states)) if inside[step] and not inside[step - 1]]

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        return [
            ("block the way", lambda: block(full)),
            ("relocate box", lambda: relocate(self, full, start.goal)),
            ("remove box", lambda: remove(start.goal)),
            ("replace box", lambda: recolor(start, start.goal)),
        ]
