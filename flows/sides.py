"""What is compared with what: the sides of a comparison, as a user names them."""

from __future__ import annotations

from typing import Any

from flows.record import artifact_of, read_record
from storage import Store
from tasks.errors import BadInput
from tasks.exams import ANSWERS
from tasks.inference import INFERENCE
from tasks.parsing import PARSING

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
    one, two = _sides(store, first, run_id), _sides(store, second, run_id)
    if len(one) == 1 and len(two) == 1:
        return [(one[0], two[0])]
    by_name = {judge: (run, judge) for run, judge in two}
    shared = [((run, judge), by_name[judge]) for run, judge in one if judge in by_name]
    if not shared:
        raise BadInput(f"{first} and {second} have no judge in common; name one of each as RUN:JUDGE")
    return shared


def _sides(store: Store, text: str, run_id: str) -> list[Side]:
    """What a side means: RUN:JUDGE, a judge of --run, or every judge of a run."""

    def run_of(name: str) -> dict[str, Any]:
        return read_record(store, name, lambda record: bool(_judges(record)), "run with parsed answers")

    run_name, colon, judge = text.partition(":")
    runs = store.runs()
    is_run = run_name == "latest" or any(run.startswith(run_name) for run in runs)
    if colon and is_run:
        run = run_of(run_name)
        if judge not in _judges(run):
            raise BadInput(f"run {run['id']} has no judge {judge!r}; there are {', '.join(_judges(run))}")
        return [(run, judge)]
    default = run_of(run_id) if runs and not is_run else None
    if default and text in _judges(default):
        return [(default, text)]
    if is_run:
        run = run_of(run_name)
        return [(run, name) for name in _judges(run)]
    judges = ", ".join(_judges(default)) if default else "none"
    raise BadInput(f"{text!r} is neither a run nor a judge of run {run_id!r} (its judges: {judges})")


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
