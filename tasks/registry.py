"""Named things of one kind: the project's own, found by where their files lie, and those of installed packages.

    WORLDS: Registry[World] = Registry("world", "tasks.worlds", "WORLD", "worldaudit.worlds", folders=True)
    WORLDS["minigrid"].title        # imports tasks.worlds.minigrid, and no other world

The project's own things are modules of one package, each with the thing in an attribute of a fixed name; the module's name
is the thing's (`last_frame` is "last-frame", unless the registry keeps underscores). Modules whose names begin with an
underscore are helpers. An installed package offers a thing of its own by an entry point of the registry's group, whose
name is the thing's.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from tasks.errors import BadInput

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A lazy mapping from name to thing: listing the names imports none of them.

    `folders`: only packages are members (their package also holds modules that are none). `joined` stands in a thing's name
    for the underscores of its module's. `first` names the things that are listed first, where their order matters.
    Looking up a name that there is not raises BadInput, which names what there is and what was probably meant; `in` and
    `get` do not raise.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        attribute: str,
        group: str,
        folders: bool = False,
        joined: str = "-",
        first: Sequence[str] = (),
    ):
        self.kind, self.package, self.attribute, self.group, self.folders = kind, package, attribute, group, folders
        self.joined, self.first = joined, tuple(first)
        self._registered: dict[str, T] = {}

    @functools.cached_property
    def _own(self) -> dict[str, str]:
        """Name -> module, of the project's own."""
        path = importlib.import_module(self.package).__path__
        return {
            info.name.replace("_", self.joined): f"{self.package}.{info.name}"
            for info in pkgutil.iter_modules(path)
            if not info.name.startswith("_") and (info.ispkg or not self.folders)
        }

    @functools.cached_property
    def _offered(self) -> dict[str, importlib.metadata.EntryPoint]:
        """Name -> entry point, of installed packages."""
        return {entry.name: entry for entry in importlib.metadata.entry_points(group=self.group)}

    def register(self, name: str, thing: T) -> T:
        """Make a thing known in this process, for tests and notebooks; a package uses an entry point."""
        self._registered[name] = thing
        return thing

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*self._own, *self._offered, *self._registered])
        return iter([*(name for name in self.first if name in names), *(n for n in names if n not in self.first)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._offered or name in self._registered

    def __getitem__(self, name: str) -> T:
        if name in self._registered:
            return self._registered[name]
        if module := self._own.get(name):
            return cast(T, getattr(importlib.import_module(module), self.attribute))
        if entry := self._offered.get(name):
            return self._load(entry)
        raise BadInput(self.unknown(name))

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:  # a thing that cannot be loaded still says so
            return default
        return self[name]

    def _load(self, entry: importlib.metadata.EntryPoint) -> T:
        try:
            return cast(T, entry.load())
        except Exception as error:
            place = f"{entry.dist.name}: {entry.value}" if entry.dist else entry.value
            raise BadInput(f"{self.kind} {entry.name!r} ({place}) cannot be loaded: {error}") from error

    def unknown(self, name: str) -> str:
        """What to say of a name that there is not."""
        close = difflib.get_close_matches(name, list(self), n=1, cutoff=0.5)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        return f"unknown {self.kind} {name!r}{hint}; there are {', '.join(self)}"
