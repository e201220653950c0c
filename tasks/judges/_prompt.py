"""Which kind of answer a prompt asks for, read from its words alone, as a model has to.

The answer contract is the last thing that a prompt says, so of several contracts the last one named counts.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["letter", "yes_no", "success_fail", "scene", "identity", "status"]

_CONTRACTS: dict[Kind, str] = {
    "letter": r"\bone letter\b|\bA, ?B, ?C,? (?:or|and) D\b|\bA/B/C/D\b",
    "yes_no": r"\byes\b[\"'`*]*(?: or | ?/ ?|, ?)[\"'`*]*no\b",
    "success_fail": r"\bsuccess\b[\"'`*]*(?: or | ?/ ?|, ?)[\"'`*]*fail(?:ure)?\b",
    "identity": r"\{\s*\"answer\"\s*:",
    "scene": r"\bfront_?cell\b|\"objects\"",
}


def kind_of(prompt: str) -> Kind | None:
    """The kind of answer that `prompt` asks for; None for a prompt of no kind that the exams have."""
    found: dict[Kind, int] = {}
    for kind, pattern in _CONTRACTS.items():
        matches = list(re.finditer(pattern, prompt, re.IGNORECASE))
        if matches:
            found[kind] = matches[-1].start()
    if not found:
        return None
    if "scene" in found:
        return "scene"
    last = max(found, key=lambda kind: found[kind])
    if last == "identity" and re.search(r"\bstatus\b|\breacquired|\bdropped\b", prompt, re.IGNORECASE):
        return "status"
    return last


_COLORS = ("red", "green", "blue", "purple", "yellow", "grey")


def labels(prompt: str, kind: Kind) -> list[str]:
    """The labels that a tracking prompt allows: those that it spells out, or every kind it names with every color."""
    if kind == "status":
        known = ["holding", "dropped", "reacquired_and_holding"]
        return [label for label in known if label in prompt] or known
    found = list(dict.fromkeys(re.findall(r"\b(?:key|ball|box)_[a-z]+\b", prompt)))
    if len(found) > 1:
        return found
    kinds = [kind for kind in ("key", "ball", "box") if re.search(rf"\b{kind}", prompt)] or ["key", "ball"]
    named = [color for color in _COLORS if re.search(rf"\b{color}\b", prompt)]
    return [f"{kind}_{color}" for kind in kinds for color in named or _COLORS]


EMPTY_SCENE = (
    '{"agent":{"pos":[3,6],"dir":"up","carrying":null},'
    '"front_cell":{"type":"empty","color":null,"state":null},"objects":[]}'
)
