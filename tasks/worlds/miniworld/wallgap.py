"""WallGap: pass the gap in a wall between two yards and go to the red box.

Causal chain  pass the gap -> reach the box
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            grey boxes close the gap, or the red box is moved off the path, removed or replaced
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions
from tasks.worlds.miniworld.child.state import RoomState
from tasks.worlds.miniworld.edits import Edits, recolor, relocate, remove
from tasks.worlds.miniworld.oneroom import OneRoom


class WallGap(OneRoom):
    name = "wallgap"
    default_id = "MiniWorld-WallGap-v0"
    causal_chain = ("pass gap", "reach goal")

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        beyond = (step for step, state in enumerate(states) if state.z < 0)
        return [Event(step, "pass gap") for step in list(beyond)[:1]]

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        return [
            ("close the gap", lambda: close_gap()),
            ("relocate box", lambda: relocate(self, full, start.goal)),
            ("remove box", lambda: remove(start.goal)),
            ("replace box", lambda: recolor(start, start.goal)),
        ]


def close_gap() -> Edits:
    """Three boxes side by side in the gap, which is three meters wide."""
    return [{"add": "box", "color": "grey", "size": 0.95, "at": [x, 0.0], "dir": 0.0} for x in (-1.0, 0.0, 1.0)]
