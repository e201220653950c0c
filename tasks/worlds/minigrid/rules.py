"""What one who knows MiniGrid's rules can conclude from two views alone: the basis of Task A's distractors."""

from __future__ import annotations

import numpy as np

from tasks.worlds.minigrid.simulator import (
    AGENT_COLUMN,
    AGENT_ROW,
    EMPTY,
    UNSEEN,
    VIEW,
    View,
    cell,
    color,
    door_state,
    kind,
)

_ROWS, _COLUMNS = np.indices((VIEW, VIEW))
_AHEAD, _RIGHT = AGENT_ROW - _ROWS, _COLUMNS - AGENT_COLUMN


def expected(view: View, action: str) -> tuple[np.ndarray, int, bool]:
    """What follows from `view` under `action`: the (7, 7) cells that are known afterwards (UNSEEN where nothing is
    known), the carried thing, and whether the view as a whole must look exactly so."""
    cells, carrying = view.cells, view.carrying
    front_at = (AGENT_ROW - 1, AGENT_COLUMN)
    front = int(cells[front_at])
    match action:
        case "left":
            return _moved(cells, -_RIGHT, _AHEAD), carrying, False
        case "right":
            return _moved(cells, _RIGHT, -_AHEAD), carrying, False
        case "forward":
            open_door = kind(front) == "door" and door_state(front) == 0
            if front == EMPTY or open_door or kind(front) in ("goal", "lava", "floor"):
                return _moved(cells, _AHEAD - 1, _RIGHT), carrying, False
            return cells, carrying, True
    after = cells.copy()
    if action == "pickup" and carrying == EMPTY and kind(front) in ("key", "ball", "box"):
        after[front_at] = EMPTY
        return after, front, True
    if action == "drop" and carrying != EMPTY and front == EMPTY:
        after[front_at] = carrying
        return after, EMPTY, True
    if action == "toggle" and kind(front) == "door":
        match door_state(front):
            case 0:  # closing hides what lay behind
                known = np.where((_ROWS == AGENT_ROW) | (_ROWS == AGENT_ROW - 1), after, UNSEEN).astype(np.uint16)
                known[front_at] = cell("door", color(front), 1)
                return known, carrying, False
            case 2 if not (kind(carrying) == "key" and color(carrying) == color(front)):
                return cells, carrying, True
            case _:
                after[front_at] = cell("door", color(front), 0)
                return after, carrying, False
    if action == "toggle" and kind(front) == "box":
        after[front_at] = UNSEEN
        return after, carrying, False
    return cells, carrying, True


def _moved(cells: np.ndarray, ahead: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Each seen cell at its new place (cells ahead of the agent, cells to its right); UNSEEN elsewhere."""
    result = np.full((VIEW, VIEW), UNSEEN, dtype=np.uint16)
    rows, columns = AGENT_ROW - ahead, AGENT_COLUMN + right
    inside = (rows >= 0) & (rows < VIEW) & (columns >= 0) & (columns < VIEW)
    result[rows[inside], columns[inside]] = cells[inside]
    return result


def contradicts(view: View, action: str, after: View) -> bool:
    """Whether `after` cannot be what follows from `view` under `action`."""
    known, carrying, exact = expected(view, action)
    if after.carrying != carrying:
        return True
    if exact:
        return not np.array_equal(known, after.cells)
    both = (known != UNSEEN) & (after.cells != UNSEEN)
    return bool((known[both] != after.cells[both]).any())
