"""The embedded judges: well-formed answers to every task, from prompt and pixels alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import BadInput
from tasks.inference.config import embedded
from tasks.judges import JUDGES, Message, Png, Text, make
from tasks.judges._prompt import kind_of
from tasks.worlds import WORLDS

from ..inference.release import PROMPTS, png


def message(prompt: str, *pictures: np.ndarray) -> Message:
    data = [png(picture) for picture in pictures] or [png(np.zeros((32, 32, 3)))]
    return Message((*(Png(entry, str(hash(entry))) for entry in data), Text(prompt)))


def well_formed(task: str, text: str) -> bool:
    if task == "A":
        return text in ("A", "B", "C", "D")
    if task == "B":
        return set(json.loads(text)) == {"agent", "front_cell", "objects"}
    if task == "E":
        return isinstance(json.loads(text)["answer"], str)
    return text in (("Yes", "No") if task == "C" else ("Success", "Fail"))


@pytest.mark.parametrize("name", ["always-success", "always-fail", "coin", "last-frame"])
@pytest.mark.parametrize("task", list(PROMPTS))
def test_answers_are_well_formed(name, task):
    assert well_formed(task, make(name).answer(message(PROMPTS[task][1])))


def test_the_constant_ones_are_constant():
    for task, success, fail in (("C", "Yes", "No"), ("D", "Success", "Fail")):
        assert make("always-success").answer(message(PROMPTS[task][1])) == success
        assert make("always-fail").answer(message(PROMPTS[task][1])) == fail


@given(st.integers(0, 50))
def test_the_coin_is_a_function_of_seed_and_message(seed):
    shown = message(PROMPTS["C"][1], np.full((4, 4, 3), 9))
    assert make("coin", seed).answer(shown) == make("coin", seed).answer(shown)


def test_the_coin_is_fair_and_heeds_seed_and_pixels():
    pictures = [np.full((4, 4, 3), value) for value in range(200)]
    yes = [make("coin").answer(message(PROMPTS["C"][1], picture)) == "Yes" for picture in pictures]
    assert 70 < sum(yes) < 130
    assert yes != [make("coin", 1).answer(message(PROMPTS["C"][1], picture)) == "Yes" for picture in pictures]


def frame(on_goal: bool, door: bool = False) -> np.ndarray:
    """A view whose agent, the red triangle in the middle of the lowest row, stands on the goal or does not."""
    view = np.zeros((224, 224, 3))
    if on_goal:
        view[193:224, 97:127] = (76, 255, 76)
    for row in range(24):
        view[196 + row, 112 - row * 3 // 8 : 113 + row * 3 // 8] = (255, 76, 76)
    if door:
        view[192:224, 160:192] = (255, 0, 0)
    return view


def test_the_last_frame_decides_alone():
    judge = make("last-frame")
    assert judge.answer(message(PROMPTS["C"][1], frame(False), frame(True))) == "Yes"
    assert judge.answer(message(PROMPTS["C"][1], frame(True), frame(False))) == "No"
    assert judge.answer(message(PROMPTS["D"][1], frame(True))) == "Success"
    storyboard = np.hstack([frame(False), np.full((224, 8, 3), 255), frame(True)])
    assert judge.answer(message(PROMPTS["C"][1], storyboard)) == "Yes"
    assert judge.answer(message(PROMPTS["C"][1], storyboard[:, ::-1])) == "No"  # the goal is not in the last panel


def test_the_last_frame_is_not_fooled_by_other_red_or_green():
    judge = make("last-frame")
    assert judge.answer(message(PROMPTS["C"][1], frame(True, door=True))) == "Yes"
    near = frame(False, door=True)
    near[160:192, 96:128] = (76, 255, 76)  # the goal ahead, not under the agent
    assert judge.answer(message(PROMPTS["C"][1], near)) == "No"
    noisy = np.clip(frame(True) + np.random.default_rng(0).normal(0, 12, (224, 224, 3)), 0, 255)
    assert judge.answer(message(PROMPTS["C"][1], noisy)) == "Yes"


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("The run may have been a success. Answer with ONLY: Yes or No.", "yes_no"),
        ("Reply with `Success` or `Fail` and nothing else.", "success_fail"),
        ('By the last frame, what is its status? Reply as {"answer": "<label>"}', "status"),
        ('Which was picked up first? Reply as {"answer": "<label>"}', "identity"),
        ("Write a poem.", None),
    ],
)
def test_the_contract_is_read_from_the_prompt(prompt, kind):
    assert kind_of(prompt) == kind


def test_an_embedded_judge_that_would_answer_otherwise_has_another_key(monkeypatch):
    before, other = embedded("coin").identity(), embedded("last-frame").identity()
    monkeypatch.setattr(JUDGES["coin"], "version", 2, raising=False)
    assert embedded("coin").identity() != before and embedded("last-frame").identity() == other


class Parrot:
    """What an installed package would offer."""

    version = 3

    def answer(self, message):
        return message.text


def test_a_judge_from_outside_is_embedded_like_the_others(monkeypatch):
    monkeypatch.setitem(JUDGES._registered, "parrot", Parrot)
    assert embedded("parrot").identity()["version"] == 3
    assert make("parrot").answer(message("Polly")) == "Polly"


def test_a_judge_that_there_is_not_is_named_with_the_nearest():
    with pytest.raises(BadInput, match=r"unknown embedded judge 'tile-readr' \(did you mean 'tile-reader'\?\)"):
        make("tile-readr")


@pytest.mark.parametrize("world", WORLDS)
def test_the_judges_that_a_world_names_are_judges(world):
    assert WORLDS[world].judges and set(WORLDS[world].judges) <= set(JUDGES)
