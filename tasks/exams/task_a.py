"""Task A: which of four views comes next after one action (paper 1, C.3).

Distractors are first of all what other actions would have led to from the same state, so that the action is needed;
only where those are too few, other frames of the same trajectory. Every distractor contradicts what the shown state and
the true action allow, so that one who reads perfectly and knows the rules is never left with two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tasks.errors import StageFailed
from tasks.exams.records import Draft, uid
from tasks.exams.source import Source
from tasks.rendering.png import Picture, image_id
from tasks.rendering.storyboard import panel
from tasks.trajectories import Group
from tasks.worlds.base import Pixels

LETTERS = "ABCD"
Option = tuple[str, Pixels]  # what stands at a letter, and its frame


def draft(source: Source, groups: Sequence[Group], count: int) -> Iterator[list[Draft]]:
    """`count` transitions of `groups`, each with its shuffled and its masked twin; a list a group. Transitions are taken
    in turn from the actions, the rarer ones first, and no two items show the same page."""
    choices = {group.group_id: _choices(source, group) for group in groups}
    order: list[tuple[Group, int, list[Option]]] = []
    by_action: dict[str, list[tuple[Group, int, list[Option]]]] = {}
    for group in groups:
        for step, options in choices[group.group_id]:
            by_action.setdefault(group.actions[step], []).append((group, step, options))
    shuffled = source.random("A", "transitions")
    for action in sorted(by_action):
        shuffled.shuffle(by_action[action])
    seen: set[tuple[str, ...]] = set()
    while len(order) < count and any(by_action.values()):
        for action in sorted(by_action, key=lambda name: (len(by_action[name]), name)):
            while by_action[action]:
                candidate = by_action[action].pop()
                page = tuple(image_id(pixels) for _, pixels in candidate[2])
                if page not in seen:
                    seen.add(page)
                    order.append(candidate)
                    break
            if len(order) == count:
                break
    if len(order) < count:
        raise StageFailed(
            f"Task A: {source.world.env_id} offers {len(order)} usable transitions in {len(groups)} trajectories, "
            f"{count} are wanted; give it more groups"
        )
    letters = [LETTERS[place % 4] for place in range(count)]
    shuffled.shuffle(letters)
    for group in groups:
        mine = [(place, step, options) for place, (owner, step, options) in enumerate(order) if owner is group]
        yield [
            item
            for place, step, options in sorted(mine, key=lambda entry: entry[1])
            for item in _items(source, group, step, options, letters[place])
        ]


def _choices(source: Source, group: Group) -> list[tuple[int, list[Option]]]:
    """(step, gold option first and three distractors) of every transition of Full that can be asked."""
    world, states = source.world, group.traces["full"].states
    steps = range(len(group.actions))
    branches = world.branches(group.seed, group.actions, steps)
    found = []
    for step in steps:
        action, now = group.actions[step], states[step]
        gold = source.frame(group, "full", step + 1)
        options: list[Option] = [("gold", gold)]
        used = {gold.tobytes()}
        if source.frame(group, "full", step).tobytes() in used:
            continue  # an action that changes nothing to be seen
        others: list[tuple[str, object, Pixels]] = [
            (f"successor:{name}", branch.state, branch.pixels)
            for name, branch in branches[step].items()
            if name != action
        ]
        nearby = sorted((t for t in range(len(states)) if t != step + 1), key=lambda t: (abs(t - step - 1), t))
        others += [(f"trajectory:{t}", states[t], source.frame(group, "full", t)) for t in nearby]
        for name, state, pixels in others:
            if len(options) == 4:
                break
            if pixels.tobytes() not in used and world.contradicts(now, action, state):
                used.add(pixels.tobytes())
                options.append((name, pixels))
        if len(options) == 4:
            found.append((step, options))
    return found


def _items(source: Source, group: Group, step: int, options: list[Option], gold: str) -> Iterator[Draft]:
    texts = source.prompts.tasks["A"]["actions"]
    random = source.random("A", group.group_id, step)
    gold_option, *distractors = options
    random.shuffle(distractors)
    displayed = list(distractors)
    displayed.insert(LETTERS.index(gold), gold_option)
    page = panel(
        ("NOW", source.frame(group, "full", step)),
        [(letter, pixels) for letter, (_, pixels) in zip(LETTERS, displayed, strict=True)],
    )
    picture = Picture.of(page)
    action = group.actions[step]
    mismatched = random.choice([name for name in sorted(texts) if name not in (action, "unknown")])
    base = uid("A", source.world, group.short_id, "full", f"t{step:03d}")
    for condition, shown in (("true", action), ("shuffle", mismatched), ("mask", "unknown")):
        yield Draft(
            uid=base if condition == "true" else f"{base}.{condition}",
            task="A",
            prompt=source.prompts.prompt("A", action=texts[shown]),
            pictures=[picture],
            **source.prompts.format_of("A"),
            group_id=group.group_id,
            variant="full",
            temporal="orig",
            visual="clean",
            condition=condition,
            gold=gold,
            companion_of=None if condition == "true" else base,
            steps=[step, step + 1],
            options=[name for name, _ in displayed],
        )
