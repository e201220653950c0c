"""What was read of a text, kept for the next time that the text comes up."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_READERS: list[Any] = []


def remembered(maxsize: int, typed: bool = False) -> Callable[[F], F]:
    """`functools.lru_cache` for a function that reads texts, among those that `forget` knows."""

    def decorate(function: F) -> F:
        reader = functools.lru_cache(maxsize=maxsize, typed=typed)(function)
        _READERS.append(reader)
        return cast(F, reader)

    return decorate


def forget() -> None:
    """Drop the texts that were read, as a measurement of speed needs; tables and compiled equations stay."""
    for reader in _READERS:
        reader.cache_clear()
