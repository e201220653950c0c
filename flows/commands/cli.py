"""The command `worldaudit`: what a person types, and what they see.

Results go to stdout, progress and messages to stderr. Exit codes: 0 done; 1 a stage failed or too many requests failed;
2 bad usage or bad input; 130 interrupted. WORLDAUDIT_DEBUG=1 shows tracebacks.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from typing import Any, NoReturn

import click

from flows.commands.context import Context, common_options, with_common_options
from tasks.printable import printable, printable_json

COMMANDS = {  # name: (where it is, what it does); a command is imported only when it is used
    "run": ("flows.commands.run:run", "A whole chain: for a world generate, infer, parse, score, report."),
    "generate": ("flows.commands.run:generate", "Only the exam release; prints its key and the counts by task."),
    "infer": ("flows.commands.run:infer", "Ask judges about an exam."),
    "score": ("flows.commands.run:score", "Parse and score the responses to an exam; asks nobody."),
    "report": ("flows.commands.run:report", "Write the report of a run again."),
    "rerun": ("flows.commands.run:rerun", "Recompute one step of a run and what follows."),
    "runs": ("flows.commands.show:runs", "The runs that there are."),
    "show": ("flows.commands.show:show", "What a run did, and what would mend it."),
    "compare": ("flows.commands.numbers:compare", "Two runs or judges side by side, with paired tests."),
    "import-responses": ("flows.commands.numbers:import_responses", "Score answers that were collected elsewhere."),
    "audit": ("flows.commands.numbers:audit", "What a judge that cannot see could score."),
    "power": ("flows.commands.numbers:power", "How many groups a difference needs."),
    "export": ("flows.commands.store:export", "A release that others can load: jsonl, parquet or croissant."),
    "traces": ("flows.commands.traces:traces", "Stated worlds: generate, verify, audit, export."),
    "store": ("flows.commands.store:store", "Check digests, drop what no run uses, print SQL views."),
    "doctor": ("flows.commands.doctor:doctor", "Which simulators, judges and services work here."),
}


class Commands(click.Group):
    """Imports a command when it is used, so that help is quick and a missing part breaks only its own commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        try:
            command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise click.ClickException(f"{name} needs the module {error.name}, which is not installed here") from error
        return with_common_options(command)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        from difflib import get_close_matches

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(
    cls=Commands, params=common_options(), context_settings={"help_option_names": ["-h", "--help"], "obj": None}
)
@click.version_option(package_name="worldaudit", prog_name="worldaudit")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Audit vision-language models as judges and as world models, against worlds that are known exactly.

    `worldaudit run minigrid` makes an exam, lets the embedded judges sit it, and writes a report. RUN and EXAM may be
    `latest` or the first letters of an id.
    """
    ctx.ensure_object(Context)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and end this process."""
    code = run_command(sys.argv[1:] if arguments is None else arguments)
    from tasks.processes import end

    end(code)


def run_command(arguments: list[str]) -> int:
    """Run the command; its exit code. Errors are one message, not a traceback."""
    debug = bool(os.environ.get("WORLDAUDIT_DEBUG"))
    wants_json = "--json" in arguments
    try:
        code = cli.main(
            arguments, prog_name="worldaudit", standalone_mode=False
        )  # where a command raised Exit: its code
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        return _fail(error.format_message(), 2, wants_json, usage=getattr(error, "ctx", None))
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted; what is finished is kept: the same command goes on", 130, wants_json)
    except BrokenPipeError:  # the reader of stdout has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            import traceback

            print(printable(traceback.format_exc()), file=sys.stderr, end="")
        code, message = explain(error)
        return _fail(message, code, wants_json)


def explain(error: Exception) -> tuple[int, str]:
    """Exit code and message for an error that a command raised."""
    from storage.store import ArtifactError, StoreError
    from storage.tables import TableError
    from tasks.errors import WorldauditError

    if isinstance(error, WorldauditError):
        return error.exit_code, str(error)
    if isinstance(error, ArtifactError):
        return 1, str(error)
    if isinstance(error, StoreError | TableError):
        return 2, str(error)
    if isinstance(error, OSError):
        return 1, f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
    return 1, f"unexpected {type(error).__name__}: {error}\nWORLDAUDIT_DEBUG=1 shows where"


def _fail(message: str, code: int, wants_json: bool, usage: click.Context | None = None) -> int:
    message = re.sub(r"\s+$", "", message)
    if usage is not None:
        print(usage.get_usage(), file=sys.stderr)
    print(printable(f"worldaudit: {message}"), file=sys.stderr, flush=True)
    if wants_json:
        print(printable_json(json.dumps({"error": message, "exit_code": code}, ensure_ascii=False)), flush=True)
    return code


if __name__ == "__main__":
    importlib.import_module("flows.commands.cli").main()  # not this copy, which is called __main__
