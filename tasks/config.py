"""The configuration file, checked as a whole before anything is computed.

    [run]
    seed = 7
    processes = 2
    runner = "process"                        # or "dask"

    [run.placement]                           # stages whose shards run as a Prefect deployment of their own
    inference = "shards/inference"

    [notify]
    command = ["mail", "-s", "refresh failed", "lab@example.org"]

    [judges.gpt-4o]                           # see docs/judges.md
    api = "openai"
    model = "gpt-4o-2024-11-20"

Every fault is a BadInput that names the key, the file and, for an unknown key, the known key nearest to it.
"""

from __future__ import annotations

import difflib
import math
import tomllib
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import pydantic
from pydantic import Field

from tasks.errors import BadInput


class _Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", allow_inf_nan=False)


class Dask(_Strict):
    """Where `runner = "dask"` computes."""

    address: str | None = Field(default=None, description="a scheduler that runs already; none: one is started here")
    workers: int | None = Field(default=None, ge=1, description="processes of the one started here")


class RunSettings(_Strict):
    """How a run is computed."""

    store: str | None = Field(default=None, description="a folder or s3://...; --store and WORLDAUDIT_STORE go first")
    seed: int = Field(default=7, ge=0, lt=2**53, description="what everything that is drawn is drawn from")
    processes: int | None = Field(default=None, ge=0, le=256, description="one a core by default; 0: none but this one")
    runner: Literal["process", "dask"] = Field(default="process", description="where CPU-bound shards run")
    dask: Dask = Dask()
    placement: dict[str, str] = Field(
        default_factory=dict, description="stage -> Prefect deployment (flow/name) that computes its shards"
    )


class Notify(_Strict):
    """Who is told of a failed refresh. Both get one JSON object: flow, run, state, message, command that mends it."""

    command: list[str] = Field(default_factory=list, description="a program; the JSON goes to its standard input")
    webhook_env: str | None = Field(default=None, description="variable with the URL that the JSON is posted to")


class Configuration(_Strict):
    """The whole file."""

    run: RunSettings = RunSettings()
    notify: Notify = Notify()
    judges: dict[str, dict[str, Any]] = Field(default_factory=dict, description="checked by tasks.inference")


def parse(document: dict[str, Any], source: str) -> Configuration:
    """BadInput names every fault in `document`, which came from `source`."""
    try:
        return Configuration.model_validate(document)
    except pydantic.ValidationError as error:
        faults = "; ".join(describe(fault, Configuration) for fault in error.errors())
        raise BadInput(f"{source}: {faults}") from None


def load(path: str | Path) -> Configuration:
    """The configuration in a TOML file. BadInput where it cannot be read or is not one."""
    return parse(read_toml(path), str(path))


def read_toml(path: str | Path) -> dict[str, Any]:
    """What a TOML file says. BadInput where it cannot be read or is no TOML."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not valid TOML: {error}") from None
    for key, value in _numbers(document):
        if not math.isfinite(value):  # JSON, which the configuration travels as, would make it "none given"
            raise BadInput(f"{path}: {key!r}: {value} is not a number that can be used")
    return document


def _numbers(value: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Every float of a document with its key."""
    if isinstance(value, float):
        yield where, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _numbers(inner, f"{where}.{key}".removeprefix("."))


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)`, or nothing where no known word is near."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def describe(fault: Any, model: type[pydantic.BaseModel]) -> str:
    """One pydantic fault in the words of the TOML file."""
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        *parents, last = fault["loc"]
        fields = _fields_at(parents, model)
        return f"unknown key {where!r}{nearest(str(last), fields)}; known keys here: {', '.join(fields)}"
    message = str(fault["msg"].removeprefix("Value error, "))
    return f"{where!r}: {message}" if where else message


def _fields_at(path: Iterable[Any], model: Any) -> list[str]:
    for part in path:
        kind = model.model_fields[part].annotation
        if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
            kind = next(option for option in typing.get_args(kind) if option is not type(None))
        model = kind
    return list(model.model_fields)
