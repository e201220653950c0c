"""A chain that asks twice: on which side is the flag, and, after the first answer, again."""

import polars as pl
from pydantic import Field

from worldaudit import (
    ANSWERS,
    RELEASE,
    Chain,
    ChainParameters,
    Picture,
    Rejected,
    Stage,
    ask,
    judge_specs,
    read,
    report,
    score,
    tags_of,
)
from worldaudit_extension.side import SIDES

ASKED = "The picture shows a red robot and a green flag on a line. On which side of the robot is the flag?"
FORMAT = "Answer with one word: left or right."


def write_seeds(inputs, config, writer):
    """`n` accepted groups whose flag is on one side."""
    from worldaudit_extension.line.reach_flag import ReachFlag

    environment, found, seed = ReachFlag(), 0, config["first"]
    while found < config["n"]:
        row = {"group_id": f"line-{config['side']}-{seed}", "world": "line", "env": environment.name}
        row |= {"env_id": environment.env_id, "seed": seed, "accepted": False}
        try:
            full = environment.rollout(seed)
            side = full.actions[0]
            if side == config["side"]:
                row |= {"mission": full.mission, "actions": full.actions, "steps": len(full.actions), "accepted": True}
                found += 1
            else:
                row["reject_reason"] = f"the flag is on the {side}"
        except Rejected as error:
            row["reject_reason"] = str(error)
        writer.add("groups", [row])
        seed += 1


def write_exam(inputs, config, writer):
    """A side's items, pictures and answers: one item for every state but the last. A picture is written once."""
    from worldaudit_extension.line.reach_flag import ReachFlag

    environment, written = ReachFlag(), set()
    for row in inputs["seeds"].read("groups").filter(pl.col("accepted")).iter_rows(named=True):
        full = environment.execute(row["seed"], row["actions"])
        frames = environment.frames(row["seed"], full)
        for step, (action, state, frame) in enumerate(zip(full.actions, full.states, frames, strict=False)):
            uid, picture = f"{row['group_id']}-{step}", Picture(frame).row()
            if picture["image_id"] not in written:
                written.add(picture["image_id"])
                writer.add("images", [picture])
            writer.add("items", [item(uid, f"{ASKED} {FORMAT}", [picture["image_id"]])])
            far = abs(state["flag"] - state["robot"]) >= 3
            answer = {key: row[key] for key in ("world", "env", "env_id", "group_id")}
            answer |= {"uid": uid, "task": "side", "gold": action, "steps": [step]}
            writer.add("answers", [answer | {"condition": "far" if far else "near"}])


def write_revised(inputs, config, writer):
    """The same items for one judge, who is told what it said; their pictures stay in the first release."""
    said = {row["uid"]: row["value"] for row in inputs["parsed"].read("parsed").iter_rows(named=True)}
    for row in inputs["release"].read("items").iter_rows(named=True):
        first = f"You said {said[row['uid']]}." if said.get(row["uid"]) in SIDES else "You gave no answer."
        writer.add("items", [item(row["uid"], f"{ASKED} {first} Look again. {FORMAT}", row["image_ids"])])


def item(uid, prompt, image_ids):
    return {
        "uid": uid,
        "task": "side",
        "prompt": prompt,
        "image_ids": image_ids,
        "answer_format": "side",
        "max_tokens": 16,
    }


SEEDS = Stage("line-seeds", 1, write_seeds)
EXAM = Stage("line-exam", 1, write_exam)
REVISED = Stage("line-revised", 1, write_revised)


class Parameters(ChainParameters):
    seeds: int = Field(default=4, ge=1, description="Groups a side.")
    judges: tuple[str, ...] = Field(default=("line-reader",), description="Judges, embedded or of the configuration.")
    seed: int = Field(default=0, ge=0, description="The first seed that is tried.")


def steps(run, asked):
    specs = judge_specs(asked.judges, run.configuration)
    seeds = run.each(SEEDS, {side: {"side": side, "n": asked.seeds, "first": asked.seed} for side in SIDES})
    exams = run.each(EXAM, {side: {} for side in SIDES}, seeds=seeds)
    release = run.one(RELEASE, {}, exams=exams)  # items and pictures: what judges see
    answers = run.one(ANSWERS, {}, exams=exams, release=release)  # what they do not
    run.exam(release)
    # What is scored and reported has the usual step names, `inference` and `parsing`: the report looks for those.
    first = ask(run, specs, step="first-inference", release=release)
    said = read(run, first, release, tags_of(specs), step="first-parsing")
    revised = run.each(REVISED, {judge: {} for judge in specs}, release=release, parsed=said)
    second = ask(run, specs, release=revised, images=release)
    parsed = read(run, second, revised, tags_of(specs))
    score(run, answers, second, parsed, seed=asked.seed)
    report(run)


CHAIN = Chain(
    "second-look",
    "On which side is the flag? Ask, and ask again.",
    Parameters,
    steps,
    stages=(SEEDS, EXAM, RELEASE, ANSWERS, REVISED),
    runnable=True,
)
