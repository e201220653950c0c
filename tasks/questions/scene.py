"""What is to be seen, as a JSON object with agent, front_cell, objects (Task B; paper 1, Appendices C.1, F.3, F.4).

    strict      the whole answer is the object
    robust      also an object in a code fence or in surrounding text, trailing commas, field names that mean the same
    leading     as strict
    published   as robust, without removing reasoning first

The value is canonical JSON in the spelling of gold; a field that cannot be understood becomes null there, so that it
costs its own component and no other.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from storage import canonical_json
from tasks.questions._answer import NO_TAGS, Parse, final_text, join, unreadable
from tasks.questions._base import Question
from tasks.questions._contract import Constraint, record
from tasks.questions._objects import Broken, only_object
from tasks.questions.label import COLORS, KINDS

# --- the contract: an agent's view of SIDE x SIDE cells, positions (column, row) from the upper left ----------------------

SIDE = 7
TYPES = ("empty", "wall", "door", *KINDS, "goal", "lava")
HEADINGS = ("up", "right", "down", "left")
STATES = (0, 1, 2)  # of a door: open, closed, locked

_POSITION = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0, "maximum": SIDE - 1},
    "minItems": 2,
    "maxItems": 2,
}


def _described(**more: Any) -> dict[str, Any]:
    return record(type={"enum": list(TYPES)}, color={"enum": [*COLORS, None]}, **more)


_STATE = {"enum": [*STATES, None]}
SCHEMA = record(
    agent=record(pos=_POSITION, dir={"enum": list(HEADINGS)}, carrying={"anyOf": [{"type": "null"}, _described()]}),
    front_cell=_described(state=_STATE),
    objects={"type": "array", "items": _described(state=_STATE, pos=_POSITION), "maxItems": SIDE * SIDE},
)

# --- the score (paper 1, Table 15) ----------------------------------------------------------------------------------------

SCENE_WEIGHTS = {"position": 0.1, "carrying": 0.2, "front_cell": 0.3, "objects": 0.4}  # of the components
SCENE_THRESHOLD = 0.90  # the score from which a scene counts as right


def score_scene(gold: dict[str, Any], stated: dict[str, Any]) -> dict[str, float]:
    """Component scores in [0, 1]: position and heading, carried object and front cell are right or wrong; objects are a
    Jaccard index over (type, color, state, position)."""

    def things(scene: dict[str, Any]) -> set[str]:
        return {
            json.dumps([thing.get(name) for name in ("type", "color", "state", "pos")])
            for thing in scene.get("objects") or []
        }

    def front(scene: dict[str, Any]) -> tuple[Any, ...]:
        cell = scene.get("front_cell") or {}
        return tuple(cell.get(name) for name in ("type", "color", "state"))

    one, other = gold.get("agent") or {}, stated.get("agent") or {}
    union = things(gold) | things(stated)
    return {
        "position": float(one.get("pos") == other.get("pos") and one.get("dir") == other.get("dir")),
        "carrying": float(one.get("carrying") == other.get("carrying")),
        "front_cell": float(front(gold) == front(stated)),
        "objects": len(things(gold) & things(stated)) / len(union) if union else 1.0,
    }


def total(components: dict[str, float]) -> float:
    """The scene's score: its components by their weights."""
    return sum(SCENE_WEIGHTS[name] * part for name, part in components.items())


def grade(rows: pl.DataFrame) -> pl.DataFrame:
    """See Question.grade. A loop: JSON is compared, not columns."""
    components = [
        score_scene(json.loads(gold), json.loads(value)) for gold, value in rows.select("gold", "value").iter_rows()
    ]
    return rows.with_columns(
        score=pl.Series([total(parts) for parts in components], dtype=pl.Float64),
        components=pl.Series([json.dumps(parts) for parts in components], dtype=pl.String),
    ).with_columns(correct=pl.col("score") >= SCENE_THRESHOLD - 1e-9)


# --- the parser -----------------------------------------------------------------------------------------------------------

DIRECTIONS = {
    **{"right": "right", "east": "right", "0": "right", "e": "right", ">": "right"},
    **{"down": "down", "south": "down", "1": "down", "s": "down", "v": "down"},
    **{"left": "left", "west": "left", "2": "left", "w": "left", "<": "left"},
    **{"up": "up", "north": "up", "3": "up", "n": "up", "^": "up"},
}
DOOR_STATES = {"open": 0, "opened": 0, "closed": 1, "locked": 2}
_NAMES = {
    "frontcell": "front_cell",
    "front": "front_cell",
    "cell_in_front": "front_cell",
    "visible_objects": "objects",
    "direction": "dir",
    "facing": "dir",
    "orientation": "dir",
    "position": "pos",
    "location": "pos",
    "coordinates": "pos",
    "colour": "color",
    "kind": "type",
    "object": "type",
    "name": "type",
    "inventory": "carrying",
    "held": "carrying",
    "carried": "carrying",
    "holding": "carrying",
}
_NOTHING = ("none", "null", "nothing", "empty", "")


def _renamed(value: Any) -> Any:
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key).strip().lower().replace(" ", "_").replace("-", "_")
        result.setdefault(_NAMES.get(name, name), _renamed(item))
    return result


def _word(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    plain = value.strip().lower().replace("gray", "grey")
    return None if plain in ("none", "null", "n/a", "") else plain


def _position(value: Any) -> list[int] | None:
    if isinstance(value, dict):
        value = [value.get("col", value.get("x", value.get("column"))), value.get("row", value.get("y"))]
    if isinstance(value, list | tuple) and len(value) == 2 and all(_whole(part) is not None for part in value):
        return [int(part) for part in value]
    return None


def _whole(value: Any) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
        return int(value)
    return None


def _state(value: Any) -> int | None:
    if isinstance(value, str):
        plain = value.strip().lower()
        return DOOR_STATES.get(plain, int(plain) if plain in ("0", "1", "2") else None)
    return _whole(value) if not isinstance(value, float) or abs(value) < 10 else None


def _thing(value: Any) -> dict[str, Any] | None:
    """`{"type", "color"}` of a carried object; None for nothing. A text such as "yellow key" is read as two words."""
    if isinstance(value, str):
        words = value.strip().lower().replace("gray", "grey").replace("_", " ").split()
        if " ".join(words) in _NOTHING:
            return None
        if len(words) == 2:
            noun, color = sorted(words, key=lambda word: word not in KINDS)
            return {"type": noun, "color": color}
        return {"type": " ".join(words), "color": None}
    if isinstance(value, dict):
        kind = _word(value.get("type"))
        return None if kind in (None, *_NOTHING) else {"type": kind, "color": _word(value.get("color"))}
    return None if value in (None, False, [], {}) else {"type": "unreadable", "color": None}


def canonical(scene: dict[str, Any]) -> dict[str, Any]:
    """A scene in the spelling of gold: `agent` (pos, dir, carrying), `front_cell` (type, color, state), `objects`."""
    agent, front, things = scene.get("agent"), scene.get("front_cell"), scene.get("objects")
    agent = agent if isinstance(agent, dict) else {}
    front = front if isinstance(front, dict) else {"type": front}
    things = things if isinstance(things, list) else []
    direction = agent.get("dir")
    return {
        "agent": {
            "pos": _position(agent.get("pos")),
            "dir": DIRECTIONS.get(str(direction).strip().lower()) if direction is not None else None,
            "carrying": _thing(agent.get("carrying")),
        },
        "front_cell": {
            "type": _word(front.get("type")),
            "color": _word(front.get("color")),
            "state": _state(front.get("state")),
        },
        "objects": sorted(
            (
                {
                    "type": _word(thing.get("type")),
                    "color": _word(thing.get("color")),
                    "state": _state(thing.get("state")),
                    "pos": _position(thing.get("pos")),
                }
                for thing in things
                if isinstance(thing, dict)
            ),
            key=canonical_json,
        ),
    }


def _is_scene(value: dict[str, Any]) -> bool:
    return {"agent", "front_cell", "objects"} <= set(value)


def parse(text: str | None, answer_format: str, policy: str, think_tags: tuple[str, ...]) -> Parse:
    """Canonical JSON of the described scene."""
    final = final_text(text, NO_TAGS if policy == "published" else think_tags)
    if final.reason:
        return unreadable(final.reason)
    exact = policy in ("strict", "leading")
    try:
        found = only_object(final.text, _is_scene if exact else lambda value: _is_scene(_renamed(value)))
    except Broken as error:
        return unreadable("no_answer" if error.reason == "no_object" else error.reason)
    renamed = _renamed(found.value)
    note = None if renamed == found.value else "field names"
    recovery = join(final.recovery, found.recovery, note)
    if exact and recovery:
        return unreadable("not_the_whole_answer")
    value = canonical_json(canonical(renamed))
    return Parse("recovered" if recovery else "strict", value, found.span[:200], recovery)


QUESTION = Question(
    name="scene",
    formats={"scene": Constraint(schema=SCHEMA)},
    exam_tasks={"B": "scene"},
    parse=parse,
    grade=grade,
    wrong=pl.lit("scene_below_threshold"),
)
