"""Commands about what is stored: store verify, gc, sql; export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flows.commands.context import LARGEST, Context, refuses


@click.group()
def store() -> None:
    """Check digests, drop what no run uses, print SQL views."""


@refuses("--dry-run", "it changes nothing")
@store.command()
@click.pass_obj
def verify(obj: Context, /) -> None:
    """Read every artifact and compare it with its manifest; exit code 1 where one is broken.

    A broken artifact does no harm: its stage recomputes it.
    """
    from flows.record import examined
    from storage import Store
    from storage.runs import artifacts_of

    place = Store(obj.store)
    checked = list(place.artifacts())
    broken = {f"{stage}/{key}": why for stage, key in checked if isinstance(why := place.inspect(stage, key), str)}
    there = set(checked)
    records, damaged = examined(place)
    lost = [
        f"{record['id']}: {used.stage} {used.key[:12]}"
        for record in records
        for used in artifacts_of(record)
        if (used.stage, used.key) not in there
    ]
    lines = [f"{len(checked)} artifacts in {place.location}, {len(broken)} broken"]
    lines += [f"  {name}: {why}" for name, why in broken.items()]
    lines += [f"  gone, though a run names it: {name}" for name in lost]
    lines += [f"  runs/{name}/run.json is damaged: delete that folder" for name in damaged]
    if broken or lost:
        lines.append("the command of a run that uses it recomputes it")
    obj.emit({"artifacts": len(checked), "broken": broken, "gone": lost, "damaged_runs": damaged}, "\n".join(lines))
    if broken:
        raise click.exceptions.Exit(1)


@store.command()
@click.option("--keep-runs", type=click.IntRange(1, LARGEST), metavar="N", help="Drop all but the newest N runs first.")
@click.pass_obj
def gc(obj: Context, /, keep_runs: int | None) -> None:
    """Drop artifacts that no run uses, and what unfinished writes have left. --dry-run only lists them."""
    from flows.operations.collect import collect
    from storage import Store

    place = Store(obj.store)
    dropped = collect(place, keep_runs, obj.dry_run)
    verb = "would drop" if obj.dry_run else "dropped"
    lines = [
        f"{verb} {len(dropped['runs'])} runs, {len(dropped['artifacts'])} artifacts, {dropped['bytes'] / 1e6:.1f} MB"
    ]
    lines += [f"  {name}" for name in dropped["runs"] + dropped["artifacts"]]
    lines += [
        f"  runs/{name}/run.json is damaged and keeps nothing: delete that folder" for name in dropped["damaged_runs"]
    ]
    obj.emit(dropped | {"dry_run": obj.dry_run}, "\n".join(lines))


@refuses("--dry-run", "it changes nothing")
@store.command()
@click.pass_obj
def sql(obj: Context, /) -> None:
    """Print DuckDB views over the newest complete runs, one a table."""
    from storage import Store
    from storage.catalog import catalog_sql

    text = catalog_sql(Store(obj.store))
    obj.emit({"sql": text}, text.rstrip())


@click.command()
@click.argument("exam")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, resolve_path=True))
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "parquet", "croissant"]), default="parquet", show_default=True
)
@click.pass_obj
def export(obj: Context, /, exam: str, folder: Path, form: str) -> None:
    """Write EXAM into DIR in a form that others can load, pictures embedded, with a data card and a licence."""
    from flows.find import exam as exam_named
    from storage import Store
    from tasks.exams import ANSWERS, RELEASE
    from tasks.exams.export import export as write

    place = Store(obj.store)
    found = exam_named(place, exam)
    release, answers = place.get(RELEASE.name, found.release), place.get(ANSWERS.name, found.answers)
    if obj.dry_run:
        rows = release.manifest["rows"]
        value: dict[str, Any] = {"folder": str(folder), "format": form, "rows": rows, "exam": release.key}
        obj.emit(value, f"would write {rows['items']:,} items and {rows['images']:,} pictures to {folder}")
        return
    made = write(release, answers, folder, form)
    counts = ", ".join(f"{n:,} {name}" for name, n in made["rows"].items())
    obj.emit(made, f"{counts} in {folder} ({form}); see its README.md")
