"""Task E: what was the first object picked up, and what has become of it by a checkpoint (paper 1, C.1).

A trajectory with its first pickup at step p, that object's drop at d and its end at T is asked about at checkpoints
before T: identity at a short, a medium and a long distance from p; status early and midway while it is held, at the
drop, and long after it. All storyboards of a trajectory show equally many frames, or their number would tell how late
the checkpoint is and with it the status.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tasks.errors import StageFailed
from tasks.exams.gridworld.keyframes import keyframes
from tasks.exams.gridworld.records import Draft, ExamTask, uid
from tasks.exams.gridworld.source import Source
from tasks.stage import Config
from tasks.trajectories import Group

NAME = "E"
ROLES = (
    "identity_short", "identity_medium", "identity_long",
    "status_early_holding", "status_mid_holding", "status_first_post_drop", "status_late_post_drop",
)  # fmt: skip


LEAST_FRAMES, MOST_FRAMES = 4, 8


def story(group: Group) -> tuple[str, int, int, int]:
    """(first object as `key_yellow`, pickup step, step of its drop, last step) of Full. Raises StageFailed."""
    full = group.episodes["full"]
    named = [(event.step, event.name.split()) for event in full.events]
    pickups = [(step, words[1:]) for step, words in named if words[0] == "pickup" and len(words) == 3]
    if not pickups:
        raise StageFailed(f"Task E: nothing is picked up in {group.group_id}")
    picked, (color, kind) = pickups[0]
    drops = [step for step, words in named if words == ["drop", color, kind] and step > picked]
    if not drops:
        raise StageFailed(f"Task E: the first object is never put down in {group.group_id}")
    return f"{kind}_{color}", picked, drops[0], len(full.states) - 1


def frames_shown(group: Group) -> int:
    """How many frames each of the trajectory's storyboards shows: as many as there are at its first checkpoint."""
    return min(story(group)[1] + 1, MOST_FRAMES)


def checkpoints(group: Group) -> dict[str, int]:
    """The step of each role that this trajectory has room for; none where so few frames precede the pickup that they
    could not tell a story."""
    _, picked, dropped, end = story(group)
    if picked + 1 < LEAST_FRAMES:
        return {}
    last = end - 1
    steps = {
        "identity_short": picked + 1,
        "identity_medium": (picked + 1 + last) // 2,
        "identity_long": last,
        "status_early_holding": picked,
        "status_mid_holding": (picked + dropped) // 2,
        "status_first_post_drop": dropped,
        "status_late_post_drop": (dropped + 1 + last + 1) // 2,
    }
    distinct = (
        ("identity_short", "identity_medium"),
        ("identity_medium", "identity_long"),
        ("status_early_holding", "status_mid_holding"),
        ("status_first_post_drop", "status_late_post_drop"),
    )
    for earlier, later in distinct:
        if steps.get(earlier, -1) >= steps[later] or steps[later] > last:
            del steps[later]
    return steps


def room(group: Group, role: str) -> int:
    """How far the role's checkpoint lies from the pickup or the drop that it is about."""
    _, picked, dropped, _ = story(group)
    return checkpoints(group).get(role, -1) - (dropped if role.endswith("post_drop") else picked)


def draft(source: Source, groups: Sequence[Group], plan: Config) -> Iterator[list[Draft]]:
    """`roles[role]` items of each role: where fewer than all groups are asked, those with the most room for it."""
    asked: dict[str, set[str]] = {}
    for role, count in plan["roles"].items():
        able = [group for group in groups if role in checkpoints(group)]
        if len(able) < count:
            raise StageFailed(
                f"Task E: {len(able)} of {len(groups)} trajectories of {source.environment.env_id} have room for {role}, "
                f"{count} are wanted; give it more groups, and a quiet_start of at least {LEAST_FRAMES - 1}"
            )
        able.sort(key=lambda group: (-room(group, role), group.group_id))
        asked[role] = {group.group_id for group in able[:count]}
    for group in groups:
        steps = checkpoints(group)
        yield [_item(source, group, role, steps[role]) for role in ROLES if group.group_id in asked.get(role, ())]


def _item(source: Source, group: Group, role: str, checkpoint: int) -> Draft:
    label, _, dropped, _ = story(group)
    question = role.split("_")[0]
    steps = keyframes(group, last=checkpoint, most=frames_shown(group))
    return Draft(
        uid=uid(NAME, source.environment, group.short_id, "full", role),
        task=NAME,
        prompt=source.prompts.prompt(NAME, question=source.prompts.tasks[NAME]["questions"][question]),
        pictures=[source.page(group, "full", steps)],
        **source.prompts.format_of(NAME),
        group_id=group.group_id,
        variant="full",
        temporal="orig",
        visual="clean",
        representation="composite",
        condition=role,
        gold=label if question == "identity" else _status(group, label, dropped, checkpoint),
        steps=steps,
    )


def _status(group: Group, label: str, dropped: int, checkpoint: int) -> str:
    if checkpoint < dropped:
        return "holding"
    kind, color = label.split("_")
    again = [
        event.step
        for event in group.episodes["full"].events
        if event.name == f"pickup {color} {kind}" and dropped < event.step <= checkpoint
    ]
    return "reacquired_and_holding" if again else "dropped"


TASK = ExamTask(NAME, draft)
