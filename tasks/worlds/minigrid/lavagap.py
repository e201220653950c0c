"""LavaGap: cross the barrier of lava through its one gap and get to the goal.

Causal chain  stand in the gap -> reach the goal, never entering lava
Success       the agent stands on the goal
NoCue         the lava, before any of it is faced and before the gap is entered (at most 4 frames)
CF            the goal is moved off the path, or removed
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions
from tasks.worlds.minigrid.environment import Cell, MiniGridEnvironment, relocate, remove
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState


class LavaGap(MiniGridEnvironment):
    name = "lavagap"
    default_id = "MiniGrid-LavaGapS7-v0?size=9"
    causal_chain = ("cross gap", "reach goal")
    final_event = "reach goal"
    nocue_target = "the lava"
    nocue_budget = 4

    def plan(self, planner: Planner) -> None:
        planner.reach(planner.find("goal"))

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "lava")

    def cue_used(self, states: Sequence[GridState], target: Cell) -> int:
        lava = set(self.targets(states))
        crossed = [event.step for event in self.extra_events(states)]
        faced = [step for step, state in enumerate(states) if state.front in lava]
        return min([*crossed, *faced, len(states)])

    def extra_events(self, states: Sequence[GridState]) -> list[Event]:
        lava = places_of(states[0], "lava")
        column, row = {x for x, _ in lava}, {y for _, y in lava}
        for step, state in enumerate(states):
            in_line = state.x in column if len(column) == 1 else state.y in row
            if in_line and state.position not in lava:
                return [Event(step, "cross gap")]
        return []

    def chain_in_order(self, events: Sequence[Event]) -> str | None:
        if any(event.name == "enter lava" for event in events):
            return "the agent enters lava"
        return super().chain_in_order(events)

    def interventions(self, full: Episode) -> Interventions:
        (goal,) = places_of(full.states[0], "goal")
        return [("relocate goal", lambda: relocate(full, goal)), ("remove goal", lambda: remove(full, goal))]
