"""MiniWorld: first-person 3D rooms with continuous poses (paper 1, Appendix E.1).

Importing this package needs no OpenGL; a child process loads it when an environment is first stepped or drawn.
"""

from __future__ import annotations

import ctypes
from typing import Any

from tasks.errors import WorldauditError
from tasks.worlds.base import World

LIBRARIES = {  # what MiniWorld loads, and the Debian package that has it
    "libGL.so.1": "libgl1",
    "libGLU.so.1": "libglu1-mesa",
    "libEGL.so.1": "libegl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
}


def check() -> list[tuple[str, bool, str]]:
    """What MiniWorld needs here: (name, whether it works, what was found or what would mend it)."""
    checks = []
    for library, package in LIBRARIES.items():
        try:
            ctypes.CDLL(library)
            checks.append((library, True, "loads"))
        except OSError as error:
            checks.append((library, False, f"{error}; on Debian or Ubuntu: apt-get install {package}"))
    if all(works for _, works, _ in checks):
        checks.append(_drawing())
    return checks


def _drawing() -> tuple[str, bool, str]:
    from tasks.worlds import environment

    try:
        room: Any = environment(WORLD.name, "oneroom")
        next(room.frames(0, room.execute(0, [])))
        return "drawing", True, room.engine.about()
    except WorldauditError as error:
        return "drawing", False, str(error)


WORLD = World(
    name="miniworld",
    title="MiniWorld",
    package=__name__,
    distributions=("miniworld", "gymnasium"),
    judges=("scene-reader", "last-frame", "coin", "always-fail", "always-success"),
    check=check,
)
