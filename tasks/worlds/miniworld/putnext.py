"""PutNext: carry the red box to the yellow box and put it down beside it.

Causal chain  pick up the red box -> red is beside yellow
Success       the red box stands next to the yellow box, and the agent has let go of it
NoCue         the red box, before it is close (at most 12 frames)
CF            the yellow box changes places with another one, is moved off the path, or is removed
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions
from tasks.worlds.miniworld.child.state import RoomState
from tasks.worlds.miniworld.edits import APART, relocate, remove, swap
from tasks.worlds.miniworld.environment import MiniWorldEnvironment
from tasks.worlds.miniworld.planner import Planner, gap, gap_on_floor

ALONE = 0.75  # meters between the bounding circles of the red box and any third one, at least


class PutNext(MiniWorldEnvironment):
    name = "putnext"
    simulator = "putnext:PutNext"
    default_id = "MiniWorld-PutNext-v0"
    mission = "put the red box down right next to the yellow box"
    causal_chain = ("pickup red box", "red beside yellow")
    final_event = "red beside yellow"
    nocue_target = "the red box"

    def cue(self, state: RoomState) -> int:
        return state.find("box", "red")

    def plan(self, planner: Planner) -> None:
        red, yellow = planner.find("box", "red"), planner.state.goal
        planner.take(red)
        planner.approach(
            yellow, until=lambda: gap_on_floor(planner.state, red, yellow) < planner.reach, radius=0.9, avoid=0.1
        )
        planner.do("drop")

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        red = states[0].find("box", "red")
        beside = [state.carrying != red and gap(state, red, state.goal) < self.reach for state in states]
        return [
            Event(step, "red beside yellow") for step in range(1, len(states)) if beside[step] and not beside[step - 1]
        ]

    def evidence(self, end: RoomState) -> list[int]:
        return [end.goal, end.find("box", "red")]

    def unclear(self, full: Episode) -> str | None:
        """Also where red ends beside a third box: a reference of Task D could then mean either."""
        end = full.states[-1]
        red = end.find("box", "red")
        others = [index for index in range(len(end.things)) if index not in (red, end.goal)]
        beside = [end.things[index].name for index in others if gap_on_floor(end, red, index) < ALONE]
        return f"the red box ends beside the {beside[0]} too" if beside else super().unclear(full)

    def nearly(self, full: Episode, cf: Episode) -> str | None:
        end = cf.states[-1]
        red, yellow = end.find("box", "red"), end.things[end.goal]
        if yellow.gone or gap(end, red, end.goal) >= APART:
            return None
        return f"the boxes end {gap(end, red, end.goal):.1f} m apart"

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        others = [index for index, thing in enumerate(start.things) if thing.color not in ("red", "yellow")]
        return [
            ("swap boxes", lambda: swap(start, start.goal, others[start.seed % len(others)])),
            ("relocate yellow box", lambda: relocate(self, full, start.goal)),
            ("remove yellow box", lambda: remove(start.goal)),
        ]
