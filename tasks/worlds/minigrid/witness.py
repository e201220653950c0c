"""A MiniGrid trajectory executed again in a fresh simulator and read by MiniGrid's own means: its objects'
`encode`, its occlusion `process_vis`, `relative_coords`. None of the generator's incremental bookkeeping or view code takes part."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from minigrid.core.constants import IDX_TO_COLOR, IDX_TO_OBJECT, OBJECT_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.world_object import Door, Wall

from tasks.pictures.pixels import Pixels, differing
from tasks.worlds.base import Episode, Event, Intervention, Json, MaskBox, Witness
from tasks.worlds.minigrid import tiles
from tasks.worlds.minigrid.simulator import (
    AGENT_COLUMN,
    AGENT_ROW,
    UNSEEN,
    VIEW,
    GridState,
    Simulator,
    View,
    code_of,
    decode_state,
    encode_state,
)


class Rules(Protocol):
    """What a witness asks of its environment: what the NoCue target is, when it is used, and what counts as an event."""

    def targets(self, states: Sequence[GridState]) -> list[tuple[int, int]]: ...
    def cue_used(self, states: Sequence[GridState], target: tuple[int, int]) -> int: ...
    def events(self, states: Sequence[GridState]) -> list[Event]: ...


_WALL = Wall()
# how far each cell of the view lies ahead of the agent and to its right
_AHEAD, _RIGHT = AGENT_ROW - np.arange(VIEW)[:, None], np.arange(VIEW)[None] - AGENT_COLUMN


def _codes(grid: Grid) -> np.ndarray:
    """Every cell of a MiniGrid grid, encoded by MiniGrid, as (height, width) cell codes. An object that fills several
    cells (a wall) is encoded once."""
    things = {id(thing): thing for thing in grid.grid}
    codes = {identity: code_of(thing) for identity, thing in things.items()}
    cells = np.array([codes[id(thing)] for thing in grid.grid], dtype=np.uint16)
    return cells.reshape(grid.height, grid.width)


@functools.lru_cache(maxsize=256)
def _invalid_cells(cells: bytes) -> str | None:
    codes = np.frombuffer(cells, dtype=np.uint16)
    kinds, colors, states = codes >> 6, codes >> 3 & 7, codes & 7
    if not np.isin(kinds, list(IDX_TO_OBJECT)).all() or not np.isin(colors, list(IDX_TO_COLOR)).all():
        return "an index that is no MiniGrid object or color"
    if (states > 2).any() or ((states > 0) & (kinds != OBJECT_TO_IDX["door"])).any():
        return "a state other than open, closed or locked, or on something that is no door"
    return None


class MiniGridWitness(Witness):
    def __init__(self, simulator: Simulator, actions: Sequence[str], intervention: Intervention | None, rules: Rules):
        """`simulator` is fresh, reset, and changed as the intervention says."""
        self.rules = rules
        self.env = env = simulator.env
        self._doors = [thing for thing in env.grid.grid if isinstance(thing, Door)]
        self._views: list[np.ndarray] = []
        self._map: tuple[list[Any], list[Any], np.ndarray] | None = None
        self._states: list[GridState] = []
        self._record()
        self._targets = rules.targets(self._states) if intervention is None else []
        self._places = [self._target_places()]
        reward, terminated, truncated = 0.0, False, False
        for action in actions:
            if terminated or truncated:
                break
            _, given, terminated, truncated, _ = env.step(env.actions[action])
            reward = float(given)
            self._record()
            self._places.append(self._target_places())
        self.episode = Episode(
            mission=str(env.mission),
            actions=list(actions),
            states=self._states,
            success=bool(terminated and reward > 0),
            terminated=bool(terminated),
            truncated=bool(truncated),
            reward=reward,
            intervention=intervention,
            events=rules.events(self._states),
        )

    def _record(self) -> None:
        env = self.env
        x, y = (int(value) for value in env.agent_pos)
        cells = self._cells()
        self._states.append(GridState(x, y, int(env.agent_dir), code_of(env.carrying), cells))
        at_x = x + _AHEAD * env.dir_vec[0] + _RIGHT * env.right_vec[0]
        at_y = y + _AHEAD * env.dir_vec[1] + _RIGHT * env.right_vec[1]
        inside = (at_x >= 0) & (at_x < env.width) & (at_y >= 0) & (at_y < env.height)
        place = np.where(inside, at_y * env.width + at_x, -1)
        things = [*env.grid.grid, _WALL]  # the last one, at -1, is what lies beyond the map
        grid = Grid(VIEW, VIEW)
        grid.grid = [things[index] for index in place.ravel().tolist()]
        visible = grid.process_vis((AGENT_COLUMN, AGENT_ROW)).T
        codes = np.where(inside, cells.ravel()[place], code_of(_WALL))
        self._views.append(np.where(visible, codes, UNSEEN).astype(np.uint16))

    def _cells(self) -> np.ndarray:
        """The map's codes; taken again only where an object came, went or changed."""
        things = self.env.grid.grid
        doors = [(door.is_open, door.is_locked) for door in self._doors]
        if self._map is None or self._map[0] != things or self._map[1] != doors:
            self._map = (list(things), doors, _codes(self.env.grid))
        return self._map[2]

    def _target_places(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The targets in sight: map cell -> (row, column) of the view."""
        places = {}
        for x, y in self._targets:
            relative = self.env.relative_coords(x, y)  # type: ignore[no-untyped-call]
            if relative is not None:
                column, row = (int(value) for value in relative)
                if self._views[-1][row, column] != UNSEEN:
                    places[x, y] = (row, column)
        return places

    @functools.cached_property
    def _encoded(self) -> list[Json]:
        return [encode_state(state) for state in self._states]

    def states(self) -> list[Json]:
        return self._encoded

    def invalid_state(self, state: Json) -> str | None:
        try:
            decoded = decode_state(state)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            return f"not a state: {error}"
        height, width = decoded.cells.shape
        if not (0 <= decoded.x < width and 0 <= decoded.y < height and 0 <= decoded.direction < 4):
            return "the agent stands outside the map or looks nowhere"
        return _invalid_cells(decoded.cells.tobytes())

    def misread(self, step: int, pixels: Pixels, masked: Sequence[MaskBox]) -> str | None:
        if pixels.shape != (tiles.FRAME, tiles.FRAME, 3):
            return f"the frame at step {step} is {pixels.shape}"
        expected = self._views[step].copy()
        for box in masked:
            expected[box.top // tiles.TILE, box.left // tiles.TILE] = UNSEEN
        drawn = tiles.draw(View(expected, self._states[step].carrying))
        if np.array_equal(pixels, drawn):
            return None
        y, x = np.argwhere(differing(pixels, drawn))[0].tolist()
        cell = (y // tiles.TILE, x // tiles.TILE)
        return f"at step {step} the picture of cell {cell} is not what the simulator shows there"

    @functools.cached_property
    def _used(self) -> dict[tuple[int, int], int]:
        return {target: self.rules.cue_used(self._states, target) for target in self._targets}

    def faces_target(self, step: int) -> bool:
        state = self._states[step]
        return state.front in self._used or state.position in self._used

    def target_boxes(self, step: int) -> list[MaskBox]:
        places = self._places[step]
        return [tiles.box(step, *place) for target, place in places.items() if step < self._used[target]]
