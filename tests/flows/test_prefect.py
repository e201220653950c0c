"""Shards as Prefect task runs, on a server of our own and on Dask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.prefect_task import in_flow

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect")]

SCRIPT = """
import json, sys, time
from flows.operations.server import server
from tests.flows import toy

def main():
    with server() as running:
        import prefect
        from prefect.client.orchestration import get_client
        options = {{}}
        {options}
        running.wait()

        @prefect.flow(**options)
        def first():
            return toy.run({store!r}, processes=2)["artifacts"]

        results = [first(), first()]
        {then}
        time.sleep(2)  # task runs are recorded from events that are on their way
        with get_client(sync_client=True) as client:
            states = sorted((run.name, run.state_name) for run in client.read_task_runs(limit=200))
        print(json.dumps({{"same": results[0] == results[1], "states": states}}))

if __name__ == "__main__":
    main()
"""

MANY = """
        from flows.runner import Runner
        from tasks.stage import Stage
        many = Stage("seeds", 1, toy.seeds)
        @prefect.flow
        def crowd():
            with Runner({store!r}, processes=0) as runner:
                runner.map(many, {{f"s{{n}}": ({{"env": f"s{{n}}", "n": 1}}, {{}}) for n in range(300)}})
        crowd()
"""


def _run(tmp_path: Path, options: str = "", then: str = "") -> tuple[dict, str]:
    store = str(tmp_path / "store")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(store=store, options=options, then=then.format(store=store).strip()))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    environ |= {"WORLDAUDIT_PREFECT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environ, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


NAMES = ["accept[all]", "seeds[a]", "seeds[b]", "seeds[c]"]


def test_a_shard_is_a_task_run_and_a_found_one_is_called_reused(tmp_path: Path) -> None:
    result, stderr = _run(tmp_path)
    assert result["same"]
    assert result["states"] == sorted([[name, state] for name in NAMES for state in ("Completed", "Reused")])
    assert stderr == ""
    assert not (tmp_path / ".prefect").exists()


def test_three_hundred_shards_on_sqlite_are_quiet_and_complete(tmp_path: Path) -> None:
    _, stderr = _run(tmp_path, then=MANY)
    assert stderr == ""
    log = (tmp_path / "home" / "0" / "server.log").read_text()
    assert "database is locked" not in log
    assert len(list((tmp_path / "store" / "artifacts" / "seeds").iterdir())) == 303


def test_dask_computes_the_same_keys(tmp_path: Path) -> None:
    pytest.importorskip("prefect_dask")
    options = (
        "from prefect_dask import DaskTaskRunner; options['task_runner'] = DaskTaskRunner(cluster_kwargs="
        "{'n_workers': 2, 'threads_per_worker': 1, 'dashboard_address': None, 'silence_logs': 40})"
    )
    result, _ = _run(tmp_path, options=options)
    assert result["same"]
    assert result["states"] == sorted([[name, state] for name in NAMES for state in ("Completed", "Reused")])


def test_outside_a_flow_nothing_imports_prefect() -> None:
    code = (
        "import sys; from flows.prefect_task import in_flow; assert not in_flow(); assert 'prefect' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not in_flow()
