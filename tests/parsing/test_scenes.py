import json

import pytest

from tasks.parsing import parse_answer
from tasks.questions.scene import SCENE_WEIGHTS, score_scene

GOLD = {
    "agent": {"pos": [3, 6], "dir": "up", "carrying": None},
    "front_cell": {"type": "door", "color": "yellow", "state": 2},
    "objects": [{"type": "key", "color": "yellow", "state": None, "pos": [1, 2]}],
}


def read(text, policy="robust"):
    found = parse_answer(text, "scene", policy)
    return found, json.loads(found.value) if found.value else None


def test_exact_scene_is_strict_and_scores_one():
    found, value = read(json.dumps(GOLD))
    assert (found.mode, found.recovery) == ("strict", None)
    assert score_scene(GOLD, value) == dict.fromkeys(SCENE_WEIGHTS, 1.0)


@pytest.mark.parametrize(
    ("text", "recovery"),
    [
        ("```json\n" + json.dumps(GOLD) + "\n```", "fence"),
        ("Here is the scene:\n" + json.dumps(GOLD) + "\nThat is all.", "surrounding text"),
        (json.dumps(GOLD)[:-1] + ",}", "trailing comma"),
        (repr(GOLD), "Python literal"),
        ("<think>" + json.dumps({**GOLD, "objects": []}) + "</think>" + json.dumps(GOLD), "reasoning removed"),
        (json.dumps(GOLD).replace("front_cell", "Front Cell").replace('"dir"', '"direction"'), "field names"),
    ],
)
def test_allowed_recoveries_are_named(text, recovery):
    found, value = read(text)
    assert found.mode == "recovered" and recovery in found.recovery
    assert score_scene(GOLD, value) == dict.fromkeys(SCENE_WEIGHTS, 1.0)
    assert parse_answer(text, "scene", "strict").value is None


@pytest.mark.parametrize(
    ("change", "component"),
    [
        ({"agent": {**GOLD["agent"], "dir": "down"}}, "position"),
        ({"agent": {**GOLD["agent"], "pos": [3, 5]}}, "position"),
        ({"agent": {**GOLD["agent"], "carrying": {"type": "key", "color": "red"}}}, "carrying"),
        ({"front_cell": {**GOLD["front_cell"], "state": 1}}, "front_cell"),
        ({"objects": []}, "objects"),
        ({"objects": [{**GOLD["objects"][0], "pos": [2, 1]}]}, "objects"),
    ],
)
def test_a_mistake_costs_its_own_component(change, component):
    _, value = read(json.dumps({**GOLD, **change}))
    parts = score_scene(GOLD, value)
    assert [name for name, part in parts.items() if part < 1] == [component]


def test_spellings_that_mean_the_same():
    same = {
        "agent": {"pos": {"col": 3, "row": 6.0}, "dir": 3, "carrying": "none"},
        "front_cell": {"type": "Door", "color": "YELLOW", "state": "locked"},
        "objects": [{"type": "key", "color": "yellow", "state": "none", "pos": [1, 2]}],
    }
    assert score_scene(GOLD, read(json.dumps(same))[1]) == dict.fromkeys(SCENE_WEIGHTS, 1.0)


def test_objects_are_a_jaccard_index():
    two = GOLD["objects"] + [{"type": "ball", "color": "red", "state": None, "pos": [0, 0]}]
    assert score_scene(GOLD, {**GOLD, "objects": two})["objects"] == 0.5
    assert score_scene({**GOLD, "objects": []}, {**GOLD, "objects": []})["objects"] == 1.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(GOLD)[:-10], "cut_off"),
        (json.dumps({"agent": {}}), "missing_fields"),
        ("There is a key.", "no_answer"),
        (json.dumps(GOLD) + json.dumps({**GOLD, "objects": []}), "conflict"),
        (json.dumps(GOLD).replace("[3, 6]", "NaN"), "bad_json"),
        ('{"agent": {}, "agent": {}, "front_cell": {}, "objects": []}', "bad_json"),
        ("[" * 100_000, "no_answer"),
    ],
)
def test_nothing_is_salvaged_by_guessing(text, reason):
    assert read(text)[0].reason == reason


@pytest.mark.parametrize(
    "odd",
    [
        {"agent": None, "front_cell": None, "objects": None},
        {"agent": [], "front_cell": "wall", "objects": {"a": 1}},
        {"agent": {"pos": "3,6", "dir": 9, "carrying": 5}, "front_cell": {"state": {}}, "objects": [1, None, {}]},
        {"agent": {"pos": [1e300, 2]}, "front_cell": {"state": 1e300}, "objects": []},
    ],
)
def test_odd_fields_cost_points_and_nothing_else(odd):
    found, value = read(json.dumps(odd))
    assert value is not None and found.mode != "none"
    assert max(score_scene(GOLD, value).values()) <= 1.0
