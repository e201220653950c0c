"""MiniGrid as this project uses it: actions by name, symbolic states, and what the agent's view shows.

A cell is one integer: `type << 6 | color << 3 | state`, with MiniGrid's own indices (0 is "unseen", 64 "empty").
"""

from __future__ import annotations

import functools
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gymnasium
import minigrid  # noqa: F401  (registers the environments)
import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, IDX_TO_COLOR, IDX_TO_OBJECT, OBJECT_TO_IDX
from minigrid.core.world_object import WorldObj
from minigrid.minigrid_env import MiniGridEnv

from tasks.errors import BadInput, StageFailed

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle")
VIEW = 7  # cells a side of the agent's view; the agent stands at row 6, column 3 and looks up
AGENT_ROW, AGENT_COLUMN = VIEW - 1, VIEW // 2
DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # right, down, left, up

_LETTERS = {
    "unseen": "?", "empty": ".", "wall": "W", "floor": "F", "door": "D", "key": "K", "ball": "B", "box": "X",
    "goal": "G", "lava": "L", "agent": "A",
}  # fmt: skip
_TYPE_OF_LETTER = {letter: name for name, letter in _LETTERS.items()}


def cell(kind: str, color: str = "red", state: int = 0) -> int:
    """The code of a cell's content, from MiniGrid's names."""
    return OBJECT_TO_IDX[kind] << 6 | COLOR_TO_IDX[color] << 3 | state


UNSEEN, EMPTY, WALL, GOAL, LAVA = (
    cell("unseen"),
    cell("empty"),
    cell("wall", "grey"),
    cell("goal", "green"),
    cell("lava"),
)


def kind(code: int) -> str:
    return IDX_TO_OBJECT[code >> 6]


def color(code: int) -> str:
    return IDX_TO_COLOR[code >> 3 & 7]


def door_state(code: int) -> int:
    """0 open, 1 closed, 2 locked."""
    return code & 7


def describe(code: int) -> str | None:
    """`yellow key`; None for an empty cell."""
    return None if code in (UNSEEN, EMPTY) else f"{color(code)} {kind(code)}"


def opaque(code: int) -> bool:
    return kind(code) == "wall" or (kind(code) == "door" and door_state(code) != 0)


def code_of(thing: WorldObj | None) -> int:
    if thing is None:
        return EMPTY
    kind_index, color_index, state = thing.encode()
    return int(kind_index) << 6 | int(color_index) << 3 | int(state)


def thing_of(code: int) -> WorldObj | None:
    """A new MiniGrid object for a cell code."""
    return WorldObj.decode(code >> 6, code >> 3 & 7, code & 7)


@dataclass(frozen=True, eq=False)
class GridState:
    """`cells` is (height, width) uint16, never written to; `carrying` is a cell code, EMPTY for nothing."""

    x: int
    y: int
    direction: int
    carrying: int
    cells: np.ndarray

    @property
    def position(self) -> tuple[int, int]:
        return self.x, self.y

    @property
    def front(self) -> tuple[int, int]:
        dx, dy = DIRECTIONS[self.direction]
        return self.x + dx, self.y + dy

    def at(self, position: tuple[int, int]) -> int:
        return int(self.cells[position[1], position[0]])

    @functools.cached_property
    def view(self) -> View:
        return view_of(self)


@dataclass(frozen=True, eq=False)
class View:
    """What the agent's view shows: `cells` is (7, 7) uint16, row 0 the farthest, UNSEEN where out of sight; the agent's
    own cell holds what it stands on."""

    cells: np.ndarray
    carrying: int

    def key(self) -> bytes:
        return self.cells.tobytes() + self.carrying.to_bytes(2, "little")


_SEEN_THROUGH = np.array([code >> 6 not in IDX_TO_OBJECT or not opaque(code) for code in range(16 << 6)])


def crop(state: GridState) -> np.ndarray:
    """The 7x7 cells before the agent, turned so that it looks up; walls beyond the map's edge."""
    padded = _padded(state.cells.tobytes(), state.cells.shape)
    x, y = state.x + VIEW, state.y + VIEW  # in the padded map
    half = VIEW // 2
    match state.direction:
        case 0:
            window = np.rot90(padded[y - half : y + half + 1, x : x + VIEW], 1)
        case 1:
            window = np.rot90(padded[y : y + VIEW, x - half : x + half + 1], 2)
        case 2:
            window = np.rot90(padded[y - half : y + half + 1, x - VIEW + 1 : x + 1], -1)
        case _:
            window = padded[y - VIEW + 1 : y + 1, x - half : x + half + 1]
    return window


@functools.lru_cache(maxsize=64)
def _padded(cells: bytes, shape: tuple[int, int]) -> np.ndarray:
    return np.pad(np.frombuffer(cells, dtype=np.uint16).reshape(shape), VIEW, constant_values=WALL)


def view_of(state: GridState) -> View:
    """The agent's view: MiniGrid's occlusion (light spreads row by row, from the agent's outwards), except that the
    agent's own cell keeps what it stands on, which MiniGrid erases."""
    window = crop(state)
    through = _SEEN_THROUGH[window].tolist()
    seen = [[False] * VIEW for _ in range(VIEW)]
    seen[AGENT_ROW][AGENT_COLUMN] = True
    for row in range(VIEW - 1, -1, -1):
        here, clear = seen[row], through[row]
        above = seen[row - 1] if row else None
        for column in range(VIEW - 1):
            if here[column] and clear[column]:
                here[column + 1] = True
                if above is not None:
                    above[column] = above[column + 1] = True
        for column in range(VIEW - 1, 0, -1):
            if here[column] and clear[column]:
                here[column - 1] = True
                if above is not None:
                    above[column] = above[column - 1] = True
    return View(np.where(seen, window, UNSEEN).astype(np.uint16), state.carrying)


def in_view(state: GridState, position: tuple[int, int]) -> tuple[int, int] | None:
    """(row, column) of a map cell in the view, seen or not; None where it lies outside."""
    dx, dy = position[0] - state.x, position[1] - state.y
    fx, fy = DIRECTIONS[state.direction]
    ahead, right = dx * fx + dy * fy, -dx * fy + dy * fx
    row, column = AGENT_ROW - ahead, AGENT_COLUMN + right
    return (row, column) if 0 <= row < VIEW and 0 <= column < VIEW else None


def encode_state(state: GridState) -> dict[str, Any]:
    """Plain JSON: position, direction, carried thing, and the map as rows of three-letter cells (type, color, state)."""
    return {
        "pos": [state.x, state.y],
        "dir": state.direction,
        "carrying": _TOKENS[state.carrying],
        "grid": list(_rows(state.cells.tobytes(), state.cells.shape)),
    }


def decode_state(state: dict[str, Any]) -> GridState:
    x, y = state["pos"]
    return GridState(x, y, state["dir"], _code(state["carrying"]), _cells(tuple(state["grid"])))


def _token(code: int) -> str:
    letter = _LETTERS[kind(code)]
    return "..." if code == EMPTY else f"{letter}{'rgbpye'[code >> 3 & 7]}{code & 7}"


_TOKENS = {code: _token(code) for code in range(len(IDX_TO_OBJECT) << 6) if code >> 3 & 7 in IDX_TO_COLOR}


@functools.lru_cache(maxsize=1024)
def _code(token: str) -> int:
    if token == "...":
        return EMPTY
    try:
        return OBJECT_TO_IDX[_TYPE_OF_LETTER[token[0]]] << 6 | "rgbpye".index(token[1]) << 3 | int(token[2])
    except (KeyError, ValueError, IndexError):
        raise ValueError(f"{token!r} is not a cell") from None


@functools.lru_cache(maxsize=256)
def _rows(cells: bytes, shape: tuple[int, int]) -> tuple[str, ...]:
    rows = np.frombuffer(cells, dtype=np.uint16).reshape(shape).tolist()
    return tuple("".join([_TOKENS[code] for code in row]) for row in rows)


@functools.lru_cache(maxsize=256)
def _cells(rows: tuple[str, ...]) -> np.ndarray:
    cells = np.array([[_code(row[i : i + 3]) for i in range(0, len(row), 3)] for row in rows], dtype=np.uint16)
    cells.flags.writeable = False
    return cells


def make(env_id: str) -> MiniGridEnv:
    """A new MiniGrid environment. `env_id` is a registered id, with arguments after a question mark where the
    configuration is not a registered one: `MiniGrid-LavaGapS7-v0?size=9`. Raises BadInput for an id that there is not."""
    registered, _, query = env_id.partition("?")
    arguments = {name: int(values[0]) for name, values in urllib.parse.parse_qs(query).items()}
    try:
        env: MiniGridEnv = gymnasium.make(registered, disable_env_checker=True, **arguments).unwrapped  # type: ignore
    except (gymnasium.error.Error, TypeError) as error:
        raise BadInput(f"no MiniGrid environment {env_id!r}: {error}") from error
    return env


class Simulator:
    """MiniGrid, stepped by action names. Every episode begins with `reset(seed)`; nothing carries over."""

    def __init__(self, env_id: str):
        self.env = make(env_id)
        self.env.gen_obs = dict  # type: ignore[method-assign]
        self.mission = ""
        self.terminated = self.truncated = False
        self.reward = 0.0

    def reset(self, seed: int) -> None:
        """Raises RecursionError where MiniGrid cannot place a layout, StageFailed where an environment's own code fails."""
        try:
            self.env.reset(seed=seed)
        except RecursionError:
            raise
        except Exception as error:
            env_id = self.env.spec.id if self.env.spec else type(self.env).__name__
            raise StageFailed(f"{env_id}: reset(seed={seed}) raised {type(error).__name__}: {error}") from error
        self.mission = str(self.env.mission)
        self.terminated = self.truncated = False
        self.reward = 0.0
        self._read_all()

    def _read_all(self) -> None:
        env = self.env
        codes = [code_of(thing) for thing in env.grid.grid]
        self._cells = np.array(codes, dtype=np.uint16).reshape(env.height, env.width)
        self._cells.flags.writeable = False

    def edit(self, changes: Iterable[tuple[int, int, int]]) -> None:
        """Put a cell code at each (x, y); EMPTY clears. Only before the first step. An object that is put where
        another of its kind and color was taken away is that same object, moved."""
        taken: dict[int, WorldObj] = {}
        changes = list(changes)
        for x, y, _ in changes:
            if (thing := self.env.grid.get(x, y)) is not None:
                taken[code_of(thing)] = thing
        for x, y, code in changes:
            thing = taken.get(code) or thing_of(code)
            if thing is not None:
                thing.init_pos = thing.cur_pos = (x, y)
            self.env.grid.set(x, y, thing)
        self._read_all()

    @property
    def state(self) -> GridState:
        env = self.env
        x, y = env.agent_pos
        return GridState(int(x), int(y), int(env.agent_dir), code_of(env.carrying), self._cells)

    def step(self, action: str) -> GridState:
        """One action; ends and rewards accumulate in `terminated`, `truncated`, `reward`."""
        env = self.env
        front = tuple(int(value) for value in env.front_pos)
        _, reward, terminated, truncated, _ = env.step(env.actions[action])
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        self.reward = float(reward)
        if action not in ("left", "right", "forward"):
            code = code_of(env.grid.get(*front))
            if code != self._cells[front[1], front[0]]:
                cells = self._cells.copy()
                cells[front[1], front[0]] = code
                cells.flags.writeable = False
                self._cells = cells
        return self.state

    def snapshot(self) -> tuple[Any, ...]:
        """Enough to come back to this moment with `restore`, for trying an action out."""
        env = self.env
        front = env.grid.get(*env.front_pos)
        flags = dict(vars(front)) if front is not None else None
        carried = env.carrying
        carried_flags = dict(vars(carried)) if carried is not None else None
        return (
            env.agent_pos, env.agent_dir, carried, carried_flags, env.step_count, list(env.grid.grid), front, flags,
            self._cells, self.terminated, self.truncated, self.reward,
        )  # fmt: skip

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        env = self.env
        (
            env.agent_pos, env.agent_dir, env.carrying, carried_flags, env.step_count, things, front, flags,
            self._cells, self.terminated, self.truncated, self.reward,
        ) = snapshot  # fmt: skip
        env.grid.grid = list(things)
        if front is not None:
            vars(front).update(flags)
        if env.carrying is not None:
            vars(env.carrying).update(carried_flags)
