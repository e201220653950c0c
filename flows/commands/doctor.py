"""The command `doctor`: what works here, and why not."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable

import click

from flows.commands.context import Context, refuses
from tasks.worlds import WORLDS, environments
from tasks.worlds.base import World

Check = Callable[[], str]  # what was found; an exception says why it does not work


@refuses("--dry-run", "it changes nothing")
@click.command()
@click.pass_obj
def doctor(obj: Context, /) -> None:
    """Which simulators, judges and services work here, and why not. Exit code 1 where the base audit cannot run."""
    needed: dict[str, Check] = {
        "python": _python,
        "store": lambda: _store(obj),
        **{name: functools.partial(_world, world) for name, world in WORLDS.items() if world.required},
        "embedded judges": _embedded,
    }
    optional: dict[str, Check] = {
        "prefect": _prefect,
        "dask": lambda: _version("prefect-dask"),
        **{name: functools.partial(_world, world) for name, world in WORLDS.items() if not world.required},
        "habitat": _habitat,
        "vllm": _vllm,
        "duckdb": lambda: _version("duckdb"),
        **{f"judge {name}": functools.partial(_judge, obj, name) for name in obj.config.judges},
    }
    found = {name: _run(check) for name, check in {**needed, **optional}.items()}
    lines = [
        f"{'ok ' if works else 'NO ' if name in needed else ' - '} {name}: {text}"
        for name, (works, text) in found.items()
    ]
    obj.emit({name: {"works": works, "detail": text} for name, (works, text) in found.items()}, "\n".join(lines))
    if not all(found[name][0] for name in needed):
        raise click.exceptions.Exit(1)


def _run(check: Check) -> tuple[bool, str]:
    try:
        return True, check()
    except Exception as error:
        return False, str(error) or type(error).__name__


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        raise RuntimeError(f"{package} is not installed") from None


def _python() -> str:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise RuntimeError(f"Python {platform.python_version()}; 3.11 to 3.13 are supported")
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def _store(obj: Context) -> str:
    from storage import Store

    store = Store(obj.store)
    store.check_writable()
    return f"{store.location} is writable, {len(store.runs())} runs"


def _world(world: World) -> str:
    versions = ", ".join(_version(name) for name in world.distributions)
    checks = world.check()
    if faults := [f"{name}: {message}" for name, works, message in checks if not works]:
        raise RuntimeError("; ".join(faults))
    drawn = f"; {checks[-1][2]}" if checks else ""
    return f"{versions}, {len(environments(world.name))} environments{drawn}"


def _habitat() -> str:
    python = os.environ.get("WORLDAUDIT_HABITAT_PYTHON", sys.executable)
    try:
        ran = subprocess.run(
            [python, "-c", "import habitat_sim; print(habitat_sim.__version__)"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"WORLDAUDIT_HABITAT_PYTHON: {error}") from error
    said, complained = ran.stdout.split(), ran.stderr.strip().splitlines()
    if ran.returncode or not said:
        raise RuntimeError(f"{python}: {complained[-1] if complained else 'it is no Python that has habitat_sim'}")
    return f"habitat-sim {said[-1]} in {python}"


def _vllm() -> str:
    command = shutil.which("vllm")
    if command is None:
        raise RuntimeError("no `vllm` command here; a server elsewhere works through base_url")
    return command


def _embedded() -> str:
    from tasks.judges import JUDGES

    return ", ".join(JUDGES)


def _prefect() -> str:
    from flows.operations.server import configured_server, own_home

    named = configured_server()
    where = f"your environment or profile names {named}" if named else f"a server of its own a command, in {own_home()}"
    return f"{_version('prefect')}; {where}"


def _judge(obj: Context, name: str) -> str:
    """Whether a configured judge has its key and its server answers; asks it nothing that costs."""
    import socket
    from urllib.parse import urlsplit

    from flows.judging import judge_specs

    spec = judge_specs([name], obj.config)[name]
    if not spec.hosted or spec.serve is not None:
        return f"{spec.api} {spec.model or spec.entry_point}"
    parts = urlsplit(spec.url())
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=5).close()
    except OSError as error:
        raise RuntimeError(f"{spec.url()} does not answer: {error}") from None
    return f"{spec.api} {spec.model} at {spec.url()}: key set, server answers"
