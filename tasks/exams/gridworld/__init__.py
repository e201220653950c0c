"""Stage `exams`: the items of Tasks A-E of one shard, from its accepted groups (paper 1, Appendix C)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage.store import ArtifactWriter
from tasks.errors import StageFailed
from tasks.exams.gridworld import task_a, task_b, task_c, task_d, task_e
from tasks.exams.gridworld.prompts import load as prompt_set
from tasks.exams.gridworld.records import Draft
from tasks.exams.gridworld.source import Source
from tasks.exams.item_gates import examine_items
from tasks.stage import Config, Inputs, Stage
from tasks.trajectories import Group, groups
from tasks.worlds import environment

TASKS = {made.TASK.name: made.TASK for made in (task_a, task_b, task_c, task_d, task_e)}


class _GroupFails(Exception):
    """A group whose items do not pass; the exam is built again without it."""


def build(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """`groups`, `trajectories`, `frames`, `images`, `gate_results` -> `items`, `answers`, `images`, `gate_results`.

    Configuration: world, env, env_id, seed, prompts, prompts_sha256, tasks. Raises StageFailed where the accepted
    groups do not suffice for the counts.
    """
    env = environment(config["world"], config["env"], config["env_id"])
    heads = inputs["gates"].read("groups")
    accepted = set(heads.filter("accepted")["group_id"])
    able = list(groups(inputs["variants"], env, only=accepted))
    images = inputs["rendering"].arrow("images")
    place = {image_id: row for row, image_id in enumerate(images["image_id"].to_pylist())}
    frames = inputs["rendering"].read("frames")
    source = Source(
        env,
        prompt_set(config["prompts"], config["world"]),
        config["seed"],
        {(group, variant, step): image_id for group, variant, step, image_id in frames.iter_rows()},
        lambda image_id: images["png"][place[image_id]].as_py(),
    )
    refused: list[dict[str, Any]] = []
    while True:
        try:
            _write(source, able, config["tasks"], writer, refused)
            break
        except _GroupFails as failure:
            writer.discard()
            able = [group for group in able if group.group_id != str(failure)]
    writer.add("gate_results", refused)


def _write(
    source: Source, able: list[Group], tasks: Config, writer: ArtifactWriter, refused: list[dict[str, Any]]
) -> None:
    seen: dict[str, tuple[str, str]] = {}
    written: set[str] = set()
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for drafts in _drafts(source, able, tasks):
        if not drafts:
            continue
        group_id = drafts[0].group_id
        for gate, wrong in examine_items(drafts, seen).items():
            row = {"group_id": group_id, "variant": "items", "gate": gate, "passed": wrong is None, "detail": wrong}
            if wrong is not None:
                refused.append(row)
                raise _GroupFails(group_id)
            results[group_id, gate] = row
        writer.add("items", [draft.item() for draft in drafts])
        writer.add("answers", [draft.answer(source.environment) for draft in drafts])
        pictures = {picture.image_id: picture for draft in drafts for picture in draft.pictures}
        writer.add("images", [picture.row() for name, picture in pictures.items() if name not in written])
        written.update(pictures)
    writer.add("gate_results", list(results.values()))


def _drafts(source: Source, able: list[Group], tasks: Config) -> Iterator[list[Draft]]:
    """The items of every task, a list a group."""
    for name, plan in tasks.items():
        task = TASKS[name]
        wanted = task.groups(plan)
        if len(able) < wanted:
            raise StageFailed(
                f"{source.environment.env_id}: {len(able)} groups passed the gates, Task {name} wants {wanted}; "
                "raise the shard's `groups` in the profile"
            )
        yield from task.draft(source, able[:wanted], plan)


EXAMS = Stage("exams", 5, build)
