import numpy as np
import polars as pl
import pytest

from storage import Store
from tasks.audit import action_need, audit_release
from tasks.pictures.png import encode, image_id
from tasks.scoring.simulation import Judge, exam


def release_of(folder, answers, draw, prompt=lambda row: "Did it succeed?", key="r"):
    """A release whose picture for each item is `draw(rng, row)`; the same pixels are one image."""
    store, rng = Store(folder), np.random.default_rng(0)
    images, items = {}, []
    formats = {"A": "letter", "B": "scene", "C": "yes_no", "D": "success_fail", "E": "label"}
    for row in answers.iter_rows(named=True):
        shown = []
        for pixels in draw(rng, row):
            name = image_id(pixels)
            images[name] = {
                "image_id": name,
                "height": pixels.shape[0],
                "width": pixels.shape[1],
                "png": encode(pixels),
            }
            images[name]["png_sha256"] = "x"
            shown.append(name)
        items.append(
            {"uid": row["uid"], "task": row["task"], "prompt": prompt(row), "image_ids": shown}
            | {"answer_format": formats[row["task"]], "max_tokens": 9}
        )
    writer = store.writer("release", key)
    writer.add("items", items)
    writer.add("images", images.values())
    return writer.commit(1, {}, {})


def noise(rng, size=24):
    return rng.integers(0, 200, (size, size, 3), dtype=np.uint8)


def flags(audit):
    return {(one.task, one.feature) for one in audit.shortcuts if one.flagged}


ANSWERS = exam(groups_d=30, tasks="D")


def test_noise_has_no_shortcut(tmp_path):
    audit = audit_release(release_of(tmp_path, ANSWERS, lambda rng, row: [noise(rng)]), ANSWERS)
    assert flags(audit) == set()
    assert {one.feature for one in audit.shortcuts} >= {"picture size", "brightness", "prompt", "last picture"}


@pytest.mark.parametrize(
    ("feature", "draw"),
    [
        ("brightness", lambda rng, row: [noise(rng) + np.uint8(40 * (row["gold"] == "fail"))]),
        ("picture size", lambda rng, row: [noise(rng, 24 + 2 * (row["gold"] == "fail"))]),
        ("picture count", lambda rng, row: [noise(rng)] * (1 + (row["gold"] == "fail"))),
    ],
)
def test_a_planted_leak_is_found(tmp_path, feature, draw):
    audit = audit_release(release_of(tmp_path, ANSWERS, draw), ANSWERS)
    assert ("D", feature) in flags(audit)
    found = next(one for one in audit.shortcuts if one.feature == feature)
    assert found.score > 0.9 and found.chance == 0.5


def test_a_leak_in_the_prompt_is_found(tmp_path):
    prompt = lambda row: "Judge this run." if row["gold"] == "fail" else "Judge that run."  # noqa: E731
    audit = audit_release(release_of(tmp_path, ANSWERS, lambda rng, row: [noise(rng)], prompt), ANSWERS)
    assert ("D", "prompt") in flags(audit)
    assert "BEATS CHANCE" in audit.as_text() and audit.as_dict()["flagged"]


def test_folds_keep_groups_whole(tmp_path):
    """A picture that marks its group, and a label that is the group's: nothing is told about another group."""
    asked = exam(tasks="E").filter(pl.col("condition").str.starts_with("identity"))
    colors = {group: color for group, color in zip(
        sorted(asked["group_id"].unique()), np.random.default_rng(1).choice(["key_red", "key_blue"], 48), strict=True
    )}  # fmt: skip
    answers = asked.with_columns(gold=pl.col("group_id").replace_strict(colors))
    audit = audit_release(
        release_of(tmp_path, answers, lambda rng, row: [noise(np.random.default_rng(int(row["group_id"][-3:])))]),
        answers,
    )
    assert flags(audit) == set()


def test_judges_that_sat_the_exam_stand_beside_it(tmp_path):
    responses, parsed = Judge("j", full=9.0, cf=9.0, spread=0.0).answer(ANSWERS)
    told = responses.with_columns(text=parsed["value"])
    audit = audit_release(release_of(tmp_path, ANSWERS, lambda rng, row: [noise(rng)]), ANSWERS, {"j": told})
    assert audit.judges["j"]["D"].score == pytest.approx(2 / 3, abs=0.01)


def test_what_a_constant_scene_earns(tmp_path):
    answers = exam(tasks="B", items_b=60)
    (found,) = audit_release(release_of(tmp_path, answers, lambda rng, row: [noise(rng)]), answers).shortcuts
    # every simulated scene is the same, so that the constant one misses its object and nothing else
    assert (found.feature, found.flagged) == ("constant scene", False) and found.score == pytest.approx(0.6)


def test_whether_the_action_is_needed():
    answers = exam(tasks="A", items_a=8)
    options = [["gold", "successor:left", "successor:right", "trajectory:1"]] * 4
    options += [["trajectory:9", "gold", "trajectory:3", "trajectory:1"]] * 4
    true = answers.filter(pl.col("condition") == "true").with_columns(options=pl.Series(options))
    found = action_need(true)
    assert (found.told, found.plausible) == (0.5, {3: 4, 1: 4}) and found.too_easy
    assert found.ceiling == pytest.approx((1 / 3 + 1) / 2)
    assert "add successors" in found.as_text()
    assert action_need(exam(tasks="D")) is None


def test_habits_of_what_is_asked_show():
    """Where the asked outcome is always the step forward, who sees everything but the action is right every time; where it
    is drawn evenly, one time in four (here three)."""
    true = exam(tasks="A", items_a=240).filter(pl.col("condition") == "true")
    four = ["left", "right", "forward", "pickup"]

    def ask(actions):
        options = [
            [f"gold:{action}", *(f"successor:{other}" for other in four if other != action)] for action in actions
        ]
        return action_need(true.with_columns(options=pl.Series(options)))

    assert ask(["forward"] * 240).habit == 1
    evenly = np.random.default_rng(0).choice(four[:3], 240)
    assert ask(list(evenly)).habit == pytest.approx(1 / 3, abs=0.1)
    unnamed = pl.Series([["gold", "successor:left"]] * 240)
    assert action_need(true.with_columns(options=unnamed)).habit is None
