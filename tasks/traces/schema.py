"""The JSON Schema (Draft 7) of a trace: strict for the release, lenient for what models write.

The lenient schema drops what a model is not asked for or may leave out; both come from one definition.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

SCALAR = {"type": ["number", "string", "boolean", "null"]}
QUANTITY = {
    "type": "object",
    "required": ["value"],
    "properties": {"value": SCALAR, "unit": {"type": ["string", "null"]}},
}
STATED = {"anyOf": [SCALAR, QUANTITY]}

RELEASE: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Physical state-transition trace",
    "type": "object",
    "required": [
        "id",
        "scenario_family",
        "question",
        "state_0",
        "transition",
        "state_1",
        "derivation",
        "answer",
        "metadata",
    ],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "scenario_family": {"type": "string", "minLength": 1},
        "question": {"type": "string"},
        "state_0": {
            "type": "object",
            "required": ["objects", "relations", "forces", "variables", "assumptions"],
            "properties": {
                "objects": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "attributes": {"type": "object"}},
                    },
                },
                "relations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["type", "args"],
                        "properties": {
                            "type": {"type": "string"},
                            "args": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                        },
                    },
                },
                "forces": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "target", "direction"],
                        "properties": {
                            "name": {"type": "string"},
                            "target": {"type": "string"},
                            "direction": {"type": "string"},
                            "magnitude": STATED,
                            "unit": {"type": ["string", "null"]},
                        },
                    },
                },
                "variables": {"type": "object", "additionalProperties": STATED},
                "assumptions": {"type": "array", "items": {"type": "string"}},
            },
        },
        "transition": {
            "type": "object",
            "required": ["rule", "effect", "equation", "evidence"],
            "properties": {
                "rule": {"type": "string"},
                "effect": {"type": "string"},
                "equation": {"type": ["string", "null"]},
                "evidence": {"type": "array", "items": {"type": "string"}},
                "intervention": {
                    "type": "object",
                    "required": ["variable", "change", "response"],
                    "properties": {
                        "variable": {"type": "string"},
                        "change": {"type": "string"},
                        "response": {"type": "string"},
                        "new_value": STATED,
                    },
                },
            },
        },
        "state_1": {
            "type": "object",
            "required": ["predicted_change", "new_variables"],
            "properties": {
                "predicted_change": {"type": "string"},
                "new_variables": {"type": "object", "additionalProperties": STATED},
            },
        },
        "derivation": {"type": "string"},
        "answer": {
            "type": "object",
            "required": ["value"],
            "properties": {
                "value": SCALAR,
                "unit": {"type": ["string", "null"]},
                "explanation": {"type": "string"},
            },
        },
        "metadata": {"type": "object"},
    },
}


def _lenient() -> dict[str, Any]:
    schema = copy.deepcopy(RELEASE)
    schema["title"] = "Physical state-transition trace as a model writes it"
    schema["required"] = ["state_0", "transition", "state_1", "answer"]
    parts = schema["properties"]
    parts["state_0"]["required"] = ["objects", "variables"]
    parts["state_0"]["properties"]["forces"]["items"]["required"] = ["name", "direction"]
    parts["transition"]["required"] = ["effect"]
    parts["state_1"]["required"] = []
    parts["metadata"] = {}
    parts["id"] = {"type": ["string", "number"]}
    for part in ("question", "derivation"):
        parts[part] = {"type": ["string", "null"]}
    parts["transition"]["properties"]["evidence"] = {
        "anyOf": [{"type": "null"}, {"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    }
    parts["answer"] = {"anyOf": [parts["answer"], SCALAR]}
    return schema


LENIENT: dict[str, Any] = _lenient()


def _compile(schema: Any):  # type: ignore[no-untyped-def]
    """The schema as one nested predicate. Covers the keywords used above; `tests` holds it against `jsonschema`."""
    if not schema:
        return lambda value: True
    checks = []
    if "anyOf" in schema:
        options = [_compile(option) for option in schema["anyOf"]]
        checks.append(_any(options))
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        kinds = tuple(kind for name in names for kind in _TYPES[name])
        exact = frozenset(kinds)
        checks.append(lambda value: type(value) in exact)
    if "minLength" in schema:
        shortest = schema["minLength"]
        checks.append(lambda value: not isinstance(value, str) or len(value) >= shortest)
    required = tuple(schema.get("required", ()))
    properties = {key: _compile(part) for key, part in schema.get("properties", {}).items()}
    others = _compile(schema["additionalProperties"]) if "additionalProperties" in schema else None
    if required or properties or others:

        def members(value: Any) -> bool:
            if type(value) is not dict:
                return True
            for key in required:
                if key not in value:
                    return False
            for key, part in value.items():
                check = properties.get(key, others)
                if check is not None and not check(part):
                    return False
            return True

        checks.append(members)
    if "items" in schema or "minItems" in schema:
        item = _compile(schema.get("items"))
        fewest = schema.get("minItems", 0)
        checks.append(lambda value: type(value) is not list or (len(value) >= fewest and all(map(item, value))))
    if len(checks) == 1:
        return checks[0]
    return _all(checks)


def _any(checks: list[Any]):  # type: ignore[no-untyped-def]
    def decide(value: Any) -> bool:
        for check in checks:  # noqa: SIM110  (a generator would cost more than the check)
            if check(value):
                return True
        return False

    return decide


def _all(checks: list[Any]):  # type: ignore[no-untyped-def]
    def decide(value: Any) -> bool:
        for check in checks:  # noqa: SIM110
            if not check(value):
                return False
        return True

    return decide


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_FAST = {id(RELEASE): _compile(RELEASE), id(LENIENT): _compile(LENIENT)}


@functools.cache
def _validator(strict: bool):  # type: ignore[no-untyped-def]
    import jsonschema

    return jsonschema.Draft7Validator(RELEASE if strict else LENIENT)


def problems(trace: Any, strict: bool = False) -> list[str]:
    """What the schema objects to, each with its JSON pointer; empty for a valid trace. The common, valid case is decided
    by the compiled predicate; `jsonschema` words the complaints."""
    if _FAST[id(RELEASE if strict else LENIENT)](trace):
        return []
    objections = []
    for error in _validator(strict).iter_errors(trace):
        deepest = min(error.context, key=lambda e: -len(e.absolute_path)) if error.context else error
        pointer = "".join(f"/{part}" for part in deepest.absolute_path) or "/"
        message = deepest.message if len(deepest.message) < 200 else deepest.message[:160] + " ..."
        objections.append(f"{pointer}: {message}")
    return objections
