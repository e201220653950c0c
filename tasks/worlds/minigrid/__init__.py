"""MiniGrid: grid worlds, seen by the agent as a square of cells before it (paper 1)."""

from __future__ import annotations

from tasks.worlds.base import World


def check() -> list[tuple[str, bool, str]]:
    """Whether MiniGrid makes its environments here."""
    from tasks.worlds import environments

    try:
        found = environments(WORLD.name)
        found["doorkey"]().execute(0, ["forward"])
    except Exception as error:  # whatever a broken installation raises
        return [("simulation", False, f"{type(error).__name__}: {error}")]
    return [("simulation", True, f"{len(found)} environments")]


WORLD = World(
    name="minigrid",
    title="MiniGrid",
    package=__name__,
    distributions=("minigrid", "gymnasium"),
    judges=("tile-reader", "last-frame", "coin", "always-fail", "always-success"),
    check=check,
    required=True,
)
