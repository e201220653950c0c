"""Pixels in memory."""

from __future__ import annotations

import numpy as np

Pixels = np.ndarray  # (height, width, 3) uint8, RGB


def differing(a: Pixels, b: Pixels) -> np.ndarray:
    """(height, width) bool: which pixels of two pictures of one size differ in any channel."""
    unequal = a != b
    differs: np.ndarray = unequal[..., 0] | unequal[..., 1] | unequal[..., 2]
    return differs
