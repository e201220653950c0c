"""A sheet of groups that a person can check at a glance: how Full ended beside how CF ended."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from PIL import Image, ImageDraw, ImageFont

from storage import Artifact

SIDE = 104  # pixels of a frame on the sheet
GAP, MARGIN = 6, 18
LINE = 17  # height of a line of text
COLUMNS = 5
PAPER, INK, SOFT = "white", "#1a1a1a", "#5a5a5a"


@dataclass(frozen=True)
class Ending:
    """The last frame of a variant (PNG) and what the simulator said of it."""

    variant: str
    outcome: str
    png: bytes


@dataclass(frozen=True)
class Panel:
    env: str
    group_id: str
    endings: Sequence[Ending]


def contact_sheet(panels: Iterable[Panel], columns: int = COLUMNS) -> bytes:
    """PNG of `panels` in rows: the environment and group over the last frames side by side, outcome under each."""
    panels = list(panels)
    width = 2 * SIDE + GAP
    height = 2 * LINE + SIDE + LINE + 4
    rows = max(1, -(-len(panels) // columns))
    used = max(1, min(columns, len(panels)))
    page = Image.new("RGB", (used * (width + MARGIN) - MARGIN, rows * (height + MARGIN) - MARGIN), PAPER)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(13)
    for place, panel in enumerate(panels):
        left, top = place % columns * (width + MARGIN), place // columns * (height + MARGIN)
        draw.text((left, top), panel.env, fill=INK, font=font)
        draw.text((left, top + LINE), panel.group_id, fill=SOFT, font=font)
        for index, ending in enumerate(panel.endings[:2]):
            x, y = left + index * (SIDE + GAP), top + 2 * LINE + 2
            with Image.open(io.BytesIO(ending.png)) as frame:
                size = (SIDE, min(SIDE, round(SIDE * frame.height / frame.width)))
                page.paste(frame.convert("RGB").resize(size, Image.Resampling.BOX), (x, y + SIDE - size[1]))
            draw.text((x, y + SIDE + 1), f"{ending.variant}: {ending.outcome}", fill=INK, font=font)
    out = io.BytesIO()
    page.save(out, "PNG", optimize=True)
    return out.getvalue()


def panels(
    rendering: Mapping[str, Artifact],
    variants: Mapping[str, Artifact],
    group_ids: Iterable[str],
    count: int = 20,
    seed: int = 0,
    shown: Sequence[str] = ("full", "cf"),
) -> list[Panel]:
    """`count` of the groups `group_ids`, drawn with `seed`, with their last frames. Artifacts are by environment."""
    wanted = sorted(set(group_ids))
    drawn = set(random.Random(seed).sample(wanted, min(count, len(wanted))))
    made = []
    for env, artifact in rendering.items():
        if env not in variants:
            continue
        trajectories = variants[env].read("trajectories").select("group_id", "variant", "success")
        last = (
            artifact.read("frames")
            .filter(pl.col("group_id").is_in(drawn) & pl.col("variant").is_in(shown))
            .filter(pl.col("step") == pl.col("step").max().over("group_id", "variant"))
            .join(trajectories, on=["group_id", "variant"])
        )
        pictures = dict(
            artifact.read("images").join(last, on="image_id", how="semi").select("image_id", "png").iter_rows()
        )
        for (group_id,), rows in last.sort("group_id").group_by("group_id", maintain_order=True):
            ended = {
                variant: Ending(variant, "success" if success else "fail", pictures[image_id])
                for variant, success, image_id in rows.select("variant", "success", "image_id").iter_rows()
            }
            made.append(Panel(env, str(group_id), [ended[name] for name in shown if name in ended]))
    return made
