"""Any object that tells a transition, brought into the shape of a trace: other names of fields, texts for objects, lists for texts.

Nothing is read or judged here, no value is changed and none is added; what had to be moved is named, by JSON pointer. A trace
that fits the lenient schema never comes here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tasks.traces.record import snake
from tasks.verification.quantities import QUANTITY
from tasks.verification.words import direction, occurrences

_Names = Mapping[str, tuple[str, ...]]  # name of a field -> what others call it

PARTS: _Names = {
    "state_0": (
        "state0", "s0", "s_0", "initial_state", "initial_conditions", "initial_condition", "conditions", "state_before", "before", "initial", "start", "start_state", "initially", "setup",
        "scene", "given", "situation",
    ),
    "transition": (
        "change", "process", "dynamics", "physics", "step", "delta", "event", "what_happens", "mechanism", "evolution", "action",
    ),
    "state_1": (
        "state1", "s1", "s_1", "final_state", "final_conditions", "final_condition", "state_after", "after", "final", "end", "end_state", "finally", "resulting_state",
        "result_state", "outcome", "next_state", "later",
    ),
    "derivation": ("working", "work", "workings", "steps", "reasoning", "calculation", "calculations", "computation"),
    "answer": ("result", "final_answer", "final", "conclusion", "ans", "reply", "response", "solution", "output"),
}  # fmt: skip
STATE_0: _Names = {
    "objects": ("bodies", "entities", "things", "participants", "items", "object", "components", "elements"),
    "relations": (
        "relation", "configuration", "arrangement", "layout", "geometry", "spatial", "spatial_relations", "positions", "placement",
        "contacts",
    ),
    "forces": ("force", "interactions", "acting_forces", "forces_acting", "loads"),
    "variables": (
        "quantities", "values", "data", "givens", "given", "parameters", "knowns", "known", "numbers", "params", "vars", "measurements",
    ),
    "assumptions": ("idealizations", "idealisations", "assumed", "assumption", "simplifications", "conditions", "approximations"),
}  # fmt: skip
TRANSITION: _Names = {
    "rule": ("law", "principle", "physical_law", "theorem", "rules", "laws", "physics"),
    "effect": ("what_happens", "happens", "result", "outcome", "change", "consequence", "effects", "description", "event", "process"),
    "equation": ("formula", "equations", "formulas", "formulae", "relation", "math", "maths", "expression", "calculation"),
    "evidence": ("why", "justification", "because", "reason", "reasons", "support", "facts", "grounds", "proof"),
}  # fmt: skip
STATE_1: _Names = {
    "predicted_change": (
        "prediction", "what_changed", "change", "changes", "predicted", "summary", "description", "outcome", "effect", "result",
    ),
    "new_variables": ("variables", "values", "quantities", "results", "new_values", "numbers", "data", "computed", "derived"),
}  # fmt: skip
_STATES = ("state_0", "state_1")  # which no single value tells
_WRAPPERS = ("trace", "output", "json", "world", "data", "response", "result", "answer")
_NAME_KEYS = ("name", "object", "id", "label", "body", "entity", "thing")
_ONE = ("subject", "a", "first", "from", "object1", "object_1", "source", "x", "of", "what", "body")
_TWO = ("object", "b", "second", "to", "object2", "object_2", "target", "y", "with", "reference", "where")
_KIND = ("type", "relation", "rel", "kind", "predicate", "is", "how")
_TARGET = ("target", "on", "acts_on", "acting_on", "body", "object", "applied_to")
_VALUE = ("value", "result", "answer", "final", "magnitude", "number", "amount")
_LABEL = ("symbol", "name", "variable", "label", "quantity", "key")
_NOTHING = frozenset(("", "none", "n/a", "-", "nothing", "no"))
_USUAL = {"kg": "mass", "g": "mass", "kg/m³": "density", "kg/m^3": "density", "g/cm³": "density", "g/cm^3": "density", "Ω": "resistance"}  # fmt: skip
_NAME_ENDS = re.compile(r"\s*(?:[,;:(\[=]|\bwith\b|\bof\b|\bat\b|\bhas\b|\bhaving\b|(?<![\w.])[-+−]?\d).*", re.DOTALL)
_SYMBOL_FIRST = re.compile(r"^\s*\w{1,3}\s*=\s*(?=[^\W\d]{3})")
_SYMBOL_LAST = re.compile(r"\s+[^\W\d_](?:_\w+)?'?$")
_ALONG = re.compile(
    r"\b(?:along|up|down|to|toward|towards|into|from|off|by|in) (?:the )?$|perpendicular to (?:the )?$", re.IGNORECASE
)
_LABELED = re.compile(r"^\s*([^=:≈<>]{1,60}?)\s*(?:=|:|≈)\s*(.+)$", re.DOTALL)


class Mended(NamedTuple):
    """The object in the shape of a trace, and what was moved."""

    trace: dict[str, Any]
    repairs: tuple[str, ...]


def parts_in(value: Any) -> int:
    """How many parts of a trace an object holds, under any of their names."""
    if not isinstance(value, dict):
        return 0
    keys = {snake(str(key).lower()) for key in value}
    return sum(not keys.isdisjoint((part, *others)) for part, others in PARTS.items())


def unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """The object that a wrapper such as `{"trace": {...}}` holds; else the value itself."""
    inner = [value[key] for key in _WRAPPERS if key in value and parts_in(value[key]) >= 2]
    return inner[0] if inner and parts_in(value) <= 1 else value


def mend(value: dict[str, Any]) -> Mended:
    """The trace that an object tells."""
    return _Mender().trace(unwrapped(value))


class _Mender:
    def __init__(self) -> None:
        self.repairs: dict[str, None] = {}

    def _note(self, pointer: str, what: str) -> None:
        self.repairs[f"{pointer}: {what}"] = None

    def _renamed(self, source: Mapping[str, Any], names: _Names, pointer: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """(the fields under their own names, the rest)."""
        own = {key: value for key, value in source.items() if key in names}
        rest = {key: value for key, value in source.items() if key not in names}
        for name, others in names.items():
            if name in own:
                continue
            known = (key for key in rest if snake(str(key).lower()) in (name, *others))
            found = next((key for key in known if name not in _STATES or isinstance(rest[key], dict | list)), None)
            if found is not None:
                own[name] = rest.pop(found)
                self._note(f"{pointer}/{found}", f"read as {name}")
        return own, rest

    def trace(self, value: dict[str, Any]) -> Mended:
        parts, rest = self._renamed(value, PARTS, "")
        trace: dict[str, Any] = {**rest}
        for part, mended in (("state_0", self._state_0), ("transition", self._transition), ("state_1", self._state_1)):
            if part in parts:
                trace[part] = mended(_members(parts[part]))
        if "derivation" in parts:
            trace["derivation"] = self._text(parts["derivation"], "/derivation", "\n")
        if "answer" in parts:
            trace["answer"] = self._answer(parts["answer"])
        return Mended(trace, tuple(self.repairs))

    def _state_0(self, source: dict[str, Any]) -> dict[str, Any]:
        own, rest = self._renamed(source, STATE_0, "/state_0")
        objects = self._each(own.get("objects"), "/state_0/objects", _object)
        names = tuple(item["name"] for item in objects)
        variables, texts = self._variables(own.get("variables"), rest, "/state_0")
        assumptions = _texts(own.get("assumptions")) + texts
        return {
            "objects": objects,
            "relations": self._each(own.get("relations"), "/state_0/relations", lambda item: _relation(item, names)),
            "forces": self._each(own.get("forces"), "/state_0/forces", lambda item: _force(item, names)),
            "variables": variables,
            "assumptions": assumptions,
        }

    def _transition(self, source: dict[str, Any]) -> dict[str, Any]:
        own, rest = self._renamed(source, TRANSITION, "/transition")
        made: dict[str, Any] = {}
        for name, between in (("rule", "; "), ("effect", ". "), ("equation", "\n")):
            if own.get(name) is not None:
                made[name] = self._text(own[name], f"/transition/{name}", between)
        evidence = _texts(own.get("evidence"))
        stated = rest.pop("intervention", None)
        if isinstance(stated, dict) and all(isinstance(stated.get(k), str) for k in ("variable", "change", "response")):
            made["intervention"] = stated
        evidence += [text for value in rest.values() for text in _texts(value)]
        return {"effect": "", **made, "evidence": evidence}

    def _state_1(self, source: dict[str, Any]) -> dict[str, Any]:
        own, rest = self._renamed(source, STATE_1, "/state_1")
        variables, texts = self._variables(own.get("new_variables"), rest, "/state_1")
        change = _texts(own.get("predicted_change")) + texts
        return {"predicted_change": ". ".join(change), "new_variables": variables}

    def _variables(self, stated: Any, rest: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], list[str]]:
        """(variables by label, texts): what is listed as variables, and the loose members beside them."""
        variables = dict(_labeled(stated))
        texts: list[str] = []
        for label, value in rest.items():
            if isinstance(value, str) and not any(char.isdigit() for char in value) and len(value) > 30:
                texts.append(value)
            elif isinstance(value, list):
                texts += _texts(value)
            elif value is not None:
                variables |= {key: item for key, item in _labeled({label: value}).items() if key not in variables}
                self._note(f"{pointer}/{label}", "read as a variable")
        return variables, texts

    def _each(self, stated: Any, pointer: str, mended: Callable[[Any], dict[str, Any] | None]) -> list[dict[str, Any]]:
        """Every item of a list in its shape; what cannot be brought into it is left out."""
        made = []
        for i, item in enumerate(_items(stated)):
            one = mended(item)
            if one is None:
                self._note(f"{pointer}/{i}", "not read")
                continue
            if one != item:
                self._note(f"{pointer}/{i}", "made an object")
            made.append(one)
        return made

    def _text(self, value: Any, pointer: str, between: str) -> str:
        if not isinstance(value, str):
            self._note(pointer, "made a text")
        return between.join(_texts(value))

    def _answer(self, value: Any) -> Any:
        if isinstance(value, list):
            self._note("/answer", "made a value")
            return value[0] if len(value) == 1 and not isinstance(value[0], dict | list) else ", ".join(_texts(value))
        if not isinstance(value, dict) or "value" in value:
            return value
        key = next((key for key in _VALUE if key in value), None)
        if key is None:
            key = next((k for k, item in value.items() if isinstance(item, str | int | float) and k != "unit"), None)
        if key is None:
            return value
        self._note(f"/answer/{key}", "read as value")
        if isinstance(value[key], dict | list):
            return self._answer(value[key])
        return {"value": value[key], **{k: v for k, v in value.items() if k != key and isinstance(v, str)}}


def _members(value: Any) -> dict[str, Any]:
    """The members of a part; a text is what it tells."""
    if isinstance(value, dict):
        return value
    return {"description": value} if isinstance(value, str | list) else {}


def _items(value: Any) -> list[Any]:
    """The items of a list, of an object by name (each item then with its name), or of a text."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [
            {"name": key, **item} if isinstance(item, dict) else [key, item]
            for key, item in value.items()
            if not str(key).endswith("direction")
        ]
    if isinstance(value, str) and value.strip().lower() not in _NOTHING:
        return [piece.strip() for piece in re.split(r"[;\n]", value) if piece.strip()]
    return []


def _texts(value: Any) -> list[str]:
    """A value as texts."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [f"{key}: {text}" for key, item in value.items() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value if isinstance(value, str) else str(value)]


def _joined(item: Any) -> str:
    """An item that is told in words, or in a row of words and numbers, as a text."""
    return " ".join(_texts(item)) if isinstance(item, list) else item if isinstance(item, str) else ""


def _first(item: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((item[key] for key in keys if isinstance(item.get(key), str | int | float | list)), None)


def _object(item: Any) -> dict[str, Any] | None:
    if isinstance(item, dict):
        name = _first(item, _NAME_KEYS)
        if not isinstance(name, str):
            return None
        attributes = item.get("attributes")
        own = {key: value for key, value in item.items() if key not in ("attributes", "name") and value != name}
        return {"name": _name_in(name), "attributes": {**own, **(attributes if isinstance(attributes, dict) else {})}}
    if not (text := _joined(item)):
        return None
    attributes = {}
    for match in QUANTITY.finditer(text):
        if label := _USUAL.get(match[2] or ""):
            attributes.setdefault(label, match[0])
    name = _name_in(text)
    return {"name": name, "attributes": attributes} if name else None


def _name_in(text: str) -> str:
    """The name of an object in what is told of it: `C = crate`, `trunk 7.65 kg`, `marble (density ρ)`, `pivot P`."""
    text = _SYMBOL_FIRST.sub("", text)
    name = _NAME_ENDS.sub("", text).strip() or text.strip()
    return _SYMBOL_LAST.sub("", name).strip() or name


def _relation(item: Any, names: tuple[str, ...]) -> dict[str, Any] | None:
    if isinstance(item, dict):
        args, kind = item.get("args"), _first(item, _KIND)
        if not (isinstance(args, list) and len(args) >= 2):
            args = [_first(item, _ONE), _first(item, (key for key in _TWO if key not in _KIND))]
        if isinstance(kind, str) and all(isinstance(arg, str) for arg in args):
            return {**item, "type": kind, "args": args}
        return _relation(" ".join(_texts({key: value for key, value in [*item.items()][:1]})).replace(":", ""), names)
    text = _joined(item)
    mentions = occurrences(text.lower(), names)
    if len(mentions) < 2 or mentions[0][2] == mentions[1][2]:
        return None
    (_, end, one), (start, _, two) = mentions[:2]
    return {"type": text[end:start].strip(" ,"), "args": [one, two]}


def _force(item: Any, names: tuple[str, ...]) -> dict[str, Any] | None:
    if isinstance(item, dict):
        name, target = _first(item, ("name", "type", "force", "kind", "symbol")), _first(item, _TARGET)
        made = {
            "name": str(name)
            if name is not None
            else f"force of {_first(item, ('by', 'from', 'source')) or 'unknown'}",
            "target": target if isinstance(target, str) else "",
            "direction": str(item.get("direction") or ""),
        }
        size = _first(item, ("magnitude", "value", "size", "F", "strength", "N"))
        return made | ({"magnitude": size, "unit": item.get("unit")} if size is not None else {})
    if not (text := _joined(item)):
        return None
    return _force_told(text, names)


def _force_told(text: str, names: tuple[str, ...]) -> dict[str, Any]:
    """A force in words: what is no number and no direction is its name. Its direction is open where the words name several."""
    sizes = [match for match in QUANTITY.finditer(text) if match[2] and match[2].endswith("N")]
    name = text
    for match in reversed(sizes):
        name = name[: match.start()] + name[match.end() :]
    way = direction(text)
    places = occurrences(text.lower(), names)
    mentioned = {name for start, _, name in places if not _ALONG.search(text[:start])}
    made: dict[str, Any] = {
        "name": name.strip(" ,;:=-") or "force",
        "target": mentioned.pop() if len(mentioned) == 1 else "",
        "direction": text if way is not None and 0.0 in way else "",
    }
    return made | ({"magnitude": sizes[0][0]} if len(sizes) == 1 else {})


def _labeled(stated: Any) -> dict[str, Any]:
    """Variables by label, out of an object, of `label = value` or of rows."""
    made: dict[str, Any] = {}
    for label, value in stated.items() if isinstance(stated, dict) else map(_variable, _items(stated)):
        if label is None:
            continue
        if isinstance(value, dict) and "value" not in value:
            made |= {f"{label}_{inner}": item for inner, item in _labeled(value).items()}
        elif isinstance(value, list):
            made[label] = " ".join(_texts(value))
        elif label not in made:
            made[label] = value
    return made


def _variable(item: Any) -> tuple[str | None, Any]:
    """(label, value) of an item of a list of variables; label None where there is none."""
    if isinstance(item, dict):
        label = _first(item, _LABEL)
        value = {"value": _first(item, _VALUE), "unit": item.get("unit") if isinstance(item.get("unit"), str) else None}
        if label is None and len(item) == 1:
            return next(iter(item.items()))
        return (str(label), value) if label is not None else (None, None)
    text = _joined(item)
    if match := _LABELED.match(text):
        return match[1].strip(), match[2].strip()
    number = QUANTITY.search(text)
    if number and number.start():
        return text[: number.start()].strip(" ,"), text[number.start() :]
    return None, None
