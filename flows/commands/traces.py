"""`worldaudit traces`: the stated-world side on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.commands.context import LARGEST, Context
from flows.commands.launching import chain_options, computing, launched, server_for
from flows.commands.texts import shown
from flows.request import CHAINS
from tasks.errors import BadInput
from tasks.printable import printable

if TYPE_CHECKING:
    import polars as pl


@click.group()
def traces() -> None:
    """Stated worlds: generate a bank, verify traces, audit the verifier, export a release."""


@traces.command()
@chain_options(CHAINS["bank"])
@computing(prefect=False)
@click.pass_obj
def generate(obj: Context, /, parameters: dict[str, Any], **how: Any) -> None:
    """Make a bank of traces and preference pairs. The same seed makes the same bank, on any number of processes."""
    with server_for(obj, how):
        record = launched(obj, how, "bank", parameters)
    if record is None:
        return
    from flows.bank import rows_by_table

    rows = rows_by_table(record)
    lines = [f"bank {record['id']}", *(f"  {table:<12} {count:>7,}" for table, count in rows.items())]
    obj.emit({"bank": record["id"], "rows": rows}, "\n".join(lines))


@traces.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--bank", metavar="BANK", help="Use the gold states of this bank (or `latest`) for the ids that it knows."
)
@click.option("--name", metavar="NAME", help="Whose traces these are; the file's name by default.")
@click.option("--no-question", is_flag=True, help="Leave the question text out of the evidence.")
@click.option("--out", type=click.Path(path_type=Path), help="Also write verdicts.jsonl and checks.jsonl there.")
@computing(prefect=False)
@click.pass_obj
def verify(
    obj: Context, /, file: Path, bank: str | None, name: str | None, no_question: bool, out: Path | None, **how: Any
) -> None:
    """Verdicts, checks and metrics for traces that any model wrote: one JSON object (or raw answer) a line.

    Lines that cannot be read are named; the others are verified all the same, and the exit code is 2.
    """
    from flows.find import bank as bank_named
    from flows.record import artifact_of
    from storage import Store
    from tasks.traces.stages import TRACES as BANK
    from tasks.verification.stages import VERIFY, submission_config

    store = Store(obj.store)
    submitted = submission_config(file.resolve(), name)
    judge = submitted["name"]
    parameters: dict[str, Any] = submitted | {"question": not no_question}
    if bank:
        made = bank_named(store, bank)
        parameters |= {"bank": made["id"], "traces": artifact_of(made, BANK.name)}
    with server_for(obj, how):
        record = launched(obj, how, "verify", parameters)
    if record is None:
        return
    artifact = store.get(VERIFY.name, artifact_of(record, VERIFY.name)["all"])
    if out:
        _write_lines(out, {table: artifact.read(table) for table in ("verdicts", "checks")})
    problems = [f"line {number}: {problem}" for number, problem in artifact.read("problems").iter_rows()]
    for problem in problems:
        print(printable(f"{file}: {problem}"), file=sys.stderr)
    _emit_verdicts(obj, record["id"], judge, artifact.read("verdicts"), artifact.read("metrics"), problems)
    if problems:
        raise click.exceptions.Exit(2)


def _write_lines(folder: Path, tables: dict[str, pl.DataFrame]) -> None:
    """`<table>.jsonl`, a row a line."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        with open(folder / f"{table}.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.iter_rows(named=True))


def _emit_verdicts(
    obj: Context, run: str, judge: str, verdicts: pl.DataFrame, metrics: pl.DataFrame, problems: list[str]
) -> None:
    columns = ("representation", "slice", "metric", "value", "ci_low", "ci_high", "n_ok")
    rows = metrics.select(columns).to_dicts()
    lines = [f"{judge}: {verdicts.height:,} traces, {len(problems):,} problems"]
    for row in rows:
        if row["slice"] == "all" and not row["metric"].startswith(("Label_", "Primary")):
            bounds = "" if row["ci_low"] is None else f"  [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
            label = f"{row['representation']}/{row['metric']}"
            lines.append(f"  {label:<34} {shown(row['value']):>6}{bounds}  n = {row['n_ok']:,}")
    by_trace = verdicts.select(
        "trace_id", "setting", "z_schema", "z_state", "z_trans", "z_ans", "z_faith", "labels", "reason"
    )
    value = {
        "run": run,
        "traces": verdicts.height,
        "problems": problems,
        "metrics": rows,
        "verdicts": by_trace.to_dicts(),
    }
    obj.emit(value, "\n".join(lines))


@traces.command()
@chain_options(CHAINS["verifier"])
@click.option("--human", type=click.Path(path_type=Path), help="Write the human-audit kit to this folder.")
@click.option(
    "--sample", "size", type=click.IntRange(60, LARGEST), default=400, show_default=True, help="Items of the kit."
)
@click.option("--labels", multiple=True, type=click.Path(path_type=Path), help="An annotator's sheet; give it twice.")
@click.option("--resolved", type=click.Path(path_type=Path), help="A sheet with what a discussion settled.")
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="The kit's key.json.")
@computing(prefect=False)
@click.pass_obj
def audit(
    obj: Context,
    /,
    parameters: dict[str, Any],
    human: Path | None,
    size: int,
    labels: tuple[Path, ...],
    resolved: Path | None,
    key_file: Path | None,
    **how: Any,
) -> None:
    """How well the verifier does on a bank: false positives, detection by label and perturbation, surface AUC, throughput.

    With --labels A.csv --labels B.csv --key KEY.json: precision, recall, F1 and kappa against two annotators.
    """
    if labels and (len(labels) != 2 or key_file is None):
        raise BadInput("two annotators are compared: give --labels twice, and --key")
    with server_for(obj, how):
        record = launched(obj, how, "verifier", parameters)
    if record is None:
        return
    from flows.bank import write_human_audit
    from flows.find import table_of
    from storage import Store
    from tasks.traces.stages import TRACES as BANK
    from tasks.verification.audit import AUDIT, VERDICTS
    from tasks.verification.speed import traces_per_second

    store = Store(obj.store)
    verdicts = table_of(store, record, VERDICTS.name, "verdicts")
    if labels and key_file is not None:
        _emit_validation(obj, verdicts, labels, resolved, key_file)
        return
    metrics = table_of(store, record, AUDIT.name, "metrics")
    if human:
        items = write_human_audit(store, record, human, size)
        print(f"{items} items in {human}; keep {human}-key.json from the annotators", file=sys.stderr)
    bank = table_of(store, record, BANK.name, "traces")["trace"][:400]
    speed = traces_per_second([json.loads(text) for text in bank])
    rows = metrics.select("representation", "slice", "metric", "value", "ci_low", "ci_high", "n_ok").to_dicts()
    wanted = ("FalsePositive", "Detection", "RightLabel", "SurfaceAUC", "SurfacePairwise")
    lines = [f"run {record['id']}; {speed:,.0f} traces a second on one core"]
    lines += [
        f"  {r['representation']:<12} {r['metric']:<16} {r['slice']:<44} {shown(r['value']):>5}  n = {r['n_ok']:,}"
        for r in rows
        if r["metric"] in wanted
    ]
    kit = str(human) if human else None
    obj.emit({"run": record["id"], "traces_per_second": speed, "metrics": rows, "kit": kit}, "\n".join(lines))


def _emit_validation(
    obj: Context, verdicts: pl.DataFrame, labels: tuple[Path, ...], resolved: Path | None, key_file: Path
) -> None:
    """The verifier against two annotators' sheets."""
    from tasks.verification import human as kit

    try:
        key = json.loads(key_file.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"{key_file}: {error}") from None
    sheets = [kit.read_sheet(path, key) for path in labels]
    settled = kit.read_sheet(resolved, key) if resolved else None
    rows = {row["trace_id"]: row for row in verdicts.filter(verdicts["setting"] == "gold").iter_rows(named=True)}
    validation = kit.validate(sheets[0], sheets[1], key, rows, settled)
    lines = [f"{validation['settled']} of {validation['items']} items settled"]
    lines += [
        f"  {r['label']:<13} F1 {shown(r['f1']):>5}  kappa {shown(r['kappa']):>5}  {r['use']}"
        for r in validation["labels"]
    ]
    obj.emit(validation, "\n".join(lines))


@traces.command()
@click.argument("bank")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.pass_obj
def export(obj: Context, /, bank: str, folder: Path) -> None:
    """Write BANK (an id or `latest`) as a release: traces, pairs, TRL preferences, splits, digests, data card, pictures."""
    from flows.bank import release
    from flows.find import bank as bank_named
    from storage import Store
    from tasks.traces.export import write_release

    store = Store(obj.store)
    record = bank_named(store, bank)
    files, pictures, rows = release(store, record)
    counts = ", ".join(f"{count:,} {table}" for table, count in rows.items())
    value: dict[str, Any] = {"folder": str(folder), "bank": record["id"], "pictures": len(pictures)}
    if obj.dry_run:
        obj.emit(value, f"would write {counts} to {folder}")
        return
    write_release(folder, files, pictures)
    obj.emit(value | {"files": sorted(files)}, f"{folder}: {counts}")
