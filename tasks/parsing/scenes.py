"""The scene of an answer to Task B: an object with agent, front_cell, objects (paper 1, Appendices C.1, F.3, F.4).

    strict      the whole answer is the object
    robust      also an object in a code fence or in surrounding text, trailing commas, field names that mean the same
    leading     as strict
    published   as robust, without removing reasoning first

The value is canonical JSON in the spelling of gold; a field that cannot be understood becomes null there, so that it
costs its own component and no other.
"""

from __future__ import annotations

from typing import Any

from storage import canonical_json
from tasks.parsing.answer import NO_TAGS, Parse, final_text, join, unreadable
from tasks.parsing.objects import Broken, only_object

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
            noun, color = sorted(words, key=lambda word: word not in ("key", "ball", "box"))
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
