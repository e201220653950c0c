"""What every command that computes shares: its options, the Prefect server, the launch, and the hint after a failure."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, get_args, get_origin

import click

from flows.commands.context import LARGEST, Context, Share

if TYPE_CHECKING:
    from flows.request import Chain, Request

Command = Callable[..., Any]


def computing(prefect: bool = True) -> Callable[[Command], Command]:
    """--processes and --prefect/--no-prefect. `prefect`: whether a Prefect server is worth its start by default."""

    def default() -> bool:
        return prefect and not os.environ.get("WORLDAUDIT_NO_PREFECT")

    processes = click.option(
        "--processes", type=click.IntRange(0, 256), help="One a core by default; 0: none but this one."
    )
    through = click.option(
        "--prefect/--no-prefect",
        default=default,
        help=f"As a Prefect flow, with a task run for each shard [default: {'--prefect' if prefect else '--no-prefect'}]; "
        "WORLDAUDIT_NO_PREFECT=1 does without.",
    )
    return lambda command: processes(through(command))


def chain_options(chain: Chain) -> Callable[[Command], Command]:
    """An option for each parameter of a chain, as its model describes them; the command gets them as `parameters`."""

    def decorate(command: Command) -> Command:
        names = list(chain.parameters.model_fields)

        @functools.wraps(command)
        def gather(*arguments: Any, **values: Any) -> Any:
            parameters = {name: value for name in names if (value := values.pop(name)) not in (None, ())}
            return command(*arguments, parameters=parameters, **values)

        options: Command = gather
        for name, field in reversed(chain.parameters.model_fields.items()):
            options = _option(name, field)(options)
        return options

    return decorate


def _option(name: str, field: Any) -> Callable[[Command], Command]:
    kind, label = field.annotation, "--" + name.replace("_", "-")
    many = get_origin(kind) is tuple
    if many:
        kind, label = get_args(kind)[0], label.removesuffix("s")
    bounds = {
        key: getattr(rule, key) for rule in field.metadata for key in ("ge", "gt", "le", "lt") if hasattr(rule, key)
    }
    if kind is bool:
        return click.option(f"{label}/--no-{label[2:]}", name, default=None, help=field.description)
    if kind in (int, float):
        make = click.IntRange if kind is int else Share
        kind = make(
            bounds.get("ge", bounds.get("gt", -LARGEST)),
            bounds.get("le", bounds.get("lt", LARGEST)),
            min_open="gt" in bounds,
            max_open="lt" in bounds,
        )
    shown = "" if field.is_required() or many else f"  [default: {field.default}]"
    return click.option(
        label, name, type=kind, multiple=many, required=field.is_required(), help=f"{field.description or ''}{shown}"
    )


@contextlib.contextmanager
def server_for(obj: Context, how: dict[str, Any]) -> Iterator[None]:
    """Prefect's server starts before anything heavy is imported, and is waited for when a flow is to begin."""
    how["wait"] = lambda: None
    if not how["prefect"] or obj.dry_run:
        yield
        return
    from flows.operations.server import server

    with server() as running:
        how["wait"] = running.wait
        yield


def command_line() -> str:
    return shlex.join(["worldaudit", *sys.argv[1:]])


def launched(obj: Context, how: dict[str, Any], chain: str, parameters: dict[str, Any]) -> dict[str, Any] | None:
    """Run a chain; the finished run's record. None after --dry-run, which has said what it had to say."""
    from flows.request import CHAINS, Request

    return launch_request(
        obj,
        how,
        Request(
            store=obj.store,
            command=command_line(),
            chain=chain,
            parameters=CHAINS[chain].parse(parameters).model_dump(mode="json"),
            configuration=obj.config.model_dump(mode="json"),
            refresh=tuple(how.get("refresh") or ()),
        ),
    )


def launch_request(obj: Context, how: dict[str, Any], request: Request) -> dict[str, Any] | None:
    """`launched`, of a request that is ready."""
    from flows.commands.progress import PlainProgress, TerminalProgress
    from flows.operations.launch import build, launch

    if how.get("processes") is not None:
        request.configuration.setdefault("run", {})["processes"] = how["processes"]
    if obj.dry_run:
        from flows.commands.texts import dry_run_text
        from flows.summary import dry_run

        value = dry_run(build(request, preflight=False))
        plain = {judge: plan.as_dict() if plan else None for judge, plan in value["judges"].items()}
        obj.emit(value | {"judges": plain}, dry_run_text(value))
        return None
    build(request)  # bad input is named before a server is waited for
    progress = TerminalProgress() if sys.stderr.isatty() else PlainProgress()
    with _stdout_for_the_result(), progress:
        how["wait"]()
        try:
            return launch(request, prefect=how["prefect"], reporter=progress)
        except Exception:
            _hint(obj)
            raise


@contextlib.contextmanager
def _stdout_for_the_result() -> Iterator[None]:
    """What is printed meanwhile, by a judge, a simulator or a process that is started, goes to stderr."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        with contextlib.suppress(OSError):  # one of the two is closed
            kept = os.dup(1)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, 1)
            os.dup2(2, 1)
        yield


def _hint(obj: Context) -> None:
    """Where a run that failed is, and what would mend it."""
    from flows.commands.progress import say
    from storage import Store

    record = next(Store(obj.store).records(), None)
    if record and record["process"]["pid"] == os.getpid() and record["mend"]:
        say(f"run {record['id']}: {record['state']}; `worldaudit show` tells more. To mend it: {record['mend']}")
