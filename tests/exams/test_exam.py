"""The exam as it leaves the stages: counts, uids, isolation, golds read back by independent routes."""

import io
import itertools
import json
import re

import numpy as np
import polars as pl
import pytest
from PIL import Image

from storage import SCHEMAS, Store
from tasks.errors import BadInput, StageFailed
from tasks.exams import ANSWERS, EXAMS
from tasks.exams.gridworld.keyframes import MOST_FRAMES, keyframes
from tasks.exams.gridworld.profiles import load
from tasks.exams.gridworld.prompts import load as prompt_set
from tasks.exams.item_gates import shown_digest
from tasks.stage import Ref, produce
from tasks.trajectories import groups
from tasks.worlds import environment
from tasks.worlds.minigrid.tiles import draw
from tests.conftest import SEED, generate

HEADLINE = pl.col("companion_of").is_null()  # items that count; companions stand beside them
BASE_COUNTS = {"A": 103, "B": 144, "C": 486, "D": 144, "E": 325}


def planned(profile):
    """Items by task that a profile asks for, counted from the profile alone."""
    totals = dict.fromkeys("ABCDE", 0)
    for shard in load("minigrid", profile).shards.values():
        totals["A"] += shard.A.items if shard.A else 0
        totals["B"] += shard.B.groups * shard.B.frames if shard.B else 0
        totals["C"] += shard.C.groups * 3 * (2 * 3 + 3) if shard.C else 0
        totals["D"] += shard.D.queries * 3 * len(shard.D.presentations) if shard.D else 0
        totals["E"] += sum(shard.E.roles.values()) if shard.E else 0
    return totals


def test_the_base_profile_asks_for_the_counts_of_table_9():
    assert planned("base") == BASE_COUNTS
    assert sum(BASE_COUNTS.values()) == 1202
    roles: dict[str, int] = {}
    for shard in load("minigrid", "base").shards.values():
        for role, count in (shard.E.roles if shard.E else {}).items():
            roles[role] = roles.get(role, 0) + count
    assert roles == {
        "identity_short": 48, "identity_medium": 48, "identity_long": 40, "status_early_holding": 48,
        "status_mid_holding": 45, "status_first_post_drop": 48, "status_late_post_drop": 48,
    }  # fmt: skip


def test_the_stages_make_exactly_what_the_profile_asks_for(smoke):
    answers = smoke.artifact("answers").read("answers")
    counts = dict(answers.filter(HEADLINE).group_by("task").len().iter_rows())
    assert counts == planned("smoke")
    companions = dict(answers.filter(~HEADLINE).group_by("task").len().iter_rows())
    assert companions == {"A": 2 * counts["A"], "C": counts["C"]}
    base = set(answers.filter(HEADLINE)["uid"])
    assert set(answers.filter(~HEADLINE)["companion_of"]) <= base


def test_items_and_answers_speak_of_the_same_uids_in_separate_artifacts(smoke):
    release, answers = smoke.artifact("release"), smoke.artifact("answers")
    assert set(release.manifest["rows"]) == {"items", "images"}
    assert set(answers.manifest["rows"]) == {"answers"}
    assert set(release.read("items")["uid"]) == set(answers.read("answers")["uid"])
    assert set(SCHEMAS["items"].names).isdisjoint({"gold", "variant", "group_id", "seed", "state"})


def test_uids_follow_the_contract(smoke):
    for uid, task in smoke.artifact("release").read("items").select("uid", "task").iter_rows():
        pattern = {
            "A": r"A\.[a-z]+\.s\d{6}\.full\.t\d{3}(\.(shuffle|mask))?",
            "B": r"B\.[a-z]+\.s\d{6}\.full\.t\d{3}",
            "C": r"C\.[a-z]+\.s\d{6}\.(full|nocue|cf)\.(orig|rev)\.(clean|noisy|style)(\.(neu|pos|neg))?\.(composite|split)",
            "D": r"D\.[a-z]+\.s\d{6}\.s\d{6}\.(full|nocue|cf)\.orig\.(clean|style)\.(neu|pos|neg)\.composite",
            "E": r"E\.[a-z]+\.s\d{6}\.full\.(identity|status)_[a-z_]+",
        }[task]
        assert re.fullmatch(pattern, uid), uid


def test_nothing_that_a_model_receives_tells_variant_or_label(smoke):
    release = smoke.artifact("release")
    for png, image_id in release.read("images").select("png", "image_id").iter_rows():
        picture = Image.open(io.BytesIO(png))
        assert picture.mode == "RGB" and not picture.info and picture.format == "PNG"
        assert re.fullmatch(r"[0-9a-f]{64}", image_id)
    for prompt in release.read("items")["prompt"].unique():
        assert not re.search(r"np\.|array\(|s\d{6}|nocue|counterfactual", prompt, re.I)


def test_matched_variants_differ_in_their_pictures_alone(smoke):
    items = smoke.artifact("release").read("items")
    sizes = dict(smoke.artifact("release").read("images").select("image_id", pl.struct("width", "height")).iter_rows())
    answers = smoke.artifact("answers").read("answers")
    rows = items.join(answers.drop("task"), on="uid").filter(pl.col("task").is_in(["C", "D"]))
    twins = rows.group_by("task", "group_id", "temporal", "visual", "framing", "representation", "reference_group_id")
    for _, matched in twins:
        assert sorted(matched["variant"]) == ["cf", "full", "nocue"]
        assert matched["prompt"].n_unique() == 1 and matched["steps"].n_unique() == 1
        assert matched["image_ids"].n_unique() == 3
        assert len({tuple(str(sizes[i]) for i in ids) for ids in matched["image_ids"]}) == 1
        assert dict(matched.select("variant", "gold").iter_rows()) in (
            {"full": "yes", "nocue": "yes", "cf": "no"},
            {"full": "success", "nocue": "success", "cf": "fail"},
        )


def test_reversed_items_show_the_same_frames_backwards(smoke):
    items = (
        smoke.artifact("release").read("items").join(smoke.artifact("answers").read("answers").drop("task"), on="uid")
    )
    rows = {
        uid: (steps, image_ids)
        for uid, steps, image_ids in items.filter(pl.col("task") == "C").select("uid", "steps", "image_ids").iter_rows()
    }
    reversed_uids = [uid for uid in rows if ".rev." in uid]
    assert reversed_uids
    for uid in reversed_uids:
        (back, back_ids), (forth, forth_ids) = rows[uid], rows[uid.replace(".rev.", ".orig.")]
        assert back == forth[::-1] and forth == sorted(forth)
        assert back_ids == forth_ids[::-1] if uid.endswith("split") else back_ids != forth_ids


def test_the_exam_is_decidable(smoke):
    items = smoke.artifact("release").read("items")
    rows = items.join(smoke.artifact("answers").read("answers").drop("task"), on="uid").filter(
        pl.col("condition").is_null() | ~pl.col("condition").is_in(["shuffle", "mask"])
    )
    gold: dict[str, str] = {}
    for prompt, image_ids, answer in rows.select("prompt", "image_ids", "gold").iter_rows():
        assert gold.setdefault(shown_digest(prompt, image_ids), answer) == answer


def test_answers_refuse_an_exam_that_is_not_decidable(tmp_path):
    store = Store(tmp_path)
    shards = {}
    for name, gold in (("one", "yes"), ("two", "no")):
        writer = store.writer("exams", name)
        uid = f"C.doorkey.{name}"
        row = {"uid": uid, "task": "C", "prompt": "p", "image_ids": ["i"], "answer_format": "yes_no", "max_tokens": 9}
        writer.add("items", [row])
        about = {"world": "minigrid", "env": "doorkey", "env_id": "x", "group_id": name, "gold": gold}
        writer.add("answers", [{"uid": uid, "task": "C"} | about])
        writer.commit(1, {}, {})
        shards[f"exams.{name}"] = Ref("exams", name)
    with pytest.raises(StageFailed, match=r"C\.doorkey\.two shows what C\.doorkey\.one shows"):
        produce(str(tmp_path), ANSWERS, "all", {}, shards)
    assert list(store.files.list("artifacts/answers")) == []


def asked_action(prompt):
    texts = prompt_set("minigrid-v1").tasks["A"]["actions"]
    told = prompt.split("Action: ")[1].split("\n")[0]
    return next(name for name, text in texts.items() if text == told)


def test_task_a_gold_is_the_letter_at_which_the_simulators_next_frame_stands(smoke):
    """Labels read back from the pixels: the page's gold candidate is what a fresh simulator shows after the prefix of
    the trajectory and the action that the prompt names; no other candidate is."""
    answers = smoke.artifact("answers").read("answers").filter((pl.col("task") == "A") & HEADLINE)
    release = smoke.artifact("release")
    items = {
        uid: (ids, text) for uid, ids, text in release.read("items").select("uid", "image_ids", "prompt").iter_rows()
    }
    pages = dict(release.read("images").select("image_id", "png").iter_rows())
    corners = {"A": (264, 32), "B": (496, 32), "C": (264, 288), "D": (496, 288)}
    for env, env_id in answers.select("env", "env_id").unique().iter_rows():
        world = environment("minigrid", env, env_id)
        made = {group.group_id: group for group in groups(smoke.artifact("variants", env), world)}
        for uid, group_id, gold, steps, options in (
            answers.filter(pl.col("env") == env).select("uid", "group_id", "gold", "steps", "options").iter_rows()
        ):
            (image_ids, prompt), group = items[uid], made[group_id]
            page = np.asarray(Image.open(io.BytesIO(pages[image_ids[0]])))
            episode = world.execute(group.seed, [*group.actions[: steps[0]], asked_action(prompt)])
            before, after = (draw(state.view) for state in episode.states[-2:])
            cut = {letter: page[y : y + 224, x : x + 224] for letter, (x, y) in corners.items()}
            assert [letter for letter, pixels in cut.items() if np.array_equal(pixels, after)] == [gold]
            assert options["ABCD".index(gold)].startswith("gold:")
            assert np.array_equal(page[32:256, 8:232], before)


def test_task_a_asks_evenly_among_the_outcomes_it_shows(smoke):
    """One who knows which outcome is usually asked about, but not the action, must gain little: over items that show
    the same kinds of outcomes no kind is asked more than once more often than another."""
    answers = smoke.artifact("answers").read("answers").filter((pl.col("task") == "A") & HEADLINE)
    assert answers["options"].list.eval(pl.element().str.starts_with("successor")).list.sum().mean() > 2.5
    prompts = dict(smoke.artifact("release").read("items").select("uid", "prompt").iter_rows())
    asked = [asked_action(prompts[uid]) for uid in answers["uid"]]
    assert max(asked.count(action) for action in set(asked)) <= len(asked) // 2
    assert len(set(asked)) >= 4


def test_task_a_letters_are_spread_and_ablations_show_the_same_page(smoke):
    answers = smoke.artifact("answers").read("answers").filter(pl.col("task") == "A")
    letters = answers.filter(HEADLINE).group_by("env", "gold").len()["len"]
    assert letters.max() - letters.min() <= 1
    items = smoke.artifact("release").read("items").join(answers.drop("task"), on="uid")
    for _, three in items.group_by(pl.coalesce("companion_of", "uid")):
        assert sorted(three["condition"]) == ["mask", "shuffle", "true"]
        assert three["image_ids"].n_unique() == 1 and three["prompt"].n_unique() == 3
        masked = three.filter(pl.col("condition") == "mask")["prompt"][0]
        assert "Action: unknown\n" in masked


def test_task_e_gold_follows_from_the_stored_states(smoke):
    """Recomputed from the states: the first thing carried, and whether it is carried at the checkpoint."""
    answers = smoke.artifact("answers").read("answers").filter(pl.col("task") == "E")
    for env in answers["env"].unique():
        rows = smoke.artifact("variants", env).read("trajectories").filter(pl.col("variant") == "full")
        carried = {
            group: [json.loads(state)["carrying"] for state in states]
            for group, states in rows.select("group_id", "states").iter_rows()
        }
        names = {"K": "key", "B": "ball", "X": "box"}
        colors = dict(zip("rgbpye", ["red", "green", "blue", "purple", "yellow", "grey"], strict=True))
        for group, role, gold, steps in (
            answers.filter(pl.col("env") == env).select("group_id", "condition", "gold", "steps").iter_rows()
        ):
            shown = carried[group][: max(steps) + 1]
            assert max(steps) < len(carried[group]) - 1
            first = next(token for token in shown if token != "...")
            if role.startswith("identity"):
                assert gold == f"{names[first[0]]}_{colors[first[1]]}"
            else:
                dropped = any(a == first and b != first for a, b in itertools.pairwise(shown))
                holding = shown[-1] == first
                assert gold == ("dropped" if not holding else "reacquired_and_holding" if dropped else "holding")


def test_keyframes_hold_the_events_and_keep_to_the_limit(smoke):
    for env in smoke.refs["variants"]:
        for group in groups(smoke.artifact("variants", env), environment("minigrid", env)):
            steps = keyframes(group)
            assert steps == sorted(set(steps)) and len(steps) <= MOST_FRAMES
            assert steps[0] == 0 and steps[-1] == len(group.actions)
            assert set(steps) & set(group.mask_by_step)
            if len({e.step for e in group.episodes["full"].events}) + 3 <= MOST_FRAMES:
                assert {event.step for event in group.episodes["full"].events} <= set(steps)
            assert len(keyframes(group, last=3)) == 4


def test_the_same_bytes_in_another_folder_and_with_other_processes(smoke, tmp_path):
    again = generate(tmp_path, processes=2)
    for stage, shards in smoke.refs.items():
        for shard, ref in shards.items():
            assert again.refs[stage][shard] == ref
            parts = [smoke.artifact(stage, shard).manifest["parts"], again.artifact(stage, shard).manifest["parts"]]
            assert parts[0] == parts[1], f"{stage}[{shard}]"


def test_too_few_groups_is_a_clear_failure(smoke):
    plan = load("minigrid", "smoke")
    config = plan.exams("doorkey", SEED)
    config["tasks"] = {"B": {"groups": 40, "frames": 2}}
    inputs = {stage: smoke.refs[stage]["doorkey"] for stage in ("variants", "rendering", "gates")}
    with pytest.raises(StageFailed, match="groups passed the gates, Task B wants 40; raise the shard's `groups`"):
        produce(smoke.store.location, EXAMS, "doorkey", config, inputs)


def test_profiles_and_prompt_sets_that_there_are_not(tmp_path):
    with pytest.raises(BadInput, match="did you mean 'base'"):
        load("minigrid", "bse")
    broken = tmp_path / "mine.toml"
    broken.write_text(
        'world = "minigrid"\nprompts = "minigrid-v1"\n[shards.doorkey]\nenv_id = "x"\ngroups = 2\ngruops = 3\n'
    )
    with pytest.raises(BadInput, match=r"shards\.doorkey\.gruops"):
        load("minigrid", str(broken))
    with pytest.raises(BadInput, match="there are minigrid-v1"):
        prompt_set("minigrid-v0")


WORDS = '[tasks.B]\nanswer_format = "scene"\nmax_tokens = 9\ntext = "What is there?"\n'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("legend = 'a'\n[tasks]\n", r"has no \[tasks\.A\], which shard doorkey asks"),
        ("legend = 'a'\n" + WORDS, r"has no \[tasks\.A\]"),
        (WORDS, "needs a text `legend`"),
        ("legend = 'a'\ntasks = 3\n", r"a table \[tasks\.X\]"),
        ("legend = 'a'\n[tasks]\nA = 'yes?'\n", r"\[tasks\.A\] needs text, a text"),
        ("legend = 'a'\n" + WORDS.replace("9", "'9'"), r"\[tasks\.B\] needs max_tokens, a whole number"),
    ],
)
def test_a_prompt_set_that_lacks_what_a_shard_asks_is_named(tmp_path, words, told):
    path = tmp_path / "mine.toml"
    path.write_text(words)
    profile = load("minigrid", "smoke").model_copy(update={"prompts": str(path)})
    with pytest.raises(BadInput, match=told):
        profile.exams("doorkey", SEED)


@pytest.mark.parametrize("braces", ["{sight}", "{}", "{mission.color}", "{"])
def test_braces_that_nothing_fills_in_are_named(tmp_path, braces):
    path = tmp_path / "mine.toml"
    path.write_text(f"legend = 'a'\n{WORDS.replace('What', braces)}")
    with pytest.raises(
        BadInput, match=r"the text of \[tasks\.B\] has braces that cannot be filled in .* have mission;"
    ):
        prompt_set(str(path)).prompt("B", mission="get there")
