"""Task A: which of four views comes next after one action (paper 1, C.3).

An item asks about a state of a Full trajectory and one action of the world, not always the one that the planner took: the
planner moves forward most of the time and interacts where it can, so that one who knows its habits could do without
the action. The action is drawn evenly among the successors that the state's actions have, the unchanged view among them, and
the distractors are first of all the other successors; only where those are too few, other frames of the same trajectory.
Every distractor contradicts what the shown state and the action allow, so that one who reads perfectly and knows the
rules is never left with two.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from storage import canonical_json
from tasks.errors import StageFailed
from tasks.exams.gridworld.records import Draft, ExamTask, uid
from tasks.exams.gridworld.source import Source
from tasks.pictures.pixels import Pixels
from tasks.pictures.png import Picture, image_id
from tasks.pictures.storyboard import panel
from tasks.stage import Config
from tasks.trajectories import Group
from tasks.worlds.base import Branch

NAME = "A"
LETTERS = "ABCD"
Draw = Callable[[], Pixels]


@dataclass(frozen=True)
class Successor:
    """A state that actions lead to; `kind` is "unchanged", or the first of the actions."""

    kind: str
    actions: tuple[str, ...]
    branch: Branch


@dataclass(frozen=True)
class TransitionItem:
    """One item: the action that is asked about, its true view and three distractors, and what identifies them."""

    group: Group
    step: int
    action: str
    mismatched: tuple[str, ...]  # actions that lead elsewhere
    options: tuple[tuple[str, Draw], ...]  # what stands at a letter, and its frame; the true one first
    shown: tuple[str, ...]


def draft(source: Source, groups: Sequence[Group], plan: Config) -> Iterator[list[Draft]]:
    """`items` items about states of `groups`, each with its shuffled and its masked twin; a list a group. States whose
    actions have four or more successors come first, and no two items show the same page."""
    count: int = plan["items"]
    draw = source.random(NAME, "questions")
    states: list[tuple[Group, int, list[Successor]]] = []
    for group in groups:
        branches = source.environment.branches(group.seed, group.actions, range(len(group.actions)))
        states += [(group, step, _successors(source, group, step, branches[step])) for step in branches]
    draw.shuffle(states)
    states.sort(key=lambda state: len(state[2]) < 4)
    cycles: dict[tuple[str, ...], list[str]] = {}
    chosen: list[TransitionItem] = []
    seen: set[tuple[str, ...]] = set()
    for group, step, successors in states:
        if len(chosen) == count:
            break
        kinds = tuple(sorted(successor.kind for successor in successors))
        asked = cycles.setdefault(kinds, [])
        if not asked:
            asked += draw.sample(kinds, len(kinds))
        for kind in asked:
            transition = _transition(source, group, step, successors, kind, draw)
            if transition is not None and transition.shown not in seen:
                asked.remove(kind)
                seen.add(transition.shown)
                chosen.append(transition)
                break
    if len(chosen) < count:
        raise StageFailed(
            f"Task A: {source.environment.env_id} offers {len(chosen)} usable transitions in {len(groups)} trajectories, "
            f"{count} are wanted; give it more groups"
        )
    first = draw.randrange(4)  # or the same letter would be one ahead in every environment
    letters = [LETTERS[(first + place) % 4] for place in range(count)]
    draw.shuffle(letters)
    for group in groups:
        mine = [pair for pair in zip(chosen, letters, strict=True) if pair[0].group is group]
        yield [
            item
            for transition, letter in sorted(mine, key=lambda pair: pair[0].step)
            for item in _items(source, transition, letter)
        ]


def _successors(source: Source, group: Group, step: int, branches: dict[str, Branch]) -> list[Successor]:
    """The distinct states that the actions lead to, in the order of the actions."""
    encode = source.environment.encode
    now = canonical_json(encode(group.episodes["full"].states[step]))
    found: dict[str, list[str]] = {}
    for action, branch in branches.items():
        found.setdefault(canonical_json(encode(branch.state)), []).append(action)
    return [
        Successor("unchanged" if state == now else actions[0], tuple(actions), branches[actions[0]])
        for state, actions in found.items()
    ]


def _transition(
    source: Source, group: Group, step: int, successors: list[Successor], kind: str, draw: random.Random
) -> TransitionItem | None:
    """The item whose true view is the successor of that kind; None where it cannot be asked fairly."""
    environment, states = source.environment, group.episodes["full"].states
    now = states[step]
    (gold,) = (successor for successor in successors if successor.kind == kind)
    action = draw.choice(gold.actions)
    if environment.contradicts(now, action, gold.branch.state):
        return None  # an environment with a rule of its own
    options: list[tuple[str, Draw]] = [(f"gold:{kind}", gold.branch.draw)]
    shown = [image_id(gold.branch.draw())]
    others = [(f"successor:{successor.kind}", successor.branch) for successor in successors if successor is not gold]
    draw.shuffle(others)
    nearby = sorted((t for t in range(len(states)) if t != step), key=lambda t: (abs(t - step), t))
    frames = [(f"trajectory:{t}", states[t], functools.partial(source.frame, group, "full", t)) for t in nearby]
    for name, state, frame in [(name, branch.state, branch.draw) for name, branch in others] + frames:
        if len(options) == 4:
            break
        if environment.contradicts(now, action, state) and (identity := image_id(frame())) not in shown:
            shown.append(identity)
            options.append((name, frame))
    if len(options) < 4:
        return None
    mismatched = tuple(name for successor in successors if successor is not gold for name in successor.actions)
    return TransitionItem(
        group, step, action, mismatched, tuple(options), (source.image_id(group, "full", step), *shown)
    )


def _items(source: Source, transition: TransitionItem, gold: str) -> Iterator[Draft]:
    group, step = transition.group, transition.step
    texts = source.prompts.tasks[NAME]["actions"]
    draw = source.random(NAME, group.group_id, step)
    gold_option, *displayed = transition.options
    draw.shuffle(displayed)
    displayed.insert(LETTERS.index(gold), gold_option)
    page = panel(
        ("NOW", source.frame(group, "full", step)),
        [(letter, frame()) for letter, (_, frame) in zip(LETTERS, displayed, strict=True)],
    )
    picture = Picture(page)
    mismatched = draw.choice(sorted(transition.mismatched))
    base = uid(NAME, source.environment, group.short_id, "full", f"t{step:03d}")
    for condition, shown in (("true", transition.action), ("shuffle", mismatched), ("mask", "unknown")):
        yield Draft(
            uid=base if condition == "true" else f"{base}.{condition}",
            task=NAME,
            prompt=source.prompts.prompt(NAME, action=texts[shown]),
            pictures=[picture],
            **source.prompts.format_of(NAME),
            group_id=group.group_id,
            variant="full",
            temporal="orig",
            visual="clean",
            condition=condition,
            gold=gold,
            companion_of=None if condition == "true" else base,
            steps=[step],
            options=[name for name, _ in displayed],
        )


TASK = ExamTask(NAME, draft)
