"""Maze: find the red box in a maze of three by three rooms.

Causal chain  see the box -> reach it
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            a grey box bars the way, or the red box is moved off the path, removed or replaced
"""

from __future__ import annotations

from tasks.worlds.base import Episode, Interventions, Rejected
from tasks.worlds.miniworld.edits import block, recolor, relocate, remove
from tasks.worlds.miniworld.oneroom import OneRoom
from tasks.worlds.miniworld.planner import Planner


class Maze(OneRoom):
    name = "maze"
    default_id = "MiniWorld-MazeS3-v0"

    def plan(self, planner: Planner) -> None:
        start = planner.state
        if self.in_view(start, start.things[start.goal]):
            raise Rejected("the box is in sight at the start")
        super().plan(planner)

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        return [
            ("relocate box", lambda: relocate(self, full, start.goal)),
            ("block the way", lambda: block(full)),
            ("remove box", lambda: remove(start.goal)),
            ("replace box", lambda: recolor(start, start.goal)),
        ]
