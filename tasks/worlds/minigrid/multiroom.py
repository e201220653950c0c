"""MultiRoom: go through a chain of rooms, opening the doors between them, and get to the goal in the last.

Causal chain  open doors -> enter the room of the goal -> reach the goal
Success       the agent stands on the goal
NoCue         the doors and the goal, each before it is first faced, before the goal's room is entered (at most 12 frames)
CF            the goal is removed, or moved within its room
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions
from tasks.worlds.minigrid.environment import Cell, MiniGridEnvironment, relocate, remove, room_of
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState


class MultiRoom(MiniGridEnvironment):
    name = "multiroom"
    default_id = "MiniGrid-MultiRoom-N4-S5-v1"
    causal_chain = ("open door", "enter goal room", "reach goal")
    final_event = "reach goal"
    nocue_target = "the doors and the goal"
    nocue_budget = 12

    def plan(self, planner: Planner) -> None:
        planner.reach(planner.find("goal"))

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "door") + places_of(states[0], "goal")

    def cue_used(self, states: Sequence[GridState], target: Cell) -> int:
        entered = [event.step for event in self.extra_events(states)]
        return min([super().cue_used(states, target), *entered])

    def extra_events(self, states: Sequence[GridState]) -> list[Event]:
        goals = places_of(states[0], "goal")
        if not goals:  # removed by the intervention: the last room is where the agent ends
            goals = [states[-1].position]
        room = room_of(states[0], goals[0])
        return [Event(step, "enter goal room") for step, state in enumerate(states) if state.position in room][:1]

    def interventions(self, full: Episode) -> Interventions:
        (goal,) = places_of(full.states[0], "goal")
        return [("remove goal", lambda: remove(full, goal)), ("relocate goal", lambda: relocate(full, goal))]
