"""Colored things in a first-person frame: where they are, how they stand to the agent, and what a sign says.

What is known beforehand: frames are 256 x 192, the camera is 1.5 m high and looks 20 degrees down with 60 degrees of view, so
that a thing on the floor reaches the lower edge when it is nearer than 1.3 m; MiniWorld's colors, under its light.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

WIDTH, HEIGHT = 256, 192
LEAST = 60  # pixels of a thing that counts
SIGN_LEAST = 900  # pixels of a sign that can be read


@dataclass(frozen=True)
class Blob:
    """A connected patch of one color. `fill` is the share of its bounding box that it covers."""

    color: str
    area: int
    left: int
    top: int
    right: int
    bottom: int
    fill: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def centered(self) -> bool:
        """It is where a carried thing is: within 16 pixels of the middle."""
        return abs(self.middle - WIDTH / 2) < 16

    @property
    def at_hand(self) -> bool:
        """It reaches the lower edge of the frame: the agent stands right before it."""
        return self.bottom >= HEIGHT - 2 and self.area >= 250

    @property
    def carried(self) -> bool:
        """It floats in the middle, before the camera, off the lower edge."""
        return self.bottom < HEIGHT - 2 and self.top < 105 and self.centered and self.right - self.left > 45

    @property
    def kind(self) -> str:
        """By how much of its bounding box it fills; a carried box shows one face and its top."""
        return "box" if self.fill > 0.88 else "ball" if self.fill > 0.62 else "key"


def masks(frame: np.ndarray) -> dict[str, np.ndarray]:
    """(192, 256) boolean, by color: where its hue is and it is saturated."""
    r, g, b = (frame[..., channel].astype(np.int16) for channel in range(3))
    low = np.int16(40)
    return {
        "red": (r > 70) & (g * 3 < r) & (b * 3 < r),
        "green": (g > 70) & (r * 3 < g) & (b * 3 < g),
        "blue": (b > 70) & (r * 3 < b) & (g * 3 < b),
        "yellow": (r > 70) & (b * 3 < r) & (np.abs(r - g) < low),
        "purple": (b > 60) & (r * 3 > b) & (r < b) & (g * 2 < r),
    }


def blobs(frame: np.ndarray, colors: tuple[str, ...] | None = None) -> list[Blob]:
    """The patches of each color, largest first."""
    found = []
    for color, mask in masks(frame).items():
        if colors is not None and color not in colors:
            continue
        labels, _ = ndimage.label(mask, structure=np.ones((3, 3)))
        for number, box in enumerate(ndimage.find_objects(labels), 1):
            patch = labels[box] == number
            area = int(patch.sum())
            if area >= LEAST:
                rows, columns = box
                found.append(
                    Blob(color, area, columns.start, rows.start, columns.stop - 1, rows.stop - 1, area / patch.size)
                )
    return sorted(found, key=lambda blob: -blob.area)


def sign_of(frame: np.ndarray) -> tuple[int, str] | None:
    """(size in pixels, color) of a sign that names a color: a light panel with three (red), four (blue) or five (green)
    dark letters side by side; None where there is none. A sign that the frame cuts off is read where all five letters
    of the longest word show."""
    low, high = frame.min(axis=2).astype(int), frame.max(axis=2).astype(int)
    light = (low > 140) & (high - low < 12)
    light[96:] = False  # signs hang on walls; below is the floor
    labels, _ = ndimage.label(light)
    sizes = ndimage.sum_labels(light, labels, np.arange(1, labels.max() + 1))
    if not len(sizes) or sizes.max() < SIGN_LEAST:
        return None
    rows, columns = ndimage.find_objects(labels)[int(sizes.argmax())]
    whole = columns.start > 1 and columns.stop < WIDTH - 1
    panel = low[rows, columns]
    letters = (panel < 90)[2:-2, 4:-4].any(axis=0)  # within the sign's own dark edges
    count = int((np.diff(letters.astype(int), prepend=0) == 1).sum())
    color = {3: "red", 4: "blue", 5: "green"}.get(count) if whole or count == 5 else None
    return (int(sizes.max()), color) if color else None
