"""Commands that look: runs, show."""

from __future__ import annotations

import time
from typing import Any

import click

from flows.commands.context import LARGEST, Context, refuses
from flows.commands.texts import runs_text, summary_text
from flows.request import CHAINS
from tasks.printable import printable


@refuses("--dry-run", "it computes nothing")
@click.command()
@click.option("--watch", is_flag=True, help="Show it again every two seconds until Ctrl-C.")
@click.option("--limit", type=click.IntRange(1, LARGEST), default=20, show_default=True, help="The newest so many.")
@click.option("--kind", type=click.Choice(list(CHAINS)), help="Only runs of one kind.")
@click.pass_obj
def runs(obj: Context, /, watch: bool, limit: int, kind: str | None) -> None:
    """The runs that there are, newest last, and what each is doing."""
    from flows.record import examined, state_of
    from storage import Store

    if watch and obj.json:
        raise click.UsageError("--watch and --json exclude each other")
    store = Store(obj.store)
    while True:
        records, damaged = examined(store)
        wanted = [record for record in records if kind in (None, record["kind"])][:limit]
        newest = [_short(state_of(record)) for record in reversed(wanted)]
        text = runs_text(newest) or f"no runs in {store.location}: `worldaudit run minigrid` makes one"
        text += "".join(f"\nruns/{name}/run.json is damaged: delete that folder" for name in damaged)
        if not watch:
            obj.emit({"runs": newest, "damaged": damaged}, text)
            return
        click.clear()
        print(printable(f"{store.location} at {time.strftime('%H:%M:%S')}, Ctrl-C ends\n\n{text}"), flush=True)
        time.sleep(2)


@refuses("--dry-run", "it computes nothing")
@click.command()
@click.argument("run", metavar="RUN", default="latest")
@click.pass_obj
def show(obj: Context, /, run: str) -> None:
    """What RUN did: steps, items by task, gates, headline metrics; and the command that would mend what failed."""
    from flows.record import read_record, state_of
    from flows.summary import summary
    from storage import Store

    store = Store(obj.store)
    value = summary(store, state_of(read_record(store, run)))
    obj.emit(value, summary_text(value))


_FIELDS = (
    "id",
    "kind",
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


def _short(record: dict[str, Any]) -> dict[str, Any]:
    """What the list says of a run; `stage` is the step that runs, or that failed."""
    current = (entry["name"] for entry in record["stages"] if entry["state"] in ("running", "failed"))
    return {name: record[name] for name in _FIELDS} | {"stage": next(current, None)}
