"""Visual presentations of a frame that leave its state readable (paper 1, C.2): clean, noisy, style.

Both transforms are deterministic. The noise depends on the trajectory group and the step alone, so that matched variants
carry the same noise.
"""

from __future__ import annotations

import hashlib

import numpy as np

from tasks.pictures.pixels import Pixels

NOISY_SHARE = 0.02  # of the pixels
NOISE = 32  # most levels a noisy pixel is lighter or darker

# Style: less contrast, lighter and warmer. (gain, offset) of red, green and blue.
_STYLE = ((0.80, 40.0), (0.80, 26.0), (0.74, 18.0))
_STYLE_LEVELS = np.stack(
    [np.clip(np.rint(np.arange(256) * gain + offset), 0, 255).astype(np.uint8) for gain, offset in _STYLE]
)


def clean(frame: Pixels, group_id: str, step: int) -> Pixels:
    return frame


def noisy(frame: Pixels, group_id: str, step: int) -> Pixels:
    """Two percent of the pixels, each lighter or darker by up to 32 levels in all channels alike."""
    seed = int.from_bytes(hashlib.sha256(f"noise/{group_id}/{step}".encode()).digest()[:8])
    random = np.random.default_rng(seed)
    pixels = frame.reshape(-1, 3).astype(np.int16)
    chosen = random.integers(0, len(pixels), int(len(pixels) * NOISY_SHARE))
    pixels[chosen] += random.integers(-NOISE, NOISE + 1, len(chosen), dtype=np.int16)[:, None]
    return pixels.clip(0, 255).astype(np.uint8).reshape(frame.shape)


def style(frame: Pixels, group_id: str, step: int) -> Pixels:
    """The same picture with less contrast, lighter and warmer."""
    return np.stack([_STYLE_LEVELS[channel][frame[:, :, channel]] for channel in range(3)], axis=2)


VISUALS = {"clean": clean, "noisy": noisy, "style": style}
