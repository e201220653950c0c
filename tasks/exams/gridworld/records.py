"""A task of the exam, and an item of it as its three parts: what a model may see, what only the audit may, the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.exams.gridworld.source import Source
from tasks.pictures.png import Picture
from tasks.stage import Config
from tasks.trajectories import Group
from tasks.worlds.base import Environment


@dataclass(frozen=True)
class Draft:
    """An item before it is written. `pictures` are in the order in which a model gets them; the other fields are the
    columns of `items` and `answers`."""

    uid: str
    task: str
    prompt: str
    pictures: Sequence[Picture] = field(repr=False)
    answer_format: str
    max_tokens: int
    group_id: str
    gold: str
    variant: str | None = None
    temporal: str | None = None
    visual: str | None = None
    framing: str | None = None
    representation: str | None = None
    condition: str | None = None
    companion_of: str | None = None
    reference_group_id: str | None = None
    steps: Sequence[int] = ()
    options: Sequence[str] | None = None

    @property
    def image_ids(self) -> list[str]:
        return [picture.image_id for picture in self.pictures]

    def item(self) -> dict[str, Any]:
        """A row of `items`."""
        return {
            "uid": self.uid,
            "task": self.task,
            "prompt": self.prompt,
            "image_ids": self.image_ids,
            "answer_format": self.answer_format,
            "max_tokens": self.max_tokens,
        }

    def answer(self, environment: Environment) -> dict[str, Any]:
        """A row of `answers`."""
        hidden = {"prompt", "pictures", "answer_format", "max_tokens"}
        columns = {name: getattr(self, name) for name in _FIELDS if name not in hidden}
        columns |= {"steps": list(self.steps), "options": list(self.options) if self.options else None}
        return columns | {"world": environment.world, "env": environment.name, "env_id": environment.env_id}


_FIELDS = tuple(Draft.__dataclass_fields__)


def uid(task: str, environment: Environment, *parts: str | None) -> str:
    """`TASK.env.` and the parts that the task has, joined by dots."""
    return ".".join([task, environment.name, *(part for part in parts if part)])


@dataclass(frozen=True)
class ExamTask:
    """A task of the exam: `draft` makes the items, a list a group, by the profile's plan for it; `groups` says how many
    groups that plan wants."""

    name: str
    draft: Callable[[Source, Sequence[Group], Config], Iterator[list[Draft]]]
    groups: Callable[[Config], int] = lambda plan: int(plan["groups"])
