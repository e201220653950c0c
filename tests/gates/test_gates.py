"""Every gate rejects a group that was broken on purpose, and accepts the same group unbroken."""

import dataclasses

import numpy as np
import pytest

from tasks.gates import GATES_BY_NAME, examine
from tasks.gates.group_evidence import GroupEvidence
from tasks.pictures.png import Picture
from tasks.rendering import frames_of
from tasks.trajectories import Group
from tasks.worlds import environment
from tasks.worlds.base import Event, MaskBox
from tasks.worlds.minigrid.simulator import EMPTY, GridState


def make_group(name="doorkey", seed=1):
    world = environment("minigrid", name)
    full = world.rollout(seed)
    episodes = {"full": full, "nocue": dataclasses.replace(full), "cf": world.counterfactual(seed, full)}
    return Group(f"{name}_s000001", world, seed, full.mission, full.actions, episodes, world.nocue(full))


def make_evidence(group):
    pictures, rows = frames_of(group)
    png = {picture.image_id: picture.png for picture in pictures}
    image_ids = {}
    for row in rows:
        image_ids.setdefault(row["variant"], {})[row["step"]] = row["image_id"]
    return GroupEvidence(group, image_ids, png.__getitem__), png


def replace_frame(evidence, png, variant, step, pixels):
    picture = Picture(pixels)
    png[picture.image_id] = picture.png
    evidence.image_ids[variant][step] = picture.image_id


@pytest.mark.parametrize(
    "name",
    ["doorkey", "keycorridor", "redbluedoors", "lavagap", "memory", "multiroom", "unlockpickup", "blockedunlockpickup"],
)
def test_a_sound_group_passes_every_gate(name):
    evidence, _ = make_evidence(make_group(name, seed=2))
    assert [row for row in examine(evidence) if not row["passed"]] == []


def failures(evidence):
    return {(row["gate"], row["variant"]) for row in examine(evidence) if not row["passed"]}


def test_d1_other_actions():
    group = make_group()
    group.episodes["cf"] = dataclasses.replace(group.episodes["cf"], actions=[*group.actions[:-1], "left"])
    evidence, _ = make_evidence(group)
    assert "step" in GATES_BY_NAME["D1"](evidence)["cf"]


def test_d2_a_lost_frame_and_same_length():
    evidence, _ = make_evidence(make_group())
    del evidence.image_ids["cf"][3]
    assert "frames for" in GATES_BY_NAME["D2"](evidence)["cf"]
    assert "frames where Full has" in GATES_BY_NAME["same_length"](evidence)["cf"]


def test_d4_an_outcome_that_is_not_the_simulators():
    group = make_group()
    group.episodes["cf"] = dataclasses.replace(group.episodes["cf"], success=True)
    evidence, _ = make_evidence(group)
    assert ("D4", "cf") in failures(evidence)


def test_d4_actions_that_do_not_succeed():
    group = make_group()
    group.actions = [*group.actions[:-1], "left"]
    evidence, _ = make_evidence(group)
    assert GATES_BY_NAME["D4"](evidence)["full"] == "in a fresh simulator it fails"


def test_d5_a_mask_while_the_agent_faces_the_key():
    group = make_group()
    facing = next(step for step, state in enumerate(group.episodes["full"].states) if state.front in
                  group.environment.targets(group.episodes["full"].states))  # fmt: skip
    group.mask = [*group.mask, MaskBox(facing, 96, 160, 32, 32)]
    evidence, _ = make_evidence(group)
    assert f"frame {facing}" in GATES_BY_NAME["D5"](evidence)["nocue"]


def test_d6_a_state_that_no_simulator_gives():
    group = make_group()
    states = list(group.episodes["full"].states)
    states[2] = dataclasses.replace(states[2], direction=(states[2].direction + 2) % 4)
    group.episodes["full"] = dataclasses.replace(group.episodes["full"], states=states)
    evidence, _ = make_evidence(group)
    assert GATES_BY_NAME["D6"](evidence)["full"] == "state 2 is not what a fresh simulator gives"


def test_d6_a_counterfactual_that_changes_more_than_it_declares():
    """A second change at the start, which the planner's path never meets, but which is not the goal."""
    group = make_group()
    cf = group.episodes["cf"]
    key = group.environment.targets(group.episodes["full"].states)[0]
    edits = [*cf.intervention.parameters["cells"], [*key, EMPTY]]
    broken = dataclasses.replace(cf.intervention, parameters={"cells": edits})
    group.episodes["cf"] = group.environment.execute(group.seed, group.actions, broken)
    evidence, _ = make_evidence(group)
    assert GATES_BY_NAME["D6"](evidence)["cf"] is not None


def test_e1_events_out_of_order_and_events_that_did_not_happen():
    group = make_group()
    full = group.episodes["full"]
    group.episodes["full"] = dataclasses.replace(full, events=[*full.events, Event(1, "open blue door")])
    evidence, _ = make_evidence(group)
    assert GATES_BY_NAME["E1"](evidence)["full"] == "the table's events are not the simulator's"
    assert (
        group.environment.chain_in_order(list(reversed([Event(9 - e.step, e.name) for e in full.events]))) is not None
    )


def test_e2_an_impossible_state_and_a_picture_of_something_else():
    group = make_group()
    evidence, png = make_evidence(group)
    frame = evidence.pixels("full", 4).copy()
    frame[0:32, 0:32] = 200
    replace_frame(evidence, png, "full", 4, frame)
    assert "at step 4" in GATES_BY_NAME["E2"](evidence)["full"]

    states = list(group.episodes["cf"].states)
    cells = states[1].cells.copy()
    cells[0, 0] = 13 << 6
    states[1] = GridState(states[1].x, states[1].y, states[1].direction, EMPTY, cells)
    assert evidence.witness("cf").invalid_state({"pos": [1, 1], "dir": 0, "carrying": "...", "grid": ["zzz"]})
    assert evidence.witness("cf").invalid_state({"pos": [9, 9], "dir": 0, "carrying": "...", "grid": ["..." * 5] * 5})


def test_n1_a_mask_beside_the_target_over_budget_or_not_applied():
    group = make_group()
    box = group.mask[0]
    group.mask = [MaskBox(box.step, (box.left + 64) % 224, box.top, 32, 32)]
    evidence, _ = make_evidence(group)
    assert "IoU" in GATES_BY_NAME["N1"](evidence)["nocue"]

    group = make_group()
    group.mask = [MaskBox(step, 0, 0, 32, 32) for step in range(6)]
    evidence, _ = make_evidence(group)
    assert "budget" in GATES_BY_NAME["N1"](evidence)["nocue"]

    group = make_group()
    evidence, png = make_evidence(group)
    replace_frame(evidence, png, "nocue", group.mask[0].step, evidence.pixels("full", group.mask[0].step))
    assert "is not Full with its mask applied" in GATES_BY_NAME["N1"](evidence)["nocue"]

    group = make_group()
    evidence, png = make_evidence(group)
    last = len(group.actions)
    replace_frame(evidence, png, "nocue", last, np.zeros((224, 224, 3), dtype=np.uint8))
    assert "without a mask" in GATES_BY_NAME["N1"](evidence)["nocue"]


def test_nocue_is_full_minus_the_cue_and_nothing_else():
    """GR2, from the pixels alone: the difference is inside the mask, and no key-yellow remains in a masked frame."""
    group = make_group()
    evidence, _ = make_evidence(group)
    for step, boxes in group.mask_by_step.items():
        differs = (evidence.pixels("full", step) != evidence.pixels("nocue", step)).any(axis=2)
        inside = np.zeros_like(differs)
        for box in boxes:
            inside[box.top : box.top + 32, box.left : box.left + 32] = True
        assert differs.any() and not (differs & ~inside).any()


def test_cf1_no_intervention_one_that_changes_nothing_and_one_that_does_not_make_it_fail():
    group = make_group()
    group.episodes["cf"] = dataclasses.replace(group.episodes["cf"], intervention=None)
    evidence, _ = make_evidence(group)
    assert GATES_BY_NAME["CF1"](evidence)["cf"] == "no intervention is declared"

    group = make_group()
    harmless = dataclasses.replace(group.episodes["cf"].intervention, parameters={"cells": []})
    group.episodes["cf"] = group.environment.execute(group.seed, group.actions, harmless)
    evidence, _ = make_evidence(group)
    assert "changes nothing" in GATES_BY_NAME["CF1"](evidence)["cf"]

    group = make_group()
    full = group.episodes["full"]
    (x, y) = next((x, y) for y in range(1, 7) for x in range(1, 7) if full.states[0].at((x, y)) == EMPTY
                  and (x, y) not in {s.position for s in full.states} | {s.front for s in full.states})  # fmt: skip
    aside = dataclasses.replace(
        group.episodes["cf"].intervention, parameters={"cells": [[x, y, full.states[0].at((0, 0))]]}
    )
    group.episodes["cf"] = group.environment.execute(group.seed, group.actions, aside)
    evidence, _ = make_evidence(group)
    assert GATES_BY_NAME["CF1"](evidence)["cf"] == "it succeeds"


def test_a_gate_that_cannot_be_asked_has_failed():
    evidence, _ = make_evidence(make_group())
    evidence.image_ids["nocue"].clear()
    assert ("N1", "full") in failures(evidence)
