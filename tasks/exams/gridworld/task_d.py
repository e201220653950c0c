"""Task D: does a query trajectory complete the task of a successful reference (paper 1, C.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tasks.exams.gridworld.keyframes import keyframes
from tasks.exams.gridworld.records import Draft, ExamTask, uid
from tasks.exams.gridworld.source import Source
from tasks.pictures.png import Picture
from tasks.pictures.storyboard import sheet
from tasks.stage import Config
from tasks.trajectories import Group

NAME = "D"


def match(queries: Sequence[Group], references: Sequence[Group]) -> dict[str, Group]:
    """For each query (by group id) the reference whose length is nearest, the first of equals; never itself."""
    return {
        query.group_id: min(
            (reference for reference in references if reference.group_id != query.group_id),
            key=lambda reference: abs(len(reference.actions) - len(query.actions)),
        )
        for query in queries
    }


def draft(source: Source, groups: Sequence[Group], plan: Config) -> Iterator[list[Draft]]:
    """Every variant of every query under each of the plan's `presentations` (visual, framing), on a sheet with its
    reference's Full; `nocue_framings` are those in which NoCue is asked too. The first groups are the references."""
    references, queries = groups[: plan["references"]], groups[plan["references"] :]
    presentations = [(visual, framing) for visual, framing in plan["presentations"]]
    nocue_framings = plan["nocue_framings"]
    matched = match(queries, references)
    for query in queries:
        reference = matched[query.group_id]
        pages = {
            (variant, visual): _page(source, query, reference, variant, visual)
            for variant in query.episodes
            for visual in dict(presentations)
        }
        yield [
            _item(source, query, reference, variant, visual, framing, pages[variant, visual])
            for variant in query.episodes
            for visual, framing in presentations
            if variant != "nocue" or nocue_framings is None or framing in nocue_framings
        ]


def _page(source: Source, query: Group, reference: Group, variant: str, visual: str) -> Picture:
    above = source.storyboard(reference, "full", keyframes(reference), visual)
    below = source.storyboard(query, variant, keyframes(query), visual)
    return Picture(sheet([("REFERENCE", above), ("QUERY", below)]))


def _item(
    source: Source, query: Group, reference: Group, variant: str, visual: str, framing: str, page: Picture
) -> Draft:
    parts = (reference.short_id, query.short_id, variant, "orig", visual, framing, "composite")
    return Draft(
        uid=uid(NAME, source.environment, *parts),
        task=NAME,
        prompt=source.prompts.prompt(NAME, source.prompts.tasks[NAME]["framing"][framing]),
        pictures=[page],
        **source.prompts.format_of(NAME),
        group_id=query.group_id,
        variant=variant,
        temporal="orig",
        visual=visual,
        framing=framing,
        representation="composite",
        gold="success" if query.episodes[variant].success else "fail",
        reference_group_id=reference.group_id,
        steps=keyframes(query),
    )


TASK = ExamTask(NAME, draft, groups=lambda plan: int(plan["references"] + plan["queries"]))
