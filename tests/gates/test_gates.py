"""Every gate rejects a group that was broken on purpose, and accepts the same group unbroken."""

import copy
import dataclasses
import json

import numpy as np
import pytest

from tasks.gates import GATES_BY_NAME, examine
from tasks.gates.case import Case
from tasks.gates.items import d3_isolation, decidable, leak_free
from tasks.rendering import frames_of
from tasks.rendering.png import Picture, encode
from tasks.trajectories import Group
from tasks.worlds import environment
from tasks.worlds.base import Event, MaskBox
from tasks.worlds.minigrid.simulator import EMPTY, State


def make_group(name="doorkey", seed=1):
    world = environment("minigrid", name)
    full = world.rollout(seed)
    traces = {"full": full, "nocue": dataclasses.replace(full), "cf": world.counterfactual(seed, full)}
    return Group(f"{name}_s000001", world, seed, full.mission, full.actions, traces, world.nocue(full))


def make_case(group):
    pictures, rows = frames_of(group)
    png = {picture.image_id: picture.png for picture in pictures}
    image_ids = {}
    for row in rows:
        image_ids.setdefault(row["variant"], {})[row["step"]] = row["image_id"]
    return Case(group, image_ids, png.__getitem__), png


def replace_frame(case, png, variant, step, pixels):
    picture = Picture(pixels)
    png[picture.image_id] = picture.png
    case.image_ids[variant][step] = picture.image_id


@pytest.mark.parametrize(
    "name",
    ["doorkey", "keycorridor", "redbluedoors", "lavagap", "memory", "multiroom", "unlockpickup", "blockedunlockpickup"],
)
def test_a_sound_group_passes_every_gate(name):
    case, _ = make_case(make_group(name, seed=2))
    assert [row for row in examine(case) if not row["passed"]] == []


def failures(case):
    return {(row["gate"], row["variant"]) for row in examine(case) if not row["passed"]}


def test_d1_other_actions():
    group = make_group()
    group.traces["cf"] = dataclasses.replace(group.traces["cf"], actions=[*group.actions[:-1], "left"])
    case, _ = make_case(group)
    assert "step" in GATES_BY_NAME["D1"](case)["cf"]


def test_d2_a_lost_frame_and_same_length():
    case, _ = make_case(make_group())
    del case.image_ids["cf"][3]
    assert "frames for" in GATES_BY_NAME["D2"](case)["cf"]
    assert "frames where Full has" in GATES_BY_NAME["same_length"](case)["cf"]


def test_d4_an_outcome_that_is_not_the_simulators():
    group = make_group()
    group.traces["cf"] = dataclasses.replace(group.traces["cf"], success=True)
    case, _ = make_case(group)
    assert ("D4", "cf") in failures(case)


def test_d4_actions_that_do_not_succeed():
    group = make_group()
    group.actions = [*group.actions[:-1], "left"]
    case, _ = make_case(group)
    assert GATES_BY_NAME["D4"](case)["full"] == "in a fresh simulator it fails"


def test_d5_a_mask_while_the_agent_faces_the_key():
    group = make_group()
    facing = next(step for step, state in enumerate(group.traces["full"].states) if state.front in
                  group.world.targets(group.traces["full"].states))  # fmt: skip
    group.mask = [*group.mask, MaskBox(facing, 96, 160, 32, 32)]
    case, _ = make_case(group)
    assert f"frame {facing}" in GATES_BY_NAME["D5"](case)["nocue"]


def test_d6_a_state_that_no_simulator_gives():
    group = make_group()
    states = list(group.traces["full"].states)
    states[2] = dataclasses.replace(states[2], direction=(states[2].direction + 2) % 4)
    group.traces["full"] = dataclasses.replace(group.traces["full"], states=states)
    case, _ = make_case(group)
    assert GATES_BY_NAME["D6"](case)["full"] == "state 2 is not what a fresh simulator gives"


def test_d6_a_counterfactual_that_changes_more_than_it_declares():
    """A second change at the start, which the planner's path never meets, but which is not the goal."""
    group = make_group()
    cf = group.traces["cf"]
    key = group.world.targets(group.traces["full"].states)[0]
    edits = [*cf.intervention.parameters["cells"], [*key, EMPTY]]
    broken = dataclasses.replace(cf.intervention, parameters={"cells": edits})
    group.traces["cf"] = group.world.execute(group.seed, group.actions, broken)
    case, _ = make_case(group)
    assert GATES_BY_NAME["D6"](case)["cf"] is not None


def test_e1_events_out_of_order_and_events_that_did_not_happen():
    group = make_group()
    full = group.traces["full"]
    group.traces["full"] = dataclasses.replace(full, events=[*full.events, Event(1, "open blue door")])
    case, _ = make_case(group)
    assert GATES_BY_NAME["E1"](case)["full"] == "the table's events are not the simulator's"
    assert group.world.chain_in_order(list(reversed([Event(9 - e.step, e.name) for e in full.events]))) is not None


def test_e2_an_impossible_state_and_a_picture_of_something_else():
    group = make_group()
    case, png = make_case(group)
    frame = case.pixels("full", 4).copy()
    frame[0:32, 0:32] = 200
    replace_frame(case, png, "full", 4, frame)
    assert "at step 4" in GATES_BY_NAME["E2"](case)["full"]

    states = list(group.traces["cf"].states)
    cells = states[1].cells.copy()
    cells[0, 0] = 13 << 6
    states[1] = State(states[1].x, states[1].y, states[1].direction, EMPTY, cells)
    assert case.witness("cf").invalid_state({"pos": [1, 1], "dir": 0, "carrying": "...", "grid": ["zzz"]})
    assert case.witness("cf").invalid_state({"pos": [9, 9], "dir": 0, "carrying": "...", "grid": ["..." * 5] * 5})


def test_n1_a_mask_beside_the_target_over_budget_or_not_applied():
    group = make_group()
    box = group.mask[0]
    group.mask = [MaskBox(box.step, (box.left + 64) % 224, box.top, 32, 32)]
    case, _ = make_case(group)
    assert "IoU" in GATES_BY_NAME["N1"](case)["nocue"]

    group = make_group()
    group.mask = [MaskBox(step, 0, 0, 32, 32) for step in range(6)]
    case, _ = make_case(group)
    assert "budget" in GATES_BY_NAME["N1"](case)["nocue"]

    group = make_group()
    case, png = make_case(group)
    replace_frame(case, png, "nocue", group.mask[0].step, case.pixels("full", group.mask[0].step))
    assert "is not Full with its mask applied" in GATES_BY_NAME["N1"](case)["nocue"]

    group = make_group()
    case, png = make_case(group)
    last = len(group.actions)
    replace_frame(case, png, "nocue", last, np.zeros((224, 224, 3), dtype=np.uint8))
    assert "without a mask" in GATES_BY_NAME["N1"](case)["nocue"]


def test_nocue_is_full_minus_the_cue_and_nothing_else():
    """GR2, from the pixels alone: the difference is inside the mask, and no key-yellow remains in a masked frame."""
    group = make_group()
    case, _ = make_case(group)
    for step, boxes in group.mask_by_step.items():
        differs = (case.pixels("full", step) != case.pixels("nocue", step)).any(axis=2)
        inside = np.zeros_like(differs)
        for box in boxes:
            inside[box.top : box.top + 32, box.left : box.left + 32] = True
        assert differs.any() and not (differs & ~inside).any()


def test_cf1_no_intervention_one_that_changes_nothing_and_one_that_does_not_make_it_fail():
    group = make_group()
    group.traces["cf"] = dataclasses.replace(group.traces["cf"], intervention=None)
    case, _ = make_case(group)
    assert GATES_BY_NAME["CF1"](case)["cf"] == "no intervention is declared"

    group = make_group()
    harmless = dataclasses.replace(group.traces["cf"].intervention, parameters={"cells": []})
    group.traces["cf"] = group.world.execute(group.seed, group.actions, harmless)
    case, _ = make_case(group)
    assert "changes nothing" in GATES_BY_NAME["CF1"](case)["cf"]

    group = make_group()
    full = group.traces["full"]
    (x, y) = next((x, y) for y in range(1, 7) for x in range(1, 7) if full.states[0].at((x, y)) == EMPTY
                  and (x, y) not in {s.position for s in full.states} | {s.front for s in full.states})  # fmt: skip
    aside = dataclasses.replace(
        group.traces["cf"].intervention, parameters={"cells": [[x, y, full.states[0].at((0, 0))]]}
    )
    group.traces["cf"] = group.world.execute(group.seed, group.actions, aside)
    case, _ = make_case(group)
    assert GATES_BY_NAME["CF1"](case)["cf"] == "it succeeds"


def test_a_gate_that_cannot_be_asked_has_failed():
    case, _ = make_case(make_group())
    case.image_ids["nocue"].clear()
    assert ("N1", "full") in failures(case)


# --- gates on items ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class FakeItem:
    uid: str = "C.doorkey.s000001.full.orig.clean.neu.composite"
    task: str = "C"
    prompt: str = "Was the goal reached?"
    pictures: tuple = ()
    group_id: str = "doorkey_s000001"
    gold: str = "yes"
    variant: str = "full"
    condition: str | None = None
    columns: tuple = ("uid", "task", "prompt", "image_ids", "answer_format", "max_tokens")

    @property
    def image_ids(self):
        return [picture.image_id for picture in self.pictures]

    def item(self):
        return dict.fromkeys(self.columns)


WHITE = Picture(np.full((8, 8, 3), 255, dtype=np.uint8))
BLACK = Picture(np.zeros((8, 8, 3), dtype=np.uint8))


def renamed(picture, image_id=None, png=None):
    changed = copy.copy(picture)
    changed.image_id, changed.png = image_id or picture.image_id, png or picture.png
    return changed


def test_d3_prompts_and_rows_that_say_too_much():
    assert d3_isolation([FakeItem()]) is None
    assert "other columns" in d3_isolation([FakeItem(columns=("uid", "gold"))])
    for prompt in ("This is the counterfactual.", "seed 3", "at (np.int64(3), 4)", "s000001", "doorkey_s000001"):
        assert d3_isolation([FakeItem(prompt=prompt)]) is not None


def test_leak_free_metadata_names_sizes_and_counts():
    full, cf = (
        FakeItem(pictures=(WHITE,)),
        FakeItem(uid=FakeItem.uid.replace("full", "cf"), variant="cf", pictures=(BLACK,)),
    )
    assert leak_free([full, cf]) is None
    texted = renamed(WHITE, png=WHITE.png[:-12] + b"\0\0\0\2tEXtcf\0\0\0\0" + WHITE.png[-12:])
    assert "tEXt" in leak_free([dataclasses.replace(full, pictures=(texted,))])
    assert "named" in leak_free([dataclasses.replace(full, pictures=(renamed(WHITE, image_id="cf_3"),))])
    wide = Picture(np.zeros((8, 9, 3), dtype=np.uint8))
    assert "size" in leak_free([full, dataclasses.replace(cf, pictures=(wide,))])
    assert "number" in leak_free([full, dataclasses.replace(cf, pictures=(BLACK, BLACK))])
    cut = renamed(WHITE, png=WHITE.png[:-5])
    assert "cut off" in leak_free([dataclasses.replace(full, pictures=(cut,))])
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("RGBA", (8, 8), (255, 0, 0, 0)).save(file, "PNG")
    assert "opaque" in leak_free([dataclasses.replace(full, pictures=(renamed(WHITE, png=file.getvalue()),))])


def test_decidable_same_evidence_other_gold():
    full = FakeItem(pictures=(WHITE,))
    twin = FakeItem(uid="C.doorkey.s000002.cf.orig.clean.neu.composite", pictures=(WHITE,), gold="no")
    assert decidable([full, twin], {}) is not None
    seen: dict = {}
    assert decidable([full], seen) is None
    assert decidable([twin], seen) is not None
    assert decidable([dataclasses.replace(twin, pictures=(BLACK,))], seen) is None


def test_png_encoding_is_what_pillow_reads():
    import io

    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    picture = Image.open(io.BytesIO(encode(pixels)))
    assert picture.mode == "RGB" and not picture.info
    assert np.array_equal(np.asarray(picture), pixels)
    assert json.dumps(Picture(pixels).row() | {"png": ""})
