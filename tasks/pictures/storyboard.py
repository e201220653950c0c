"""Frames put together: captioned frames, storyboards, reference-and-query sheets, multiple-choice panels.

All text is drawn in Pillow's bitmap font at double size, which is the same on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tasks.pictures.pixels import Pixels

COLUMNS = 4
GAP = 8  # pixels between frames, and around them
CAPTION = 24  # height of a caption above its frame
TITLE = 32  # height of a title above a storyboard
PAPER, INK = 255, 0

Captioned = tuple[str, Pixels]


@functools.lru_cache(maxsize=512)
def lettering(text: str) -> np.ndarray:
    """`text` as a (22, 12 * len(text)) boolean picture; True where there is ink."""
    font = ImageFont.load_default_imagefont()
    picture = Image.new("1", (6 * len(text), 11))
    ImageDraw.Draw(picture).text((0, 0), text, fill=1, font=font)
    return np.asarray(picture).repeat(2, axis=0).repeat(2, axis=1)


def write(page: Pixels, left: int, top: int, text: str) -> None:
    """Draw `text` onto `page`, its top left corner at (left, top); what does not fit is cut."""
    letters = lettering(text)
    area = page[top : top + letters.shape[0], left : left + letters.shape[1]]
    area[letters[: area.shape[0], : area.shape[1]]] = INK


def blank(width: int, height: int) -> Pixels:
    return np.full((height, width, 3), PAPER, dtype=np.uint8)


def captioned(caption: str, frame: Pixels) -> Pixels:
    """A frame on its own, under its caption."""
    height, width = frame.shape[:2]
    page = blank(width, height + CAPTION)
    write(page, 0, 1, caption)
    page[CAPTION:] = frame
    return page


def storyboard(frames: Sequence[Captioned], columns: int = COLUMNS) -> Pixels:
    """Captioned frames of one size in rows, read left to right, top to bottom."""
    height, width = frames[0][1].shape[:2]
    rows = -(-len(frames) // columns)
    page = blank(GAP + columns * (width + GAP), GAP + rows * (CAPTION + height + GAP))
    for place, (caption, frame) in enumerate(frames):
        row, column = divmod(place, columns)
        top, left = GAP + row * (CAPTION + height + GAP), GAP + column * (width + GAP)
        write(page, left, top + 1, caption)
        page[top + CAPTION : top + CAPTION + height, left : left + width] = frame
    return page


def sheet(parts: Sequence[tuple[str, Pixels]]) -> Pixels:
    """Titled pages of one width under each other, a line between them."""
    width = max(page.shape[1] for _, page in parts)
    whole = blank(width, sum(TITLE + page.shape[0] for _, page in parts))
    top = 0
    for title, page in parts:
        whole[top : top + 2] = INK
        write(whole, GAP, top + 8, title)
        whole[top + TITLE : top + TITLE + page.shape[0], : page.shape[1]] = page
        top += TITLE + page.shape[0]
    return whole


def panel(current: Captioned, candidates: Sequence[Captioned]) -> Pixels:
    """The current frame on the left, candidates in two columns on the right."""
    left = storyboard([current], columns=1)
    right = storyboard(candidates, columns=2)
    page = blank(left.shape[1] + 2 * GAP + right.shape[1], max(left.shape[0], right.shape[0]))
    page[: left.shape[0], : left.shape[1]] = left
    page[:, left.shape[1] + GAP - 1 : left.shape[1] + GAP + 1] = INK
    page[: right.shape[0], -right.shape[1] :] = right
    return page
