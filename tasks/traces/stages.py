"""The stages of the bank: traces (a shard a family), pairs, diagrams, and the one release that holds them all."""

from __future__ import annotations

import functools
from typing import Any

import orjson

from storage.store import ArtifactWriter
from tasks.errors import BadInput
from tasks.stage import Config, Inputs, Stage
from tasks.traces import bank, gates, pairs, splits
from tasks.traces.families import FAMILIES, RELEASE
from tasks.traces.perturbations import PERTURBATIONS
from tasks.traces.record import Record, Value, render


def dump(value: Any) -> str:
    """JSON in one line, keys as they come."""
    return orjson.dumps(value).decode()


@functools.lru_cache(maxsize=8)
def split_table(count: int, seed: int, families: tuple[str, ...] = RELEASE) -> dict[tuple[str, int], str]:
    """The split of every trace of a bank of `count` traces."""
    members = [(name, index) for name, n in bank.counts(count, families).items() for index in range(n)]
    return splits.assign(members, seed)


def trace_row(record: Record, trace: dict[str, Any], split: str) -> dict[str, Any]:
    answer = record.answer
    parameter, factor = record.intervened or (None, None)
    return {
        "trace_id": record.trace_id,
        "family": record.family.name,
        "index": record.index,
        "question_type": record.question_type,
        "level": record.level,
        "split": split,
        "question": trace["question"],
        "trace": dump(trace),
        "state": dump(record.state),
        "names": dump(record.names),
        "target": record.target,
        "parameter": parameter,
        "factor": factor,
        "answer": str(answer),
        "answer_number": answer.number if isinstance(answer, Value) else None,
        "answer_unit": answer.unit if isinstance(answer, Value) else None,
    }


def pair_row(pair: pairs.Pair) -> dict[str, Any]:
    return {
        "pair_id": pair.pair_id,
        "trace_id": pair.chosen.trace_id,
        "family": pair.chosen.family.name,
        "perturbation": pair.perturbation,
        "label": pair.label,
        "held_out": PERTURBATIONS[pair.perturbation].held_out,
        "split": pair.split,
        "changed": list(pair.changed),
        "rejected": dump(pair.rendered),
    }


def _failures(results: list[pairs.Gate]) -> list[dict[str, str]]:
    return [{"subject_id": g.subject_id, "gate": g.gate, "detail": g.detail} for g in results if not g.passed]


def write_traces(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """config: family, traces (of the whole bank), seed; families (of the whole bank) where they are not those of the release.
    A trace that fails a gate goes to `diagnostics` alone."""
    family, members = FAMILIES[config["family"]], tuple(config.get("families", RELEASE))
    table = split_table(config["traces"], config["seed"], members)
    rows, failed = [], []
    for index in range(bank.counts(config["traces"], members)[family.name]):
        record = bank.trace(family, index, config["seed"])
        trace = render(record)
        failures = _failures(gates.check_trace(record, trace))
        failed += failures
        if not failures:
            rows.append(trace_row(record, trace, table[family.name, index]))
    writer.add("traces", rows)
    writer.add("diagnostics", failed)


def write_pairs(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: traces, of one family. config: family, seed, per_trace."""
    family = FAMILIES[config["family"]]
    rows, failed, seen = [], [], set[bytes]()
    for trace_id, index, split in inputs["traces"].read("traces").select("trace_id", "index", "split").iter_rows():
        made = 0
        record = bank.trace(family, index, config["seed"])
        for pair in pairs.make(record, split, config["per_trace"], config["seed"]):
            made += 1
            failures = _failures(pairs.check_pair(pair, seen))
            failed += failures
            if not failures:
                rows.append(pair_row(pair))
        if made < config["per_trace"]:
            failed.append({"subject_id": trace_id, "gate": "pairs", "detail": f"{made} of {config['per_trace']} pairs"})
    writer.add("pairs", rows)
    writer.add("diagnostics", failed)


def write_diagrams(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: traces, of one family. config: family, seed. Each picture once, however many traces share it."""
    from tasks.traces.diagrams import draw

    family, pictures = FAMILIES[config["family"]], {}
    rows, failed = [], []
    for trace_id, index in inputs["traces"].read("traces").select("trace_id", "index").iter_rows():
        for picture in draw(bank.trace(family, index, config["seed"])):
            pictures[picture.image_id] = picture.row
            rows.append(
                {
                    "trace_id": trace_id,
                    "moment": picture.moment,
                    "image_id": picture.image_id,
                    "shown": list(picture.shown),
                }
            )
            if picture.missing:
                failed.append(
                    {
                        "subject_id": f"{trace_id}/{picture.moment}",
                        "gate": "keys",
                        "detail": f"not shown: {', '.join(picture.missing)}",
                    }
                )
    writer.add("images", pictures.values())
    writer.add("diagrams", rows)
    writer.add("diagnostics", failed)


TRACES = Stage("trace-bank", 1, write_traces)
PAIRS = Stage("trace-pairs", 1, write_pairs)
DIAGRAMS = Stage("trace-diagrams", 1, write_diagrams)


def configs(traces: int, seed: int, per_trace: int, families: tuple[str, ...] = ()) -> dict[str, dict[str, Config]]:
    """What each shard of each stage reads, for a bank over `families` (all that there are by default). BadInput for numbers
    that make no bank."""
    if not 1 <= per_trace <= 64:
        raise BadInput(f"{per_trace} pairs a trace cannot be made; ask for 1 to 64")
    members = families or tuple(FAMILIES)
    names = [name for name, count in bank.counts(traces, members).items() if count]
    others: Config = {} if members == RELEASE else {"families": list(members)}
    return {
        TRACES.name: {name: {"family": name, "traces": traces, "seed": seed, **others} for name in names},
        PAIRS.name: {name: {"family": name, "seed": seed, "per_trace": per_trace} for name in names},
        DIAGRAMS.name: {name: {"family": name, "seed": seed} for name in names},
    }
