"""Commands about numbers: answers from elsewhere, comparisons, the shortcut audit, sample sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tasks.errors import BadInput

if TYPE_CHECKING:
    import polars as pl

    from storage import Store
    from tasks.scoring.compare import Comparison


def _shown(value: float | None, places: int = 3) -> str:
    return "n/a" if value is None else f"{value:.{places}f}"


# --- import-responses --------------------------------------------------------------------------------------------------


@click.command("import-responses")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--exam", default="latest", show_default=True, help="The exam that was answered: its key, or a run.")
@click.option("--judge", required=True, help="Who answered.")
@click.option("--index", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A foreign exam: uid, env, "
              "group_id, gold, and variant, temporal, visual, framing where it has them. JSONL, CSV or Parquet.")  # fmt: skip
@click.option("--policy", default="robust", show_default=True, help="How answers are read.")
@click.option(
    "--text-field", help="The field of a JSONL line that holds the answer; `text` or a usual name by default."
)
@click.option("--skip-unknown", is_flag=True, help="Leave out answers to items that the exam does not have.")
@click.option("--resamples", default=20_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.pass_context
def import_responses(
    ctx: click.Context,
    file: Path,
    exam: str,
    judge: str,
    index: Path | None,
    policy: str,
    text_field: str | None,
    skip_unknown: bool,
    resamples: int,
    seed: int,
) -> None:
    """Score answers that were collected elsewhere: JSONL with uid and text, an inspect_ai log, OpenAI batch output."""
    from flows.find import exam_given
    from storage import Store
    from tasks.inference.importing import import_answers, read_answers, read_index, register_index
    from tasks.parsing import PARSING
    from tasks.scoring import SCORING
    from tasks.stage import Ref, produce

    store = Store(ctx.obj.store)
    if index is not None:
        release, answers = register_index(store, read_index(index), index.name)
    else:
        given = exam_given(ctx.obj.store, exam)
        release = store.get("release", given["release"]["all"])
        answers = store.get("answers", given["answers"]["all"])
    rows = read_answers(file, text_field)
    responses, counts = import_answers(store, release, rows, judge, file.name, skip_unknown)
    refs = {"release": Ref("release", release.key), "responses": Ref("inference", responses.key)}
    parsed = produce(ctx.obj.store, PARSING, judge, {"policy": policy}, refs)
    inputs = {
        "answers": Ref("answers", answers.key),
        f"responses.{judge}": Ref("inference", responses.key),
        f"parsed.{judge}": parsed.ref,
    }
    scored = produce(ctx.obj.store, SCORING, "all", {"resamples": resamples, "seed": seed}, inputs)
    metrics = store.get("scoring", scored.ref.key).read("metrics")
    headline = _headline(metrics)
    value = {
        "judge": judge,
        "exam": release.key,
        "answers": answers.key,
        "responses": responses.key,
        "parsed": parsed.ref.key,
        "scoring": scored.ref.key,
        "policy": policy,
        **counts,
        "metrics": headline,
    }
    counted = ", ".join(f"{n} {name}" for name, n in counts.items())
    lines = [f"{judge}: {counted}; read by the rule {policy!r}", f"exam {release.key[:12]}", ""]
    lines += [
        f"  {row['task']} {row['representation'] or '':<10} {row['metric']:<14} {_shown(row['value']):>6} "
        f"[{_shown(row['ci_low'])}, {_shown(row['ci_high'])}]  {row['n_ok']} of {row['n_planned']} read"
        + (f"  {row['flag']}" if row["flag"] else "")
        for row in headline
    ]
    lines += ["", f"worldaudit score {release.key[:12]} writes a report over every judge of this exam"]
    ctx.obj.emit(value, "\n".join(lines))


def _headline(metrics: pl.DataFrame) -> list[dict[str, Any]]:
    import polars as pl

    from tasks.scoring import headline_metrics

    order = {name: place for place, name in enumerate(headline_metrics())}
    return (
        metrics.filter((pl.col("slice") == "all") & (pl.col("protocol") == "all") & pl.col("metric").is_in(list(order)))
        .sort("task", "representation", pl.col("metric").replace_strict(order))
        .to_dicts()
    )


# --- compare -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--run", "run_id", default="latest", show_default=True, help="The run that judges without a run are of.")
@click.option("--fail-if-drop", "limits", multiple=True, metavar="[TASK.]METRIC=DROP",
              help="Exit code 1 if METRIC fell by more than DROP with 95% confidence. May be repeated.")  # fmt: skip
@click.option("--max-gap", default=0.10, show_default=True,
              help="Largest difference in the share of answers read at which two are still compared.")  # fmt: skip
@click.option("--resamples", default=20_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--changed", "show_changed", default=10, show_default=True, help="How many changed items to print.")
@click.pass_context
def compare(
    ctx: click.Context,
    first: str,
    second: str,
    run_id: str,
    limits: tuple[str, ...],
    max_gap: float,
    resamples: int,
    seed: int,
    show_changed: int,
) -> None:
    """Two runs, two judges of a run, or RUN:JUDGE and RUN:JUDGE, side by side: differences are SECOND - FIRST."""
    from storage import Store
    from tasks.scoring.compare import compare as compare_frames

    allowed = dict(_limit(text) for text in limits)
    store = Store(ctx.obj.store)
    pairs = _pairs(store, first, second, run_id)
    made = [
        compare_frames(
            _graded(store, one), _graded(store, two), (_label(one), _label(two)), allowed, resamples, seed, max_gap
        )
        for one, two in pairs
    ]
    value = {"comparisons": [_as_json(one) for one in made], "regressed": any(one.regressed for one in made)}
    ctx.obj.emit(value, "\n\n".join(_as_text(one, show_changed) for one in made))
    if value["regressed"]:
        ctx.exit(1)


Side = tuple[dict[str, Any], str]  # a run's record and a judge of it


def _limit(text: str) -> tuple[str, float]:
    metric, _, drop = text.partition("=")
    try:
        return metric, abs(float(drop))
    except ValueError:
        raise BadInput(f"--fail-if-drop {text!r} should read METRIC=DROP, such as IDR_raw=0.05") from None


def _judges(run: dict[str, Any]) -> list[str]:
    return sorted(name[len("parsing[") : -1] for name in run["artifacts"] if name.startswith("parsing["))


def _pairs(store: Store, first: str, second: str, run_id: str) -> list[tuple[Side, Side]]:
    one, two = _sides(store, first, run_id), _sides(store, second, run_id)
    if len(one) == 1 and len(two) == 1:
        return [(one[0], two[0])]
    by_name = {judge: (run, judge) for run, judge in two}
    shared = [((run, judge), by_name[judge]) for run, judge in one if judge in by_name]
    if not shared:
        raise BadInput(f"{first} and {second} have no judge in common; name one of each as RUN:JUDGE")
    return shared


def _sides(store: Store, text: str, run_id: str) -> list[Side]:
    """What a side means: RUN:JUDGE, a judge of --run, or every judge of a run."""
    run_name, colon, judge = text.partition(":")
    runs = store.runs()
    is_run = run_name == "latest" or any(run.startswith(run_name) for run in runs)
    if colon and is_run:
        run = store.read_run(run_name)
        if judge not in _judges(run):
            raise BadInput(f"run {run['id']} has no judge {judge!r}; there are {', '.join(_judges(run)) or 'none'}")
        return [(run, judge)]
    if runs:
        default = store.read_run(run_id)
        if text in _judges(default):
            return [(default, text)]
    if is_run:
        run = store.read_run(run_name)
        if not _judges(run):
            raise BadInput(f"run {run['id']} has no parsed answers; `worldaudit show {run['id']}` says what it lacks")
        return [(run, name) for name in _judges(run)]
    judges = ", ".join(_judges(store.read_run(run_id))) if runs else "none"
    raise BadInput(f"{text!r} is neither a run nor a judge of run {run_id!r} (its judges: {judges})")


def _label(side: Side) -> str:
    return f"{side[0]['id']}:{side[1]}"


def _graded(store: Store, side: Side) -> pl.DataFrame:
    from tasks.scoring import grade

    run, judge = side
    keys = run["artifacts"]
    try:
        answers, inference = keys["answers[all]"], keys[f"inference[{judge}]"]
    except KeyError as error:
        raise BadInput(f"run {run['id']} names no {error.args[0]}; was it finished?") from None
    return grade(
        store.get("answers", answers).read("answers"),
        store.get("inference", inference).read("responses"),
        store.get("parsing", keys[f"parsing[{judge}]"]).read("parsed"),
    )


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
        interval = f"[{_shown(row['ci_low'])}, {_shown(row['ci_high'])}]"
        only = "" if row["only_first"] is None else f"second {row['only_first']}, first {row['only_second']}"
        lines.append(
            f"  {row['task']:<5}{row['representation'] or '':<11}{row['metric']:<14}{_shown(row['difference']):>10}  "
            f"{interval:<17}{_shown(row['p_holm']):>9}  {only}" + (f"  {row['reason']}" if row["reason"] else "")
        )
    lines += ["", f"{len(made.changed)} items changed their answer"]
    for row in made.changed.head(show_changed).iter_rows(named=True):
        said = (row["first"] or row["first_status"], row["second"] or row["second_status"])
        lines.append(f"  {row['uid']}: {said[0][:40]} -> {said[1][:40]} (right: {row['gold'][:40]})")
    for gate in made.gates:
        where = " ".join(part for part in (gate.task, gate.representation, gate.metric) if part)
        lines.append(
            f"{where}: {gate.verdict.replace('_', ' ')} (difference {_shown(gate.difference)} "
            f"[{_shown(gate.ci_low)}, {_shown(gate.ci_high)}], allowed fall {gate.drop})"
        )
    return "\n".join(lines)


# --- audit -------------------------------------------------------------------------------------------------------------


@click.group()
def audit() -> None:
    """What a judge that cannot see could score."""


@audit.command("exam")
@click.argument("exam", default="latest")
@click.option("--seed", default=0, show_default=True)
@click.pass_context
def audit_exam(ctx: click.Context, exam: str, seed: int) -> None:
    """The shortcut audit of EXAM: small classifiers on what needs no seeing, and what the embedded judges reached."""
    from flows.find import exam_given, responses_to
    from storage import Store
    from tasks.audit import audit_release

    store = Store(ctx.obj.store)
    given = exam_given(ctx.obj.store, exam)
    release, answers = store.get("release", given["release"]["all"]), store.get("answers", given["answers"]["all"])
    try:
        judges = responses_to(ctx.obj.store, release.key)
    except BadInput:
        judges = {}
    responses = {name: store.get("inference", key).read("responses") for name, key in judges.items()}
    found = audit_release(release, answers.read("answers"), responses, seed)
    ctx.obj.emit(found.as_dict(), found.as_text())


# --- power -------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("first", type=float)
@click.argument("second", type=float)
@click.option("--power", "target", default=0.8, show_default=True)
@click.option("--correlation", default=0.0, show_default=True, help="Between the outcomes of the two on a group.")
@click.option("--groups", type=int, help="Say the power at this many groups instead.")
@click.pass_context
def power(
    ctx: click.Context, first: float, second: float, target: float, correlation: float, groups: int | None
) -> None:
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
    ctx.obj.emit(value, text)
