"""A run that crosses three work pools of a real Prefect server on a real PostgreSQL, and loses a worker in the middle."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from flows.record import artifact_of, computed
from storage import Store

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests" / "flows" / "tiny.toml"
SECONDS_AN_ITEM = 0.25


def wait_for(what: str, check: Callable[[], object], seconds: float = 480) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(0.25)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def descendants(pid: int) -> list[int]:
    """Processes that `pid` has started, and theirs."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(parents.get(pid, []))
    for child in found:
        found += parents.get(child, [])
    return found


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The URL of an empty database of a PostgreSQL server of our own, for asyncpg."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(p) for p in [shutil.which("initdb")] if p]
    if not found:
        pytest.skip("no PostgreSQL here: apt-get install postgresql")
    binaries, port = found[-1].parent, free_port()
    folder = Path(tempfile.mkdtemp(prefix="worldaudit-postgres-"))
    # PostgreSQL refuses to run as root; Debian's package brings a user for it.
    user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, **user)
    common = {"check": True, "capture_output": True, "cwd": folder, **user}
    data = folder / "data"
    subprocess.run([binaries / "initdb", "-D", data, "-A", "trust", "-U", "audit", "--no-sync"], **common)
    options = ["-p", str(port), "-k", str(folder), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, *options], cwd=folder, stderr=subprocess.DEVNULL, **user
    )
    try:
        ready = [binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(port)]
        wait_for("PostgreSQL", lambda: subprocess.run(ready, capture_output=True).returncode == 0, 60)
        where = ["-h", "127.0.0.1", "-p", str(port), "-U", "audit"]
        subprocess.run([binaries / "createdb", *where, "prefect"], **common)
        yield f"postgresql+asyncpg://audit@127.0.0.1:{port}/prefect"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


class Site:
    """A Prefect server, its deployments, and workers on three pools over one store."""

    def __init__(self, folder: Path, database: str):
        self.folder, self.store = folder, folder / "store"
        self.asked = folder / "asked.log"
        self.asked.touch()
        port = free_port()
        config = folder / "audit.toml"
        config.write_text(
            "[run]\nprocesses = 1\n"
            '[run.placement]\ninference = "shards/inference"\nrendering = "shards/habitat"\n'
            '[judges.slow]\napi = "python"\nentry_point = "tests.services.slow_judge:answer"\n'
        )
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "WORLDAUDIT"))}
        self.environ = clean | {
            "DO_NOT_TRACK": "1",
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}",
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": database,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_UI_ENABLED": "false",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "PYTHONPATH": str(ROOT),
            "SLOW_JUDGE_LOG": str(self.asked),
            "SLOW_JUDGE_SECONDS": str(SECONDS_AN_ITEM),
            "WORLDAUDIT_CONFIG": str(config),
            "WORLDAUDIT_HOME": str(ROOT),
            "WORLDAUDIT_SILENCE_SECONDS": "15",
            "WORLDAUDIT_STORE": str(self.store),
        }
        self.processes: dict[str, subprocess.Popen] = {}
        self.start("server", "server", "start", "--host", "127.0.0.1", "--port", str(port))
        wait_for("the Prefect server", lambda: self._healthy(port))

    def _healthy(self, port: int) -> bool:
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=2).status == 200
        return False

    def start(self, name: str, *arguments: str) -> None:
        """`prefect ...`, in a session of its own, so that it gets no signal that is meant for the tests."""
        log = open(self.folder / f"{name}.log", "ab")  # noqa: SIM115
        command = [sys.executable, "-m", "prefect", *arguments]
        self.processes[name] = subprocess.Popen(
            command, cwd=self.folder, env=self.environ, stdout=log, stderr=log, start_new_session=True
        )
        log.close()

    def worker(self, pool: str) -> None:
        self.start(pool, "worker", "start", "--pool", pool, "--type", "process", "--name", f"{pool}-worker")

    def kill(self, name: str) -> None:
        """`kill -9` of a process and of all that it has started: flow runs are processes of their own."""
        process = self.processes.pop(name)
        for pid in [process.pid, *descendants(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def prefect(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "prefect", "--no-prompt", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environ, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def states(self) -> dict[str, list[str]]:
        """Name of a flow run -> states of all flow runs of that name."""
        url, body = f"{self.environ['PREFECT_API_URL']}/flow_runs/filter", json.dumps({"limit": 100}).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        found: dict[str, list[str]] = {}
        for run in json.load(urllib.request.urlopen(request, timeout=30)):
            found.setdefault(run["name"], []).append(run["state_name"])
        return found

    def deploy(self) -> None:
        tools = ["make", "-C", str(ROOT / "deployments"), f"PREFECT={sys.executable} -m prefect", "pools", "deploy"]
        done = subprocess.run(tools, env=self.environ, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr

    def logs(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))


@pytest.fixture(scope="module")
def site(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"), postgres)
    try:
        yield made
    finally:
        for name in list(made.processes):
            made.kill(name)


def test_a_run_across_three_pools_survives_a_killed_worker(site: Site) -> None:
    site.deploy()
    for pool in ("cpu", "inference", "habitat"):
        site.worker(pool)
    parameters = {"world": "minigrid", "profile": str(TINY), "judges": ["slow", "always-fail"]}
    site.prefect("deployment", "run", "audit/cpu", "--params", json.dumps(parameters))

    wait_for("inference", lambda: len(site.asked.read_text().splitlines()) >= 10)
    site.kill("inference")
    before = len(site.asked.read_text().splitlines())
    time.sleep(2)
    assert len(site.asked.read_text().splitlines()) == before, "the killed worker still asks"
    site.worker("inference")

    store = Store(site.store)
    wait_for("the end of the run", lambda: store.read_run("latest")["state"] != "running", 480)
    record = store.read_run("latest")
    assert record["state"] == "complete", site.logs()
    assert set(computed(record)) >= {"rendering[keycorridor]", "inference[slow]", "inference[always-fail]"}

    planned = set(store.get("release", record["exam"]).read("items")["uid"])
    for judge, key in artifact_of(record, "inference").items():
        responses = store.get("inference", key).read("responses")
        assert responses["judge"].unique().to_list() == [judge]
        assert responses["uid"].is_duplicated().sum() == 0
        assert set(responses["uid"]) == planned
        assert responses["status"].unique().to_list() == ["ok"]
    scores = store.get("scoring", artifact_of(record, "scoring")["all"]).read("scores")
    assert scores.select(pl.struct("uid", "judge").n_unique()).item() == len(scores) == 2 * len(planned)

    # What had been answered before the kill was not asked again; only what was in flight then may have been.
    asked = len(site.asked.read_text().splitlines())
    assert len(planned) <= asked <= len(planned) + 1, (asked, len(planned))
    states = site.states()
    assert sorted(states["inference"]) == ["Completed", "Crashed"], states
    assert states["rendering"] == ["Completed"], states
