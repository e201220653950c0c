"""Sign: read the color on the wall, then go to the box or the key of that color (Liu et al., 2020).

MiniWorld fixes the color for all episodes and moves in long steps; here the color follows from the seed, and the steps
are those of the other environments. The kind is the configuration's (`...?goal=1` for keys).

Causal chain  read the sign -> reach the thing
Success       the agent stands right before the thing of the sign's color and the mission's kind
NoCue         the sign, in every frame that shows it (at most 40)
CF            the sign names another color, or the thing changes places with one of another color
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions, MaskBox, Rejected
from tasks.worlds.miniworld.child.state import RoomState
from tasks.worlds.miniworld.edits import swap
from tasks.worlds.miniworld.environment import MiniWorldEnvironment
from tasks.worlds.miniworld.planner import Planner

VIEWPOINT = (4.6, 9.6)  # from where the sign can be read, in meters
SIGN_AT = (10.0, 10.25)


class Sign(MiniWorldEnvironment):
    name = "sign"
    simulator = "sign:Sign"
    default_id = "MiniWorld-Sign-v0"
    mission = (
        "find the color written on the wall, then walk up to the {kind} of that color until it is right in front of you"
    )
    causal_chain = ("read sign", "reach goal")
    final_event = "reach goal"
    nocue_target = "the sign"
    nocue_budget = 40

    def cue(self, state: RoomState) -> int:
        return state.find("sign")

    def cue_used(self, state: RoomState) -> bool:
        return False  # it is read from afar, and never touched

    def plan(self, planner: Planner) -> None:
        planner.walk(VIEWPOINT, until=lambda: planner.at(VIEWPOINT), avoid=0.3)
        planner.face(SIGN_AT)
        planner.approach(planner.state.goal, avoid=0.3)

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        sign = states[0].things[self.cue(states[0])]
        whole = (step for step, state in enumerate(states) if self.in_view(state, sign, all))
        return [Event(step, "read sign") for step in itertools.islice(whole, 1)]

    def nocue(self, full: Episode) -> list[MaskBox]:
        sign = self.cue(full.states[0])
        boxes = []
        for step, state in enumerate(full.states):
            if self.in_view(state, state.things[sign], any):
                _, box = self.engine.visible(state, [], sign)
                boxes += [MaskBox(step, *box)] if box else []
        if not 0 < len(boxes) <= self.nocue_budget:
            raise Rejected(f"the sign is in sight in {len(boxes)} frames")
        return boxes

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        goal, sign = start.things[start.goal], self.cue(start)
        others = [
            index
            for index, thing in enumerate(start.things)
            if thing.kind == goal.kind and index not in (start.goal, sign)
        ]
        other = others[start.seed // 2 % len(others)]
        return [
            ("swap things", lambda: swap(start, start.goal, other)),
            ("change sign", lambda: [{"write": sign, "text": start.things[other].color.upper()}]),
        ]
