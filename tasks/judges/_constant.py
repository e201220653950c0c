"""A judge that never looks: whatever is shown, the same verdict.

Where no verdict is asked for it gives the first well-formed answer there is: letter A, an empty scene, the first label.
"""

from __future__ import annotations

import json

from tasks.judges._message import Message
from tasks.judges._prompt import EMPTY_SCENE, kind_of, labels


def answer_always(message: Message, yes_no: str, success_fail: str) -> str:
    """`yes_no` or `success_fail`, whichever the prompt asks for; `yes_no` where it asks for nothing that is known."""
    prompt = message.text
    kind = kind_of(prompt)
    if kind in (None, "yes_no"):
        return yes_no
    if kind == "success_fail":
        return success_fail
    if kind == "letter":
        return "A"
    if kind == "scene":
        return EMPTY_SCENE
    return json.dumps({"answer": labels(prompt, kind)[0]})
