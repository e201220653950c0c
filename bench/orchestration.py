"""How long it takes until a flow's first line runs: Prefect's own embedded server against the one that a command starts.

    python -m bench.orchestration [--rounds 3]

Baseline: `import prefect` and a flow call with default settings, telemetry off, on an empty and on a used PREFECT_HOME. Both
variants run in turn, each in a process of its own; times are from before the first import.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

BASELINE = """
import time; began = time.perf_counter()
import prefect
@prefect.flow
def flow():
    print("first line", time.perf_counter() - began)
flow()
print("end", time.perf_counter() - began)
"""

OURS = """
import time; began = time.perf_counter()
from flows.operations.server import server
with server() as running:
    import prefect
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    running.wait()
    def flow():
        print("first line", time.perf_counter() - began)
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        prefect.Flow(flow, name="flow")()
print("end", time.perf_counter() - began)
"""


def once(script: str, home: Path) -> dict[str, float]:
    """Seconds to the flow's first line and to the end of the process's work."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT", "WORLDAUDIT"))}
    environ |= {
        "DO_NOT_TRACK": "1",
        "HOME": str(home),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240",
        "WORLDAUDIT_PREFECT_HOME": str(home / "own"),
    }
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines() if line.startswith(("first line", "end"))]
    return {name: float(seconds) for name, seconds in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    times: dict[tuple[str, str, str], list[float]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as baseline, tempfile.TemporaryDirectory() as ours:
            for state in ("empty", "used"):
                for name, script, home in (("baseline", BASELINE, baseline), ("ours", OURS, ours)):
                    for what, seconds in once(script, Path(home)).items():
                        times.setdefault((state, what, name), []).append(seconds)
    print(f"median of {rounds} rounds, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for state in ("empty", "used"):
        for what in ("first line", "end"):
            base, own = (median(times[state, what, name]) for name in ("baseline", "ours"))
            print(
                f"{state} home, {what:<10}: baseline {base:5.1f} s, ours {own:5.1f} s, {base / own:.1f} times quicker"
            )


if __name__ == "__main__":
    main()
