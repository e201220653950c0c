"""Memory: look at the object in the first room, then go to the matching one at the end of the hallway.

Causal chain  face the cue -> end before the object that matches it
Success       the agent stops before the matching object
NoCue         the cue, before it is first faced (at most 10 frames)
CF            the two objects at the end are swapped
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tasks.worlds.base import Episode, Event, Interventions, Rejected
from tasks.worlds.minigrid.environment import Cell, MiniGridEnvironment
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState, Simulator, kind


class Memory(MiniGridEnvironment):
    name = "memory"
    default_id = "MiniGrid-MemoryS11-v0"
    causal_chain = ("observe cue", "choose match")
    final_event = "choose match"
    nocue_target = "the cue object"
    nocue_budget = 10

    def plan(self, planner: Planner) -> None:
        cue, ends = self.cue_and_ends(planner.state)
        (match,) = (end for end in ends if planner.state.at(end) == planner.state.at(cue))
        planner.face(cue)
        planner.face(match)

    @staticmethod
    def cue_and_ends(state: GridState) -> tuple[Cell, list[Cell]]:
        """The cell of the cue (leftmost) and of the two objects at the end."""
        objects = sorted(places_of(state, "key") + places_of(state, "ball"))
        if len(objects) != 3:
            raise Rejected(f"{len(objects)} objects instead of 3")
        return objects[0], objects[1:]

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return [self.cue_and_ends(states[0])[0]]

    def extra_events(self, states: Sequence[GridState]) -> list[Event]:
        cue, ends = self.cue_and_ends(states[0])
        events = [Event(step, "observe cue") for step, state in enumerate(states) if state.front == cue][:1]
        last = states[-1]
        if last.front in ends:
            chosen = "match" if last.at(last.front) == last.at(cue) else "other"
            events.append(Event(len(states) - 1, f"choose {chosen}"))
        return events

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        _, (one, other) = self.cue_and_ends(start)
        return [("swap ends", lambda: [[*one, start.at(other)], [*other, start.at(one)]])]

    def after_edit(self, simulator: Simulator) -> None:
        env: Any = simulator.env
        (cue, ends), state = self.cue_and_ends(simulator.state), simulator.state
        middle = env.height // 2
        for x, y in ends:
            before = (x, y + 1 if y < middle else y - 1)
            if kind(state.at((x, y))) == kind(state.at(cue)):
                env.success_pos = before
            else:
                env.failure_pos = before
