"""The command `doctor`: what works here, and why not."""

from __future__ import annotations

import click

from flows.commands.context import Context, refuses


@refuses("--dry-run", "it changes nothing")
@click.command()
@click.pass_obj
def doctor(obj: Context, /) -> None:
    """Which simulators, judges and services work here, and why not. Exit code 1 where the base audit cannot run."""
    from flows.operations.checks import examine

    findings = examine(obj.store, obj.config)
    value = {name: {"works": one.works, "detail": one.detail} for name, one in findings.items()}
    lines = [
        f"{'ok ' if one.works else 'NO ' if one.needed else ' - '} {name}: {one.detail}"
        for name, one in findings.items()
    ]
    obj.emit(value, "\n".join(lines))
    if any(one.needed and not one.works for one in findings.values()):
        raise click.exceptions.Exit(1)
