"""Simulators and their environments.

A world is a package with a `World` record in `WORLD`: a folder here, or an installed package's by entry point (group
`worldaudit.worlds`). An environment is a class in a file of its own in its world's package; putting the file there is
all that it takes to add one. Environments from outside come by entry point (group `worldaudit.environments`), by
`register`, or are named by where they are: `package.module:Class`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
from types import ModuleType

from tasks.errors import BadInput
from tasks.registry import Registry
from tasks.worlds.base import Environment, World

WORLDS: Registry[World] = Registry("world", "tasks.worlds", "WORLD", "worldaudit.worlds", folders=True)
_REGISTERED: dict[str, type[Environment]] = {}


def register(environment: type[Environment]) -> type[Environment]:
    """Make an environment class known by its name; usable as a decorator."""
    _REGISTERED[environment.name] = environment
    return environment


@functools.cache
def _of_package(name: str) -> dict[str, type[Environment]]:
    """The environments in the modules of a world's package."""
    package = importlib.import_module(name)
    found: dict[str, type[Environment]] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if not info.ispkg:
            found |= _classes(importlib.import_module(f"{name}.{info.name}"))
    return found


def _classes(module: ModuleType) -> dict[str, type[Environment]]:
    return {
        cls.name: cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Environment) and not inspect.isabstract(cls) and cls.__module__ == module.__name__
    }


@functools.cache
def _from_entry_points() -> tuple[dict[str, type[Environment]], dict[str, str]]:
    """Environments of installed packages by name, and of those that cannot be loaded why: only who asks for one hears it."""
    loaded, broken = {}, {}
    for entry in importlib.metadata.entry_points(group="worldaudit.environments"):
        try:
            loaded[entry.name] = entry.load()
        except Exception as error:
            broken[entry.name] = f"environment {entry.name!r} ({entry.value}) cannot be loaded: {error}"
    return loaded, broken


def environments(world: str) -> dict[str, type[Environment]]:
    """Every environment of a world by name. Raises BadInput for a world that there is not."""
    others = {**_from_entry_points()[0], **_REGISTERED}
    return _of_package(WORLDS[world].package) | {name: cls for name, cls in others.items() if cls.world == world}


def environment(world: str, name: str, env_id: str | None = None) -> Environment:
    """An environment by name, in one of its configurations. Raises BadInput, naming what there is."""
    if ":" in name:
        return _imported(world, name)(env_id)
    known = environments(world)
    if name not in known:
        if problem := _from_entry_points()[1].get(name):
            raise BadInput(problem)
        from tasks.config import nearest

        there = ", ".join(sorted(known))
        raise BadInput(f"unknown {world} environment {name!r}{nearest(name, known)}; there are {there}")
    return known[name](env_id)


def _imported(world: str, place: str) -> type[Environment]:
    """The class at `package.module:Class`, which every process of a run can import."""
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise BadInput(f"no environment {place!r}: {error}; is its folder in PYTHONPATH?") from error
    if not (inspect.isclass(found) and issubclass(found, Environment)) or found.world != world:
        raise BadInput(f"{place} is no {world} environment; docs/environments.md says how one is written")
    return found
