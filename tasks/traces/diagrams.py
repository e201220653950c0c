"""Pictures of scenes: one a trace, or a pair before/after where the family has two moments.

A family's `draw` calls the verbs of `Panel`; every label comes from the record, as the trace states it, and `Panel` keeps
which quantities it has shown, so that the gate `keys` can hold the picture against the variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from storage import digest
from tasks.pictures.png import encode, image_id
from tasks.traces.family import BYSTANDER
from tasks.traces.panel import HEIGHT, INK, SOFT, WIDTH, Panel, Text
from tasks.traces.record import Record, Value


@dataclass(frozen=True)
class Picture:
    """`shown` are the quantities labelled in it, `missing` the givens that are not."""

    moment: str  # scene, before, after
    image_id: str
    png: bytes
    shown: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def row(self) -> dict[str, Any]:
        return {
            "image_id": self.image_id,
            "width": WIDTH,
            "height": HEIGHT,
            "png": self.png,
            "png_sha256": digest(self.png),
        }


def _text(record: Record, key: str) -> Text:
    """What a picture writes of a quantity: its value only if it is given."""
    family, quantity = record.family, record.family.quantities[key]
    asked = key in family.derived and key not in family.initial
    return Text(quantity.symbol, "" if asked else str(record.value(key)), quantity.name, quantity.owner)


def _bystander(panel: Panel, record: Record) -> None:
    """The object that takes no part, and where it stands."""
    if BYSTANDER not in record.names:
        return
    name = record.names[BYSTANDER]
    thing = next(thing for thing in record.objects if thing.name == name)
    kind, _, other = next(relation for relation in record.relations if relation.first == name)
    where = {"left_of": "left of", "right_of": "right of", "touching": "touching", "apart": "apart from"}[kind]
    mass = next(value for _, value in thing.attributes if isinstance(value, Value))
    panel.axes.add_patch(Rectangle((7.05, 6.1), 2.75, 0.8, facecolor="white", edgecolor=SOFT, lw=1, zorder=7))
    panel.label(8.42, 6.68, f"{name}, {mass}", size=8)
    panel.label(8.42, 6.33, f"{where} the {other}", size=8)


def _picture(record: Record, moment: str) -> Picture:
    family = record.family
    panel = Panel(moment, family.solve(record.state), record.names, partial(_text, record))
    family.draw(panel)
    _bystander(panel, record)
    if moment != "scene":
        panel.axes.text(9.75, -0.85, moment, fontsize=11, color=INK, ha="right", va="center", fontweight="bold")
    canvas = panel.figure.canvas
    canvas.draw()
    pixels = np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[:, :, :3])  # type: ignore[attr-defined]
    shown = tuple(dict.fromkeys(panel.shown))
    missing = tuple(key for key in record.family.givens if key not in shown)
    return Picture(moment, image_id(pixels), encode(pixels), shown, missing)


def draw(record: Record) -> list[Picture]:
    """The pictures of a trace: `scene`, or `before` and `after` where the family tells of two moments."""
    moments = ("before", "after") if record.family.change else ("scene",)
    return [_picture(record, moment) for moment in moments]


__all__ = ["Picture", "draw"]
