"""Commands that compute: run, generate, infer, score, report, rerun."""

from __future__ import annotations

from typing import Any

import click

from flows.commands.context import Context, refuses, with_common_options
from flows.commands.launching import chain_options, computing, launched, server_for
from flows.commands.texts import summary_text
from tasks.errors import BadInput
from tasks.worlds import WORLDS  # light; what is heavy is imported after the server has been started

_judges = click.option("--judge", "judges", multiple=True, metavar="NAME", help="A judge; may be repeated.")
_refresh = click.option(
    "--refresh", multiple=True, metavar="STEP", help="Recompute a step, or STEP[SHARD], even if it is in the store."
)


class _Chains(click.Group):
    """`run NAME`: a world, whose audit it is, or any other chain that is runnable, with an option for each parameter."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from flows.request import CHAINS

        return [*WORLDS, *(name for name in CHAINS if _runnable(name))]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in WORLDS:
            return with_common_options(_world_command(name))
        if _runnable(name):
            return with_common_options(_chain_command(name))
        return None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches

            names = self.list_commands(ctx)
            close = get_close_matches(args[0], names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"{args[0]!r} is not one of {', '.join(names)}{hint}", ctx)
        return super().resolve_command(ctx, args)


def _runnable(name: str) -> bool:
    """Whether there is such a chain with a command of its own. One that cannot be loaded is listed: using it says why."""
    from flows.request import CHAINS

    try:
        return name in CHAINS and CHAINS[name].runnable
    except BadInput:
        return True


@click.command(cls=_Chains)
def run() -> None:
    """A whole chain. For a world: generate, infer, parse, score, report; its embedded judges sit the exam where none is
    named."""


def _world_command(world: str) -> click.Command:
    @click.command(world)
    @click.option("--profile", default="base", show_default=True, metavar="NAME", help="How large the exam is.")
    @_judges
    @click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What everything that is drawn is drawn from.")
    @_refresh
    @computing()
    @click.pass_obj
    def command(obj: Context, /, profile: str, judges: tuple[str, ...], seed: int | None, **how: Any) -> None:
        with server_for(obj, how):
            parameters = _exam(obj, world, profile, seed) | {"judges": judges or WORLDS[world].judges}
            _print_run(obj, launched(obj, how, "audit", parameters))

    command.help = f"The judge audit on {WORLDS[world].title}: generate, infer, parse, score, report."
    return command


def _chain_command(name: str) -> click.Command:
    from flows.request import CHAINS

    @click.command(name)
    @chain_options(CHAINS[name])
    @_refresh
    @computing()
    @click.pass_obj
    def command(obj: Context, /, parameters: dict[str, Any], **how: Any) -> None:
        with server_for(obj, how):
            _print_run(obj, launched(obj, how, name, parameters))

    command.help = CHAINS[name].summary
    return command


@click.command()
@click.argument("world", metavar="WORLD")
@click.option("--profile", default="base", show_default=True, metavar="NAME", help="How large the exam is.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What everything that is drawn is drawn from.")
@_refresh
@computing()
@click.pass_obj
def generate(obj: Context, /, world: str, profile: str, seed: int | None, **how: Any) -> None:
    """Only the exam release of WORLD, from rollouts to exams. Prints the exam's key and the counts by task."""
    WORLDS[world]  # named before a server starts
    with server_for(obj, how):
        record = launched(obj, how, "generate", _exam(obj, world, profile, seed))
        if record:
            from flows.summary import counts_by_task
            from storage import Store

            counts = counts_by_task(Store(obj.store), record["artifacts"]["answers[all]"])
            lines = [f"exam {record['exam']}", *(f"  {task:<12} {n:>6,}" for task, n in counts.items())]
            obj.emit({"exam": record["exam"], "run": record["id"], "items": counts}, "\n".join(lines))


@click.command()
@click.argument("exam")
@_judges
@_refresh
@computing()
@click.pass_obj
def infer(obj: Context, /, exam: str, judges: tuple[str, ...], **how: Any) -> None:
    """Ask judges about EXAM. What they have answered already is not asked again."""
    if not judges:
        raise click.UsageError("which judge? --judge NAME")
    from flows.find import exam as exam_named
    from storage import Store

    release = exam_named(Store(obj.store), exam).release
    with server_for(obj, how):
        _print_run(obj, launched(obj, how, "infer", {"release": release, "judges": judges}))


@click.command()
@click.argument("exam")
@_judges
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="What the resamples are drawn from.")
@_refresh
@computing()
@click.pass_obj
def score(obj: Context, /, exam: str, judges: tuple[str, ...], seed: int | None, **how: Any) -> None:
    """Parse and score what judges have answered to EXAM, and write a report. Asks nobody.

    Without --judge all that have finished are scored. A judge that is named and has not finished is scored as far as it
    has come; its numbers say how many items are pending.
    """
    from flows.find import exam as exam_named
    from flows.find import responses_to
    from storage import Store

    store = Store(obj.store)
    found = exam_named(store, exam)
    responses = responses_to(store, found.release, judges, obj.config)
    seed = obj.config.run.seed if seed is None else seed
    parameters = {"release": found.release, "answers": found.answers, "responses": responses, "seed": seed}
    with server_for(obj, how):
        _print_run(obj, launched(obj, how, "score", parameters))


@click.command()
@click.argument("run", metavar="RUN")
@click.pass_obj
def report(obj: Context, /, run: str) -> None:
    """Write the report of RUN again."""
    from flows.record import REPORTS, read_record, steps_of
    from storage import Store
    from tasks.reports import write_report

    store = Store(obj.store)
    record = read_record(store, run, lambda record: REPORTS in steps_of(record), "run with a report")
    url = store.files.url(f"runs/{record['id']}/report.html")
    if obj.dry_run:
        obj.emit({"run": record["id"], "report": url}, f"would write {url}")
        return
    write_report(store, record)
    obj.emit({"run": record["id"], "report": url}, f"report: {url}")


@refuses("--config", "it uses the configuration of RUN; the command of the run again takes another")
@click.command()
@click.argument("run", metavar="RUN")
@click.option("--from", "start", required=True, metavar="STEP", help="The first step to recompute; `show` names them.")
@_judges
@click.option(
    "--only-failed", is_flag=True, help="Only what failed: shards without a result, items whose request failed."
)
@computing()
@click.pass_obj
def rerun(obj: Context, /, run: str, start: str, judges: tuple[str, ...], only_failed: bool, **how: Any) -> None:
    """Recompute one step of RUN and what follows it; everything before it is reused.

    From a step that asks judges they are asked anew, and what they had answered stays in the store under its own key; with
    --only-failed only what is missing or failed is asked.
    """
    from flows.commands.launching import command_line, launch_request
    from flows.operations.rerun import again
    from storage import Store

    with server_for(obj, how):
        request = again(Store(obj.store), run, start, judges, only_failed, command_line())
        _print_run(obj, launch_request(obj, how, request))


# --- shared ----------------------------------------------------------------------------------------------------------


def _exam(obj: Context, world: str, profile: str, seed: int | None) -> dict[str, Any]:
    import os

    where = os.path.abspath(profile) if profile.endswith(".toml") else profile
    return {"world": world, "profile": where, "seed": obj.config.run.seed if seed is None else seed}


def _print_run(obj: Context, record: dict[str, Any] | None) -> None:
    """Nothing after --dry-run, which has said what it had to say."""
    if record is None:
        return
    from flows.summary import summary
    from storage import Store

    value = summary(Store(obj.store), record)
    obj.emit(value, summary_text(value))
