"""MiniWorld itself, stepped by action names and drawn on demand. Runs in the child process (see process.py).

Stepping and drawing are separate: MiniWorld draws a frame at every step, which a planner throws away. A frame depends on
the floor plan and the state alone, so that any state can be drawn at any time.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from tasks.errors import BadInput, StageFailed
from tasks.worlds.base import Json, Pixels
from tasks.worlds.miniworld.state import ACTIONS, CAMERA_PITCH, HEIGHT, NOWHERE, WIDTH, RoomState, Thing

StepResult = tuple[RoomState, bool, bool, float]  # state, terminated, truncated, reward
Box = tuple[int, int, int, int]  # left, top, width, height in pixels


def make(env_id: str, entry_point: Any = None, **arguments: Any) -> Any:
    """A new MiniWorld environment. `env_id` is a registered id, with arguments after a question mark where the
    configuration is not a registered one: `MiniWorld-Hallway-v0?length=16`. `entry_point` is a class to use in place of
    the registered one. Raises BadInput for an id that there is not."""
    import miniworld  # noqa: F401  (registers the environments)

    _adapt_miniworld()
    registered, _, query = env_id.partition("?")
    options = arguments | {name: _number(values[0]) for name, values in urllib.parse.parse_qs(query).items()}
    options |= {"obs_width": WIDTH, "obs_height": HEIGHT, "window_width": 8, "window_height": 8}
    try:
        spec = gymnasium.spec(registered)
        if entry_point is not None:
            return entry_point(**options)
        return gymnasium.make(spec, disable_env_checker=True, **options).unwrapped
    except (gymnasium.error.Error, TypeError, AssertionError) as error:
        raise BadInput(f"no MiniWorld environment {env_id!r}: {error}") from error


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


class Engine:
    """One MiniWorld environment. Every episode begins with `reset`; nothing carries over."""

    compiled: ClassVar[Engine | None] = None  # whose floor plan lies in MiniWorld's one display list

    def __init__(self, environment: Any, env_id: str):
        self.environment = environment
        self.env = environment.make(env_id)
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

    def reset(self, seed: int, edits: Sequence[Json] = ()) -> tuple[RoomState, str]:
        """The start of an episode, after `edits` of its things; with the mission. Raises StageFailed where the
        environment's own code fails."""
        try:
            self.env.reset(seed=seed)
        except Exception as error:
            raise StageFailed(
                f"{self.environment.name}: reset(seed={seed}) raised {type(error).__name__}: {error}"
            ) from error
        self.seed, self.edits, self.stale = seed, [dict(edit) for edit in edits], True
        self.terminated = self.truncated = False
        self.reward = 0.0
        for edit in self.edits:
            self._edit(edit)
        if self.edits:
            self.environment.after_edit(self.env)
        return self.state(), str(getattr(self.env, "mission", "") or self.environment.mission)

    def _edit(self, edit: Json) -> None:
        from miniworld.entity import Ball, Box, Key

        match edit:
            case {"move": index, "to": place}:
                self.things[index].pos = np.array(place, dtype=float)
            case {"remove": index}:
                self.things[index].pos = np.array(NOWHERE)
            case {"write": index, "text": text}:
                sign = self.things[index]
                sign.str = text
                sign.width = len(text) * sign.height
                sign.randomize(self.env.params, None)
            case {"add": kind, "color": color, "size": size, "at": [x, z], "dir": direction}:
                thing = {"box": Box, "ball": Ball}[kind](color, size) if kind != "key" else Key(color)
                thing.pos, thing.dir = np.array([x, 0.0, z]), float(direction)
                thing.randomize(self.env.params, None)
                self.env.entities.append(thing)
            case _:
                raise BadInput(f"{edit} is not an edit of a MiniWorld world")

    @property
    def things(self) -> list[Any]:
        return [entity for entity in self.env.entities if entity is not self.env.agent]

    def state(self) -> RoomState:
        agent, things = self.env.agent, self.things
        return RoomState(
            seed=self.seed or 0,
            x=float(agent.pos[0]),
            z=float(agent.pos[2]),
            direction=float(agent.dir),
            carrying=things.index(agent.carrying) if agent.carrying is not None else -1,
            goal=things.index(self.environment.target(self.env)),
            things=tuple(thing_of(entity) for entity in things),
        )

    def step(self, action: str) -> StepResult:
        """One action. Terminated, truncated and the reward accumulate over the episode."""
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
        self, seed: int, actions: Sequence[str], edits: Sequence[Json], drawn: set[int]
    ) -> tuple[str, list[StepResult], dict[int, Pixels]]:
        """`run`, with MiniWorld's own frame of the states at the steps in `drawn`, drawn by its `step` as it goes."""
        start, mission = self.reset(seed, edits)
        self._compile()
        outcomes: list[StepResult] = [(start, False, False, 0.0)]
        frames = {0: self._checked(self.draw())} if 0 in drawn else {}
        try:
            for step, action in enumerate(actions, 1):
                if self.terminated or self.truncated:
                    break
                self.env.render_obs = self.draw if step in drawn else self._later
                outcomes.append(self.step(action))
                if step in drawn:
                    frames[step] = self._checked(self.observation)
        finally:
            self.env.render_obs = self._later
        return mission, outcomes, frames

    def branch(self, seed: int, actions: Sequence[str], steps: Sequence[int]) -> dict[int, dict[str, RoomState]]:
        """The state after each action of the world, tried out in the state at each of `steps`."""
        self.reset(seed)
        wanted, result = set(steps), {}
        for step, taken in enumerate(actions):
            if step in wanted:
                here = self._snapshot()
                result[step] = {action: self._tried(action, here) for action in ACTIONS}
            self.step(taken)
        return result

    def _tried(self, action: str, here: tuple[Any, ...]) -> RoomState:
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
        return np.array(self.env.wall_segs, dtype=float)[:, :, [0, 2]]

    def reach(self) -> float:
        """How far apart, in meters, two bounding circles may be and still count as near one another."""
        return 1.1 * float(self.env.max_forward_step)

    def stride(self) -> tuple[float, float]:
        """Meters a step forward, degrees a turn."""
        return tuple(float(self.env.params.sample(None, name)) for name in ("forward_step", "turn_step"))  # type: ignore

    # --- pictures ---------------------------------------------------------------------------------------------------

    def show(self, states: Sequence[RoomState], edits: Sequence[Json] = ()) -> list[Pixels]:
        """The frame of each state, (192, 256, 3) uint8. `edits` are those that the states' episode began with."""
        return [self._show(state, edits) for state in states]

    def _show(self, state: RoomState, edits: Sequence[Json], without: Sequence[int] = ()) -> Pixels:
        if state.seed != self.seed or list(edits) != self.edits:
            self.reset(state.seed, edits)
        agent, things = self.env.agent, self.things
        if len(things) != len(state.things):
            raise StageFailed(f"a state has {len(state.things)} things, its world has {len(things)}")
        agent.pos, agent.dir = np.array([state.x, 0.0, state.z]), state.direction
        for index, (entity, thing) in enumerate(zip(things, state.things, strict=True)):
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
            raise StageFailed(f"{self.environment.name}: OpenGL reports error {error:#06x} after drawing a frame")
        if (frame[::8, ::8] == frame[0, 0]).all() and (frame == frame[0, 0]).all():
            raise StageFailed(f"{self.environment.name}: the renderer drew a frame of a single color")
        return frame

    def visible(self, state: RoomState, edits: Sequence[Json], thing: int) -> tuple[int, Box | None]:
        """How many pixels of the state's frame a thing changes, and the (left, top, width, height) that they span."""
        return self.outlined(state, edits, thing)[1:]

    def outlined(self, state: RoomState, edits: Sequence[Json], thing: int) -> tuple[Pixels, int, Box | None]:
        """The state's frame, and what `visible` says of it."""
        frame = self._show(state, edits)
        with _drawing_only(self._around(self.things[thing])):
            differs = frame != self._show(state, edits, without=[thing])
        changed = differs[..., 0] | differs[..., 1] | differs[..., 2]
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        if not len(rows):
            return frame, 0, None
        left, top = int(columns[0]), int(rows[0])
        return frame, int(changed.sum()), (left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1)

    def _around(self, entity: Any) -> Box:
        """A part of the frame, in OpenGL's coordinates (from the bottom left), outside of which an entity that moves
        cannot be seen: around the projected corners of its bounding box. The whole frame where that is not known."""
        agent, size = self.env.agent, np.array([WIDTH, HEIGHT])
        eye, ahead = agent.cam_pos, agent.cam_dir
        right = np.cross(ahead, (0.0, 1.0, 0.0))
        right /= np.linalg.norm(right)
        low = entity.pos - (entity.radius, 0, entity.radius) - 0.02
        high = entity.pos + (entity.radius, entity.height, entity.radius) + 0.02
        corners = np.array(list(itertools.product(*zip(low, high, strict=True)))) - eye
        depth = corners @ ahead
        if entity.is_static or depth.min() < 0.1:
            return 0, 0, WIDTH, HEIGHT
        across = np.stack([corners @ right, corners @ np.cross(right, ahead)], axis=1) / depth[:, None]
        pixels = size / 2 + across / np.tan(np.radians(agent.cam_fov_y / 2)) * HEIGHT / 2
        left, bottom = np.clip(np.floor(pixels.min(axis=0)) - 2, 0, size).astype(int).tolist()
        end, top = np.clip(np.ceil(pixels.max(axis=0)) + 2, 0, size).astype(int).tolist()
        return left, bottom, end - left, top - bottom


@functools.cache
def _adapt_miniworld() -> None:
    """What makes MiniWorld faster and leaves its pixels as they are; once a process."""
    _decode_textures_quickly()
    _look_textures_up_once()
    _share_the_context()
    _leave_depth_alone()


def _decode_textures_quickly() -> None:
    """Let Pillow decode MiniWorld's textures: pyglet reorders their channels by a regular expression, a second each."""
    import pyglet
    from PIL import Image

    def load(path: str) -> Any:
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGBA"))[::-1]
        height, width = pixels.shape[:2]
        return pyglet.image.ImageData(width, height, "RGBA", pixels.tobytes(), width * 4)

    pyglet.image.load = load


@contextlib.contextmanager
def _drawing_only(part: Box) -> Iterator[None]:
    """What is drawn meanwhile leaves the frame as it is outside of (left, bottom, width, height)."""
    from pyglet.gl import GL_SCISSOR_TEST, glDisable, glEnable, glScissor

    glEnable(GL_SCISSOR_TEST)
    glScissor(*part)
    try:
        yield
    finally:
        glDisable(GL_SCISSOR_TEST)


class _Remembered(dict[str, Any]):
    """Keeps what `get` falls back on."""

    get = dict.setdefault  # type: ignore[assignment]


def _look_textures_up_once() -> None:
    """Let MiniWorld keep the paths of a texture that it finds, rather than look for them at every wall it builds."""
    from miniworld.opengl import Texture

    Texture.tex_paths = _Remembered()


def _share_the_context() -> None:
    """Let all environments draw in one OpenGL context and one frame buffer: with a context of its own, making an
    environment takes 45 ms longer, as long as twenty frames."""
    import pyglet
    from miniworld import miniworld

    miniworld.FrameBuffer = functools.cache(miniworld.FrameBuffer)
    pyglet.window.Window = functools.cache(pyglet.window.Window)


def _leave_depth_alone() -> None:
    """Keep MiniWorld from copying the depth buffer with each frame, an eighth of the cost of one that nobody reads."""
    from miniworld import opengl
    from pyglet.gl import GL_DEPTH_BUFFER_BIT, glBlitFramebuffer

    def blit(*arguments: Any) -> None:
        if arguments[8] != GL_DEPTH_BUFFER_BIT:
            glBlitFramebuffer(*arguments)

    opengl.glBlitFramebuffer = blit


def thing_of(entity: Any) -> Thing:
    """The record of a MiniWorld entity."""
    kind, color = _identity(entity)
    x, y, z = (float(value) for value in entity.pos)
    return Thing(kind, color, x, y, z, float(entity.dir), float(entity.height), float(entity.radius))


def _identity(entity: Any) -> tuple[str, str]:
    from miniworld.entity import Box, ImageFrame, MeshEnt, TextFrame

    match entity:
        case Box():
            return "box", entity.color
        case TextFrame():
            return "sign", entity.str
        case ImageFrame():
            return "picture", entity.tex.name
        case MeshEnt():
            name = _mesh_name(entity.mesh)
            kind, _, color = name.partition("_")
            return (kind, color) if kind in ("ball", "key") else ("mesh", name)
    return "mesh", type(entity).__name__.lower()


@functools.lru_cache(maxsize=256)
def _mesh_name(mesh: Any) -> str:
    from pathlib import Path

    from miniworld.objmesh import ObjMesh

    return next(Path(path).stem for path, known in ObjMesh.cache.items() if known is mesh)
