"""MiniGrid: grid worlds, seen by the agent as a square of cells before it (paper 1)."""

from __future__ import annotations

from tasks.worlds.base import World


def check() -> list[tuple[str, bool, str]]:
    """Whether MiniGrid can be stepped here: (name, whether it works, what was found)."""
    from tasks.worlds import environment

    try:
        environment(WORLD.name, "doorkey").execute(0, ["forward"])
    except Exception as error:  # whatever a broken installation raises
        return [("simulation", False, f"{type(error).__name__}: {error}")]
    return [("simulation", True, "steps")]


WORLD = World(
    name="minigrid",
    title="MiniGrid",
    package=__name__,
    distributions=("minigrid", "gymnasium"),
    judges=("tile-reader", "last-frame", "coin", "always-fail", "always-success"),
    check=check,
    required=True,
)
