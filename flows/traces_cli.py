"""`worldaudit traces`: the stated-world side on the command line."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from tasks.errors import BadInput


@click.group()
def traces() -> None:
    """Stated worlds: generate a bank, verify traces, audit the verifier, export a release."""


def _bank_options(command: Any) -> Any:
    from tasks.traces.bank import SEED, TRACES
    from tasks.traces.pairs import PER_TRACE

    for option in (
        click.option("--prefect", "prefect", is_flag=True, help="As a Prefect flow, with a task run for each shard."),
        click.option(
            "--processes", type=click.IntRange(0, 256), default=None, help="One a core by default; 0: this one."
        ),
        click.option(
            "--pairs",
            "per_trace",
            type=click.IntRange(1, 64),
            default=PER_TRACE,
            show_default=True,
            help="Pairs a trace.",
        ),
        click.option("--seed", type=int, default=SEED, show_default=True, help="What everything is drawn from."),
        click.option(
            "--traces",
            "n",
            type=click.IntRange(1, 1_000_000),
            default=TRACES,
            show_default=True,
            help="How many traces.",
        ),
    ):
        command = option(command)
    return command


def _run(
    obj: Any, chain: str, n: int, seed: int, per_trace: int, processes: int | None, prefect: bool, surface: bool = True
) -> dict[str, Any]:
    from flows.progress import PlainProgress
    from flows.traces import traces as chain_of_stages

    arguments = {
        "store": obj.store, "chain": chain, "n": n, "seed": seed, "per_trace": per_trace, "surface": surface,
        "processes": (os.cpu_count() or 1) if processes is None else processes, "command": "worldaudit " + shlex.join(sys.argv[1:]),
    }  # fmt: skip
    with PlainProgress() as progress:
        if not prefect:
            return chain_of_stages(**arguments, reporter=progress)
        from flows.server import server

        with server() as running:
            running.wait()
            from prefect import Flow

            result: dict[str, Any] = {}

            def traces_flow() -> None:
                result.update(chain_of_stages(**arguments, reporter=progress))

            Flow(traces_flow, name="traces", persist_result=False, validate_parameters=False)()
            return result


def _read(store: str, record: dict[str, Any], stage: str, table: str) -> Any:
    """All rows of one table over the shards of a stage of a run."""
    import polars as pl

    from storage import Store

    opened = Store(store)
    keys = {name: key for name, key in record["artifacts"].items() if name.startswith(f"{stage}[")}
    frames = [opened.get(stage, keys[name]).read(table) for name in sorted(keys)]
    return pl.concat(frames) if frames else None


def _newest_bank(store: str, bank: str, pairs: bool = True) -> dict[str, Any]:
    """The run that made a bank. BadInput where there is none."""
    from storage import Store

    opened = Store(store)
    runs = [run for run in reversed(opened.runs()) if bank == "latest" or run.startswith(bank)]
    for run in runs:
        record = opened.read_run(run)
        if record.get("world") == "traces" and record.get("state") == "complete":
            return record
    raise BadInput(f"no bank {bank!r} in {opened.location}: `worldaudit traces generate` makes one")


def _emit(obj: Any, value: dict[str, Any], text: str) -> None:
    print(json.dumps(value, ensure_ascii=False) if obj.json else text, flush=True)


@traces.command()
@_bank_options
@click.option("--pictures/--no-pictures", default=True, show_default=True, help="Draw the diagrams, too.")
@click.pass_obj
def generate(obj: Any, pictures: bool, **how: Any) -> None:
    """Make a bank of traces and preference pairs. The same seed makes the same bank, on any number of processes."""
    if getattr(obj, "dry_run", False):
        from flows.traces import stage_configs

        made = stage_configs(how["n"], how["seed"], how["per_trace"], True)
        _emit(obj, {"traces": how["n"], "pairs": how["n"] * how["per_trace"], "families": len(made["trace-bank"])},
              f"would make {how['n']:,} traces and {how['n'] * how['per_trace']:,} pairs in {obj.store}")  # fmt: skip
        return
    record = _run(obj, "pictures" if pictures else "bank", **how)
    rows: dict[str, int] = {}
    for stage in record["stages"]:
        for table, count in stage["rows"].items():
            rows[table] = rows.get(table, 0) + count
    _emit(
        obj,
        {"bank": record["id"], "rows": rows},
        f"bank {record['id']}\n" + "\n".join(f"  {t:<12} {c:>7,}" for t, c in rows.items()),
    )


@traces.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--bank", metavar="BANK", help="Use the gold states of this bank (or `latest`) for the ids that it knows."
)
@click.option("--name", metavar="NAME", help="Whose traces these are; the file's name by default.")
@click.option("--no-question", is_flag=True, help="Leave the question text out of the evidence.")
@click.option("--out", type=click.Path(path_type=Path), help="Also write verdicts.jsonl and checks.jsonl there.")
@click.pass_obj
def verify(obj: Any, file: Path, bank: str | None, name: str | None, no_question: bool, out: Path | None) -> None:
    """Verdicts, checks and metrics for traces that any model wrote: one JSON object (or raw answer) a line.

    Lines that cannot be read are named; the others are verified all the same, and the exit code is 2.
    """
    import orjson
    import polars as pl

    from storage import Store, artifact_key, digest
    from tasks.verification.metrics import metric_rows
    from tasks.verification.rows import gold_from_row
    from tasks.verification.submissions import verify_lines

    try:
        data = file.read_bytes()
        lines = data.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: not UTF-8 at byte {error.start}") from None
    gold, bank_id = {}, None
    if bank:
        record = _newest_bank(obj.store, bank)
        bank_id = record["id"]
        for row in _read(obj.store, record, "trace-bank", "traces").iter_rows(named=True):
            gold[row["trace_id"]] = (gold_from_row(row), orjson.loads(row["trace"]))
    result = verify_lines(enumerate(lines, start=1), gold, question=not no_question)
    judge = name or file.stem
    metrics = []
    if result.verdicts:
        settings = {row["setting"] for row in result.verdicts}
        table = pl.DataFrame(result.verdicts, infer_schema_length=None).with_columns(cluster=pl.Series(result.clusters))
        for setting in sorted(settings):
            part = table.filter(pl.col("setting") == setting)
            metrics += metric_rows(part.drop("cluster"), judge, setting, part["cluster"].to_list())
    config = {"file": digest(data), "bank": bank_id, "judge": judge, "question": not no_question}
    store = Store(obj.store)
    writer = store.writer("trace-verify", artifact_key("trace-verify", 1, config, {}))
    writer.add("verdicts", result.verdicts)
    writer.add("checks", result.checks)
    writer.add("metrics", metrics)
    artifact = writer.commit(1, config, {})
    if out:
        out.mkdir(parents=True, exist_ok=True)
        for table_name, rows in (("verdicts", result.verdicts), ("checks", result.checks)):
            (out / f"{table_name}.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    shown = {
        f"{m['representation']}/{m['metric']}": m for m in metrics
        if m["slice"] == "all" and not m["metric"].startswith(("Label_", "Primary"))
    }  # fmt: skip
    text = [f"{judge}: {len(result.verdicts):,} traces, {len(result.problems):,} problems"]
    for label, m in shown.items():
        number = "   -  " if m["value"] is None else f"{m['value']:6.3f}"
        bounds = "" if m["ci_low"] is None else f"  [{m['ci_low']:.3f}, {m['ci_high']:.3f}]"
        text.append(f"  {label:<34} {number}{bounds}  n = {m['n_ok']:,}")
    value = {
        "artifact": artifact.key, "traces": len(result.verdicts), "problems": [str(problem) for problem in result.problems],
        "metrics": [{k: m[k] for k in ("representation", "slice", "metric", "value", "ci_low", "ci_high", "n_ok")} for m in metrics],
    }  # fmt: skip
    for problem in result.problems:
        print(f"{file}: {problem}", file=sys.stderr)
    _emit(obj, value, "\n".join(text))
    if result.problems:
        raise click.exceptions.Exit(2)


@traces.command()
@_bank_options
@click.option(
    "--surface/--no-surface", default=True, show_default=True, help="Whether bare text tells chosen from rejected."
)
@click.option("--human", type=click.Path(path_type=Path), help="Write the human-audit kit to this folder.")
@click.option("--sample", "size", type=click.IntRange(60), default=400, show_default=True, help="Items of the kit.")
@click.option("--labels", multiple=True, type=click.Path(path_type=Path), help="An annotator's sheet; give it twice.")
@click.option("--resolved", type=click.Path(path_type=Path), help="A sheet with what a discussion settled.")
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="The kit's key.json.")
@click.pass_obj
def audit(
    obj: Any,
    surface: bool,
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
    from tasks.verification import human as kit

    if labels and (len(labels) != 2 or key_file is None):
        raise BadInput("two annotators are compared: give --labels twice, and --key")
    record = _run(obj, "audit", surface=surface, **how)
    verdicts = _read(obj.store, record, "trace-verdicts", "verdicts")
    if labels and key_file is not None:
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
            f"  {r['label']:<13} F1 {_shown(r['f1'])}  kappa {_shown(r['kappa'])}  {r['use']}"
            for r in validation["labels"]
        ]
        _emit(obj, validation, "\n".join(lines))
        return
    metrics = _read(obj.store, record, "trace-audit", "metrics")
    if human:
        _write_kit(obj.store, record, verdicts, human, size)
    speed = _throughput(_read(obj.store, record, "trace-bank", "traces"))
    rows = metrics.select("representation", "slice", "metric", "value", "n_ok").to_dicts()
    wanted = ("FalsePositive", "Detection", "RightLabel", "SurfaceAUC", "SurfacePairwise")
    lines = [f"run {record['id']}; {speed:,.0f} traces a second on one core"]
    lines += [
        f"  {r['representation']:<12} {r['metric']:<16} {r['slice']:<44} {_shown(r['value'])}  n = {r['n_ok']:,}"
        for r in rows
        if r["metric"] in wanted
    ]
    _emit(
        obj,
        {"run": record["id"], "traces_per_second": speed, "metrics": rows, "kit": str(human) if human else None},
        "\n".join(lines),
    )


def _shown(value: float | None) -> str:
    return "   - " if value is None else f"{value:5.3f}"


def _throughput(bank: Any) -> float:
    """Verified traces a second, in this process, on up to 400 traces of the bank, their texts not seen before."""
    import time

    import orjson

    from tasks.verification.lexicon import forget
    from tasks.verification.verifier import verify as one

    found = [orjson.loads(text) for text in bank["trace"][:400]]
    for trace in found:
        one(trace)  # the tables and compiled equations of every family
    forget()
    started = time.process_time()
    for trace in found:
        one(trace)
    return len(found) / (time.process_time() - started)


def _write_kit(store: str, record: dict[str, Any], verdicts: Any, folder: Path, size: int) -> None:
    from tasks.traces.bank import trace
    from tasks.traces.diagrams import draw
    from tasks.traces.families import FAMILIES
    from tasks.verification import human as kit

    bank, pairs = _read(store, record, "trace-bank", "traces"), _read(store, record, "trace-pairs", "pairs")
    items = kit.sample(bank, pairs, verdicts, size, min(kit.GOLD_CHECKS, size // 8), record["seed"])
    wanted = {item["trace_id"] for item in items}
    pictures = {}
    for row in bank.iter_rows(named=True):
        if row["trace_id"] in wanted:
            drawn = draw(trace(FAMILIES[row["family"]], row["index"], record["seed"]))
            pictures[row["trace_id"]] = [(picture.moment, picture.png) for picture in drawn]
    kit.write_kit(folder, items, pictures)
    print(f"{len(items)} items in {folder}; keep {folder}-key.json from the annotators", file=sys.stderr)


@traces.command()
@click.argument("bank")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.pass_obj
def export(obj: Any, bank: str, folder: Path) -> None:
    """Write BANK (an id or `latest`) as a release: traces, pairs, TRL preferences, splits, digests, data card, pictures."""
    from tasks.traces.export import release_files, write_release

    record = _newest_bank(obj.store, bank)
    rows, pairs = _read(obj.store, record, "trace-bank", "traces"), _read(obj.store, record, "trace-pairs", "pairs")
    names: dict[str, list[str]] = {}
    pictures: dict[str, bytes] = {}
    if any(name.startswith("trace-diagrams[") for name in record["artifacts"]):
        images = dict(_read(obj.store, record, "trace-diagrams", "images").select("image_id", "png").iter_rows())
        for trace_id, moment, image in (
            _read(obj.store, record, "trace-diagrams", "diagrams").select("trace_id", "moment", "image_id").iter_rows()
        ):
            names.setdefault(trace_id, []).append(f"diagrams/{trace_id}-{moment}.png")
            pictures[f"{trace_id}-{moment}.png"] = images[image]
    traces_n, _, per_trace = record["profile"].partition("x")
    config = {"seed": record["seed"], "traces": int(traces_n), "pairs_per_trace": int(per_trace)}
    files = release_files(rows, pairs, config, names)
    write_release(folder, files, pictures)
    _emit(obj, {"folder": str(folder), "files": sorted(files), "pictures": len(pictures)},
          f"{folder}: {rows.height:,} traces, {pairs.height:,} pairs, {len(pictures):,} pictures")  # fmt: skip
