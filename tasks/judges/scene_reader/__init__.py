"""A judge that reads MiniWorld's frames: colored things by their pixels, contact by where they meet the frame's edge.

It shares nothing with what makes the exam but the sizes of frames and the camera. What it does not see, it does not
guess from the world's state: a sign that is hidden, a thing beyond the frame. docs/evidence.md says how well it does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from tasks.judges._page import Frame, frames_of
from tasks.judges._prompt import kind_of
from tasks.judges.scene_reader.things import HEIGHT, WIDTH, Blob, blobs, masks, sign_of
from tasks.judges.scene_reader.views import RISE, next_view, rises

if TYPE_CHECKING:
    from tasks.judges._message import Message

CANNOT = "The frames cannot be read."
BESIDE = 0.35  # widths of a thing at hand between it and one that stands next to it, at most
FULL_SIZE = 44  # pixels: the width of a box that is near enough to stand next to one at hand

Frames = Sequence[np.ndarray]  # in the order of time
Objective = Callable[[Frames], bool]


class SceneReader:
    version = 2

    def answer(self, message: Message) -> str:
        shown = [frame for png in message.images for frame in frames_of(png, WIDTH, HEIGHT)]
        return (self._answer(message.text, shown) if shown else None) or CANNOT

    def _answer(self, prompt: str, shown: list[Frame]) -> str | None:
        kind = kind_of(prompt)
        if kind == "letter":
            views = {frame.caption: frame.pixels for frame in shown}
            now = views.pop("NOW", None)
            action = re.search(r"^Action:(.*)$", prompt, re.MULTILINE)
            return next_view(now, action[1] if action else "", views) if now is not None and views else None
        frames = _in_order(shown, shown[-1].part)
        if kind == "success_fail" and (objective := shown_objective(_in_order(shown, 0))):
            return "Success" if objective(frames) else "Fail"
        mission = re.search(r"\bgoal\b[^:\n]*:(.*)", prompt)
        if kind == "yes_no" and mission and (objective := objective_of(mission[1])):
            return "Yes" if objective(frames) else "No"
        return None


JUDGE = SceneReader


def _in_order(shown: list[Frame], part: int) -> Frames:
    return [frame.pixels for frame in sorted(shown, key=lambda frame: frame.step) if frame.part == part]


# --- objectives -----------------------------------------------------------------------------------------------------


def objective_of(mission: str) -> Objective | None:
    """What a mission's words ask for."""
    if re.search(r"written on the wall", mission):
        return follows_sign
    if found := re.search(r"\bput the (\w+) box\b.*\bnext to the (\w+) box", mission):
        return functools.partial(beside, found[1], found[2])
    if found := re.search(r"\bpick up the (\w+) (\w+)", mission):
        return functools.partial(carries, found[1], found[2])
    if found := re.search(r"\bup to the (\w+) (?:box|ball|key)", mission):
        return functools.partial(at_hand, found[1])
    return None


def shown_objective(frames: Frames) -> Objective | None:
    """What a reference shows to have been asked for. Where it could have been one of several things, each will do."""
    last = blobs(frames[-1])
    near = [blob for blob in last if blob.at_hand]
    for rise, blob in rises(frames[-2], frames[-1]) if len(frames) > 1 else []:
        if rise >= RISE:  # just picked up
            return functools.partial(carries, blob.color, blob.kind)
    for blob in last:
        if blob.carried and not near:
            return functools.partial(carries, blob.color, blob.kind)
    if any(sign_of(frame) for frame in frames):
        return follows_sign
    for blob in near:
        others = {other.color for other in last} - {blob.color}
        if found := [color for color in sorted(others) if beside(blob.color, color, frames)]:
            return lambda shown: any(beside(blob.color, color, shown) for color in found)
    return functools.partial(at_hand, near[0].color) if near else None


def at_hand(color: str, frames: Frames) -> bool:
    """The agent ends right before a thing of that color."""
    return any(blob.at_hand for blob in blobs(frames[-1], (color,)))


def carries(color: str, kind: str, frames: Frames) -> bool:
    """The agent ends with such a thing in its hands."""
    return any(blob.carried and blob.kind == kind for blob in blobs(frames[-1], (color,)))


def beside(color: str, other: str, frames: Frames) -> bool:
    """A thing of one color ends at hand, and one of the other color all but touches it in the picture and is as near:
    no smaller than one that stands there, or cut off by the frame's lower edge too."""
    held = next((blob for blob in blobs(frames[-1], (color,)) if blob.at_hand), None)
    if held is None:
        return False
    found = masks(frames[-1])
    gap = max(1, round(BESIDE * (held.right - held.left)))
    near = ndimage.binary_dilation(found[color], np.ones((3, 3)), gap)
    return any(
        (blob.right - blob.left >= FULL_SIZE or blob.at_hand) and near[_box(blob)][found[other][_box(blob)]].any()
        for blob in blobs(frames[-1], (other,))
    )


def _box(blob: Blob) -> tuple[slice, slice]:
    return slice(blob.top, blob.bottom + 1), slice(blob.left, blob.right + 1)


def follows_sign(frames: Frames) -> bool:
    """The agent ends right before a thing of the color that the best view of the sign names; where no sign can be read,
    before a thing of any color."""
    signs = [sign for frame in frames if (sign := sign_of(frame))]
    colors = (max(signs)[1],) if signs else ("red", "green", "blue")
    return any(at_hand(color, frames) for color in colors)
