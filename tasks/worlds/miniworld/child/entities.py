"""What lies in a MiniWorld: its entities as records."""

from __future__ import annotations

import functools
from typing import Any

from .state import Thing


def thing_of(entity: Any) -> Thing:
    """The record of a MiniWorld entity."""
    kind, color = _identity(entity)
    x, y, z = (float(value) for value in entity.pos)
    return Thing(kind, color, x, y, z, float(entity.dir), float(entity.height), float(entity.radius))


def _identity(entity: Any) -> tuple[str, str]:
    from miniworld.entity import Box, ImageFrame, MeshEnt, TextFrame

    if isinstance(entity, Box):
        return "box", entity.color
    if isinstance(entity, TextFrame):
        return "sign", entity.str
    if isinstance(entity, ImageFrame):
        return "picture", entity.tex.name
    if isinstance(entity, MeshEnt):
        name = _mesh_name(entity.mesh)
        kind, _, color = name.partition("_")
        return (kind, color) if kind in ("ball", "key") else ("mesh", name)
    return "mesh", type(entity).__name__.lower()


@functools.lru_cache(maxsize=256)
def _mesh_name(mesh: Any) -> str:
    from pathlib import Path

    from miniworld.objmesh import ObjMesh

    return next(Path(path).stem for path, known in ObjMesh.cache.items() if known is mesh)
