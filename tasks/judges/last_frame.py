"""A judge that looks at the last frame of the last picture only: does the agent stand on the goal's green there?

It knows nothing of what came before, and takes the last frame on the page for the last in time. So it is right about
missions that end on a goal and are shown in order, and wrong about all others. That is what it is for: how far does the
last frame alone carry?

Rule: going up from the lower edge of the last picture, the first row with a red run as wide as the foot of the agent's
triangle (12 to 26 pixels) has the agent at its rightmost such run. Success, if green (the goal's) fills at least a sixth of
the 28 by 32 pixels that the triangle stands in. No triangle in the lowest 48 rows: failure.
"""

from __future__ import annotations

import io
import json

import numpy as np
from PIL import Image

from tasks.judges._message import Message
from tasks.judges._prompt import EMPTY_SCENE, kind_of, labels

FOOT = range(12, 27)  # pixels
SEARCHED = 48  # rows from the lower edge
LEAST_GREEN = 1 / 6


def _strong(pixels: np.ndarray, channel: int) -> np.ndarray:
    """Where one channel stands out from both others, whatever the noise and the style do to the rest."""
    signed = pixels.astype(np.int16)
    others = [signed[..., other] for other in range(3) if other != channel]
    return (signed[..., channel] > 140) & (signed[..., channel] - np.maximum(*others) > 60)


def _agent(red: np.ndarray) -> tuple[int, int] | None:
    """(row, column) of the middle of the triangle's foot."""
    height = len(red)
    for row in range(height - 1, max(height - SEARCHED, 0) - 1, -1):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], red[row].astype(np.int8), [0]))))
        for start, end in zip(edges[-2::-2], edges[-1::-2], strict=True):
            if end - start in FOOT:
                return row, int(start + end) // 2
    return None


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
        """Whether the last frame of the picture has the agent on the goal."""
        picture = Image.open(io.BytesIO(png)).convert("RGB")
        lowest = max(picture.height - SEARCHED - 32, 0)
        pixels = np.asarray(picture.crop((0, lowest, picture.width, picture.height)))
        if (found := _agent(_strong(pixels, 0))) is None:
            return False
        row, column = found
        around = pixels[max(row - 24, 0) : row + 4, max(column - 16, 0) : column + 16]
        return float(_strong(around, 1).mean()) >= LEAST_GREEN


JUDGE = LastFrame
