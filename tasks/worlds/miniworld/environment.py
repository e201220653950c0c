"""What all MiniWorld environments share: everything but the mission, the plan, the cue and the interventions.

An environment file says `plan`, `interventions`, and where it is not the goal `cue` (what NoCue hides); see oneroom.py for
the shape of one. What must be done in MiniWorld's own process (another world than MiniWorld makes, another goal than its
red box) is a class in a file of its own, which `simulator` names; see `child/pickup.py`.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tasks.pictures.pixels import Pixels, differing
from tasks.worlds.base import Branch, Environment, Episode, Event, Intervention, Interventions, Json, MaskBox, Rejected
from tasks.worlds.miniworld import WORLD
from tasks.worlds.miniworld.child.state import (
    AGENT_RADIUS,
    FIELD_OF_VIEW,
    HEIGHT,
    WIDTH,
    RoomState,
    Thing,
    decode_state,
    encode_state,
    wrapped,
)
from tasks.worlds.miniworld.edits import APART, CLOSE, Edits, changed_things, edits_of, touches
from tasks.worlds.miniworld.floor import Floor, Point
from tasks.worlds.miniworld.planner import Planner, gap, within_pickup
from tasks.worlds.miniworld.process import RemoteEngine, StepResult
from tasks.worlds.miniworld.witness import SAMPLED, MiniWorldWitness

HIDDEN = 127  # the grey level of masked pixels
CLEARLY = 400  # pixels that a goal must show in the last frame of a success: 0.8 percent of the frame
KEPT_FRAMES = 600  # rendered frames that are kept, 88 MB
BATCH = 32  # frames asked of the child at a time: both sides keep their caches warm
HALF_WIDTH = math.atan(math.tan(math.radians(FIELD_OF_VIEW / 2)) * WIDTH / HEIGHT)  # half the horizontal angle of view


class MiniWorldEnvironment(Environment):
    world = WORLD.name
    frame_size = (WIDTH, HEIGHT)
    mission: ClassVar[str]
    simulator: ClassVar[str] = (
        "simulator:Simulator"  # the class of child/, or `file.py:Class` beside the environment's file
    )
    nocue_budget = 12

    def __init__(self, env_id: str | None = None):
        super().__init__(env_id)
        self._floors: OrderedDict[int, Floor] = OrderedDict()
        self._frames: OrderedDict[tuple[Any, ...], Pixels] = OrderedDict()
        self._stride: tuple[tuple[float, float], float] | None = None

    # --- what an environment file says ----------------------------------------------------------------------------

    @abc.abstractmethod
    def plan(self, planner: Planner) -> None:
        """Drive `planner` to success."""

    def cue(self, state: RoomState) -> int:
        """Index of the NoCue target."""
        return state.goal

    @abc.abstractmethod
    def interventions(self, full: Episode) -> Interventions:
        """Named ways to make the same actions fail, each giving the edits at t = 0."""

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        """Events of this environment beyond seeing, touching, picking up and putting down."""
        return []

    def cue_used(self, state: RoomState) -> bool:
        """Whether the agent faces or uses the NoCue target: it is close, or carried."""
        target = self.cue(state)
        return state.carrying == target or gap(state, target) < CLOSE

    # --- the simulator ----------------------------------------------------------------------------------------------

    @functools.cached_property
    def engine(self) -> RemoteEngine:
        """MiniWorld, in the child process."""
        return self._engine("main")

    def _engine(self, role: str) -> RemoteEngine:
        return RemoteEngine(simulator_place(type(self)), self.env_id, self.name, self.mission, role)

    def floor(self, seed: int) -> Floor:
        if seed not in self._floors:
            self._floors[seed] = Floor(self.engine.walls(seed))
            if len(self._floors) > 32:
                self._floors.popitem(last=False)
        return self._floors[seed]

    @property
    def stride(self) -> tuple[float, float]:
        """Meters a step forward, degrees a turn."""
        return self._measures[0]

    @property
    def reach(self) -> float:
        """Meters between bounding circles below which MiniWorld says that two things are near."""
        return self._measures[1]

    @property
    def _measures(self) -> tuple[tuple[float, float], float]:
        if self._stride is None:
            self._stride = self.engine.stride(), self.engine.reach()
        return self._stride

    # --- rollouts ---------------------------------------------------------------------------------------------------

    def _planned(self, seed: int) -> Episode:
        floor, stride, reach = self.floor(seed), self.stride, self.reach
        start, mission = self.engine.reset(seed)
        planner = Planner(start, self.engine.step, floor, stride, reach)
        self.plan(planner)
        last = planner.state, planner.terminated, planner.truncated, planner.reward
        return self._episode(mission, planner.actions, planner.states, last, None)

    def unclear(self, full: Episode) -> str | None:
        """Why the last frame of a success does not show it; None where it does (report GR1)."""
        end: RoomState = full.states[-1]
        for thing in self.evidence(end):
            pixels, _ = self.engine.visible(end, [], thing)
            if pixels < CLEARLY:
                return f"the last frame shows the {end.things[thing].name} with {pixels} pixels, fewer than {CLEARLY}"
        return None

    def evidence(self, end: RoomState) -> list[int]:
        """The things that the last frame of a success must clearly show."""
        return [end.goal]

    def execute(self, seed: int, actions: Sequence[str], intervention: Intervention | None = None) -> Episode:
        """`actions` from a seeded reset, whatever comes of them. An episode that ends early is stepped no further."""
        mission, results = self.engine.run(seed, actions, edits_of(intervention))
        return self._episode(mission, actions, [state for state, *_ in results], results[-1], intervention)

    def _episode(
        self,
        mission: str,
        actions: Sequence[str],
        states: Sequence[RoomState],
        last: StepResult,
        intervention: Intervention | None,
    ) -> Episode:
        _, terminated, truncated, reward = last
        return Episode(
            mission=mission,
            actions=list(actions),
            states=list(states),
            success=terminated and reward > 0,
            terminated=terminated,
            truncated=truncated,
            reward=reward,
            intervention=intervention,
            events=self.events(states),
        )

    # --- variants ---------------------------------------------------------------------------------------------------

    def nocue(self, full: Episode) -> list[MaskBox]:
        """The pixels of the target in the first frames that show it, at most `nocue_budget`, none in which it is used."""
        target = self.cue(full.states[0])
        boxes: list[MaskBox] = []
        for step, state in enumerate(full.states[:-1]):
            if len(boxes) == self.nocue_budget or self.cue_used(state):
                break
            if self.in_view(state, state.things[target], any):
                _, box = self.engine.visible(state, [], target)
                boxes += [MaskBox(step, *box)] if box else []
        if not boxes:
            raise Rejected(f"{self.nocue_target} is never in sight before it is used")
        return boxes

    def nearly(self, full: Episode, cf: Episode) -> str | None:
        """Why a failure is too close to a success to be told from it; None where it is clear."""
        end: RoomState = cf.states[-1]
        goal = end.things[end.goal]
        if goal.gone or end.distance(goal) - goal.radius - AGENT_RADIUS >= APART:
            return None
        return f"the agent ends {end.distance(goal):.1f} m from the {goal.name}"

    def allowed_divergence(self, full: Episode, cf: Episode) -> str | None:
        """The agent must do exactly as in Full until, in one of the two worlds, something that was changed stops it or
        is used by it; the other things must stay as they are in Full until then."""
        assert cf.intervention is not None
        changed = changed_things(cf.intervention, len(full.states[0].things))
        for step, (a, b) in enumerate(zip(full.states, cf.states, strict=True)):
            others = [
                index
                for index, (p, q) in enumerate(zip(a.things, b.things, strict=False))
                if p != q and index not in changed
            ]
            carries = a.carrying if a.carrying not in changed else -1, b.carrying if b.carrying not in changed else -1
            if a.pose == b.pose and carries[0] == carries[1] and not others:
                continue
            before = full.states[step - 1], cf.states[step - 1]
            if not any(touches(state, changed) for state in before):
                what = f"the {a.things[others[0]].name}" if others else "the agent"
                return f"{what} differs at step {step} though nothing changed before it"
            break
        return None

    # --- states, frames, branches ----------------------------------------------------------------------------------

    def in_view(self, state: RoomState, thing: Thing, part: Callable[[Iterable[bool]], bool] | None = None) -> bool:
        """Whether the middle of a thing lies within the camera's width, not behind a wall; with `part` (`any`, `all`),
        whether that much of its width does."""
        if thing.gone:
            return False
        points = [(thing.x, thing.z)] if part is None else _across(state, thing)
        return (part or all)(self._sees(state, x, z) for x, z in points)

    def _sees(self, state: RoomState, x: float, z: float) -> bool:
        bearing = wrapped(math.atan2(state.z - z, x - state.x) - state.direction)
        return abs(bearing) < HALF_WIDTH and self.floor(state.seed).sees((state.x, state.z), (x, z))

    def events(self, states: Sequence[RoomState]) -> list[Event]:
        """`see goal`, `see cue` (where it is another thing), `reach goal`; `pickup` and `drop` with the thing's name and
        with `goal` where it is that; and the environment's own."""
        start, found = states[0], list(self.extra_events(states))
        watched = {"cue": self.cue(start), "goal": start.goal}
        for role, index in watched.items():
            if role == "cue" and index == start.goal:
                continue
            seen = (step for step, state in enumerate(states) if self.in_view(state, state.things[index]))
            found += [Event(step, f"see {role}") for step in list(itertools.islice(seen, 1))]
        near = [gap(state, start.goal) < self.reach for state in states]
        found += [Event(step, "reach goal") for step in range(1, len(states)) if near[step] and not near[step - 1]]
        for step, (a, b) in enumerate(itertools.pairwise(states), 1):
            for verb, index in (("drop", a.carrying), ("pickup", b.carrying)):
                if a.carrying != b.carrying and index >= 0:
                    names = [start.things[index].name] + ["goal"] * (index == start.goal)
                    found += [Event(step, f"{verb} {name}") for name in names]
        return sorted(found, key=lambda event: (event.step, event.name))

    def encode(self, state: RoomState) -> Json:
        return encode_state(state)

    def decode(self, state: Json) -> RoomState:
        return decode_state(state)

    def frames(self, seed: int, episode: Episode) -> Iterator[Pixels]:
        edits = edits_of(episode.intervention)
        for first in range(0, len(episode.states), BATCH):
            yield from self._drawn(episode.states[first : first + BATCH], edits)

    def _frame(self, state: RoomState, edits: Edits) -> Pixels:
        return self._drawn([state], edits)[0]

    def _drawn(self, states: Sequence[RoomState], edits: Edits) -> list[Pixels]:
        """Frames that must look the same are drawn once: what lies outside the camera's width does not matter."""
        keys = [
            (*state.pose, state.seed, *(thing for thing in state.things if _may_show(state, thing))) for state in states
        ]
        missing = {key: state for key, state in zip(keys, states, strict=True) if key not in self._frames}
        if missing:
            self._frames |= zip(missing, self.engine.show(list(missing.values()), edits), strict=True)
        frames = [self._frames[key] for key in keys]
        while len(self._frames) > KEPT_FRAMES:
            self._frames.popitem(last=False)
        return frames

    def hide(self, frame: Pixels, boxes: Sequence[MaskBox]) -> Pixels:
        frame = frame.copy()
        for box in boxes:
            frame[box.top : box.top + box.height, box.left : box.left + box.width] = HIDDEN
        return frame

    def branches(self, seed: int, actions: Sequence[str], steps: Sequence[int]) -> dict[int, dict[str, Branch]]:
        tried = self.engine.branch(seed, actions, steps)
        return {
            step: {action: Branch(state, functools.partial(self._frame, state, [])) for action, state in branch.items()}
            for step, branch in tried.items()
        }

    def contradicts(self, state: RoomState, action: str, after: RoomState) -> bool:
        """One who sees `state` knows where the camera is after `action`, or that it stayed because something stopped
        it. A frame from anywhere else contradicts where it differs, visibly, from both."""
        forward, turn = self.stride
        x, z, direction = state.pose
        match action:
            case "turn_left" | "turn_right":
                direction += math.radians(turn if action == "turn_left" else -turn)
            case "move_forward" | "move_back":
                length = forward if action == "move_forward" else -forward
                x, z = x + math.cos(direction) * length, z - math.sin(direction) * length
        may_carry = {state.carrying}
        if action == "drop":
            may_carry.add(-1)
        if action == "pickup" and state.carrying < 0:
            may_carry |= {index for index, thing in enumerate(state.things) if within_pickup(state, thing)}
        shown = self._frame(after, [])
        if after.carrying not in may_carry:
            return _differ(shown, self._frame(state, []))
        for pose in (state.pose, (x, z, direction)):
            if _same_place(after, pose, forward, math.radians(turn)):
                return False
            moved = dataclasses.replace(state, x=pose[0], z=pose[1], direction=pose[2])
            if state.carrying < 0 and not _differ(shown, self._frame(moved, [])):
                return False
        return True

    def witness(
        self, seed: int, actions: Sequence[str], intervention: Intervention | None, full: Episode | None = None
    ) -> MiniWorldWitness:
        return self._witness(seed, actions, intervention, SAMPLED)

    def _witness(
        self, seed: int, actions: Sequence[str], intervention: Intervention | None, sampled: int
    ) -> MiniWorldWitness:
        edits, steps = edits_of(intervention), len(actions)
        drawn = set(range(seed % sampled, steps + 1, sampled)) | {0, steps}
        engine = self._engine("fresh")
        mission, results, frames = engine.replay(seed, actions, edits, drawn)
        episode = self._episode(mission, actions, [state for state, *_ in results], results[-1], intervention)
        return MiniWorldWitness(engine, episode, edits, frames, self)


def simulator_place(environment: type[MiniWorldEnvironment]) -> str:
    """The place of an environment's simulator as the child finds it: a file's path is made absolute, from the folder of
    the file in which the class that names it stands."""
    file, _, name = environment.simulator.rpartition(":")
    if not file.endswith(".py") or Path(file).is_absolute():
        return environment.simulator
    (naming, *_) = (cls for cls in environment.__mro__ if "simulator" in vars(cls))
    return f"{Path(inspect.getfile(naming)).resolve().with_name(file)}:{name}"


def _may_show(state: RoomState, thing: Thing) -> bool:
    """Whether any part of a thing may lie within the camera's width, walls left out of account."""
    width = len(thing.color) * thing.size / 2 if thing.kind == "sign" else max(thing.radius, thing.size)
    distance = state.distance(thing)
    if thing.gone or distance < 2 * width + 0.5:
        return not thing.gone
    return abs(state.bearing(thing)) < HALF_WIDTH + math.asin(width / distance) + 0.05


def _across(state: RoomState, thing: Thing) -> list[Point]:
    """Points over the width of a thing as the agent sees it."""
    if thing.kind == "sign":
        half, along = len(thing.color) * thing.size / 2, thing.direction
    else:
        half, along = thing.radius, math.atan2(state.z - thing.z, thing.x - state.x)
    dx, dz = half * math.sin(along), half * math.cos(along)
    inwards = (0.06 * math.cos(along), -0.06 * math.sin(along)) if thing.kind == "sign" else (0.0, 0.0)
    return [(thing.x + t * dx + inwards[0], thing.z + t * dz + inwards[1]) for t in (-0.99, -0.5, 0.0, 0.5, 0.99)]


def _differ(a: Pixels, b: Pixels) -> bool:
    """Whether a person would tell two frames apart: two percent of the pixels differ by 24 levels or more."""
    return bool(differing(a, b, by=24).mean() >= 0.02)


def _same_place(state: RoomState, pose: tuple[float, float, float], forward: float, turn: float) -> bool:
    """Whether a view from the state and one from `pose` could be taken for each other: within half a step and half a
    turn."""
    x, z, direction = pose
    moved = math.hypot(state.x - x, state.z - z)
    return moved < forward / 2 and abs(wrapped(state.direction - direction)) < turn / 2
