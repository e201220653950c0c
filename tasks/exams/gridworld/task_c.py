"""Task C: did the trajectory reach the goal, under probes of order, style, framing and representation (paper 1, C.2).

A group gives 18 temporal and visual items (3 variants x 2 orders x 3 styles, no framing sentence) and 9 framing items
(3 variants x 3 framings, original order, clean), each with a companion that shows the same frames as split pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from tasks.exams.gridworld.keyframes import keyframes
from tasks.exams.gridworld.records import Draft, ExamTask, uid
from tasks.exams.gridworld.source import Source
from tasks.pictures.styles import VISUALS
from tasks.stage import Config
from tasks.trajectories import Group

NAME = "C"
ORDERS = ("orig", "rev")


def draft(source: Source, groups: Sequence[Group], plan: Config) -> Iterator[list[Draft]]:
    """The items of each group. The plan's `probes` off leaves the temporal and visual items out, `split` off the split
    companions; `nocue_framings` are NoCue's own."""
    presentations = [(order, visual, None) for order, visual in product(ORDERS, VISUALS)] if plan["probes"] else []
    for group in groups:
        steps = keyframes(group)
        framed: dict[str, Sequence[str]] = {variant: plan["framings"] for variant in group.episodes}
        if plan["nocue_framings"] is not None:
            framed["nocue"] = plan["nocue_framings"]
        yield [
            item
            for variant in group.episodes
            for order, visual, framing in [*presentations, *(("orig", "clean", name) for name in framed[variant])]
            for item in _pair(source, group, steps, variant, order, visual, framing, plan["split"])
        ]


def _pair(
    source: Source,
    group: Group,
    steps: Sequence[int],
    variant: str,
    order: str,
    visual: str,
    framing: str | None,
    split: bool,
) -> Iterator[Draft]:
    """The composite item and its split companion."""
    texts = source.prompts.tasks[NAME]
    shown = list(steps) if order == "orig" else list(reversed(steps))
    parts = (group.short_id, variant, order, visual, framing)
    composite = uid(NAME, source.environment, *parts, "composite")
    for representation in ("composite", "split") if split else ("composite",):
        evidence = texts["evidence"][representation].format(count=len(shown))
        pictures = (
            [source.page(group, variant, shown, visual)]
            if representation == "composite"
            else source.split(group, variant, shown, visual)
        )
        yield Draft(
            uid=uid(NAME, source.environment, *parts, representation),
            task=NAME,
            prompt=source.prompts.prompt(
                NAME, texts["framing"][framing] if framing else "", evidence=evidence, mission=group.mission
            ),
            pictures=pictures,
            **source.prompts.format_of(NAME),
            group_id=group.group_id,
            variant=variant,
            temporal=order,
            visual=visual,
            framing=framing or "none",
            representation=representation,
            gold="yes" if group.episodes[variant].success else "no",
            companion_of=None if representation == "composite" else composite,
            steps=shown,
        )


TASK = ExamTask(NAME, draft)
