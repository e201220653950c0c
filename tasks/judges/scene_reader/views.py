"""Which view comes next: the first view carried along by what the action does to the camera, compared with each candidate.

A turn moves every pixel by a known rotation, whatever is there. A step moves the floor by a known amount; what stands on
it moves otherwise, which is left out of account.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy import ndimage

from tasks.judges.scene_reader.things import HEIGHT, WIDTH, Blob, blobs

FOCAL = HEIGHT / 2 / math.tan(math.radians(30))  # pixels
PITCH = math.radians(-20)
CAMERA = 1.5  # meters above the floor
TURN, STEP = math.radians(15), 0.15
RISE = 16  # pixels: the least by which a thing rises when it is picked up, and sinks when it is put down


def expected(now: np.ndarray, turn: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """The view after a turn to the left and a step forward, as far as `now` shows it: (pixels, where they are known)."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    x, y, z = (columns - (WIDTH - 1) / 2) / FOCAL, ((HEIGHT - 1) / 2 - rows) / FOCAL, np.ones_like(rows)
    y, z = y * math.cos(PITCH) + z * math.sin(PITCH), z * math.cos(PITCH) - y * math.sin(PITCH)
    x, z = x * math.cos(turn) - z * math.sin(turn), x * math.sin(turn) + z * math.cos(turn)
    if step:
        away = np.where(y < -0.05, CAMERA / np.maximum(-y, 0.05), np.inf)  # to the floor, in lengths of the ray
        z = z + np.where(np.isfinite(away), step / away, 0)
    y, z = y * math.cos(PITCH) - z * math.sin(PITCH), z * math.cos(PITCH) + y * math.sin(PITCH)
    safe = np.maximum(z, 1e-3)
    at = np.stack([(HEIGHT - 1) / 2 - y / safe * FOCAL, x / safe * FOCAL + (WIDTH - 1) / 2])
    known = (z > 1e-3) & (at[0] >= 0) & (at[0] <= HEIGHT - 1) & (at[1] >= 0) & (at[1] <= WIDTH - 1)
    picture = np.stack([ndimage.map_coordinates(now[..., c].astype(float), at, order=1) for c in range(3)], axis=2)
    return picture, known


def next_view(now: np.ndarray, action: str, candidates: Mapping[str, np.ndarray]) -> str:
    """The letter of the candidate that fits best. An unknown action: whatever fits any of them best."""
    motions = {"turn left": (TURN, 0.0), "turn right": (-TURN, 0.0), "forward": (0.0, STEP), "backward": (0.0, -STEP)}
    tried = [motion for name, motion in motions.items() if name in action]
    way = 1 if "pick up" in action else -1 if "put" in action else 0  # of a thing before the camera, up or down
    if not tried:
        tried = [(0.0, 0.0)] if way else list(motions.values())
    pictures = [expected(now, *motion) for motion in tried]
    moved = {
        letter: view
        for letter, view in candidates.items()
        if way and any(way * rise >= RISE for rise, _ in rises(now, view))
    }
    misfit = {
        letter: min(float(np.abs(picture - view)[known].mean()) for picture, known in pictures)
        for letter, view in (moved or candidates).items()
    }
    return min(misfit, key=lambda letter: (misfit[letter], letter))


def rises(now: np.ndarray, view: np.ndarray) -> list[tuple[int, Blob]]:
    """The colored things that `view` shows in the middle, and by how many pixels each stands higher than in `now`."""
    return [
        (before.top - after.top, after)
        for after in blobs(view)
        for before in blobs(now, (after.color,))
        if after.centered
    ]
