"""The drawing area of one picture, and the verbs by which a family draws on it. Coordinates are 10 by 7.

It knows no family and no record: what it writes comes from the texts that it is given, and it keeps which quantities it
has shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Polygon, Rectangle

WIDTH, HEIGHT, DPI = 640, 448, 100
INK, SOFT, FILL = "#1b1f24", "#8a919b", "#dfe7f1"
Point = tuple[float, float]


class Text(NamedTuple):
    """What a picture writes of a quantity; `value` is empty where it is to be found, `owner` is the role that has it."""

    symbol: str
    value: str
    name: str
    owner: str


class Panel:
    """A drawing area and what a family may draw on it. `state` is solved, `names` are those of the objects by role, `text`
    says what is written of a quantity; `moment` is scene, before or after."""

    accent = "#b5371f"  # the color of motion

    def __init__(self, moment: str, state: Mapping[str, Any], names: Mapping[str, str], text: Callable[[str], Text]):
        self.moment, self.state, self.names, self.text = moment, state, names, text
        self.shown: list[str] = []
        self.notes = 0
        self.figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_xlim(0, 10)
        self.axes.set_ylim(-1.1, 7)
        self.axes.set_aspect("auto")
        self.axes.axis("off")

    # --- words and numbers -----------------------------------------------------------------------------------------------

    def value(self, key: str) -> str:
        """`symbol = value`, as the trace states it; the symbol alone of what is to be found."""
        self.shown.append(key)
        symbol, value, *_ = self.text(key)
        return f"{symbol} = {value}" if value else symbol

    def label(self, x: float, y: float, text: str, size: int = 10, color: str = INK, ha: str = "center") -> None:
        self.axes.text(
            x, y, text, ha=ha, va="center", fontsize=size, color=color, zorder=9, fontfamily="DejaVu Sans",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8},
        )  # fmt: skip

    def show(self, *keys: str) -> None:
        """The legend of given quantities along the lower edge."""
        parts = []
        for key in keys:
            _, _, name, owner = self.text(key)
            twins = [other for other in keys if self.text(other).name == name]
            parts.append(self.value(key) + (f" ({self.names[owner]})" if owner and len(twins) > 1 else ""))
        lines, line = [], ""
        for part in parts:
            if line and len(line) + len(part) > 66:
                lines.append(line)
                line = ""
            line = f"{line}    {part}" if line else part
        for i, text in enumerate((*lines, line)):
            self.axes.text(0.25, -0.12 - 0.42 * i, text, fontsize=9.5, color=INK, va="center", fontfamily="DejaVu Sans")

    def note(self, text: str) -> None:
        """A condition of the scene, along the upper edge."""
        self.axes.text(
            0.25, 6.7 - 0.4 * self.notes, text, fontsize=10, color=INK, va="center", fontfamily="DejaVu Sans"
        )
        self.notes += 1

    # --- shapes -----------------------------------------------------------------------------------------------------------

    def line(self, points: Sequence[Point], dashed: bool = False, thick: bool = False) -> None:
        xs, ys = zip(*points, strict=True)
        self.axes.plot(
            xs, ys, color=SOFT if dashed else INK, lw=3 if thick else 1.4, ls="--" if dashed else "-", zorder=2
        )

    def curve(self, points: Sequence[Point], width: float = 1.4, layer: int = 3) -> None:
        xs, ys = zip(*points, strict=True)
        self.axes.plot(xs, ys, color=INK, lw=width, zorder=layer)

    def polygon(self, points: Sequence[Point], fill: str = FILL, width: float = 1.4, layer: int = 3) -> None:
        self.axes.add_patch(Polygon(list(points), facecolor=fill, edgecolor=INK, lw=width, zorder=layer))

    def mark(self, x: float, y: float, shape: str, size: float) -> None:
        """A small sign of matplotlib's, in the background."""
        self.axes.plot([x], [y], shape, ms=size, color=SOFT, zorder=1)

    def arrow(self, x: float, y: float, dx: float, dy: float, text: str) -> None:
        if not math.hypot(dx, dy):
            return
        self.axes.add_patch(
            FancyArrowPatch(
                (x, y), (x + dx, y + dy), arrowstyle="-|>", mutation_scale=16, lw=2, color=self.accent, zorder=6
            )
        )
        if text:
            if abs(dx) > abs(dy):
                self.label(x + dx / 2, y + 0.32, text, color=self.accent)
            else:
                self.label(x + 0.2, y + dy * 0.9, text, color=self.accent, ha="left")

    def box(self, role: str, x: float, y: float, width: float, height: float) -> None:
        self.axes.add_patch(Rectangle((x, y), width, height, facecolor=FILL, edgecolor=INK, lw=1.4, zorder=4))
        self.label(x + width / 2, y + height / 2, self.names[role])

    def ball(self, role: str, x: float, y: float, small: bool = False, large: bool = False) -> None:
        size = 6 if small else 34 if large else 20
        self.axes.plot([x], [y], "o", ms=size, mfc=FILL, mec=INK, mew=1.4, zorder=5)
        off = 0.3 if small else 0.45
        self.label(
            x if large else x - off, y if large else y - off, self.names[role], ha="center" if large else "right"
        )

    def dot(self, x: float, y: float, text: str) -> None:
        self.axes.plot([x], [y], "o", ms=5, color=INK, zorder=5)
        self.label(x, y - 0.35, text)

    def tall(self, width: float) -> float:
        """The height, in the units of the panel, that looks as long as a width."""
        return width * (WIDTH / 10) / (HEIGHT / 8.1)  # the panel is 10 wide and 8.1 high

    def circle(self, x: float, y: float, radius: float, filled: bool = False) -> None:
        tall = self.tall(radius)
        angle = np.linspace(0, 2 * math.pi, 121)
        xs, ys = x + radius * np.cos(angle), y + tall * np.sin(angle)
        if filled:
            self.axes.add_patch(Polygon(np.column_stack([xs, ys]), facecolor=FILL, edgecolor=INK, lw=1.4, zorder=3))
        else:
            self.axes.plot(xs, ys, color=INK, lw=1.4, zorder=2)

    def span(self, x0: float, x1: float, y: float, text: str) -> None:
        """A horizontal measure."""
        self.axes.annotate("", (x1, y), (x0, y), arrowprops={"arrowstyle": "<->", "color": SOFT, "lw": 1.2}, zorder=3)
        self.label((x0 + x1) / 2, y + 0.3, text, size=9)

    def measure(self, x: float, y0: float, y1: float, text: str) -> None:
        """A vertical measure."""
        self.axes.annotate("", (x, y1), (x, y0), arrowprops={"arrowstyle": "<->", "color": SOFT, "lw": 1.2}, zorder=3)
        self.label(x + 0.15, (y0 + y1) / 2, text, size=9, ha="left")

    def _hatch(self, x: float, y: float, width: float, height: float) -> None:
        self.axes.add_patch(
            Rectangle((x, y), width, height, facecolor="white", edgecolor=SOFT, hatch="////", lw=0, zorder=1)
        )

    # --- settings -----------------------------------------------------------------------------------------------------------

    def ground(self, role: str = "ground") -> None:
        self.line([(0.3, 1), (9.7, 1)], thick=True)
        self._hatch(0.3, 0.7, 9.4, 0.3)
        name = self.names.get(role, "track" if role == "track" else "")
        if name:
            self.label(9.1, 0.55, name, size=9)

    def wall(self, x: float, role: str) -> None:
        self._hatch(x - 0.3 if x < 5 else x, 1, 0.3, 3)
        self.line([(x, 1), (x, 4)], thick=True)
        self.label(x + (0.35 if x < 5 else -0.35), 4.3, self.names[role], size=9)

    def ceiling(self, role: str) -> None:
        self._hatch(3.5, 6, 3, 0.3)
        self.line([(3.5, 6), (6.5, 6)], thick=True)
        self.label(3.3, 6.1, self.names[role], size=9, ha="right")

    def fulcrum(self, x: float, y: float, height: float, role: str) -> None:
        self.axes.add_patch(
            Polygon([(x - 0.8, y), (x + 0.8, y), (x, y + height)], facecolor=FILL, edgecolor=INK, lw=1.4, zorder=3)
        )
        self.label(x, y - 0.3, self.names[role], size=9)

    def liquid(self, left: float, right: float, bottom: float, top: float, role: str) -> None:
        self.axes.add_patch(
            Rectangle((left, bottom), right - left, top - bottom, facecolor="#cfe3f5", edgecolor="none", zorder=0)
        )
        self.line([(left, top + 0.6), (left, bottom), (right, bottom), (right, top + 0.6)], thick=True)
        self.line([(left, top), (right, top)])
        self.label(right - 0.9, bottom + 0.35, self.names[role])
