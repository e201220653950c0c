"""What works here, and why not: simulators, judges, services."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from storage import Store
from tasks.config import Configuration
from tasks.worlds import WORLDS, environments
from tasks.worlds.base import World

Check = Callable[[], str]  # what was found; an exception says why it does not work


class Finding(NamedTuple):
    """`needed`: whether the base audit cannot run without it; `detail`: what was found, or why it does not work."""

    works: bool
    needed: bool
    detail: str


def examine(store: str, configuration: Configuration) -> dict[str, Finding]:
    """Every check by name; those that the base audit needs come first."""
    needed: dict[str, Check] = {
        "python": _python,
        "store": functools.partial(_store, store),
        **{name: functools.partial(_world, world) for name, world in WORLDS.items() if world.required},
        "embedded judges": _embedded,
    }
    optional: dict[str, Check] = {
        "prefect": _prefect,
        "dask": functools.partial(_version, "prefect-dask"),
        **{name: functools.partial(_world, world) for name, world in WORLDS.items() if not world.required},
        "habitat": _habitat,
        "vllm": _vllm,
        "duckdb": functools.partial(_version, "duckdb"),
        **{f"judge {name}": functools.partial(_judge, configuration, name) for name in configuration.judges},
    }
    return _findings(needed, True) | _findings(optional, False)


def _findings(checks: Mapping[str, Check], needed: bool) -> dict[str, Finding]:
    findings = {}
    for name, check in checks.items():
        works, detail = _run(check)
        findings[name] = Finding(works, needed, detail)
    return findings


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


def _store(location: str) -> str:
    store = Store(location)
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


def _judge(configuration: Configuration, name: str) -> str:
    """Whether a configured judge has its key and its server answers; asks it nothing that costs."""
    import socket
    from urllib.parse import urlsplit

    from flows.judging import judge_specs

    spec = judge_specs([name], configuration)[name]
    if not spec.hosted or spec.serve is not None:
        return f"{spec.api} {spec.model or spec.entry_point}"
    spec.api_key()
    parts = urlsplit(spec.url())
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=5).close()
    except OSError as error:
        raise RuntimeError(f"{spec.url()} does not answer: {error}") from None
    return f"{spec.api} {spec.model} at {spec.url()}: key set, server answers"
