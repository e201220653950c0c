"""Variants: three a group, the rejected with their reason, nothing beyond what is needed."""

import polars as pl
import pytest

from storage import Store
from tasks.errors import StageFailed
from tasks.rollouts import ROLLOUTS
from tasks.stage import produce
from tasks.variants import VARIANTS

PLACE = {"world": "minigrid", "env": "lavagap", "env_id": "MiniGrid-LavaGapS7-v0?size=9"}


@pytest.fixture(scope="module")
def rolled(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("variants"))
    return folder, produce(folder, ROLLOUTS, "x", PLACE | {"seed": 7, "groups": 24}, {}).ref


def test_rejected_groups_have_a_reason_and_no_trajectories(rolled):
    folder, rollouts = rolled
    ref = produce(folder, VARIANTS, "x", PLACE | {"groups": 16}, {"rollouts": rollouts}).ref
    artifact = Store(folder).get("variants", ref.key)
    heads, rows = artifact.read("groups"), artifact.read("trajectories")
    refused = heads.filter(pl.col("accepted").eq_missing(False))
    assert refused.filter(pl.col("reject_reason").str.starts_with("variants: the lava is never in sight")).height > 0
    assert set(refused["group_id"]).isdisjoint(rows["group_id"])
    assert heads["accepted"].null_count() == 16 == rows["group_id"].n_unique()
    assert heads["accepted"][-1] is None  # what comes after the last that is needed is not a rejection
    for _, variants in rows.group_by("group_id"):
        assert variants["variant"].to_list() == ["full", "nocue", "cf"]
        assert variants["success"].to_list() == [True, True, False]
        assert variants["mask"].is_null().to_list() == [True, False, True]
        assert variants["intervention"].is_null().to_list() == [True, True, False]
        assert variants["states"].list.len().n_unique() == 1


def test_too_few_is_a_clear_failure(rolled):
    folder, rollouts = rolled
    with pytest.raises(
        StageFailed, match=r"of 24 groups can have their variants \(variants: the lava is never in sight"
    ):
        produce(folder, VARIANTS, "x", PLACE | {"groups": 24}, {"rollouts": rollouts})
