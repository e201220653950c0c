"""A view in words: the gold answer of Task B (paper 1, C.1 and F.3)."""

from __future__ import annotations

from tasks.worlds.base import Json
from tasks.worlds.minigrid.simulator import (
    AGENT_COLUMN,
    AGENT_ROW,
    EMPTY,
    UNSEEN,
    VIEW,
    View,
    color,
    door_state,
    kind,
)

LISTED = ("door", "key", "ball", "box", "goal", "lava")


def thing(code: int) -> Json:
    """type, color and state of a cell; the color of what has none of its own is null, the state of all but doors too."""
    name = kind(code)
    return {
        "type": name,
        "color": None if name in ("empty", "wall", "lava", "floor") else color(code),
        "state": door_state(code) if name == "door" else None,
    }


def scene(view: View) -> Json:
    """The agent, the cell ahead, and every visible thing elsewhere, row by row."""
    ahead = (AGENT_ROW - 1, AGENT_COLUMN)
    carried = None if view.carrying == EMPTY else {"type": kind(view.carrying), "color": color(view.carrying)}
    codes = view.cells.tolist()
    return {
        "agent": {"pos": [AGENT_COLUMN, AGENT_ROW], "dir": "up", "carrying": carried},
        "front_cell": thing(codes[ahead[0]][ahead[1]]),
        "objects": [
            thing(codes[row][column]) | {"pos": [column, row]}
            for row in range(VIEW)
            for column in range(VIEW)
            if (row, column) not in (ahead, (AGENT_ROW, AGENT_COLUMN))
            and codes[row][column] != UNSEEN
            and kind(codes[row][column]) in LISTED
        ],
    }
