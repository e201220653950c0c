"""Judges that need no key, no GPU and no network. One file each; each gets the message that any model gets.

`make(name, seed)` gives an object with `answer(message) -> str`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.inference.message import Judge

EMBEDDED: dict[str, str] = {
    "always-success": "tasks.inference.judges.always:AlwaysSuccess",
    "always-fail": "tasks.inference.judges.always:AlwaysFail",
    "coin": "tasks.inference.judges.coin:Coin",
    "last-frame": "tasks.inference.judges.last_frame:LastFrame",
    "tile-reader": "tasks.inference.judges.tile_reader:TileReader",
    "scene-reader": "tasks.inference.judges.scene_reader:SceneReader",
}
VERSIONS = {"scene-reader": 2}  # raised whenever a judge would answer otherwise; 1 where nothing stands here
READS = {"tile-reader": "minigrid", "scene-reader": "miniworld"}  # readers of one world's frames


def embedded_judges(world: str) -> tuple[str, ...]:
    """The embedded judges that can sit an exam of `world`, the one that works hardest first, so that no process idles
    while it ends."""
    return tuple(name for name in reversed(EMBEDDED) if READS.get(name, world) == world)


def make(name: str, seed: int = 0) -> Judge:
    """The embedded judge of that name. `seed` matters to those that draw."""
    module, _, cls = EMBEDDED[name].partition(":")
    kind = getattr(importlib.import_module(module), cls)
    return kind(seed) if name == "coin" else kind()
