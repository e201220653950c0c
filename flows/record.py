"""The record of a run, `run.json`: what an operator reads, at every moment.

It is written before the first step, after each, and at the end, however it ends. A step is pending, running, done, reused
or failed; a run is running, complete, incomplete (reported, though a judge has unanswered items) or failed.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import secrets
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from flows.location import store_location
from flows.request import Request
from storage import Store
from storage.store import code_commit, now, package_versions
from tasks.errors import BadInput
from tasks.stage import Ref, ShardResult, describe

VERSION = 2  # of the record's form; see `upgraded`
REPORTS = "reports"  # the step that writes the report; it has no artifact


def run_id() -> str:
    """UTC start time and four random letters: sorts by time, unique among runs that start together."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
    return f"{stamp}Z-{secrets.token_hex(2)}"


def flat(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that stand in the record itself too, for those who read many; None, or no judges, where a chain has no
    such parameter."""
    return {name: parameters.get(name) for name in ("world", "profile", "seed")} | {
        "judges": list(parameters.get("judges") or ())
    }


class Record:
    """`value` is what run.json holds."""

    def __init__(self, store: Store, request: Request):
        self.store, self.request = store, request
        self._started = time.perf_counter()
        self.value: dict[str, Any] = {
            "record_version": VERSION,
            "id": run_id(),
            "kind": request.chain,
            **asdict(request),
            **flat(request.parameters),
            "state": "running",
            "started": now(),
            "ended": None,
            "seconds": None,
            "stages": [],
            "artifacts": {},
            "stage_of": {},
            "exam": None,
            "cost": {},
            "report": None,
            "error": None,
            "mend": None,
            "commit": code_commit(),
            "packages": package_versions(),
            "python": sys.version.split()[0],
            "process": {"host": platform.node(), "pid": os.getpid()},  # tells whether a run that says running still is
        }

    @property
    def id(self) -> str:
        return str(self.value["id"])

    def write(self) -> None:
        self.store.write_run(self.value)

    def plan(self, step: str, stage: str | None, shards: Mapping[str, Any]) -> None:
        """A step that is to come. BadInput where another step has its name."""
        if any(entry["name"] == step for entry in self.value["stages"]):
            raise BadInput(f"chain {self.request.chain}: two steps are named {step!r}; give one of them step=...")
        entry: dict[str, Any] = {"name": step, "stage": stage}
        entry |= {"state": "pending", "seconds": None, "rows": {}, "error": None, "mend": None}
        self.value["stages"].append(entry | {"shards": {shard: {"state": "pending"} for shard in shards}})

    @contextlib.contextmanager
    def running(self, step: str) -> Iterator[dict[str, Any]]:
        """Around the work of a step: its entry, which ends in the state that its shards are in."""
        entry: dict[str, Any] = next(entry for entry in self.value["stages"] if entry["name"] == step)
        entry["state"], started = "running", time.perf_counter()
        self.write()
        try:
            yield entry
        except BaseException as error:
            entry |= {"state": "failed", "error": message(error), "mend": self.mending(step, error)}
            raise
        finally:
            if entry["state"] == "running":
                states = {shard["state"] for shard in entry["shards"].values()}
                entry["state"] = next((s for s in ("failed", "done", "reused") if s in states), "pending")
            entry["seconds"] = round(time.perf_counter() - started, 3)
            self.write()

    def note(self, entry: dict[str, Any], results: Mapping[str, ShardResult | Exception]) -> None:
        """Copy what became of a step's shards into its entry."""
        for shard, result in results.items():
            if isinstance(result, Exception):
                entry["shards"][shard] |= {"state": "failed", "error": describe(result)}
                continue
            entry["shards"][shard] = {
                "state": "reused" if result.reused else "done",
                "seconds": round(result.seconds, 3),
                "rows": result.rows,
                "key": result.ref.key,
            }
            self.artifact(entry["name"], shard, result.ref)
        rows: Counter[str] = Counter()
        for shard_entry in entry["shards"].values():
            rows.update(shard_entry.get("rows", {}))
        entry["rows"] = dict(rows)

    def artifact(self, step: str, shard: str, ref: Ref) -> None:
        """An artifact that the run made, found or started from."""
        self.value["artifacts"][f"{step}[{shard}]"] = ref.key
        if ref.stage != step:
            self.value["stage_of"][step] = ref.stage

    def unfinished(self, entry: dict[str, Any], error: Exception) -> None:
        """A step that gives what it has so far, and would have given more."""
        entry |= {"error": message(error), "mend": self.mending(entry["name"], error)}

    def spent(self, shard: str, cost: Mapping[str, Any]) -> None:
        """Add what a shard of a step has cost, under the shard's (the judge's) name."""
        before = self.value["cost"].get(shard, {})
        numbers = {name: before.get(name, 0) + n for name, n in cost.items() if not isinstance(n, str)}
        self.value["cost"][shard] = {**cost, **numbers}

    def end(self, state: str, error: BaseException | None = None) -> None:
        self.value |= {"state": state, "ended": now(), "seconds": round(time.perf_counter() - self._started, 3)}
        if error is not None:
            mends = [entry["mend"] for entry in self.value["stages"] if entry["mend"]]
            self.value |= {"error": message(error), "mend": mends[0] if mends else f"again: {self.request.command}"}
        self.write()

    def mending(self, step: str, error: BaseException | None = None) -> str:
        """The command that goes on where `step` failed; what is finished is reused."""
        if isinstance(error, BadInput):
            return f"mend what the message names, then: {self.request.command}"
        words = ["worldaudit", "rerun", self.id, "--from", step, "--only-failed"]
        if self.request.store != store_location(None):
            words += ["--store", self.request.store]
        return shlex.join(words)


def message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return describe(error) if isinstance(error, Exception) else type(error).__name__


# --- reading records --------------------------------------------------------------------------------------------------


def read_record(
    store: Store, run_id: str, having: Callable[[dict[str, Any]], bool] = lambda record: True, what: str = "run"
) -> dict[str, Any]:
    """The record of a run in today's form; see Store.read_run."""
    return upgraded(store.read_run(run_id, lambda record: having(upgraded(record)), what))


def records(store: Store) -> Iterator[dict[str, Any]]:
    """The records of all runs in today's form, newest first."""
    return map(upgraded, store.records())


def examined(store: Store) -> tuple[list[dict[str, Any]], list[str]]:
    """(the records of all runs in today's form, newest first; the ids of damaged runs, oldest first), in one pass."""
    every = list(store.examined_runs())
    whole = [upgraded(record) for _, record in every if record is not None]
    return whole, [run_id for run_id, record in reversed(every) if record is None]


def artifact_of(record: Mapping[str, Any], step: str) -> dict[str, str]:
    """shard -> key of a step's artifacts."""
    prefix = f"{step}["
    return {name[len(prefix) : -1]: key for name, key in record["artifacts"].items() if name.startswith(prefix)}


def steps_of(record: Mapping[str, Any]) -> list[str]:
    return [entry["name"] for entry in record["stages"]]


def computed(record: Mapping[str, Any]) -> list[str]:
    """Names of the shards that were computed rather than found; the report, which is written each time, is not counted."""
    return [
        f"{entry['name']}[{name}]"
        for entry in record["stages"]
        if entry["name"] != REPORTS
        for name, shard in entry["shards"].items()
        if shard["state"] == "done"
    ]


def state_of(record: dict[str, Any]) -> dict[str, Any]:
    """The record, with the state `died` where it says running and its process on this machine is gone."""
    process = record["process"]
    if record["state"] == "running" and process["host"] == platform.node():
        try:
            os.kill(process["pid"], 0)
        except ProcessLookupError:
            return record | {
                "state": "died",
                "error": "its process is gone",
                "mend": f"again, what is finished is reused: {record['command']}",
            }
        except PermissionError:  # somebody else's process lives under that number
            pass
    return record


def upgraded(record: dict[str, Any]) -> dict[str, Any]:
    """A record in today's form. Version 1 had the parameters of the one chain flat, banks under the world `traces` with
    their size in the profile (`200x16`), and steps named by their stages alone."""
    if record.get("record_version", 1) >= VERSION:
        return record
    old, seed = record.get("chain", "audit"), record.get("seed")
    given = record.get("given") or {}
    kind = {"traces bank": "bank", "traces pictures": "bank", "traces audit": "verifier"}.get(old, old)
    if record.get("world") == "traces":
        traces, _, pairs = record["profile"].partition("x")
        parameters: dict[str, Any] = {"traces": int(traces), "pairs": int(pairs), "seed": seed}
        parameters |= {"pictures": old == "traces pictures"} if kind == "bank" else {}
    elif kind in ("infer", "score"):
        parameters = {"release": given.get("release", {}).get("all")}
        parameters |= {"judges": record.get("judges", [])} if kind == "infer" else {}
        if kind == "score":
            parameters |= {
                "answers": given.get("answers", {}).get("all"),
                "responses": given.get("inference", {}),
                "seed": seed,
            }
    else:
        parameters = {name: record.get(name) for name in ("world", "profile", "seed")}
        parameters |= {"judges": record.get("judges", [])} if kind == "audit" else {}
    stages = [
        {"stage": None if entry["name"] == REPORTS else entry["name"], **entry} for entry in record.get("stages", [])
    ]
    return {
        **{"exam": None, "cost": {}, "error": None, "mend": None, "configuration": {}, "command": "", "seconds": None},
        **{"report": REPORTS if REPORTS in steps_of({"stages": stages}) else None},
        **record,
        **flat(parameters),
        **{"record_version": VERSION, "kind": kind, "chain": kind, "parameters": parameters, "stages": stages},
        **{"refresh": [], "askings": {}},
    }
