"""A judge that draws: the chance line of every task.

The draw is a function of the seed and of everything that was shown, so that a rerun draws the same.
"""

from __future__ import annotations

import hashlib
import json
import random

from tasks.judges._message import Message, Text
from tasks.judges._prompt import EMPTY_SCENE, kind_of, labels


class Coin:
    draws = True

    def __init__(self, seed: int = 0):
        self.seed = seed

    def answer(self, message: Message) -> str:
        shown = hashlib.sha256(str(self.seed).encode())
        for part in message.parts:
            shown.update(b"\0" + (part.text.encode() if isinstance(part, Text) else part.sha256.encode()))
        draw = random.Random(shown.digest())
        prompt = message.text
        kind = kind_of(prompt)
        if kind == "letter":
            return draw.choice("ABCD")
        if kind == "scene":
            return EMPTY_SCENE
        if kind in ("identity", "status"):
            return json.dumps({"answer": draw.choice(labels(prompt, kind))})
        return draw.choice(("Success", "Fail") if kind == "success_fail" else ("Yes", "No"))


JUDGE = Coin
