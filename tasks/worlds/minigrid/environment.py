"""What all MiniGrid environments share: everything but the mission, the plan, the cue and the interventions.

An environment file says `plan`, `targets` (which cells NoCue hides, and from when the cue counts as used) and
`interventions`; see doorkey.py for the shape of one.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tasks.pictures.pixels import Pixels
from tasks.worlds.base import Branch, Environment, Episode, Event, Intervention, Interventions, Json, MaskBox, Rejected
from tasks.worlds.minigrid import WORLD, tiles
from tasks.worlds.minigrid.planner import Planner
from tasks.worlds.minigrid.rules import contradicts
from tasks.worlds.minigrid.scene import scene
from tasks.worlds.minigrid.simulator import (
    ACTIONS,
    EMPTY,
    UNSEEN,
    GridState,
    Simulator,
    color,
    decode_state,
    door_state,
    encode_state,
    in_view,
    kind,
)
from tasks.worlds.minigrid.witness import MiniGridWitness

Cell = tuple[int, int]
Edits = list[list[Any]]  # [x, y, cell code]


class MiniGridEnvironment(Environment):
    world = WORLD.name
    frame_size = (tiles.FRAME, tiles.FRAME)
    changes = "cells"

    def __init__(self, env_id: str | None = None):
        super().__init__(env_id)
        self._simulator: Simulator | None = None

    @property
    def simulator(self) -> Simulator:
        """One simulator an environment object; every use begins with a seeded reset."""
        if self._simulator is None:
            self._simulator = Simulator(self.env_id)
        return self._simulator

    # --- what an environment file says ----------------------------------------------------------------------------

    @abc.abstractmethod
    def plan(self, planner: Planner) -> None:
        """Drive `planner` to success."""

    @abc.abstractmethod
    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        """The map cells of the NoCue target."""

    @abc.abstractmethod
    def interventions(self, full: Episode) -> Interventions:
        """Named ways to make the same actions fail, each giving the cells to change at t = 0."""

    def extra_events(self, states: Sequence[GridState]) -> list[Event]:
        """Events of this environment beyond pickups, drops, doors, goal and lava."""
        return []

    def after_edit(self, simulator: Simulator) -> None:
        """Bring the simulator's own bookkeeping in line after an intervention (what it calls the right answer)."""

    def cue_used(self, states: Sequence[GridState], target: Cell) -> int:
        """The first step at which the agent faces or stands on `target`; masks of that target end before it."""
        for step, state in enumerate(states):
            if target in (state.front, state.position):
                return step
        return len(states)

    # --- rollouts ---------------------------------------------------------------------------------------------------

    def _planned(self, seed: int) -> Episode:
        try:
            self.simulator.reset(seed)
        except RecursionError as error:
            raise Rejected(f"the layout cannot be placed: {error}") from error
        planner = Planner(self.simulator)
        self.plan(planner)
        return self._episode(planner.actions, planner.states)

    def _episode(
        self, actions: list[str], states: list[GridState], intervention: Intervention | None = None
    ) -> Episode:
        simulator = self.simulator
        return Episode(
            mission=simulator.mission,
            actions=list(actions),
            states=list(states),
            success=simulator.terminated and simulator.reward > 0,
            terminated=simulator.terminated,
            truncated=simulator.truncated,
            reward=simulator.reward,
            intervention=intervention,
            events=self.events(states),
        )

    def execute(self, seed: int, actions: Sequence[str], intervention: Intervention | None = None) -> Episode:
        """`actions` from a seeded reset, whatever comes of them. An episode that ends early is stepped no further."""
        simulator = self.simulator
        self._begin(simulator, seed, intervention)
        states = [simulator.state]
        for action in actions:
            if simulator.terminated or simulator.truncated:
                break
            states.append(simulator.step(action))
        return self._episode(list(actions), states, intervention)

    def _begin(self, simulator: Simulator, seed: int, intervention: Intervention | None) -> None:
        """A seeded reset, and the intervention's changes."""
        simulator.reset(seed)
        if intervention is not None:
            simulator.edit((x, y, code) for x, y, code in intervention.parameters[self.changes])
            self.after_edit(simulator)

    # --- variants ---------------------------------------------------------------------------------------------------

    def nocue(self, full: Episode) -> list[MaskBox]:
        """The target's visible tiles in the earliest frames, at most `nocue_budget` of them, each target only before it
        is first faced, and no frame in which the agent faces any of the targets."""
        targets = self.targets(full.states)
        used = {target: self.cue_used(full.states, target) for target in targets}
        boxes: list[MaskBox] = []
        frames = 0
        for step, state in enumerate(full.states[:-1]):
            if frames == self.nocue_budget:
                break
            if state.front in used or state.position in used:
                continue
            hidden = [
                place
                for target in targets
                if step < used[target] and (place := in_view(state, target)) and state.view.cells[place] != UNSEEN
            ]
            frames += bool(hidden)
            boxes += [tiles.box(step, *place) for place in hidden]
        if not boxes:
            raise Rejected(f"{self.nocue_target} is never in sight before it is used")
        return boxes

    def allowed_divergence(self, full: Episode, cf: Episode) -> str | None:
        """Before the first step at which the changed cells are touched the agent must do exactly as in Full; all of
        the causal chain but its last event must still happen."""
        assert cf.intervention is not None
        changed = {(x, y) for x, y, _ in cf.intervention.parameters[self.changes]}
        for step, (a, b) in enumerate(zip(full.states, cf.states, strict=True)):
            if (a.position, a.direction, a.carrying) != (b.position, b.direction, b.carrying):
                touched = full.states[step - 1].front in changed
                if not touched:
                    return f"the agent differs at step {step} though nothing changed before it"
                break
            differing = {(int(x), int(y)) for y, x in zip(*(a.cells != b.cells).nonzero(), strict=True)}
            if differing - changed:
                return f"cells {sorted(differing - changed)} differ at step {step}"
        kept = {event.name for event in cf.events}
        lost = [name for name in self.causal_chain if name not in kept and name != self.final_event]
        return f"{', '.join(lost)} no longer happens" if lost else None

    # --- states, frames, branches ----------------------------------------------------------------------------------

    def events(self, states: Sequence[GridState]) -> list[Event]:
        found = common_events(states) + self.extra_events(states)
        return sorted(found, key=lambda event: event.step)

    def encode(self, state: GridState) -> Json:
        return encode_state(state)

    def decode(self, state: Json) -> GridState:
        return decode_state(state)

    def frames(self, seed: int, episode: Episode) -> Iterator[Pixels]:
        return (tiles.draw(state.view) for state in episode.states)

    def hide(self, frame: Pixels, boxes: Sequence[MaskBox]) -> Pixels:
        return tiles.hide(frame, boxes)

    def scene(self, state: GridState) -> Json:
        return scene(state.view)

    def branches(self, seed: int, actions: Sequence[str], steps: Sequence[int]) -> dict[int, dict[str, Branch]]:
        simulator = self.simulator
        simulator.reset(seed)
        wanted = set(steps)
        result: dict[int, dict[str, Branch]] = {}
        for step, taken in enumerate(actions):
            if step in wanted:
                here = simulator.snapshot()
                result[step] = {}
                for action in ACTIONS:
                    state = simulator.step(action)
                    result[step][action] = Branch(state, functools.partial(_draw, state))
                    simulator.restore(here)
            simulator.step(taken)
        return result

    def contradicts(self, state: GridState, action: str, after: GridState) -> bool:
        return contradicts(state.view, action, after.view)

    def witness(
        self, seed: int, actions: Sequence[str], intervention: Intervention | None, full: Episode | None = None
    ) -> MiniGridWitness:
        fresh = Simulator(self.env_id)
        self._begin(fresh, seed, intervention)
        return MiniGridWitness(fresh, actions, intervention, self)


def _draw(state: GridState) -> Pixels:
    return tiles.draw(state.view)


def common_events(states: Sequence[GridState]) -> list[Event]:
    """Pickups, drops, doors opened and closed, the goal reached, lava entered. Names are `verb kind`, and again with
    the color: `pickup key`, `pickup yellow key`."""
    events: list[Event] = []

    def note(step: int, verb: str, code: int) -> None:
        events.append(Event(step, f"{verb} {kind(code)}"))
        events.append(Event(step, f"{verb} {color(code)} {kind(code)}"))

    for step in range(1, len(states)):
        before, after = states[step - 1], states[step]
        if before.carrying != after.carrying:
            if before.carrying == EMPTY:
                note(step, "pickup", after.carrying)
            else:
                note(step, "drop", before.carrying)
        if before.cells is not after.cells and (before.cells != after.cells).any():
            was, now = before.at(before.front), after.at(before.front)
            if kind(now) == "door" and kind(was) == "door" and (door_state(now) == 0) != (door_state(was) == 0):
                if door_state(was) == 2:
                    note(step, "unlock", now)
                note(step, "open" if door_state(now) == 0 else "close", now)
        if before.position != after.position:
            match kind(after.at(after.position)):
                case "goal":
                    events.append(Event(step, "reach goal"))
                case "lava":
                    events.append(Event(step, "enter lava"))
                case "door":
                    events.append(Event(step, "pass door"))
    return events


# --- helpers for interventions --------------------------------------------------------------------------------------


def walked(states: Sequence[GridState]) -> set[Cell]:
    """Every cell that the agent stands on, faces, or starts on."""
    return {place for state in states for place in (state.position, state.front)}


def relocate(full: Episode, source: Cell, among: Iterable[Cell] | None = None) -> Edits:
    """Move the thing at `source` to the free cell farthest from the walked path. Raises Rejected where there is none."""
    start: GridState = full.states[0]
    busy = walked(full.states)
    height, width = start.cells.shape
    places = among if among is not None else ((x, y) for y in range(1, height - 1) for x in range(1, width - 1))
    free = [place for place in places if start.at(place) == EMPTY and place not in busy and place != start.position]
    reachable = room_of(start, source)
    free = [place for place in free if place in reachable] or free
    if not free:
        raise Rejected("no free cell off the path to move it to")
    x, y = max(free, key=lambda p: (min(abs(p[0] - q[0]) + abs(p[1] - q[1]) for q in busy), p))
    return [[*source, EMPTY], [x, y, start.at(source)]]


def remove(full: Episode, source: Cell) -> Edits:
    return [[*source, EMPTY]]


def room_of(state: GridState, inside: Cell) -> set[Cell]:
    """The cells connected to `inside` without passing a door or a wall."""
    room, border = {inside}, [inside]
    while border:
        x, y = border.pop()
        for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if place not in room and kind(state.at(place)) not in ("wall", "door"):
                room.add(place)
                border.append(place)
    return room
