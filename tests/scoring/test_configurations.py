"""An environment in several configurations is several environments to the numbers."""

import polars as pl

from tasks.scoring.graded import grade


def _answers(env_ids):
    rows = [
        {"uid": f"C.doorkey.s{number}", "task": "C", "world": "minigrid", "env": env, "env_id": env_id, "gold": "yes"}
        | {"group_id": f"g{number}", "variant": "full", "temporal": "orig", "visual": "clean", "framing": "neu"}
        | {"representation": "composite", "condition": None, "companion_of": None, "options": None}
        for number, (env, env_id) in enumerate(env_ids)
    ]
    return pl.DataFrame(rows, schema_overrides={"options": pl.List(pl.String)})


def test_configurations_are_told_apart_only_where_there_are_several():
    answers = _answers([("doorkey", "A-6x6"), ("doorkey", "A-8x8"), ("memory", "B-v0")])
    responses = answers.select("uid", judge=pl.lit("j"), replicate=0, status=pl.lit("ok"))
    parsed = answers.select(
        "uid",
        judge=pl.lit("j"),
        replicate=0,
        parse_mode=pl.lit("strict"),
        value=pl.lit("yes"),
        reason=pl.lit(None, pl.String),
    )
    assert grade(answers, responses, parsed)["env"].to_list() == ["A-6x6", "A-8x8", "memory"]
