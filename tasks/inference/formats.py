"""Answer formats: what an item's `answer_format` says about the shape of an answer, for servers that can enforce it.

`answer_format` is a name (`letter`, `yes_no`, `success_fail`, `label`, `scene`) or a JSON object: `{"choice": [...]}`
or `{"json_schema": {...}}`. Anything else constrains nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import jsonschema

CHOICES: dict[str, tuple[str, ...]] = {
    "letter": ("A", "B", "C", "D"),
    "yes_no": ("Yes", "No"),
    "success_fail": ("Success", "Fail"),
}
_KINDS = ["key", "ball", "box"]
_COLORS = ["red", "green", "blue", "purple", "yellow", "grey"]
_TYPES = ["empty", "wall", "door", "key", "ball", "box", "goal", "lava"]
_POSITION = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 6}, "minItems": 2, "maxItems": 2}


def _thing(**more: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"enum": _TYPES}, "color": {"enum": [*_COLORS, None]}, **more}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_STATE = {"enum": [0, 1, 2, None]}
SCHEMAS: dict[str, dict[str, Any]] = {
    "label": {
        "type": "object",
        "properties": {
            "answer": {
                "type": "string",
                "enum": [f"{kind}_{color}" for kind in _KINDS for color in _COLORS]
                + ["holding", "dropped", "reacquired_and_holding"],
            }
        },
        "required": ["answer"],
        "additionalProperties": False,
    },
    "scene": {
        "type": "object",
        "properties": {
            "agent": {
                "type": "object",
                "properties": {
                    "pos": _POSITION,
                    "dir": {"enum": ["up", "right", "down", "left"]},
                    "carrying": {"anyOf": [{"type": "null"}, _thing()]},
                },
                "required": ["pos", "dir", "carrying"],
                "additionalProperties": False,
            },
            "front_cell": _thing(state=_STATE),
            "objects": {"type": "array", "items": _thing(state=_STATE, pos=_POSITION), "maxItems": 49},
        },
        "required": ["agent", "front_cell", "objects"],
        "additionalProperties": False,
    },
}
POSITIVE = frozenset({"yes", "success"})
NEGATIVE = frozenset({"no", "fail", "failure"})


@dataclass(frozen=True)
class Constraint:
    """Either one of `choice`, or JSON that `schema` accepts."""

    choice: tuple[str, ...] | None = None
    schema: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return {"choice": list(self.choice)} if self.choice else {"json_schema": self.schema}

    def obeyed_by(self, text: str) -> bool:
        """Whether an answer has the shape that was asked for: servers may ignore what they do not know."""
        if self.choice:
            return text.strip() in self.choice
        try:
            jsonschema.validate(json.loads(text), self.schema or {})
        except (ValueError, jsonschema.ValidationError):
            return False
        return True


def constraint_of(answer_format: str) -> Constraint | None:
    """The constraint that a format implies; None where it implies none."""
    if answer_format in CHOICES:
        return Constraint(choice=CHOICES[answer_format])
    if answer_format in SCHEMAS:
        return Constraint(schema=SCHEMAS[answer_format])
    try:
        described = json.loads(answer_format)
    except ValueError:
        return None
    if not isinstance(described, dict):
        return None
    if isinstance(described.get("choice"), list):
        return Constraint(choice=tuple(map(str, described["choice"])))
    if isinstance(described.get("json_schema"), dict):
        return Constraint(schema=described["json_schema"])
    return None


def verdict_words(constraint_or_format: str) -> bool:
    """Whether answers of this format are a success or failure verdict, for which p(success) means something."""
    constraint = constraint_of(constraint_or_format)
    if constraint is None or constraint.choice is None:
        return False
    words = {word.lower() for word in constraint.choice}
    return bool(words & POSITIVE) and bool(words & NEGATIVE)
