"""Commands about numbers: answers from elsewhere, comparisons, the shortcut audit, sample sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.commands.context import LARGEST, Context, Share, refuses
from flows.commands.launching import computing, launched, server_for
from flows.commands.texts import shown
from tasks.errors import BadInput

if TYPE_CHECKING:
    import polars as pl

    from storage import Store
    from tasks.scoring.compare import Comparison

RESAMPLES = click.option("--resamples", type=click.IntRange(100, 10_000_000), default=20_000, show_default=True)
SEED = click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)

# --- import-responses --------------------------------------------------------------------------------------------------


@click.command("import-responses")
@click.argument("files", metavar="FILE...", type=FILE, nargs=-1, required=True)
@click.option("--exam", default="latest", show_default=True, help="The exam that was answered: its key, or a run.")
@click.option("--judge", required=True, help="Who answered.")
@click.option(
    "--index",
    type=FILE,
    help="A foreign exam: uid, env, group_id, gold, and variant, temporal, visual, framing where it has them. JSONL, CSV "
    "or Parquet.",
)
@click.option("--policy", default="robust", show_default=True, help="How answers are read.")
@click.option(
    "--text-field", help="The field of a JSONL line that holds the answer; `text` or a usual name by default."
)
@click.option("--skip-unknown", is_flag=True, help="Leave out answers to items that the exam does not have.")
@RESAMPLES
@SEED
@computing(prefect=False)
@click.pass_obj
def import_responses(
    obj: Context,
    /,
    files: tuple[Path, ...],
    exam: str,
    judge: str,
    index: Path | None,
    policy: str,
    text_field: str | None,
    skip_unknown: bool,
    resamples: int,
    seed: int,
    **how: Any,
) -> None:
    """Score answers that were collected elsewhere: JSONL with uid and text, an inspect_ai log, OpenAI batch output.

    Several files are one import. The answers are a run of their own: `rerun`, `compare` and `gc` know it.
    """
    from flows.record import artifact_of
    from storage import Store
    from tasks.exams import ANSWERS
    from tasks.inference.config import checked_name
    from tasks.inference.importing import IMPORTED, import_counts
    from tasks.parsing import PARSING
    from tasks.scoring import SCORING

    checked_name(judge, "--judge")
    store = Store(obj.store)
    parameters = _imported(store, files, exam, judge, index, text_field, skip_unknown)
    parameters |= {"policy": policy, "resamples": resamples, "seed": seed}
    with server_for(obj, how):
        record = launched(obj, how, "import-responses", parameters)
    if record is None:
        return
    keys = {step: artifact_of(record, step) for step in (ANSWERS.name, IMPORTED.name, PARSING.name, SCORING.name)}
    counts = import_counts(store.get(IMPORTED.name, keys[IMPORTED.name][judge]), parameters["imported"])
    metrics = _headline(store.get(SCORING.name, keys[SCORING.name]["all"]).read("metrics"))
    value = {
        "run": record["id"],
        "judge": judge,
        "exam": record["exam"],
        "answers": keys[ANSWERS.name]["all"],
        "responses": keys[IMPORTED.name][judge],
        "parsed": keys[PARSING.name][judge],
        "scoring": keys[SCORING.name]["all"],
        "policy": policy,
        **counts,
        "metrics": metrics,
    }
    counted = ", ".join(f"{n} {name}" for name, n in counts.items())
    lines = [f"{judge}: {counted}; read by the rule {policy!r}", f"exam {record['exam'][:12]}", ""]
    lines += [
        f"  {row['task']} {row['representation'] or '':<10} {row['metric']:<14} {shown(row['value']):>6} "
        f"[{shown(row['ci_low'])}, {shown(row['ci_high'])}]  {row['n_ok']} of {row['n_planned']} read"
        + (f"  {row['flag']}" if row["flag"] else "")
        for row in metrics
    ]
    lines += ["", f"worldaudit score {record['exam'][:12]} writes a report over every judge of this exam"]
    obj.emit(value, "\n".join(lines))


def _imported(
    store: Store,
    files: tuple[Path, ...],
    exam: str,
    judge: str,
    index: Path | None,
    text_field: str | None,
    skip_unknown: bool,
) -> dict[str, Any]:
    """The chain's parameters: files are read and checked once here, so that bad input is said before anything is computed."""
    from flows.find import exam as exam_named
    from tasks.exams import RELEASE
    from tasks.inference.importing import import_config, index_config, read_index

    if index is not None:
        uids = [row["uid"] for row in read_index(index)]
        parameters: dict[str, Any] = {"index": index_config(index)}
        name = index.name
    else:
        known = exam_named(store, exam)
        uids = store.get(RELEASE.name, known.release).read("items")["uid"].to_list()
        parameters, name = {"release": known.release, "answers": known.answers}, known.release[:12]
    return parameters | {"imported": import_config(uids, name, files, judge, text_field, skip_unknown)}


def _headline(metrics: pl.DataFrame) -> list[dict[str, Any]]:
    """The metrics in which judges are compared, over everything planned."""
    import polars as pl

    from tasks.scoring import headline_metrics

    order = {name: place for place, name in enumerate(headline_metrics())}
    rows = metrics.filter(
        (pl.col("slice") == "all") & (pl.col("protocol") == "all") & pl.col("metric").is_in(list(order))
    )
    return rows.sort("task", "representation", pl.col("metric").replace_strict(order)).to_dicts()


# --- compare -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--run", "run_id", default="latest", show_default=True, help="The run that judges without a run are of.")
@click.option(
    "--fail-if-drop",
    "limits",
    multiple=True,
    metavar="[TASK.]METRIC=DROP",
    help="Exit code 1 if METRIC fell by more than DROP (0.05: five percentage points) with 95% confidence. May be repeated.",
)
@click.option(
    "--max-gap",
    type=Share(0, 1),
    default=0.10,
    show_default=True,
    help="Largest difference in the share of answers read at which two are still compared.",
)
@RESAMPLES
@SEED
@click.option(
    "--changed",
    "show_changed",
    type=click.IntRange(0, LARGEST),
    default=10,
    show_default=True,
    help="How many changed items to print.",
)
@computing(prefect=False)
@click.pass_obj
def compare(
    obj: Context,
    /,
    first: str,
    second: str,
    run_id: str,
    limits: tuple[str, ...],
    max_gap: float,
    resamples: int,
    seed: int,
    show_changed: int,
    **how: Any,
) -> None:
    """Two runs, two judges of a run, or RUN:JUDGE and RUN:JUDGE, side by side: differences are SECOND - FIRST."""
    from flows.record import artifact_of
    from flows.sides import pairs_of
    from storage import Store
    from tasks.scoring.compare import COMPARISON, Comparison

    allowed = dict(_limit(text) for text in limits)
    store = Store(obj.store)
    pairs = pairs_of(store, first, second, run_id)
    parameters = {"pairs": pairs, "max_gap": max_gap, "resamples": resamples, "seed": seed}
    with server_for(obj, how):
        record = launched(obj, how, "compare", parameters)
    if record is None:
        return
    keys = artifact_of(record, COMPARISON.name)
    made = [Comparison.from_artifact(store.get(COMPARISON.name, keys[pair]), allowed) for pair in pairs]
    value = {
        "run": record["id"],
        "comparisons": [_as_json(one) for one in made],
        "regressed": any(one.regressed for one in made),
    }
    obj.emit(value, "\n\n".join(_as_text(one, show_changed) for one in made))
    if value["regressed"]:
        raise click.exceptions.Exit(1)


def _limit(text: str) -> tuple[str, float]:
    """BadInput where the largest fall is not a number from 0 to 1."""
    metric, _, drop = text.partition("=")
    try:
        allowed = float(drop)
    except ValueError:
        allowed = -1.0
    if not metric or not 0 <= allowed <= 1:
        raise BadInput(
            f"--fail-if-drop {text!r} should read METRIC=DROP with DROP from 0 to 1, such as IDR_raw=0.05 for a fall of "
            "five percentage points"
        )
    return metric, allowed


def _as_json(made: Comparison) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "first": made.first,
        "second": made.second,
        "differences": made.rows,
        "read": {task: list(shares) for task, shares in made.read.items()},
        "changed": made.changed.to_dicts(),
        "gates": [asdict(gate) for gate in made.gates],
        "regressed": made.regressed,
    }


def _as_text(made: Comparison, show_changed: int) -> str:
    lines = [f"{made.second}  minus  {made.first}", ""]
    lines.append(
        f"  {'task':<5}{'':<11}{'metric':<14}{'difference':>10}  {'95% interval':<17}{'p (Holm)':>9}  right only in"
    )
    for row in made.rows:
        interval = f"[{shown(row['ci_low'])}, {shown(row['ci_high'])}]"
        only = "" if row["only_first"] is None else f"second {row['only_first']}, first {row['only_second']}"
        lines.append(
            f"  {row['task']:<5}{row['representation'] or '':<11}{row['metric']:<14}{shown(row['difference']):>10}  "
            f"{interval:<17}{shown(row['p_holm']):>9}  {only}" + (f"  {row['reason']}" if row["reason"] else "")
        )
    lines += ["", f"{len(made.changed)} items changed their answer"]
    for row in made.changed.head(show_changed).iter_rows(named=True):
        said = (row["first"] or row["first_status"], row["second"] or row["second_status"])
        lines.append(f"  {row['uid']}: {said[0][:40]} -> {said[1][:40]} (right: {row['gold'][:40]})")
    for gate in made.gates:
        where = " ".join(part for part in (gate.task, gate.representation, gate.metric) if part)
        lines.append(
            f"{where}: {gate.verdict.replace('_', ' ')} (difference {shown(gate.difference)} "
            f"[{shown(gate.ci_low)}, {shown(gate.ci_high)}], allowed fall {gate.drop})"
        )
    return "\n".join(lines)


# --- audit -------------------------------------------------------------------------------------------------------------


@click.group()
def audit() -> None:
    """What a judge that cannot see could score."""


@audit.command("exam")
@click.argument("exam", default="latest")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@computing(prefect=False)
@click.pass_obj
def audit_exam(obj: Context, /, exam: str, seed: int, **how: Any) -> None:
    """The shortcut audit of EXAM: small classifiers on what needs no seeing, and what judges reached that have sat it."""
    from flows.find import exam as exam_named
    from flows.find import responses_to
    from flows.record import artifact_of
    from storage import Store
    from tasks.audit import SHORTCUTS, Audit

    store = Store(obj.store)
    known = exam_named(store, exam)
    try:
        responses = responses_to(store, known.release)
    except BadInput:  # nobody has sat it
        responses = {}
    parameters = {"release": known.release, "answers": known.answers, "responses": responses, "seed": seed}
    with server_for(obj, how):
        record = launched(obj, how, "shortcuts", parameters)
    if record is not None:
        found = Audit.read(store.get(SHORTCUTS.name, artifact_of(record, SHORTCUTS.name)["all"]))
        obj.emit({"run": record["id"], **found.as_dict()}, found.as_text())


# --- power -------------------------------------------------------------------------------------------------------------


@refuses("--dry-run", "it computes nothing that is kept")
@refuses("--store", "it reads no store")
@click.command()
@click.argument("first", type=Share(0, 1))
@click.argument("second", type=Share(0, 1))
@click.option("--power", "target", type=Share(0, 1, min_open=True, max_open=True), default=0.8, show_default=True)
@click.option(
    "--correlation",
    type=Share(0, 1),
    default=0.0,
    show_default=True,
    help="Between the outcomes of the two on a group.",
)
@click.option("--groups", type=click.IntRange(1, 100_000), help="Say the power at this many groups instead.")
@click.pass_obj
def power(obj: Context, /, first: float, second: float, target: float, correlation: float, groups: int | None) -> None:
    """How many groups show that an IDR_raw of FIRST differs from one of SECOND?"""
    from tasks.scoring.power import groups_needed
    from tasks.scoring.power import power as power_at

    value: dict[str, Any] = {"first": first, "second": second, "correlation": correlation}
    if groups is None:
        value |= {"power": target, "groups": groups_needed(first, second, target, correlation)}
        text = f"{value['groups']} groups show {first} against {second} with power {target} (McNemar, two-sided 0.05)"
    else:
        value |= {"groups": groups, "power": power_at(first, second, groups, correlation)}
        text = (
            f"{groups} groups show {first} against {second} with power {value['power']:.2f} (McNemar, two-sided 0.05)"
        )
    obj.emit(value, text)
