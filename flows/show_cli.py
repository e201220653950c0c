"""Commands that look: runs, show."""

from __future__ import annotations

import os
import platform
import time
from typing import Any

import click

from flows.cli import Context


@click.command()
@click.option("--watch", is_flag=True, help="Show it again every two seconds until Ctrl-C.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="The newest so many.")
@click.pass_obj
def runs(obj: Context, watch: bool, limit: int) -> None:
    """The runs that there are, newest last, and what each is doing."""
    from storage import Store

    if watch and obj.json:
        raise click.UsageError("--watch and --json exclude each other")
    store = Store(obj.store)
    while True:
        records = [state_of(store.read_run(run)) for run in store.runs()[-limit:]]
        text = "\n".join(map(_line, records)) or f"no runs in {store.location}: `worldaudit run minigrid` makes one"
        if not watch:
            obj.emit({"runs": [_short(record) for record in records]}, text)
            return
        click.clear()
        print(f"{store.location} at {time.strftime('%H:%M:%S')}, Ctrl-C ends\n\n{text}", flush=True)
        time.sleep(2)


@click.command()
@click.argument("run", metavar="RUN", default="latest")
@click.pass_obj
def show(obj: Context, run: str) -> None:
    """What RUN did: stages, items by task, gates, headline metrics; and the command that would mend what failed."""
    from flows.find import summary
    from storage import Store

    store = Store(obj.store)
    value, text = summary(store, state_of(store.read_run(run)))
    obj.emit(value, text)


def state_of(record: dict[str, Any]) -> dict[str, Any]:
    """The record, with the state `died` where it says running and its process on this machine is gone."""
    process = record["process"]
    if record["state"] == "running" and process["host"] == platform.node():
        try:
            os.kill(process["pid"], 0)
        except ProcessLookupError:
            return record | {
                "state": "died",
                "error": "its process is gone",
                "mend": f"again, what is finished is reused: {record['command']}",
            }
        except PermissionError:  # somebody else's process lives under that number
            pass
    return record


def _short(record: dict[str, Any]) -> dict[str, Any]:
    fields = (
        "id",
        "state",
        "command",
        "world",
        "profile",
        "seed",
        "exam",
        "judges",
        "started",
        "ended",
        "seconds",
        "mend",
    )
    return {name: record[name] for name in fields} | {"stage": _current(record)}


def _current(record: dict[str, Any]) -> str | None:
    """The stage that runs, or that failed."""
    return next((entry["name"] for entry in record["stages"] if entry["state"] in ("running", "failed")), None)


def _line(record: dict[str, Any]) -> str:
    seconds = f"{record['seconds']:8.1f} s" if record["seconds"] is not None else " " * 10
    at = f" at {stage}" if record["state"] != "complete" and (stage := _current(record)) else ""
    line = f"{record['id']}  {record['state'] + at:<22} {seconds}  {record['command']}"
    return line + (f"\n{'':27}to mend it: {record['mend']}" if record["mend"] else "")
