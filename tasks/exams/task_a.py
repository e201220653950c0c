"""Task A: which of four views comes next after one action (paper 1, C.3).

Distractors are first of all what other actions would have led to from the same state, so that the action is needed;
only where those are too few, other frames of the same trajectory. Every distractor contradicts what the shown state and
the true action allow, so that one who reads perfectly and knows the rules is never left with two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from tasks.errors import StageFailed
from tasks.exams.records import Draft, uid
from tasks.exams.source import Source
from tasks.rendering.png import Picture, image_id
from tasks.rendering.storyboard import panel
from tasks.trajectories import Group
from tasks.worlds.base import Branch, Pixels

LETTERS = "ABCD"
Draw = Callable[[], Pixels]
Option = tuple[str, Draw]  # what stands at a letter, and its frame


def draft(source: Source, groups: Sequence[Group], count: int) -> Iterator[list[Draft]]:
    """`count` transitions of `groups`, each with its shuffled and its masked twin; a list a group. Transitions are taken
    in turn from the actions, the rarer ones first, and no two items show the same page."""
    branches = {g.group_id: source.world.branches(g.seed, g.actions, range(len(g.actions))) for g in groups}
    waiting: dict[str, list[tuple[Group, int]]] = {}
    for group in groups:
        for step, action in enumerate(group.actions):
            waiting.setdefault(action, []).append((group, step))
    shuffled = source.random("A", "transitions")
    for action in sorted(waiting):
        shuffled.shuffle(waiting[action])
    order: list[tuple[Group, int, list[Option]]] = []
    seen: set[tuple[str, ...]] = set()
    while len(order) < count and any(waiting.values()):
        for action in sorted(waiting, key=lambda name: (len(waiting[name]), name)):
            while waiting[action]:
                group, step = waiting[action].pop()
                options, page = _options(source, group, step, branches[group.group_id][step])
                if len(options) == 4 and page not in seen:
                    seen.add(page)
                    order.append((group, step, options))
                    break
            if len(order) == count:
                break
    if len(order) < count:
        raise StageFailed(
            f"Task A: {source.world.env_id} offers {len(order)} usable transitions in {len(groups)} trajectories, "
            f"{count} are wanted; give it more groups"
        )
    first = shuffled.randrange(4)  # or the same letter would be one ahead in every environment
    letters = [LETTERS[(first + place) % 4] for place in range(count)]
    shuffled.shuffle(letters)
    for group in groups:
        mine = [(place, step, options) for place, (owner, step, options) in enumerate(order) if owner is group]
        yield [
            item
            for place, step, options in sorted(mine, key=lambda entry: entry[1])
            for item in _items(source, group, step, options, letters[place])
        ]


def _options(
    source: Source, group: Group, step: int, branches: dict[str, Branch]
) -> tuple[list[Option], tuple[str, ...]]:
    """The gold option and three distractors for a transition of Full (fewer where it cannot be asked), and what
    identifies them: the image ids of their frames."""
    world, states = source.world, group.traces["full"].states
    action, now = group.actions[step], states[step]

    def frame(at: int) -> Draw:
        return functools.partial(source.frame, group, "full", at)

    options: list[Option] = [("gold", frame(step + 1))]
    used = [source.image_id(group, "full", step + 1)]
    if source.image_id(group, "full", step) == used[0]:
        return [], ()  # an action that changes nothing to be seen
    others = [(f"successor:{name}", branch.state, branch.draw) for name, branch in branches.items() if name != action]
    nearby = sorted((t for t in range(len(states)) if t != step + 1), key=lambda t: (abs(t - step - 1), t))
    others += [(f"trajectory:{t}", states[t], frame(t)) for t in nearby]
    for name, state, draw in others:
        if len(options) == 4:
            break
        if world.contradicts(now, action, state) and (shown := image_id(draw())) not in used:
            used.append(shown)
            options.append((name, draw))
    return options, tuple(used)


def _items(source: Source, group: Group, step: int, options: list[Option], gold: str) -> Iterator[Draft]:
    texts = source.prompts.tasks["A"]["actions"]
    random = source.random("A", group.group_id, step)
    gold_option, *distractors = options
    random.shuffle(distractors)
    displayed = list(distractors)
    displayed.insert(LETTERS.index(gold), gold_option)
    page = panel(
        ("NOW", source.frame(group, "full", step)),
        [(letter, draw()) for letter, (_, draw) in zip(LETTERS, displayed, strict=True)],
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
