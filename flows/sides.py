"""What is compared with what: the sides of a comparison, as a user names them."""

from __future__ import annotations

from typing import Any

from flows.record import artifact_of, read_record, records
from storage import Store
from tasks.errors import BadInput
from tasks.exams import ANSWERS
from tasks.inference import INFERENCE
from tasks.parsing import PARSING
from tasks.scoring import SCORING

Side = tuple[dict[str, Any], str]  # a run's record and a judge of it


def pairs_of(store: Store, first: str, second: str, run_id: str) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    """The keys of what each comparison reads, by its name. `first` and `second`: a run, a judge of the run `run_id`, or
    RUN:JUDGE; two runs are compared in each judge that both have. BadInput where there is no such side."""
    return {
        f"{_label(one)} {_label(two)}": (_keys(one), _keys(two)) for one, two in _pairs(store, first, second, run_id)
    }


def _judges(run: dict[str, Any]) -> list[str]:
    return sorted(artifact_of(run, PARSING.name))


def _pairs(store: Store, first: str, second: str, run_id: str) -> list[tuple[Side, Side]]:
    judges = {text for text in (first, second) if not _is_run(store, text)}
    default = _run(store, run_id, judges) if judges and store.runs() else None
    one, two = _sides(store, first, default), _sides(store, second, default)
    if len(one) == 1 and len(two) == 1:
        return [(one[0], two[0])]
    by_name = {judge: (run, judge) for run, judge in two}
    shared = [((run, judge), by_name[judge]) for run, judge in one if judge in by_name]
    if not shared:
        raise BadInput(f"{first} and {second} have no judge in common; name one of each as RUN:JUDGE")
    return shared


def _is_run(store: Store, text: str) -> bool:
    """Whether a side names a run, alone or as RUN:JUDGE."""
    name = text.partition(":")[0]
    return name == "latest" or any(run.startswith(name) for run in store.runs())


def _run(store: Store, name: str, judges: set[str]) -> dict[str, Any]:
    """The record of a run; `latest` is the newest one whose answers were scored and that has these judges, or else any."""

    def has(record: dict[str, Any], wanted: set[str]) -> bool:
        return bool(artifact_of(record, SCORING.name)) and wanted <= set(_judges(record))

    if name == "latest" and (newest := next((one for one in records(store) if has(one, judges)), None)):
        return newest
    what = "run with parsed answers"
    return read_record(store, name, lambda record: name != "latest" or has(record, set()), what)


def _sides(store: Store, text: str, default: dict[str, Any] | None) -> list[Side]:
    """What a side means: RUN:JUDGE, every judge of a run, or a judge of the run `default`."""
    run_name, _, judge = text.partition(":")
    if _is_run(store, text):
        run = _run(store, run_name, {judge} if judge else set())
        if judge and judge not in _judges(run):
            raise BadInput(f"run {run['id']} has no judge {judge!r}; there are {', '.join(_judges(run))}")
        return [(run, name) for name in _judges(run) if judge in ("", name)]
    if default and text in _judges(default):
        return [(default, text)]
    there = f"run {default['id']} (its judges: {', '.join(_judges(default))})" if default else "any run"
    raise BadInput(f"{text!r} is neither a run nor a judge of {there}")


def _label(side: Side) -> str:
    return f"{side[0]['id']}:{side[1]}"


def _keys(side: Side) -> dict[str, str]:
    """The keys that the comparison reads. BadInput where the run lacks one."""
    run, judge = side
    places = {
        "answers": f"{ANSWERS.name}[all]",
        "responses": f"{INFERENCE.name}[{judge}]",
        "parsed": f"{PARSING.name}[{judge}]",
    }
    missing = [place for place in places.values() if place not in run["artifacts"]]
    if missing:
        raise BadInput(f"run {run['id']} names no {missing[0]}; was it finished?")
    return {"name": _label(side)} | {table: run["artifacts"][place] for table, place in places.items()}
