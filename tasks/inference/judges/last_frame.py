"""A judge that looks at the end of the last picture only: is the agent where the goal's green is?

It knows nothing of what came before, so it cannot tell a mission that was fulfilled early, and it is fooled by a goal
that merely is in view. That is what it is for: how far does the last frame alone carry?

Rule: in the last picture, the lower right quarter (where the last panel of a storyboard, or the agent's own side of a
single view, lies) is searched for the goal's green (0, 255, 0). At least half a percent of its pixels: success.
"""

from __future__ import annotations

import io
import json

import numpy as np
from PIL import Image

from tasks.inference.judges.question import EMPTY_SCENE, kind_of, labels
from tasks.inference.message import Message

LEAST_SHARE = 0.005


def goal_green(pixels: np.ndarray) -> float:
    """The share of `pixels` (height, width, 3; 8 bit) that is saturated green, noise and mild styling allowed for."""
    red, green, blue = (pixels[..., channel].astype(np.int16) for channel in range(3))
    return float(((green > 140) & (green - red > 90) & (green - blue > 90)).mean())


class LastFrame:
    def answer(self, message: Message) -> str:
        prompt = message.text
        kind = kind_of(prompt)
        if kind == "letter":
            return "A"
        if kind == "scene":
            return EMPTY_SCENE
        if kind in ("identity", "status"):
            return json.dumps({"answer": labels(prompt, kind)[0]})
        reached = bool(message.images) and self.reached(message.images[-1])
        words = ("Success", "Fail") if kind == "success_fail" else ("Yes", "No")
        return words[0] if reached else words[1]

    def reached(self, png: bytes) -> bool:
        pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
        height, width, _ = pixels.shape
        return goal_green(pixels[height // 2 :, width // 2 :]) >= LEAST_SHARE
