"""What the common options say, and how a command takes part in them.

--store, --config, --json and --dry-run mean the same on every command; a command for which one of them means nothing
refuses it by name:

    @click.command()
    @refuses("--dry-run", "it computes nothing")
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.location import DEFAULT_STORE, store_location
from tasks.printable import printable, printable_json

if TYPE_CHECKING:
    from tasks.config import Configuration

LARGEST = 2**53 - 1  # that JSON carries as it is


class Share(click.FloatRange):
    """A number within its bounds; unlike click's, `nan` is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number that can be used.", param, ctx)
        return number


class Context:
    """What the common options say; `ctx.obj` of every command."""

    def __init__(self) -> None:
        self.store_option: str | None = None
        self.config_path: Path | None = None
        self.json = False
        self.dry_run = False
        self._config: Configuration | None = None

    @property
    def config(self) -> Configuration:
        """The configuration file, checked; an empty one where none was given."""
        if self._config is None:
            from tasks.config import Configuration, load

            self._config = load(self.config_path) if self.config_path else Configuration()
        return self._config

    @property
    def store(self) -> str:
        """Where the store lies: --store, WORLDAUDIT_STORE, the configuration file, or ./worldaudit-store. Absolute."""
        return store_location(self.store_option or os.environ.get("WORLDAUDIT_STORE") or self.config.run.store)

    def emit(self, value: dict[str, Any], text: str) -> None:
        """The command's result: one JSON object with --json, else the text."""
        print(printable_json(json.dumps(value, ensure_ascii=False)) if self.json else printable(text), flush=True)


def _set(name: str) -> Any:
    def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value:
            setattr(ctx.ensure_object(Context), name, value)

    return callback


def common_options() -> list[click.Option]:
    """--store, --config, --json, --dry-run: they work before and after the name of a command."""
    return [
        click.Option(
            ["--store"],
            metavar="PATH|s3://...",
            help=f"Where everything lies; ./{DEFAULT_STORE} by default.",
            expose_value=False,
            callback=_set("store_option"),
        ),
        click.Option(
            ["--config"],
            metavar="FILE.toml",
            type=click.Path(path_type=Path, resolve_path=True),
            help="Judges and how to run.",
            expose_value=False,
            callback=_set("config_path"),
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            help="One JSON object on stdout, nothing else there.",
            expose_value=False,
            callback=_set("json"),
        ),
        click.Option(
            ["--dry-run"],
            is_flag=True,
            help="Say what would be computed and sent; do neither.",
            expose_value=False,
            callback=_set("dry_run"),
        ),
    ]


def refuses(option: str, why: str) -> Callable[[click.Command], click.Command]:
    """Decorates a command for which a common option means nothing."""

    def decorate(command: click.Command) -> click.Command:
        _REFUSED.setdefault(id(command), {})[option] = why
        return command

    return decorate


_REFUSED: dict[int, dict[str, str]] = {}


def _refuse(command: click.Command, option: str, why: str) -> click.Option:
    def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value or getattr(ctx.ensure_object(Context), _ATTRIBUTES[option]):
            raise click.UsageError(f"{command.name} has no {option}: {why}", ctx)

    flag = {"is_flag": True} if option in ("--json", "--dry-run") else {}
    return click.Option([option], hidden=True, expose_value=False, callback=callback, **flag)  # type: ignore[arg-type]


_ATTRIBUTES = {"--store": "store_option", "--config": "config_path", "--json": "json", "--dry-run": "dry_run"}


def with_common_options(command: click.Command) -> click.Command:
    """The command, and its subcommands, with the common options that it does not refuse."""
    refused = _REFUSED.get(id(command), {})
    taken = {name for parameter in command.params for name in parameter.opts}
    for option in common_options():
        name = option.opts[0]
        if name not in taken:
            command.params.append(_refuse(command, name, refused[name]) if name in refused else option)
    for child in getattr(command, "commands", {}).values():
        with_common_options(child)
    return command
