"""Frames, storyboards, visual styles, PNG.

Stage `rendering`: the clean frame of every state of every variant of a group, NoCue's masks applied.
"""

from __future__ import annotations

from storage.store import ArtifactWriter
from tasks.pictures.pixels import Pixels
from tasks.pictures.png import Picture
from tasks.stage import Config, Inputs, Stage
from tasks.trajectories import Group, groups
from tasks.worlds import environment


def render(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """`groups` and `trajectories` -> `frames` and `images`, a group at a time.

    Configuration: world, env, env_id. Raises whatever the world's renderer raises.
    """
    env = environment(config["world"], config["env"], config["env_id"])
    seen: set[str] = set()
    for group in groups(inputs["variants"], env):
        pictures, rows = frames_of(group)
        writer.add("frames", rows)
        writer.add("images", [picture.row() for picture in pictures if picture.image_id not in seen])
        seen |= {picture.image_id for picture in pictures}


def frames_of(group: Group) -> tuple[list[Picture], list[dict[str, object]]]:
    """The distinct frames of a group, and which variant shows which at which step."""
    rows: list[dict[str, object]] = []
    pictures: dict[str, Picture] = {}
    known: dict[int, tuple[Pixels, Picture]] = {}  # by object: a world may hand out one array for equal frames

    def picture_of(pixels: Pixels) -> Picture:
        if id(pixels) not in known:
            picture = Picture(pixels)
            known[id(pixels)] = pixels, pictures.setdefault(picture.image_id, picture)
        return known[id(pixels)][1]

    for variant, episode in group.episodes.items():
        masked = group.mask_by_step if variant == "nocue" else {}
        for step, pixels in enumerate(group.environment.frames(group.seed, episode)):
            shown = group.environment.hide(pixels, masked[step]) if step in masked else pixels
            rows.append(
                {
                    "group_id": group.group_id,
                    "variant": variant,
                    "step": step,
                    "image_id": picture_of(shown).image_id,
                }
            )
    return list(pictures.values()), rows


RENDERING = Stage("rendering", 1, render)
