"""Pixels in memory."""

from __future__ import annotations

import numpy as np

Pixels = np.ndarray  # (height, width, 3) uint8, RGB


def differing(a: Pixels, b: Pixels, by: int = 1) -> np.ndarray:
    """(height, width) bool: which pixels of two pictures of one size differ in any channel, by so many levels or more."""
    far = a != b if by == 1 else np.abs(a.astype(np.int16) - b) >= by
    differs: np.ndarray = far[..., 0] | far[..., 1] | far[..., 2]
    return differs
