"""Hallway: go to the red box at the end of a hallway.

Causal chain  see the box -> reach it
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            the box is removed or replaced by one of another color, or a grey box bars the hallway
"""

from __future__ import annotations

from tasks.worlds.base import Episode, Interventions
from tasks.worlds.miniworld.edits import block, recolor, remove
from tasks.worlds.miniworld.oneroom import OneRoom


class Hallway(OneRoom):
    name = "hallway"
    default_id = "MiniWorld-Hallway-v0"

    def interventions(self, full: Episode) -> Interventions:
        box = full.states[0].goal
        return [
            ("block the way", lambda: block(full)),
            ("remove box", lambda: remove(box)),
            ("replace box", lambda: recolor(full.states[0], box)),
        ]
