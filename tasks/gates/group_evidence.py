"""What a gate gets to see of a group: its table rows, its pictures, and a fresh simulator for each variant."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks.pictures.pixels import Pixels
from tasks.pictures.png import decode
from tasks.trajectories import Group
from tasks.worlds.base import Environment, Json, MaskBox, Witness

Findings = dict[str, str | None]  # variant -> what is wrong, None where nothing is


def _once(encoded: dict[int, Json], state: Any, environment: Environment) -> Json:
    if id(state) not in encoded:
        encoded[id(state)] = environment.encode(state)
    return encoded[id(state)]


@dataclass
class GroupEvidence:
    """`image_ids[variant]` lists the frame of each step; `png` finds a picture's bytes by its id."""

    group: Group
    image_ids: Mapping[str, Mapping[int, str]]
    png: Callable[[str], bytes]
    _pixels: dict[str, Pixels] = field(default_factory=dict)
    _witnesses: dict[str, Witness] = field(default_factory=dict)

    def pixels(self, variant: str, step: int) -> Pixels:
        """The picture that the exam would show of a step, decoded from its PNG."""
        image_id = self.image_ids[variant][step]
        if image_id not in self._pixels:
            self._pixels[image_id] = decode(self.png(image_id))
        return self._pixels[image_id]

    def boxes(self, variant: str, step: int) -> list[MaskBox]:
        return self.group.mask_by_step.get(step, []) if variant == "nocue" else []

    @functools.cached_property
    def stored(self) -> dict[str, list[Json]]:
        """The states of each variant as the table has them."""
        encoded: dict[int, Json] = {}
        return {
            variant: [_once(encoded, state, self.group.environment) for state in episode.states]
            for variant, episode in self.group.episodes.items()
        }

    def witness(self, variant: str) -> Witness:
        """The group's own actions in a fresh simulator: from the seed alone for Full and NoCue, after the declared
        intervention for CF."""
        name = "cf" if variant == "cf" else "full"
        if name not in self._witnesses:
            group = self.group
            intervention = group.episodes["cf"].intervention if name == "cf" else None
            self._witnesses[name] = group.environment.witness(
                group.seed, group.actions, intervention, group.episodes["full"]
            )
        return self._witnesses[name]
