"""MiniWorld itself, stepped by action names and drawn on demand.

Stepping and drawing are separate: MiniWorld draws a frame at every step, which a planner throws away. A frame depends on
the floor plan and the state alone, so that any state can be drawn at any time. States come and go as `encode_state` writes
them.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from .entities import thing_of
from .errors import BadInput, StageFailed
from .opengl import load_opengl
from .simulator import Simulator
from .state import ACTIONS, CAMERA_PITCH, HEIGHT, NOWHERE, WIDTH, RoomState, decode_state, encode_state

Json = dict[str, Any]
Pixels = np.ndarray  # (height, width, 3) uint8, RGB
StepResult = tuple[Json, bool, bool, float]  # state, terminated, truncated, reward
PixelBox = tuple[int, int, int, int]  # left, top, width, height


class Engine:
    """One MiniWorld environment. Every episode begins with `reset`; nothing carries over."""

    compiled: ClassVar[Engine | None] = None  # whose floor plan lies in MiniWorld's one display list

    def __init__(self, simulator: type[Simulator], env_id: str, name: str, mission: str):
        load_opengl()
        self.simulator = simulator(name, mission)
        self.env = self.simulator.make(env_id)
        Engine.compiled = None  # MiniWorld resets what it makes, and brings that floor plan into its display list
        self.env.params = self.env.params.copy()
        self.env.params.set("cam_pitch", CAMERA_PITCH)
        self.env.domain_rand = False
        self.draw = type(self.env).render_obs.__get__(self.env)
        self.compile = type(self.env)._render_static.__get__(self.env)
        self.env.render_obs = self.env._render_static = self._later
        self.seed: int | None = None
        self.edits: list[Json] = []
        self.stale = True

    def _later(self, *_: Any) -> None:
        """Stands in for drawing while the simulation runs."""

    # --- episodes -----------------------------------------------------------------------------------------------

    def reset(self, seed: int, edits: Sequence[Json] = ()) -> tuple[Json, str]:
        """The start of an episode, after `edits` of its things; with the mission. Raises StageFailed where the
        environment's own code fails."""
        try:
            self.env.reset(seed=seed)
        except Exception as error:
            raise StageFailed(
                f"{self.simulator.name}: reset(seed={seed}) raised {type(error).__name__}: {error}"
            ) from error
        self.seed, self.edits, self.stale = seed, [dict(edit) for edit in edits], True
        self.terminated = self.truncated = False
        self.reward = 0.0
        for edit in self.edits:
            self._edit(edit)
        if self.edits:
            self.simulator.after_edit(self.env)
        return self.state(), str(getattr(self.env, "mission", "") or self.simulator.mission)

    def _edit(self, edit: Json) -> None:
        things = self.things
        try:
            if "move" in edit:
                things[edit["move"]].pos = np.array(edit["to"], dtype=float)
            elif "remove" in edit:
                things[edit["remove"]].pos = np.array(NOWHERE)
            elif "write" in edit:
                sign = things[edit["write"]]
                sign.str = edit["text"]
                sign.width = len(sign.str) * sign.height
                sign.randomize(self.env.params, None)
            else:
                self.env.entities.append(self._added(**edit))
        except (KeyError, TypeError, IndexError) as error:
            raise BadInput(f"{edit} is not an edit of a MiniWorld world: {error!r}") from error

    def _added(self, add: str, color: str, size: float, at: Sequence[float], dir: float) -> Any:
        from miniworld.entity import Ball, Box, Key

        thing = {"box": Box, "ball": Ball}[add](color, size) if add != "key" else Key(color)
        thing.pos, thing.dir = np.array([at[0], 0.0, at[1]]), float(dir)
        thing.randomize(self.env.params, None)
        return thing

    @property
    def things(self) -> list[Any]:
        return [entity for entity in self.env.entities if entity is not self.env.agent]

    def state(self) -> Json:
        agent, things = self.env.agent, self.things
        return encode_state(
            RoomState(
                seed=self.seed or 0,
                x=float(agent.pos[0]),
                z=float(agent.pos[2]),
                direction=float(agent.dir),
                carrying=things.index(agent.carrying) if agent.carrying is not None else -1,
                goal=things.index(self.simulator.target(self.env)),
                things=tuple(thing_of(entity) for entity in things),
            )
        )

    def step(self, action: str) -> StepResult:
        """One action. Terminated, truncated and the reward accumulate over the episode. Raises StageFailed where none has
        begun."""
        if self.seed is None:
            raise StageFailed(f"{self.simulator.name}: its process has been started anew in the middle of an episode")
        observation, reward, terminated, truncated, _ = self.env.step(self.env.actions[action])
        self.observation = observation["obs"] if isinstance(observation, dict) else observation
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        self.reward += float(reward)
        return self.state(), self.terminated, self.truncated, self.reward

    def run(self, seed: int, actions: Sequence[str], edits: Sequence[Json] = ()) -> tuple[str, list[StepResult]]:
        """The mission, and what each state of an episode is; an episode that ends early is stepped no further."""
        start, mission = self.reset(seed, edits)
        outcomes: list[StepResult] = [(start, False, False, 0.0)]
        for action in actions:
            if self.terminated or self.truncated:
                break
            outcomes.append(self.step(action))
        return mission, outcomes

    def replay(
        self, seed: int, actions: Sequence[str], edits: Sequence[Json], drawn: Sequence[int]
    ) -> tuple[str, list[StepResult], list[tuple[int, Pixels]]]:
        """`run`, with MiniWorld's own frame of the states at the steps in `drawn`, drawn by its `step` as it goes."""
        wanted = set(drawn)
        start, mission = self.reset(seed, edits)
        self._compile()
        outcomes: list[StepResult] = [(start, False, False, 0.0)]
        frames = [(0, self._checked(self.draw()))] if 0 in wanted else []
        try:
            for step, action in enumerate(actions, 1):
                if self.terminated or self.truncated:
                    break
                self.env.render_obs = self.draw if step in wanted else self._later
                outcomes.append(self.step(action))
                if step in wanted:
                    frames.append((step, self._checked(self.observation)))
        finally:
            self.env.render_obs = self._later
        return mission, outcomes, frames

    def branch(self, seed: int, actions: Sequence[str], steps: Sequence[int]) -> list[tuple[int, dict[str, Json]]]:
        """The state after each action of the world, tried out in the state at each of `steps`."""
        self.reset(seed)
        wanted, result = set(steps), []
        for step, taken in enumerate(actions):
            if step in wanted:
                here = self._snapshot()
                result.append((step, {action: self._tried(action, here) for action in ACTIONS}))
            self.step(taken)
        return result

    def _tried(self, action: str, here: tuple[Any, ...]) -> Json:
        state, *_ = self.step(action)
        self._restore(here)
        return state

    def _snapshot(self) -> tuple[Any, ...]:
        agent = self.env.agent
        poses = [(entity, np.array(entity.pos), entity.dir) for entity in self.env.entities]
        return poses, agent.carrying, self.env.step_count, self.terminated, self.truncated, self.reward

    def _restore(self, snapshot: tuple[Any, ...]) -> None:
        poses, carrying, self.env.step_count, self.terminated, self.truncated, self.reward = snapshot
        self.env.agent.carrying = carrying
        for entity, position, direction in poses:
            entity.pos, entity.dir = position.copy(), direction

    def about(self) -> str:
        """What draws here: OpenGL's renderer and version."""
        from pyglet.gl import gl_info

        return f"{gl_info.get_renderer()}, OpenGL {gl_info.get_version()}"

    # --- the floor plan ----------------------------------------------------------------------------------------

    def walls(self, seed: int) -> np.ndarray:
        """(n, 2, 2) float64: both ends (x, z) of every wall that stops the agent."""
        if seed != self.seed:
            self.reset(seed)
        walls: np.ndarray = np.array(self.env.wall_segs, dtype=float)[:, :, [0, 2]]
        return walls

    def reach(self) -> float:
        """How far apart, in meters, two bounding circles may be and still count as near one another."""
        return 1.1 * float(self.env.max_forward_step)

    def stride(self) -> tuple[float, float]:
        """Meters a step forward, degrees a turn."""
        forward, turn = (float(self.env.params.sample(None, name)) for name in ("forward_step", "turn_step"))
        return forward, turn

    # --- pictures ---------------------------------------------------------------------------------------------------

    def show(self, states: Sequence[Json], edits: Sequence[Json] = ()) -> list[Pixels]:
        """The frame of each state, (192, 256, 3) uint8. `edits` are those that the states' episode began with."""
        return [self._show(decode_state(state), edits) for state in states]

    def _show(self, state: RoomState, edits: Sequence[Json], without: Sequence[int] = ()) -> Pixels:
        if state.seed != self.seed or list(edits) != self.edits:
            self.reset(state.seed, edits)
        agent, things = self.env.agent, self.things
        if len(things) != len(state.things):
            raise StageFailed(f"a state has {len(state.things)} things, its world has {len(things)}")
        agent.pos, agent.dir = np.array([state.x, 0.0, state.z]), state.direction
        for index, (entity, thing) in enumerate(zip(things, state.things)):
            entity.pos = np.array(NOWHERE if index in without else (thing.x, thing.y, thing.z))
            entity.dir = thing.direction
        static = {index for index in without if things[index].is_static}
        self._compile(again=bool(static))
        self.stale = bool(static)
        return self._checked(self.draw())

    def _compile(self, again: bool = False) -> None:
        """Bring floor plan and static things into OpenGL's display list, unless they are there."""
        if again or self.stale or Engine.compiled is not self:
            self.env.shadow_window.switch_to()
            self.compile()
            Engine.compiled, self.stale = self, False

    def _checked(self, frame: Pixels) -> Pixels:
        """`frame`. Raises StageFailed where OpenGL reports an error or nothing was drawn."""
        from pyglet.gl import glGetError

        if error := glGetError():
            raise StageFailed(f"{self.simulator.name}: OpenGL reports error {error:#06x} after drawing a frame")
        if (frame[::8, ::8] == frame[0, 0]).all() and (frame == frame[0, 0]).all():
            raise StageFailed(f"{self.simulator.name}: the renderer drew a frame of a single color")
        return frame

    def visible(self, state: Json, edits: Sequence[Json], thing: int) -> tuple[int, PixelBox | None]:
        """How many pixels of the state's frame a thing changes, and the (left, top, width, height) that they span."""
        return self.outlined(state, edits, thing)[1:]

    def outlined(self, state: Json, edits: Sequence[Json], thing: int) -> tuple[Pixels, int, PixelBox | None]:
        """The state's frame, and what `visible` says of it."""
        shown = decode_state(state)
        frame = self._show(shown, edits)
        with _drawing_only(self._around(self.things[thing])):
            differs = frame != self._show(shown, edits, without=[thing])
        changed = differs[..., 0] | differs[..., 1] | differs[..., 2]
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        if not len(rows):
            return frame, 0, None
        left, top = int(columns[0]), int(rows[0])
        return frame, int(changed.sum()), (left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1)

    def _around(self, entity: Any) -> PixelBox:
        """A part of the frame, in OpenGL's coordinates (from the bottom left), outside of which an entity that moves
        cannot be seen: around the projected corners of its bounding box. The whole frame where that is not known."""
        agent, size = self.env.agent, np.array([WIDTH, HEIGHT])
        eye, ahead = agent.cam_pos, agent.cam_dir
        right = np.cross(ahead, (0.0, 1.0, 0.0))
        right /= np.linalg.norm(right)
        low = entity.pos - (entity.radius, 0, entity.radius) - 0.02
        high = entity.pos + (entity.radius, entity.height, entity.radius) + 0.02
        corners = np.array(list(itertools.product(*zip(low, high)))) - eye
        depth = corners @ ahead
        if entity.is_static or depth.min() < 0.1:
            return 0, 0, WIDTH, HEIGHT
        across = np.stack([corners @ right, corners @ np.cross(right, ahead)], axis=1) / depth[:, None]
        pixels = size / 2 + across / np.tan(np.radians(agent.cam_fov_y / 2)) * HEIGHT / 2
        left, bottom = np.clip(np.floor(pixels.min(axis=0)) - 2, 0, size).astype(int).tolist()
        end, top = np.clip(np.ceil(pixels.max(axis=0)) + 2, 0, size).astype(int).tolist()
        return left, bottom, end - left, top - bottom


@contextlib.contextmanager
def _drawing_only(part: PixelBox) -> Iterator[None]:
    """What is drawn meanwhile leaves the frame as it is outside of (left, bottom, width, height)."""
    from pyglet.gl import GL_SCISSOR_TEST, glDisable, glEnable, glScissor

    glEnable(GL_SCISSOR_TEST)
    glScissor(*part)
    try:
        yield
    finally:
        glDisable(GL_SCISSOR_TEST)
