"""MiniWorld's child process, and its engine as this side calls it.

The child draws in software, without a display, so that the pixels are the same on machines with and without a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tasks.pictures.pixels import Pixels
from tasks.worlds.base import Json
from tasks.worlds.miniworld import WORLD
from tasks.worlds.miniworld.child.state import RoomState, decode_state, encode_state
from tasks.worlds.process import ChildProcess

StepResult = tuple[RoomState, bool, bool, float]  # state, terminated, truncated, reward
PixelBox = tuple[int, int, int, int]  # left, top, width, height
_MESA = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")


def software_rendering() -> dict[str, str]:
    """Environment variables that make Mesa draw in software wherever it is installed."""
    chosen = {
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "GALLIUM_DRIVER": "llvmpipe",
        "PYGLET_HEADLESS": "1",
        "LP_NUM_THREADS": "0",  # a frame is small, threads cost more than they do; shards run side by side instead
    }
    return chosen | ({"__EGL_VENDOR_LIBRARY_FILENAMES": str(_MESA)} if _MESA.exists() else {})


PROCESS = ChildProcess(WORLD, WORLD.folder / "child", "WORLDAUDIT_MINIWORLD_PYTHON", software_rendering)


class RemoteEngine:
    """The engine of one configuration in the child process; `child/engine.py` says what each method does.

    `simulator` is the place of a class: `module:Class` in `child/`, or `/path/to/file.py:Class`. Raises what
    ChildProcess.call raises.
    """

    def __init__(
        self, simulator: str, env_id: str, name: str, mission: str, role: str, process: ChildProcess = PROCESS
    ):
        self._options = {"simulator": simulator, "env_id": env_id, "name": name, "mission": mission}
        self._role, self._process = role, process

    def _call(self, method: str, *arguments: Any) -> Any:
        return self._process.call(self._options, self._role, method, *arguments)

    def reset(self, seed: int) -> tuple[RoomState, str]:
        state, mission = self._call("reset", seed)
        return decode_state(state), mission

    def step(self, action: str) -> StepResult:
        return _step_result(*self._call("step", action))

    def run(self, seed: int, actions: Sequence[str], edits: Sequence[Json]) -> tuple[str, list[StepResult]]:
        mission, results = self._call("run", seed, list(actions), list(edits))
        return mission, [_step_result(*result) for result in results]

    def replay(
        self, seed: int, actions: Sequence[str], edits: Sequence[Json], drawn: set[int]
    ) -> tuple[str, list[StepResult], dict[int, Pixels]]:
        mission, results, frames = self._call("replay", seed, list(actions), list(edits), sorted(drawn))
        return mission, [_step_result(*result) for result in results], dict(frames)

    def branch(self, seed: int, actions: Sequence[str], steps: Sequence[int]) -> dict[int, dict[str, RoomState]]:
        tried = self._call("branch", seed, list(actions), list(steps))
        return {step: {action: decode_state(state) for action, state in states.items()} for step, states in tried}

    def walls(self, seed: int) -> np.ndarray:
        """(n, 2, 2) float64: both ends (x, z) of every wall that stops the agent, in meters."""
        walls: np.ndarray = self._call("walls", seed)
        return walls

    def stride(self) -> tuple[float, float]:
        """Meters a step forward, degrees a turn."""
        forward, turn = self._call("stride")
        return forward, turn

    def reach(self) -> float:
        """Meters between bounding circles below which MiniWorld says that two things are near."""
        return float(self._call("reach"))

    def show(self, states: Sequence[RoomState], edits: Sequence[Json] = ()) -> list[Pixels]:
        """The frame of each state, (192, 256, 3) uint8. `edits` are those that the states' episode began with."""
        frames: list[Pixels] = self._call("show", [encode_state(state) for state in states], list(edits))
        return frames

    def visible(self, state: RoomState, edits: Sequence[Json], thing: int) -> tuple[int, PixelBox | None]:
        """How many pixels of the state's frame a thing changes, and the box that they span."""
        count, box = self._call("visible", encode_state(state), list(edits), thing)
        return count, _pixel_box(box)

    def outlined(self, state: RoomState, edits: Sequence[Json], thing: int) -> tuple[Pixels, int, PixelBox | None]:
        """The state's frame, and what `visible` says of it."""
        frame, count, box = self._call("outlined", encode_state(state), list(edits), thing)
        return frame, count, _pixel_box(box)

    def about(self) -> str:
        """What draws here: OpenGL's renderer and version."""
        return str(self._call("about"))


def _step_result(state: Json, terminated: bool, truncated: bool, reward: float) -> StepResult:
    return decode_state(state), terminated, truncated, reward


def _pixel_box(box: list[int] | None) -> PixelBox | None:
    if box is None:
        return None
    left, top, width, height = box
    return left, top, width, height
