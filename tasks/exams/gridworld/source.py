"""What the exam builders of one environment draw on: accepted groups, their frames, their pictures in every style."""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Callable, Iterable, Mapping

from tasks.exams.gridworld.prompts import PromptSet
from tasks.pictures.pixels import Pixels
from tasks.pictures.png import Picture, decode
from tasks.pictures.storyboard import captioned, storyboard
from tasks.pictures.styles import VISUALS
from tasks.trajectories import Group
from tasks.worlds.base import Environment


class Source:
    """Frames of one environment's groups. `png` finds a picture's bytes by its id."""

    def __init__(
        self,
        environment: Environment,
        prompts: PromptSet,
        seed: int,
        image_ids: Mapping[tuple[str, str, int], str],
        png: Callable[[str], bytes],
    ):
        self.environment, self.prompts, self.seed = environment, prompts, seed
        self._image_ids, self._png = image_ids, png
        self._styled = functools.lru_cache(maxsize=256)(self._style)
        self._pages = functools.lru_cache(maxsize=64)(self._page)
        self._splits = functools.lru_cache(maxsize=512)(self._split)
        self._storyboards = functools.lru_cache(maxsize=8)(self._storyboard)

    def random(self, *about: object) -> random.Random:
        """A generator that depends on the exam's seed and on `about` alone."""
        text = "/".join(str(part) for part in (self.seed, self.environment.env_id, *about))
        return random.Random(hashlib.sha256(text.encode()).digest())

    def image_id(self, group: Group, variant: str, step: int) -> str:
        return self._image_ids[group.group_id, variant, step]

    def frame(self, group: Group, variant: str, step: int, visual: str = "clean") -> Pixels:
        """The frame of a step, in a visual style."""
        return self._styled(self.image_id(group, variant, step), group.group_id, step, visual)

    def _style(self, image_id: str, group_id: str, step: int, visual: str) -> Pixels:
        clean = decode(self._png(image_id)) if visual == "clean" else self._styled(image_id, group_id, step, "clean")
        return VISUALS[visual](clean, group_id, step)

    def storyboard(self, group: Group, variant: str, steps: Iterable[int], visual: str = "clean") -> Pixels:
        """Captioned frames of `steps`, in that order, on one page."""
        return self._storyboards(group.group_id, tuple(self._shown(group, variant, steps)), visual)

    def _shown(self, group: Group, variant: str, steps: Iterable[int]) -> list[tuple[int, str]]:
        return [(step, self.image_id(group, variant, step)) for step in steps]

    def _storyboard(self, group_id: str, shown: tuple[tuple[int, str], ...], visual: str) -> Pixels:
        return storyboard(
            [(f"step {step}", self._styled(image_id, group_id, step, visual)) for step, image_id in shown]
        )

    def page(self, group: Group, variant: str, steps: Iterable[int], visual: str = "clean") -> Picture:
        """The storyboard as a picture."""
        return self._pages(group.group_id, tuple(self._shown(group, variant, steps)), visual)

    def _page(self, group_id: str, shown: tuple[tuple[int, str], ...], visual: str) -> Picture:
        return Picture(self._storyboards(group_id, shown, visual))

    def split(self, group: Group, variant: str, steps: Iterable[int], visual: str = "clean") -> list[Picture]:
        """The same frames as pictures of their own."""
        return [
            self._splits(image_id, group.group_id, step, visual)
            for step, image_id in self._shown(group, variant, steps)
        ]

    def _split(self, image_id: str, group_id: str, step: int, visual: str) -> Picture:
        return Picture(captioned(f"step {step}", self._styled(image_id, group_id, step, visual)))
