"""The judge that reads tiles: every item of the smoke exam is answerable from its message, and what it is answered from."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.exams.gridworld.prompts import load as prompt_set
from tasks.inference.message import Message, Pictures, Png, Text, build
from tasks.judges._page import frames_of
from tasks.judges.tile_reader import CANNOT, TileReader, rules
from tasks.judges.tile_reader.tiles import EMPTY, UNSEEN, Thing, View, read
from tasks.pictures.png import encode
from tasks.pictures.storyboard import captioned, panel, sheet, storyboard
from tasks.pictures.styles import VISUALS
from tasks.worlds import environment
from tasks.worlds.minigrid.simulator import EMPTY as EMPTY_CODE
from tasks.worlds.minigrid.simulator import UNSEEN as UNSEEN_CODE
from tasks.worlds.minigrid.simulator import WALL as WALL_CODE
from tasks.worlds.minigrid.simulator import View as SimulatorView
from tasks.worlds.minigrid.simulator import cell, color, door_state, kind
from tasks.worlds.minigrid.tiles import draw

PROMPTS = prompt_set("minigrid-v1")
ENVIRONMENTS = (
    "doorkey", "keycorridor", "lavagap", "memory", "multiroom", "redbluedoors", "unlockpickup", "blockedunlockpickup",
)  # fmt: skip


def thing(code: int) -> Thing:
    if kind(code) in ("unseen", "empty", "wall", "lava"):
        return Thing(kind(code))
    return Thing(kind(code), color(code), door_state(code) if kind(code) == "door" else None)


def view_of(state) -> View:
    """The simulator's state as one should read it."""
    cells = tuple(tuple(thing(code) for code in row) for row in state.view.cells.tolist())
    return View(cells, None if thing(state.carrying) == EMPTY else thing(state.carrying))


@pytest.fixture(scope="module")
def frames() -> list[list[tuple[np.ndarray, View]]]:
    """Frames and what they show, an episode a list, two episodes of each environment."""
    episodes = []
    for name in ENVIRONMENTS:
        world = environment("minigrid", name)
        for seed in (3, 4):
            episode = world.rollout(seed)
            shown = zip(world.frames(seed, episode), episode.states, strict=True)
            episodes.append([(pixels, view_of(state)) for pixels, state in shown])
    return episodes


def message(prompt: str, *pages: np.ndarray) -> Message:
    return Message((*(Png(encode(page), "") for page in pages), Text(prompt)))


def view(front: Thing = EMPTY, beneath: Thing = EMPTY, carrying: Thing | None = None, **cells: Thing) -> View:
    """Floor as far as one sees; `cells` by r<row>c<column>."""
    grid = [[EMPTY] * 7 for _ in range(7)]
    grid[5][3], grid[6][3] = front, beneath
    for place, content in cells.items():
        grid[int(place[1])][int(place[3])] = content
    return View(tuple(map(tuple, grid)), carrying)


# --- the exam ---------------------------------------------------------------------------------------------------------


def right(task: str, answer: str, gold: str) -> bool:
    if task == "B":
        return json.loads(answer) == json.loads(gold)
    if task == "E":
        return json.loads(answer) == {"answer": gold}
    return answer.lower() == gold.lower() and answer in ("A", "B", "C", "D", "Yes", "No", "Success", "Fail")


def test_every_item_can_be_answered_from_its_message(smoke):
    release, judge = smoke.artifact("release"), TileReader()
    answers = {row["uid"]: row for row in smoke.artifact("answers").read("answers").to_dicts()}
    wrong = []
    with Pictures(release) as pictures:
        for item in release.read("items").to_dicts():
            gold = answers[item["uid"]]
            if gold["condition"] in ("shuffle", "mask"):
                continue  # the action is not the one that was taken
            answer = judge.answer(build(item["prompt"], item["image_ids"], pictures))
            if not right(item["task"], answer, gold["gold"]):
                wrong.append((item["uid"], answer, gold["gold"]))
    assert not wrong


# --- pictures -> views ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("visual", VISUALS)
def test_pages_are_read_as_the_simulator_has_them(frames, visual):
    for number, episode in enumerate(frames):
        steps = list(range(0, len(episode), 2))[:12]
        random.Random(number).shuffle(steps)
        styled = {step: VISUALS[visual](episode[step][0], f"g{number}", step) for step in steps}
        page = frames_of(encode(storyboard([(f"step {step}", styled[step]) for step in steps])))
        assert [frame.step for frame in page] == steps
        assert read([frame.pixels for frame in page]) == [episode[step][1] for step in steps]
        alone = frames_of(encode(captioned(f"step {steps[0]}", styled[steps[0]])))
        assert [frame.caption for frame in alone] == [f"step {steps[0]}"]
        assert read([alone[0].pixels]) == [episode[steps[0]][1]]


@settings(max_examples=60, deadline=None)
@given(
    gains=st.tuples(*[st.floats(0.45, 1.0)] * 3),
    room=st.tuples(*[st.floats(0.0, 1.0)] * 3),
    noise=st.integers(0, 24),
    seed=st.integers(0, 2**31),
)
def test_colors_may_change_in_any_affine_way(frames, gains, room, noise, seed):
    """Any contrast and lightness that a byte can hold, a channel each, and noise in every pixel."""
    if max(gains) > 1.6 * min(gains):
        gains = (min(gains),) * 3
    draw = np.random.default_rng(seed)
    episode = frames[seed % len(frames)]
    pixels, seen = episode[int(draw.integers(len(episode)))]
    offset = (255 - 255 * np.array(gains)) * np.array(room)
    changed = pixels * np.array(gains) + offset + draw.integers(-noise, noise + 1, (224, 224, 1))
    assert read([changed.round().clip(0, 255).astype(np.uint8)]) == [seen]


@pytest.mark.parametrize("visual", VISUALS)
@pytest.mark.parametrize("code", [EMPTY_CODE, UNSEEN_CODE, WALL_CODE])
@pytest.mark.parametrize("carrying", [EMPTY_CODE, cell("key", "grey"), cell("ball", "purple")])
def test_the_triangle_ties_the_colors_down(code, carrying, visual):
    """Floor and cells out of sight are one pattern in two shades, walls no pattern at all; with nothing else around, only
    the agent tells."""
    cells = np.full((7, 7), code, dtype=np.uint16)
    cells[6, 3] = cell("goal", "green")
    pixels = VISUALS[visual](draw(SimulatorView(cells, carrying)), "g", 0)
    (seen,) = read([pixels])
    assert {content for row in seen.cells[:6] for content in row} == {thing(code)}
    assert seen.beneath == Thing("goal", "green")
    assert seen.carrying == (None if carrying == EMPTY_CODE else thing(carrying))


def test_parts_and_captions_of_sheets_and_panels(frames):
    pixels = [pixels for pixels, _ in frames[0][:6]]
    upper = storyboard([(f"step {n}", pixels[n]) for n in (0, 4, 2)])
    lower = storyboard([("step 107", pixels[1])])
    found = frames_of(encode(sheet([("REFERENCE", upper), ("QUERY", lower)])))
    assert [(frame.part, frame.step) for frame in found] == [(0, 0), (0, 4), (0, 2), (1, 107)]
    found = frames_of(encode(panel(("NOW", pixels[0]), list(zip("ABCD", pixels[1:5], strict=True)))))
    assert sorted(frame.caption for frame in found) == ["A", "B", "C", "D", "NOW"]
    by_caption = {frame.caption: frame.pixels for frame in found}
    assert (by_caption["C"] == pixels[3]).all() and (by_caption["NOW"] == pixels[0]).all()


def test_captions_order_the_pictures_wherever_they_stand(frames):
    """DoorKey's success is its last step, and only that."""
    pixels = [pixels for pixels, _ in frames[0]]
    last = len(pixels) - 1
    prompt = PROMPTS.prompt("C", evidence="", mission="use the key to open the door and then get to the goal")
    for steps, answer in (([0, 5, last], "Yes"), ([last, 0, 5], "Yes"), ([5, 0], "No"), ([last - 1, last, 2], "Yes")):
        shown = [(f"step {step}", pixels[step]) for step in steps]
        assert TileReader().answer(message(prompt, storyboard(shown))) == answer
        assert TileReader().answer(message(prompt, *(captioned(*frame) for frame in shown))) == answer


def test_a_filtered_png_reads_the_same(frames, tmp_path):
    from PIL import Image

    page = storyboard([("step 7", frames[0][0][0])])
    Image.fromarray(page).save(tmp_path / "page.png")
    assert [frame.step for frame in frames_of((tmp_path / "page.png").read_bytes())] == [7]


@pytest.mark.parametrize(
    "page",
    [
        np.full((300, 300, 3), 255, dtype=np.uint8),
        np.zeros((224, 224, 3), dtype=np.uint8),
        np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8),
        np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8),
    ],
)
def test_what_is_no_grid_world_is_not_judged(page):
    for task, values in (("C", {"evidence": "", "mission": "get to the goal"}), ("B", {})):
        assert TileReader().answer(message(PROMPTS.prompt(task, **values), page)) == CANNOT


def test_a_question_of_no_kind_is_not_judged(frames):
    assert TileReader().answer(message("Write a poem.", frames[0][0][0])) == CANNOT


# --- views -> answers -------------------------------------------------------------------------------------------------

KEY, BALL, BOX = Thing("key", "yellow"), Thing("ball", "red"), Thing("box", "grey")
RED, BLUE = Thing("door", "red", 0), Thing("door", "blue", 0)


@pytest.mark.parametrize(
    ("mission", "views", "reached"),
    [
        ("use the key to open the door and then get to the goal", [view(), view(beneath=Thing("goal", "green"))], True),
        ("traverse the rooms to get to the goal", [view(), view(front=Thing("goal", "green"))], False),
        ("avoid the lava and get to the green goal square", [view(), view(beneath=Thing("lava"))], False),
        ("pick up the red ball", [view(), view(carrying=BALL)], True),
        ("pick up the blue ball", [view(), view(carrying=BALL)], False),
        ("pick up the grey box", [view(carrying=BOX), view(front=BOX)], False),
        ("open the red door then the blue door", [view(), view(front=RED), view(front=BLUE)], True),
        (
            "open the red door then the blue door",
            [view(), view(front=RED), view(front=Thing("door", "blue", 1))],
            False,
        ),
        ("open the red door then the blue door", [view(front=BLUE), view(front=RED), view(front=BLUE)], False),
        ("open the red door then the blue door", [view(front=RED), view(front=RED, r4c3=BLUE)], False),
        ("go to the matching object at the end of the hallway", [view(front=KEY), view(), view(front=KEY)], True),
        ("go to the matching object at the end of the hallway", [view(front=KEY), view(), view(front=BALL)], False),
        ("go to the matching object at the end of the hallway", [view(), view(front=KEY)], False),
    ],
)
def test_missions(mission, views, reached):
    assert rules.objective_of(mission)(views) is reached


@pytest.mark.parametrize(
    ("reference", "success", "failure"),
    [
        (
            [view(), view(beneath=Thing("goal", "green"), carrying=KEY)],
            view(beneath=Thing("goal", "green")),
            view(carrying=KEY),
        ),
        ([view(carrying=KEY), view(carrying=BALL)], view(carrying=Thing("ball", "blue")), view(carrying=KEY)),
    ],
)
def test_the_reference_says_what_counts(reference, success, failure):
    objective = rules.shown_objective(reference)
    assert objective([view(), success]) and not objective([view(), failure])


def test_a_reference_with_doors_or_a_cue():
    assert rules.shown_objective([view(front=RED), view(front=BLUE)]) is rules.opens_red_then_blue
    assert rules.shown_objective([view(front=KEY), view(), view(front=KEY)]) is rules.finds_match
    assert rules.shown_objective([view(), view()]) is None


def test_what_became_of_the_first_carried():
    holding, free = view(carrying=KEY), view()
    assert rules.status([free, holding, holding]) == "holding"
    assert rules.status([holding, free]) == "dropped"
    assert rules.status([holding, free, view(carrying=BALL)]) == "dropped"
    assert rules.status([holding, free, holding]) == "reacquired_and_holding"
    assert rules.status([holding, view(carrying=BALL), holding]) == "reacquired_and_holding"
    assert rules.status([free]) is None


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_the_simulator_does_is_never_a_misfit(name):
    """Every action in every state of an episode. Memory takes a pickup for a toggle, which the agent cannot know."""
    world = environment("minigrid", name)
    episode = world.rollout(5)
    for step, branches in world.branches(5, episode.actions, range(len(episode.actions))).items():
        now = view_of(episode.states[step])
        for action, branch in branches.items():
            if (name, action) != ("memory", "pickup"):
                assert rules.misfit(now, action, view_of(branch.state))[0] == 0


def test_an_unknown_action_is_any_action():
    now = view(front=KEY)
    options = {"A": view(beneath=BOX), "B": view(carrying=KEY), "C": view(carrying=BALL), "D": now}
    assert rules.choice(now, options, None) == "B"
    assert rules.choice(now, options, "forward") == "D"
    assert rules.choice(now, options, "pickup") == "B"


def test_the_actions_of_the_prompt_set_are_understood():
    for name, words in PROMPTS.tasks["A"]["actions"].items():
        expected = None if name == "unknown" else name
        assert rules.action_of(PROMPTS.prompt("A", action=words)) == expected


def test_cells_out_of_sight_do_not_decide():
    assert rules.misfit(view(r3c3=UNSEEN), "forward", view(r4c3=BALL))[0] == 0
    assert rules.misfit(view(r3c3=EMPTY), "forward", view(r4c3=BALL))[0] == 1
    assert rules.misfit(view(r3c3=EMPTY), "forward", view(r4c3=UNSEEN))[0] == 0
    assert rules.misfit(view(r3c3=EMPTY, carrying=KEY), "drop", view(front=KEY, r3c3=UNSEEN))[0] == 1


# --- independence -----------------------------------------------------------------------------------------------------


def test_it_shares_nothing_with_the_generator(frames):
    """In a process of its own, a whole answer is given without the packages that make the exam."""
    page = encode(storyboard([("step 0", frames[0][0][0]), ("step 30", frames[0][-1][0])]))
    prompt = PROMPTS.prompt("C", evidence="", mission="use the key to open the door and then get to the goal")
    program = """
import sys
from tasks.judges import Message, Png, Text, make
prompt, page = sys.argv[1], sys.stdin.buffer.read()
print(make("tile-reader").answer(Message((Png(page, ""), Text(prompt)))))
print(*sorted(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program, prompt], input=page, capture_output=True, check=True)
    answer, modules = done.stdout.decode().splitlines()
    assert answer == "Yes"
    packages = "rendering", "exams", "variants", "gates", "rollouts", "trajectories"
    forbidden = (*(f"tasks.{name}" for name in packages), "minigrid", "gymnasium")
    assert not [name for name in modules.split() if name.startswith(forbidden)]
    shared = {name for name in modules.split() if name.startswith(("tasks.worlds.", "tasks.pictures."))}
    records = {"tasks.worlds.base", "tasks.worlds.minigrid", "tasks.pictures.pixels"}
    assert shared <= {*records, "tasks.worlds.minigrid.atlas"}  # of which it calls the last alone
