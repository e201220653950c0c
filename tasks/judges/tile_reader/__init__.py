"""A judge that reads the tiles out of the pixels and works the answer out by MiniGrid's rules.

It is the exam's own proof: what it answers wrongly cannot be told from what is shown, or is shown wrongly. So it has
nothing in common with what makes the exam but the pictures of the tiles: it finds the frames on a page, reads the captions,
the tiles and the rules by means of its own. Colors and noise are not told to it either (`tiles.py`).

Where a message shows no grid world, or asks what it does not know, it says that it cannot answer.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from tasks.judges._page import frames_of
from tasks.judges._prompt import kind_of
from tasks.judges.tile_reader import rules
from tasks.judges.tile_reader.tiles import View, read

if TYPE_CHECKING:
    from tasks.judges._message import Message

CANNOT = "The frames cannot be read."
REMEMBERED = 2048  # pictures whose reading is kept: an exam asks several questions about one


class Shown(NamedTuple):
    caption: str
    part: int
    step: int
    view: View


class TileReader:
    def __init__(self) -> None:
        self._read: OrderedDict[bytes, list[Shown]] = OrderedDict()

    def answer(self, message: Message) -> str:
        shown = [entry for png in message.images for entry in self._shown(png)]
        return (self._answer(message.text, shown) if shown else None) or CANNOT

    def _answer(self, prompt: str, shown: list[Shown]) -> str | None:
        kind = kind_of(prompt)
        if kind == "letter":
            labelled = {entry.caption: entry.view for entry in shown}
            now = labelled.get("NOW")
            candidates = {caption: view for caption, view in labelled.items() if caption in tuple("ABCD")}
            return rules.choice(now, candidates, rules.action_of(prompt)) if now and candidates else None
        if kind == "scene":
            return rules.scene(shown[0].view)

        views = _in_order(shown, shown[-1].part)
        if kind == "success_fail" and (objective := rules.shown_objective(_in_order(shown, 0))):
            return "Success" if objective(views) else "Fail"
        if kind == "yes_no" and (objective := rules.objective_of(_mission(prompt))):
            return "Yes" if objective(views) else "No"
        if kind == "identity" and (first := rules.first_carried(views)):
            return json.dumps({"answer": f"{first.kind}_{first.color}"})
        if kind == "status" and (status := rules.status(views)):
            return json.dumps({"answer": status})
        return None

    def _shown(self, png: bytes) -> list[Shown]:
        digest = hashlib.sha256(png).digest()
        known = self._read.get(digest)
        if known is None:
            frames = frames_of(png)
            views = read([frame.pixels for frame in frames])
            known = [
                Shown(frame.caption, frame.part, frame.step, view) for frame, view in zip(frames, views, strict=False)
            ]
            self._read[digest] = known
            if len(self._read) > REMEMBERED:
                self._read.popitem(last=False)
        return known


JUDGE = TileReader


def _mission(prompt: str) -> str:
    line = re.search(r"\bgoal\b[^:\n]*:(.*)", prompt)
    return line[1] if line else ""


def _in_order(shown: list[Shown], part: int) -> list[View]:
    """The views of one part of the page, or of all pictures, by their step."""
    return [entry.view for entry in sorted(shown, key=lambda entry: entry.step) if entry.part == part]
