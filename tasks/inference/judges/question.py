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


def labels(prompt: str, kind: Kind) -> list[str]:
    """The labels that a tracking prompt lists, in its order; the paper's (Appendix C.1, Task E) where it lists none."""
    if kind == "status":
        known = ["holding", "dropped", "reacquired_and_holding"]
        return [label for label in known if label in prompt] or known
    found = re.findall(r"\b(?:key|ball|box)_[a-z]+\b", prompt)
    return list(dict.fromkeys(found)) or ["key_yellow", "key_green", "key_purple", "ball_yellow", "ball_green"]


EMPTY_SCENE = (
    '{"agent":{"dir":"up","carrying":null},"front_cell":{"type":"empty","color":null,"state":null},"objects":[]}'
)
