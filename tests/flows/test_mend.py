"""Every step of every chain is made to fail, and the command that the record prints, run as printed, completes the run."""

from __future__ import annotations

import json
import pkgutil
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import flows.chains
from flows.record import REPORTS, computed, read_record
from flows.runner import Runner
from storage import Store
from storage.runs import artifacts_of
from tasks.errors import StageFailed
from tasks.stage import ShardResult, Shards, Stage
from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.record import render
from tests.flows.command import RUN, TINY, worldaudit

STEPS = {  # what each chain is to have; a chain that is missing here fails the last test
    "generate": ("rollouts", "variants", "rendering", "gates", "exams", "release", "answers"),
    "audit": ("rollouts", "exams", "release", "inference", "parsing", "scoring", REPORTS),
    "infer": ("inference",),
    "score": ("parsing", "scoring", REPORTS),
    "import-responses": ("inference", "parsing", "scoring"),
    "shortcuts": ("parsing", "shortcuts"),
    "compare": ("comparison",),
    "bank": ("trace-bank", "trace-pairs", "trace-diagrams"),
    "verifier": ("trace-bank", "trace-pairs", "trace-verdicts", "trace-audit"),
    "verify": ("trace-submissions", "trace-verify"),
}
SMALL = ["--traces", "17", "--pairs", "2"]


def commands(folder: Path) -> dict[str, list[str]]:
    """A command for each chain, over the files in `folder`; in an order in which they can be run one after the other."""
    return {
        "audit": RUN,
        "generate": ["generate", "minigrid", "--profile", TINY],
        "infer": ["infer", "latest", "--judge", "coin"],
        "score": ["score", "latest", "--judge", "coin"],
        "import-responses": ["import-responses", str(folder / "answers.jsonl"), "--judge", "elsewhere"],
        "shortcuts": ["audit", "exam"],
        "compare": ["compare", "coin", "always-success", "--resamples", "200"],
        "bank": ["traces", "generate", *SMALL],
        "verifier": ["traces", "audit", *SMALL, "--no-surface"],
        "verify": ["traces", "verify", str(folder / "traces.jsonl"), "--bank", "latest"],
    }


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which every chain has run once. Read only."""
    folder = tmp_path_factory.mktemp("everything")
    store = folder / "store"
    done = worldaudit(*RUN, "--store", str(store))
    assert done.code == 0, done.err
    uids = Store(store).get("release", read_record(Store(store), "latest")["exam"]).read("items")["uid"]
    (folder / "answers.jsonl").write_text("\n".join(json.dumps({"uid": uid, "text": "Yes"}) for uid in uids))
    written = [json.dumps(render(bank.trace(family, 0))) for family in FAMILIES.values()]
    (folder / "traces.jsonl").write_text("\n".join(written))
    for arguments in commands(folder).values():
        done = worldaudit(*arguments, "--processes", "0", "--store", str(store))
        assert done.code == 0, (arguments, done.err)
    return folder


def failing(step: str) -> Any:
    """Every shard of `step` fails; those of other steps are computed, and so is what an unfinished judge has so far."""
    dispatch = Runner._dispatch

    def refuse(self: Runner, name: str, stage: Stage, shards: Shards) -> Iterator[tuple[str, ShardResult | Exception]]:
        if name == step and not any("snapshot" in config for config, _ in shards.values()):
            yield from ((shard, StageFailed("made to fail")) for shard in shards)
        else:
            yield from dispatch(self, name, stage, shards)

    if step == REPORTS:
        return mock.patch("flows.judging.write_report", side_effect=StageFailed("made to fail"))
    return mock.patch.object(Runner, "_dispatch", refuse)


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "step"), [(chain, step) for chain, steps in STEPS.items() for step in steps])
def test_the_printed_command_mends_it(everything: Path, tmp_path: Path, chain: str, step: str) -> None:
    folder = Path(shutil.copytree(everything, tmp_path / "with a blank"))
    store = folder / "store"
    before = next(record for record in Store(store).records() if record["kind"] == chain)
    for used in artifacts_of(before):
        if used.step == step:
            shutil.rmtree(store / "artifacts" / used.stage / used.key)
    arguments = [argument.replace(str(everything), str(folder)) for argument in commands(everything)[chain]]
    with failing(step):
        failed = worldaudit(*arguments, "--processes", "0", "--store", str(store))
    assert failed.code == 1, failed
    record = read_record(Store(store), "latest")
    assert (record["kind"], record["state"]) == (
        chain,
        "incomplete" if step == "inference" and chain in ("audit", "infer") else "failed",
    )
    assert next(entry["name"] for entry in record["stages"] if entry["state"] == "failed") == step
    assert record["mend"] in failed.err
    program, *words = shlex.split(record["mend"])
    assert program == "worldaudit"
    mended = worldaudit(*words)
    assert mended.code == 0, (record["mend"], mended.err)
    after = read_record(Store(store), "latest")
    assert (after["kind"], after["state"], after["artifacts"]) == (chain, "complete", before["artifacts"])
    if step != REPORTS:
        assert {name.partition("[")[0] for name in computed(after)} == {step}


def test_every_chain_and_every_step_is_tried(everything: Path) -> None:
    records = list(Store(everything / "store").records())
    ours = {module.name for module in pkgutil.iter_modules(flows.chains.__path__)}
    assert {name.replace("-", "_") for name in STEPS} == ours
    for chain, steps in STEPS.items():
        record = next(record for record in records if record["kind"] == chain)
        run = {entry["name"] for entry in record["stages"]}
        shared = set(STEPS["generate"]) if chain == "audit" else set()  # tried as steps of `generate`
        assert run - shared == set(steps) - shared, chain
