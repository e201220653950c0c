"""Task B: one frame described as JSON (paper 1, C.1 and F.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tasks.errors import StageFailed
from tasks.exams.gridworld.records import Draft, ExamTask, uid
from tasks.exams.gridworld.source import Source
from tasks.pictures.png import Picture
from tasks.stage import Config
from tasks.trajectories import Group

NAME = "B"


def draft(source: Source, groups: Sequence[Group], plan: Config) -> Iterator[list[Draft]]:
    """`frames` frames of Full of each group, no picture twice; frames with something to describe come first."""
    frames: int = plan["frames"]
    shown: set[str] = set()
    for group in groups:
        states = group.episodes["full"].states
        steps = list(range(len(states)))
        source.random(NAME, group.group_id).shuffle(steps)
        scenes = {step: source.environment.scene(states[step]) for step in steps}
        steps.sort(key=lambda step: not scenes[step]["objects"])
        items: list[Draft] = []
        for step in steps:
            image_id = source.image_id(group, "full", step)
            if len(items) == frames:
                break
            if image_id in shown:
                continue
            shown.add(image_id)
            items.append(
                Draft(
                    uid=uid(NAME, source.environment, group.short_id, "full", f"t{step:03d}"),
                    task=NAME,
                    prompt=source.prompts.prompt(NAME),
                    pictures=[Picture(source.frame(group, "full", step))],
                    **source.prompts.format_of(NAME),
                    group_id=group.group_id,
                    variant="full",
                    temporal="orig",
                    visual="clean",
                    gold=json.dumps(scenes[step], separators=(",", ":")),
                    steps=[step],
                )
            )
        if len(items) < frames:
            raise StageFailed(f"Task B: {group.group_id} has no {frames} frames that no other item shows")
        yield items


TASK = ExamTask(NAME, draft)
