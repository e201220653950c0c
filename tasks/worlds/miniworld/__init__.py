"""MiniWorld: first-person 3D rooms with continuous poses (paper 1, Appendix E.1).

Importing this package needs no OpenGL; a child process loads it when an environment is first stepped or drawn.
"""

from __future__ import annotations

import ctypes

LIBRARIES = {  # what MiniWorld loads, and the Debian package that has it
    "libGL.so.1": "libgl1",
    "libGLU.so.1": "libglu1-mesa",
    "libEGL.so.1": "libegl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
}


def check() -> list[tuple[str, bool, str]]:
    """What MiniWorld needs here: (name, whether it works, what was found or what would mend it)."""
    found = []
    for library, package in LIBRARIES.items():
        try:
            ctypes.CDLL(library)
            found.append((library, True, "loads"))
        except OSError as error:
            found.append((library, False, f"{error}; on Debian or Ubuntu: apt-get install {package}"))
    if all(works for _, works, _ in found):
        found.append(_drawing())
    return found


def _drawing() -> tuple[str, bool, str]:
    from tasks.errors import WorldauditError
    from tasks.worlds.miniworld.oneroom import OneRoom

    try:
        room = OneRoom()
        start, _ = room.call("reset", 0)
        room.call("show", [start])
        return "drawing", True, room.call("about")
    except WorldauditError as error:
        return "drawing", False, str(error)
