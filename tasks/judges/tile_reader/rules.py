"""What follows from views by MiniGrid's rules: the next view, a scene, a verdict, what became of a carried thing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from tasks.judges.tile_reader.tiles import COLUMN, EMPTY, ROW, SIDE, UNSEEN, Thing, View

Cells = dict[tuple[int, int], Thing]  # (row, column) -> thing; only what is known
MOVABLE = ("key", "ball", "box")

# --- one step ---------------------------------------------------------------------------------------------------------

_ACTIONS = {
    "left": r"\bleft\b",
    "right": r"\bright\b",
    "pickup": r"\bpick(?:s|ing)?[ -]?up\b",
    "drop": r"\bdrop\b|\bput\b.*\bdown\b",
    "toggle": r"\btoggle\b|\bopen\b",
    "forward": r"\bforward\b",
}
FRONT = (ROW - 1, COLUMN)


def action_of(prompt: str) -> str | None:
    """The action that the line `Action: ...` names; None where it names none."""
    line = re.search(r"\bAction:(.*)", prompt)
    return next((name for name, words in _ACTIONS.items() if line and re.search(words, line[1])), None)


def following(view: View, action: str) -> tuple[Cells, Thing | None, bool]:
    """What is known of the view after `action`: its cells, what is carried, and whether nothing can come or go out of
    sight, so that every other cell has to look as before."""
    cells = {(row, column): view.cells[row][column] for row in range(SIDE) for column in range(SIDE)}
    front, carrying = view.front, view.carrying
    if action == "left":
        return _turned(cells, lambda ahead, right: (-right, ahead)), carrying, False
    if action == "right":
        return _turned(cells, lambda ahead, right: (right, -ahead)), carrying, False
    if action == "forward" and (front.kind in ("empty", "goal", "lava", "floor") or front.state == 0):
        return _turned(cells, lambda ahead, right: (ahead - 1, right)), carrying, False
    if action == "pickup" and carrying is None and front.kind in MOVABLE:
        return cells | {FRONT: EMPTY}, front, True
    if action == "drop" and carrying is not None and front == EMPTY:
        return cells | {FRONT: carrying}, None, True
    if action == "toggle" and front.kind == "door":
        if front.state == 0:  # what is beyond the door goes out of sight
            near = {place: thing for place, thing in _seen(cells).items() if place[0] >= FRONT[0]}
            return near | {FRONT: front._replace(state=1)}, carrying, False
        if front.state == 1 or carrying == Thing("key", front.color):
            return _seen(cells) | {FRONT: front._replace(state=0)}, carrying, False
    if action == "toggle" and front.kind == "box":  # its content comes out, whatever that is
        return {place: thing for place, thing in cells.items() if place != FRONT}, carrying, True
    return cells, carrying, True


def _seen(cells: Cells) -> Cells:
    return {place: thing for place, thing in cells.items() if thing != UNSEEN}


def _turned(cells: Cells, move: Callable[[int, int], tuple[int, int]]) -> Cells:
    """The seen cells, each at its new place; `move` takes and gives (cells ahead, cells to the right) of the agent."""
    moved = {}
    for (row, column), thing in _seen(cells).items():
        ahead, right = move(ROW - row, column - COLUMN)
        place = (ROW - ahead, COLUMN + right)
        if 0 <= place[0] < SIDE and 0 <= place[1] < SIDE:
            moved[place] = thing
    return moved


def misfit(view: View, action: str, after: View) -> tuple[int, int]:
    """How badly `after` fits as what follows from `view`: cells that contradict (carrying counted as one), and minus
    the cells that agree. A view that can follow has no contradiction."""
    cells, carrying, whole = following(view, action)
    contradictions, agreements = int(after.carrying != carrying), 0
    for (row, column), thing in cells.items():
        found = after.cells[row][column]
        if found == thing:
            agreements += thing != UNSEEN
        elif whole or found != UNSEEN:
            contradictions += 1
    return contradictions, -agreements


def choice(view: View, candidates: dict[str, View], action: str | None) -> str:
    """The letter of the candidate that fits best, the first of equals. Without an action: any one's successor will do,
    so the first candidate that can follow from some action."""
    if action is not None:
        return min(sorted(candidates), key=lambda letter: misfit(view, action, candidates[letter]))
    return min(
        sorted(candidates), key=lambda letter: min(misfit(view, name, candidates[letter])[0] for name in _ACTIONS)
    )


# --- one frame --------------------------------------------------------------------------------------------------------


def scene(view: View) -> str:
    """The JSON that Task B asks for."""
    objects = [
        {**view.cells[row][column]._asdict(), "pos": [column, row]}
        for row in range(SIDE)
        for column in range(SIDE)
        if (row, column) not in (FRONT, (ROW, COLUMN))
        and view.cells[row][column].kind not in ("unseen", "empty", "wall")
    ]
    carrying = view.carrying and {"type": view.carrying.kind, "color": view.carrying.color}
    return json.dumps(
        {
            "agent": {"pos": [COLUMN, ROW], "dir": "up", "carrying": carrying},
            "front_cell": _typed(view.front._asdict()),
            "objects": [_typed(entry) for entry in objects],
        }
    )


def _typed(entry: dict[str, Any]) -> dict[str, Any]:
    return {"type": entry.pop("kind"), **entry}


# --- episodes: views in the order of their steps ------------------------------------------------------------------------

Objective = Callable[[Sequence[View]], bool]


def on_goal(views: Sequence[View]) -> bool:
    return views[-1].beneath.kind == "goal"


def holds(kind: str, color: str | None = None) -> Objective:
    """At the end the agent carries such a thing."""

    def met(views: Sequence[View]) -> bool:
        held = views[-1].carrying
        return held is not None and held.kind == kind and color in (None, held.color)

    return met


def opens_red_then_blue(views: Sequence[View]) -> bool:
    """The agent stands before the open blue door at the end, and stood before the open red one earlier, while the blue
    one had not yet been opened."""
    opened = [view.front for view in views if view.front.state == 0]
    return views[-1].front == Thing("door", "blue", 0) and opened[0].color == "red"


def finds_match(views: Sequence[View]) -> bool:
    """At the end the agent faces a thing like the first that it faced, and is not still at that first one."""
    faced = [step for step, view in enumerate(views) if view.front.kind in MOVABLE]
    return len(faced) > 1 and faced[-1] == len(views) - 1 and views[faced[0]].front == views[-1].front


_MISSIONS: tuple[tuple[str, Callable[[re.Match[str]], Objective]], ...] = (
    (r"pick up the (?:(\w+) )?(key|ball|box)\b", lambda match: holds(match[2], match[1])),
    (r"red door .*blue door", lambda _: opens_red_then_blue),
    (r"matching object", lambda _: finds_match),
    (r"\bgoal\b", lambda _: on_goal),
)


def objective_of(mission: str) -> Objective | None:
    for words, objective in _MISSIONS:
        if match := re.search(words, mission):
            return objective(match)
    return None


def shown_objective(reference: Sequence[View]) -> Objective | None:
    """What an episode that is known to have succeeded was about, from how it ends. Colors may be others elsewhere."""
    held = reference[-1].carrying
    if on_goal(reference):
        return on_goal
    if opens_red_then_blue(reference):
        return opens_red_then_blue
    if held is not None:
        return holds(held.kind)
    return finds_match if finds_match(reference) else None


def first_carried(views: Sequence[View]) -> Thing | None:
    return next((view.carrying for view in views if view.carrying is not None), None)


def status(views: Sequence[View]) -> str | None:
    """What became of the first thing that was carried; None where none was."""
    first = first_carried(views)
    held = [view.carrying == first for view in views]
    if first is None:
        return None
    if not held[-1]:
        return "dropped"
    return "holding" if all(held[held.index(True) :]) else "reacquired_and_holding"
