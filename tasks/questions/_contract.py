"""What a server can enforce of an answer's shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constraint:
    """Either one of `choice`, or JSON that `schema` accepts."""

    choice: tuple[str, ...] | None = None
    schema: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return {"choice": list(self.choice)} if self.choice else {"json_schema": self.schema}

    def obeyed_by(self, text: str) -> bool:
        """Whether an answer has the shape that was asked for: servers may ignore what they do not know."""
        import jsonschema

        if self.choice:
            return text.strip() in self.choice
        try:
            jsonschema.validate(json.loads(text), self.schema or {})
        except (ValueError, jsonschema.ValidationError):
            return False
        return True


def record(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object that has these properties, each of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def described(answer_format: str) -> Constraint | None:
    """The constraint of an answer format that is itself JSON, `{"choice": [...]}` or `{"json_schema": {...}}`; else None."""
    try:
        value = json.loads(answer_format)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("choice"), list):
        return Constraint(choice=tuple(map(str, value["choice"])))
    if isinstance(value.get("json_schema"), dict):
        return Constraint(schema=value["json_schema"])
    return None
