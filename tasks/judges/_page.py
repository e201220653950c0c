"""A picture -> the frames on it, each with the caption above it.

Nothing is known beforehand but that paper is white, ink is black, the size of a frame (224 pixels a side where none is
given), and that captions are set in Pillow's bitmap font at double size right above their frame. A black line across the
whole page begins a new part.
"""

from __future__ import annotations

import functools
import io
import re
import struct
from dataclasses import dataclass

import numpy as np
from isal import isal_zlib
from PIL import Image, ImageDraw, ImageFont

FRAME = 224  # pixels a side
CAPTION_HEIGHT = 24
GLYPH_HEIGHT, GLYPH_WIDTH = 22, 12
PAPER = 255
STRAY_PIXELS = 8  # most pixels in which a letter may differ from its picture
_RGB8 = struct.pack(">BBBBB", 8, 2, 0, 0, 0)  # end of IHDR: 8 bit, RGB, not interlaced


@dataclass(frozen=True)
class Frame:
    """`pixels` is (height, width, 3) uint8. `part` counts the page's parts from the top, from 0."""

    caption: str
    part: int
    pixels: np.ndarray

    @property
    def step(self) -> int:
        """The step that the caption names; -1 where it names none."""
        number = re.search(r"\d+", self.caption)
        return int(number[0]) if number else -1


def pixels_of(png: bytes) -> np.ndarray:
    """(height, width, 3) uint8. Unfiltered RGB is inflated right here, seven times as fast as Pillow, which reads the rest."""
    data, at, plain = [], 8, png[24:29] == _RGB8
    while plain and at + 8 <= len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        if name == b"IDAT":
            data.append(png[at + 8 : at + 8 + length])
        at += 12 + length
    if data:
        width, height = struct.unpack_from(">II", png, 16)
        rows = np.frombuffer(isal_zlib.decompress(b"".join(data)), dtype=np.uint8).reshape(height, 1 + width * 3)
        if not rows[:, 0].any():
            return rows[:, 1:].reshape(height, width, 3)
    with Image.open(io.BytesIO(png)) as picture:
        return np.asarray(picture.convert("RGB"))


def frames_of(png: bytes, width: int = FRAME, height: int = FRAME) -> list[Frame]:
    """The frames of a picture, row by row from the top left; none where it has no rectangle of that size on white paper."""
    page = pixels_of(png)
    ink = (page[..., 0] & page[..., 1] & page[..., 2]) != PAPER
    lines = np.flatnonzero(ink.all(axis=1)) if page.shape[0] > height else np.empty(0, dtype=int)
    spans = [
        (top, left)
        for left in _runs(_count(ink, axis=0), width, height)
        for top in _runs(_count(ink[:, left : left + width], axis=1), height, width)
        if ink[top : top + height, left : left + width].mean() > 0.9
    ]
    frames = []
    starts = lines[np.diff(lines, prepend=-2) > 1]  # a line is a few pixels thick
    for top, left in sorted(spans):
        above = ink[max(top - CAPTION_HEIGHT, 0) : top, left : left + width]
        part = max(int(np.searchsorted(starts, top)) - 1, 0)
        frames.append(Frame(text_of(above), part, page[top : top + height, left : left + width]))
    return frames


def _count(ink: np.ndarray, axis: int) -> np.ndarray:
    """How many pixels of each line are inked; NumPy adds up bytes faster than truth values."""
    counts: np.ndarray = ink.view(np.uint8).sum(axis=axis, dtype=np.uint16)
    return counts


def _runs(ink_count: np.ndarray, length: int, across: int) -> list[int]:
    """Where runs of exactly `length` lines begin that are inked for the most part of `across` pixels."""
    inked = np.concatenate([[False], ink_count > 0.85 * across, [False]])
    begin, end = np.flatnonzero(inked[1:] & ~inked[:-1]), np.flatnonzero(inked[:-1] & ~inked[1:])
    return [int(start) for start in begin[end - begin == length]]


def text_of(ink: np.ndarray) -> str:
    """The one line of text in a boolean picture whose letters begin at its left edge; "" where it is not such a line."""
    return _text_of(ink.shape, np.packbits(ink).tobytes())


@functools.lru_cache(maxsize=4096)
def _text_of(shape: tuple[int, int], packed: bytes) -> str:
    """The height of the line is the one at which its cells look most like letters. A letter may reach a little into the
    cell before it, so a few pixels may differ."""
    ink = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=shape[0] * shape[1]).reshape(shape).astype(int)
    letters = _letters()
    columns = shape[1] // GLYPH_WIDTH
    best, text = STRAY_PIXELS * columns, ""
    for top in range(shape[0] - GLYPH_HEIGHT + 1):
        line = ink[top : top + GLYPH_HEIGHT, : columns * GLYPH_WIDTH].reshape(GLYPH_HEIGHT, columns, GLYPH_WIDTH)
        cells = line.transpose(1, 0, 2).reshape(columns, -1)
        differing = cells.sum(axis=1)[:, None] + letters.sum(axis=1) - 2 * cells @ letters.T
        fewest = differing.min(axis=1)
        if fewest.max() <= STRAY_PIXELS and fewest.sum() < best:
            best, text = int(fewest.sum()), "".join(chr(32 + letter) for letter in differing.argmin(axis=1))
    return text.strip()


@functools.cache
def _letters() -> np.ndarray:
    """(95, 264): the pixels of each printable ASCII letter in its cell, 1 where there is ink."""
    font = ImageFont.load_default_imagefont()
    letters = []
    for letter in map(chr, range(32, 127)):
        picture = Image.new("1", (GLYPH_WIDTH // 2, GLYPH_HEIGHT // 2))
        ImageDraw.Draw(picture).text((0, 0), letter, fill=1, font=font)
        letters.append(np.asarray(picture).repeat(2, axis=0).repeat(2, axis=1).ravel())
    return np.stack(letters).astype(int)
