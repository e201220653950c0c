"""Commands that compute: run, generate, infer, score, report, rerun."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from flows.cli import Context

if TYPE_CHECKING:
    from flows.run import Request

WORLDS = ("minigrid", "miniworld")
STAGES = (
    "rollouts",
    "variants",
    "rendering",
    "gates",
    "exams",
    "release",
    "answers",
    "inference",
    "parsing",
    "scoring",
    "reports",
)


def _computing(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(
        (
            click.option(
                "--processes", type=click.IntRange(0, 256), help="One a core by default; 0: none but this one."
            ),
            click.option(
                "--no-prefect",
                is_flag=True,
                default=lambda: bool(os.environ.get("WORLDAUDIT_NO_PREFECT")),
                help="Without a Prefect server; WORLDAUDIT_NO_PREFECT=1 does the same.",
            ),
        )
    ):
        command = option(command)
    return command


_judge_option = click.option(
    "--judge", "judges", multiple=True, metavar="NAME", help="An embedded judge or one of --config; may be repeated."
)


@click.command()
@click.argument("world", type=click.Choice(WORLDS))
@click.option("--profile", default="base", show_default=True, metavar="NAME", help="How large the exam is.")
@_judge_option
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What everything that is drawn is drawn from.")
@click.option(
    "--refresh", multiple=True, type=click.Choice(STAGES), help="Recompute a stage even if it is in the store."
)
@_computing
@click.pass_obj
def run(obj: Context, world: str, profile: str, judges: tuple[str, ...], seed: int | None, **how: Any) -> None:
    """The whole chain: generate, infer, parse, score, report. The embedded judges sit the exam where none is named."""
    with _server(obj, how):
        request = _request(
            obj,
            how,
            chain="audit",
            world=world,
            profile=_profile(profile),
            seed=seed,
            judges=judges or _embedded(world),
        )
        record = _launch(obj, request, how)
        if record:
            _print_run(obj, record)


@click.command()
@click.argument("world", type=click.Choice(WORLDS))
@click.option("--profile", default="base", show_default=True, metavar="NAME", help="How large the exam is.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What everything that is drawn is drawn from.")
@click.option(
    "--refresh", multiple=True, type=click.Choice(STAGES[:7]), help="Recompute a stage even if it is in the store."
)
@_computing
@click.pass_obj
def generate(obj: Context, world: str, profile: str, seed: int | None, **how: Any) -> None:
    """Only the exam release, from rollouts to exams. Prints the exam's key and the counts by task."""
    with _server(obj, how):
        request = _request(obj, how, chain="generate", world=world, profile=_profile(profile), seed=seed)
        record = _launch(obj, request, how)
        if record:
            from flows.find import counts_by_task
            from storage import Store

            counts = counts_by_task(Store(obj.store), record["artifacts"]["answers[all]"])
            lines = [f"exam {record['exam']}", *(f"  {task:<12} {n:>6,}" for task, n in counts.items())]
            obj.emit({"exam": record["exam"], "run": record["id"], "items": counts}, "\n".join(lines))


@click.command()
@click.argument("exam")
@_judge_option
@_computing
@click.pass_obj
def infer(obj: Context, exam: str, judges: tuple[str, ...], **how: Any) -> None:
    """Ask judges about EXAM. What they have answered already is not asked again."""
    if not judges:
        raise click.UsageError("which judge? --judge NAME")
    from flows.find import exam_given

    given = exam_given(obj.store, exam)
    with _server(obj, how):
        request = _request(obj, how, chain="infer", judges=judges, given={"release": given["release"]})
        record = _launch(obj, request, how)
        if record:
            _print_run(obj, record)


@click.command()
@click.argument("exam")
@_judge_option
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What the resamples are drawn from.")
@click.option(
    "--refresh", multiple=True, type=click.Choice(STAGES[8:]), help="Recompute a stage even if it is in the store."
)
@_computing
@click.pass_obj
def score(obj: Context, exam: str, judges: tuple[str, ...], seed: int | None, **how: Any) -> None:
    """Parse and score what judges have answered to EXAM, and write a report. Asks nobody.

    Without --judge all that have finished are scored. A judge that is named and has not finished is scored as far as it
    has come; its numbers say how many items are pending.
    """
    from flows.find import exam_given, responses_to

    given = exam_given(obj.store, exam)
    given["inference"] = responses_to(obj.store, given["release"]["all"], judges, obj.config)
    with _server(obj, how):
        request = _request(obj, how, chain="score", seed=seed, given=given)
        record = _launch(obj, request, how)
        if record:
            _print_run(obj, record)


@click.command()
@click.argument("run", metavar="RUN")
@click.pass_obj
def report(obj: Context, run: str) -> None:
    """Write the report of RUN again."""
    from storage import Store
    from tasks.reports import write_report

    store = Store(obj.store)
    record = store.read_run(run)
    write_report(store, record)
    url = store.files.url(f"runs/{record['id']}/report.html")
    obj.emit({"run": record["id"], "report": url}, f"report: {url}")


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--from", "start", required=True, type=click.Choice(STAGES), help="The first stage to recompute.")
@_judge_option
@click.option(
    "--only-failed", is_flag=True, help="Only what failed: shards without a result, items whose request failed."
)
@_computing
@click.pass_obj
def rerun(obj: Context, run: str, start: str, judges: tuple[str, ...], only_failed: bool, **how: Any) -> None:
    """Recompute one stage of RUN and what follows it; everything before it is reused.

    From `inference` on, judges are asked again; with --only-failed only what is missing or failed is asked.
    """
    from flows.rerun import again
    from storage import Store

    with _server(obj, how):
        request = again(Store(obj.store), run, start, judges, only_failed, _command(), dry_run=obj.dry_run)
        record = _launch(obj, request, how)
        if record:
            _print_run(obj, record)


# --- shared ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _server(obj: Context, how: dict[str, Any]) -> Iterator[None]:
    """Prefect's server starts before anything heavy is imported, and is waited for when a flow is to begin."""
    how["wait"] = lambda: None
    if how["no_prefect"] or obj.dry_run:
        yield
        return
    from flows.server import server

    with server() as running:
        how["wait"] = running.wait
        yield


def _command() -> str:
    import shlex

    return shlex.join(["worldaudit", *sys.argv[1:]])


def _profile(name: str) -> str:
    """A profile's name, or the whole path of a profile's file."""
    return os.path.abspath(name) if name.endswith(".toml") else name


def _embedded(world: str) -> tuple[str, ...]:
    from tasks.inference import embedded_judges

    return embedded_judges(world)


def _request(obj: Context, how: dict[str, Any], seed: int | None = None, **fields: Any) -> Request:
    from flows.run import Request

    configuration = obj.config
    settings = configuration.run
    if how.get("processes") is not None:
        settings = settings.model_copy(update={"processes": how["processes"]})
    document = configuration.model_copy(update={"run": settings}).model_dump(mode="json")
    return Request(
        store=obj.store,
        command=_command(),
        seed=settings.seed if seed is None else seed,
        configuration=document,
        refresh=tuple(how.get("refresh") or ()),
        **fields,
    )


def _launch(obj: Context, request: Request, how: dict[str, Any]) -> dict[str, Any] | None:
    """The finished run's record; None after --dry-run, which has said what it had to say."""
    from flows.launch import build, launch

    if obj.dry_run:
        from flows.find import dry_run

        run, chain = build(request)
        result = dry_run(run, run.plan(chain))
        obj.emit(result, result.pop("text"))
        return None
    build(request)  # bad input is named before a server is waited for
    from flows.progress import PlainProgress, TerminalProgress

    progress = TerminalProgress() if sys.stderr.isatty() else PlainProgress()
    with progress:
        how["wait"]()
        try:
            return launch(request, prefect=not how["no_prefect"], reporter=progress)
        except Exception:
            _hint(obj)
            raise


def _hint(obj: Context) -> None:
    """Where a run that failed is, and what would mend it."""
    from flows.launch import say
    from storage import Store

    store = Store(obj.store)
    runs = store.runs()
    record = store.read_run(runs[-1]) if runs else None
    if record and record["process"]["pid"] == os.getpid() and record["mend"]:
        say(f"run {record['id']}: {record['state']}; `worldaudit show` tells more. To mend it: {record['mend']}")


def _print_run(obj: Context, record: dict[str, Any]) -> None:
    from flows.find import summary
    from storage import Store

    value, text = summary(Store(obj.store), record)
    obj.emit(value, text)
