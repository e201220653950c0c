"""The contact sheet: the frames it shows are the last ones of their variants."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
from PIL import Image

from tasks.reports.contact_sheet import GAP, LINE, SIDE, Ending, Panel, contact_sheet, panels
from tests.conftest import Generated


def colored(color: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (224, 224), color).save(out, "PNG")
    return out.getvalue()


def test_full_and_cf_stand_side_by_side() -> None:
    red, blue = (200, 10, 10), (10, 10, 200)
    panel = Panel(
        "doorkey", "doorkey_s000001", [Ending("full", "success", colored(red)), Ending("cf", "fail", colored(blue))]
    )
    with Image.open(io.BytesIO(contact_sheet([panel, panel, panel], columns=2))) as sheet:
        pixels = np.asarray(sheet)
    middle = 2 * LINE + 2 + SIDE // 2
    assert tuple(pixels[middle, SIDE // 2]) == red
    assert tuple(pixels[middle, SIDE + GAP + SIDE // 2]) == blue
    assert (pixels[: 2 * LINE, : 2 * SIDE] < 128).any()  # the group's name


def test_panels_show_the_last_frames_of_groups_drawn_by_seed(smoke: Generated) -> None:
    rendering = {env: smoke.artifact("rendering", env) for env in smoke.refs["rendering"]}
    variants = {env: smoke.artifact("variants", env) for env in smoke.refs["variants"]}
    group_ids = smoke.artifact("answers").read("answers")["group_id"].unique().to_list()
    shown = panels(rendering, variants, group_ids, count=5, seed=3)
    assert [p.group_id for p in shown] == [p.group_id for p in panels(rendering, variants, group_ids, count=5, seed=3)]
    assert len({p.group_id for p in shown}) == 5
    assert {p.group_id for p in shown} != {p.group_id for p in panels(rendering, variants, group_ids, count=5, seed=4)}
    for panel in shown:
        assert [(e.variant, e.outcome) for e in panel.endings] == [("full", "success"), ("cf", "fail")]
        frames = rendering[panel.env].read("frames").filter(pl.col("group_id") == panel.group_id)
        images = dict(rendering[panel.env].read("images").select("image_id", "png").iter_rows())
        for ending in panel.endings:
            last = frames.filter(pl.col("variant") == ending.variant).sort("step")["image_id"][-1]
            assert ending.png == images[last]
