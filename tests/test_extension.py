"""A package from outside the project, `examples/extension`, is used as an installed one: from seeds to a report.

It is made visible as an installer would make it: a folder on the path holds the package and a `dist-info` with its entry points.
Everything runs in processes of their own, the world's simulator in the interpreter that a variable names.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import worldaudit

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "examples" / "extension"
JUDGES = ("--judge", "line-reader", "--judge", "left-hander")
ITEMS = 30
FIRST, SECOND = "first-inference", "inference"


def installed(site: Path) -> None:
    """Make the package visible from `site`, by what its pyproject.toml says."""
    said = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))
    project, kept = said["project"], ["*.py", *said["tool"]["setuptools"]["package-data"]["*"]]
    info = site / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n\n".join(groups) + "\n")
    for pattern in kept:
        for path in (PACKAGE / project["name"]).rglob(pattern):
            place = site / path.relative_to(PACKAGE)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


INTERPRETER = """#!/bin/sh
echo $$ >> {started}
exec {python} "$@"
"""
FLAKY = """
import itertools, pathlib

HERE, CALLS = pathlib.Path(__file__).parent, itertools.count()

def answer(message):
    if "Look again" in message.text:
        if (HERE / "down").exists() and next(CALLS) % 3 == 0:
            raise RuntimeError("out of order")
        with open(HERE / "asked again", "a") as file:
            file.write("x")
    return "Left."
"""


@dataclass(frozen=True)
class Place:
    """A folder on the path with the package in it, and a store."""

    site: Path
    store: Path

    def python(self, *arguments: str, code: int = 0) -> str:
        paths = [str(self.site), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
        environment |= {"WORLDAUDIT_NO_PREFECT": "1", "WORLDAUDIT_LINE_PYTHON": str(self.site / "interpreter")}
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=self.site, timeout=120
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def command(self, *arguments: str, code: int = 0) -> str:
        return self.python("-m", "worldaudit", *arguments, "--store", str(self.store), code=code)

    def asked(self, *arguments: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.command(*arguments, "--json"))
        return value

    def run(self, *arguments: str) -> dict[str, Any]:
        return self.asked(*arguments, "--processes", "0")

    def record(self, run: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.store / "runs" / run / "run.json").read_text())
        return value

    def table(self, run: str, name: str) -> pl.DataFrame:
        return worldaudit.table(worldaudit.open_store(str(self.store)), run, name)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("extension")
    site = folder / "site"
    installed(site)
    (site / "interpreter").write_text(INTERPRETER.format(started=site / "started", python=sys.executable))
    (site / "interpreter").chmod(0o755)
    return Place(site, folder / "store")


@pytest.fixture(scope="module")
def first(place: Place) -> str:
    """The id of a run of the chain."""
    return str(place.run("run", "second-look", *JUDGES)["run"])


def shards_of(shown: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Step -> how many of its shards were computed, reused, failed."""
    return {step["name"]: step["shards"] for step in shown["stages"]}


def responses(place: Place, shown: dict[str, Any], step: str, judge: str) -> pl.DataFrame:
    store = worldaudit.open_store(str(place.store))
    return store.get("inference", shown["artifacts"][f"{step}[{judge}]"]).read("responses").sort("uid")


def test_the_commands_find_what_it_offers(place: Place) -> None:
    found = place.asked("doctor")
    assert found["line"]["works"] and "1 environments" in found["line"]["detail"], found["line"]
    assert {"line-reader", "left-hander", "coin"} <= set(found["embedded judges"]["detail"].split(", "))
    assert "Groups a side." in place.command("run", "second-look", "--help")


def test_from_seeds_to_a_report(place: Place, first: str) -> None:
    shown = place.asked("show", first)
    assert (shown["kind"], shown["state"], shown["error"]) == ("second-look", "complete", None)
    assert {step["state"] for step in shown["stages"]} == {"done"}
    names = [step["name"] for step in shown["stages"]]
    assert names.index(FIRST) < names.index("line-revised") < names.index(SECOND) < names.index("scoring")
    assert {step["stage"] for step in shown["stages"] if step["name"] in (FIRST, SECOND)} == {"inference"}
    assert FIRST in (text := place.command("show", first)) and f"\n  {SECOND} " in text
    assert shown["items"]["side"] == ITEMS
    report = Path(shown["report"]).read_text("utf-8")
    assert "line-reader" in report and "Side_Acc" in report and "On which side of the robot is the flag?" in report


def test_the_simulator_ran_in_the_interpreter_that_was_named(place: Place, first: str) -> None:
    started = (place.site / "started").read_text().split()
    assert started and not any(alive(int(pid)) for pid in started)


def test_the_second_asking_is_one_of_its_own(place: Place, first: str) -> None:
    shown, record = place.asked("show", first), place.record(first)
    assert [(entry["name"], entry["stage"]) for entry in record["stages"] if entry["stage"] == "inference"] == [
        (FIRST, "inference"),
        (SECOND, "inference"),
    ]
    assert record["artifacts"] == shown["artifacts"] and record["stage_of"][FIRST] == "inference"
    for judge in ("line-reader", "left-hander"):
        assert shown["artifacts"][f"{FIRST}[{judge}]"] != shown["artifacts"][f"{SECOND}[{judge}]"]
        revised = worldaudit.open_store(str(place.store)).get(
            "line-revised", shown["artifacts"][f"line-revised[{judge}]"]
        )
        assert revised.read("items").height == ITEMS and not revised.parts("images")
        said = responses(place, shown, FIRST, judge)["text"].str.strip_chars(".").str.to_lowercase()
        assert (revised.read("items").sort("uid")["prompt"].str.extract(r"You said (\w+)\.") == said).all()
    texts = [responses(place, shown, step, "left-hander")["text"].unique().to_list() for step in (FIRST, SECOND)]
    assert texts == [["Left."], ["Right."]]  # it read what the step between made of its first answer


def test_the_numbers_are_those_of_the_second_answers(place: Place, first: str) -> None:
    metrics = place.table(first, "metrics").filter((pl.col("slice") == "all") & (pl.col("protocol") == "all"))
    value = dict(
        metrics.filter(pl.col("metric") == "Side_Acc").select("judge", pl.struct("value", "n_planned")).iter_rows()
    )
    gold = place.table(first, "answers").unique("uid")["gold"]
    assert value["line-reader"] == {"value": 1.0, "n_planned": ITEMS}
    assert value["left-hander"]["value"] == pytest.approx((gold == "right").mean()) and gold.n_unique() == 2
    far = metrics.filter((pl.col("metric") == "Side_Acc_far") & (pl.col("judge") == "line-reader"))
    assert far["value"].to_list() == [1.0] and 0 < far["n_planned"].item() < ITEMS


def test_a_second_run_recomputes_nothing(place: Place, first: str) -> None:
    again = place.run("run", "second-look", *JUDGES)
    assert again["run"] != first and again["computed"] == []
    assert again["artifacts"] == place.asked("show", first)["artifacts"]


def test_a_rerun_from_the_second_asking_asks_there_and_nowhere_else(place: Place, first: str) -> None:
    before = place.asked("show", first)
    again = place.run("rerun", first, "--from", SECOND)
    assert {name.partition("[")[0] for name in again["computed"]} == {SECOND, "parsing", "scoring"}
    shards = shards_of(again)
    assert shards[FIRST] == {"reused": 2} and shards["line-revised"] == {"reused": 2} and shards[SECOND] == {"done": 2}
    for judge in ("line-reader", "left-hander"):
        assert again["artifacts"][f"{FIRST}[{judge}]"] == before["artifacts"][f"{FIRST}[{judge}]"]
        assert again["artifacts"][f"{SECOND}[{judge}]"] != before["artifacts"][f"{SECOND}[{judge}]"]


def test_a_dry_run_counts_the_calls_of_each_step_and_makes_none(place: Place, first: str) -> None:
    runs = sorted(path.name for path in (place.store / "runs").iterdir())
    second = place.run("rerun", first, "--from", SECOND, "--dry-run")["judges"]
    assert {name: plan and plan["calls"] for name, plan in second.items()} == {
        "line-reader": ITEMS,
        "left-hander": ITEMS,
    }
    both = place.run("rerun", first, "--from", FIRST, "--dry-run")["judges"]
    assert {name: plan and plan["calls"] for name, plan in both.items()} == {
        f"{FIRST}[line-reader]": ITEMS,
        f"{FIRST}[left-hander]": ITEMS,
        "line-reader": None,  # what the second asking sends follows from the first answers
        "left-hander": None,
    }
    assert sorted(path.name for path in (place.store / "runs").iterdir()) == runs


def test_what_the_second_asking_failed_at_is_mended_as_printed(place: Place) -> None:
    (place.site / "flaky.py").write_text(FLAKY)
    (place.site / "judges.toml").write_text('[judges.flaky]\napi = "python"\nentry_point = "flaky:answer"\n')
    (place.site / "down").touch()
    place.command("run", "second-look", "--judge", "flaky", "--config", "judges.toml", "--processes", "0", code=1)
    failed = place.asked("show", "latest")
    assert failed["state"] == "incomplete"
    assert {step["name"] for step in failed["stages"] if step["mend"]} == {SECOND}
    assert 0 < len((place.site / "asked again").read_text()) < ITEMS
    (place.site / "down").unlink()
    program, *words = shlex.split(failed["mend"])
    assert program == "worldaudit" and words[:4] == ["rerun", failed["run"], "--from", SECOND]
    mended = json.loads(place.python("-m", "worldaudit", *words, "--json"))
    assert mended["state"] == "complete" and shards_of(mended)[FIRST] == {"reused": 1}
    assert mended["artifacts"][f"{FIRST}[flaky]"] == failed["artifacts"][f"{FIRST}[flaky]"]
    said = responses(place, mended, SECOND, "flaky")
    assert said.height == ITEMS and set(said.select("status", "text").rows()) == {("ok", "Left.")}
    assert len((place.site / "asked again").read_text()) == ITEMS  # nobody who had answered was asked once more


def test_the_list_of_runs_and_the_store_know_it(place: Place, first: str, tmp_path: Path) -> None:
    listed = place.asked("runs", "--kind", "second-look")["runs"]
    assert first in {run["id"] for run in listed} and {run["kind"] for run in listed} == {"second-look"}
    checked = place.asked("store", "verify")
    assert checked["artifacts"] and not checked["broken"] and not checked["gone"]
    assert place.asked("store", "gc")["artifacts"] == []
    bare = Place(place.site, Path(shutil.copytree(place.store, tmp_path / "store")))
    shutil.rmtree(bare.store / "runs")
    dropped = bare.asked("store", "gc", "--dry-run")["artifacts"]
    used = {
        f"{place.record(first)['stage_of'].get(name.partition('[')[0], name.partition('[')[0])}/{key}"
        for name, key in place.record(first)["artifacts"].items()
    }
    assert used <= set(dropped)


CHILD = """
import json, os
from worldaudit_extension.line.process import ENGINE, PROCESS
from worldaudit_extension.line.reach_flag import ReachFlag
environment = ReachFlag()
frames = list(environment.frames(3, environment.rollout(3)))
print(json.dumps({"own": os.getpid(), "child": ENGINE("main", "pid"), "known": PROCESS.pid, "shape": frames[0].shape}))
"""


def test_frames_come_from_another_process_which_ends_with_this_one(place: Place) -> None:
    said = json.loads(place.python("-c", CHILD))
    assert said["shape"] == [64, 128, 3]
    assert said["child"] == said["known"] != said["own"]
    assert not alive(said["child"])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_child_needs_nothing_of_the_project(place: Place) -> None:
    """By what its modules import: the standard library and numpy."""
    names = "import ast, sys; print([n for node in ast.walk(ast.parse(open(sys.argv[1]).read())) "
    names += "if isinstance(node, (ast.Import, ast.ImportFrom)) "
    names += "for n in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module])])"
    engine = PACKAGE / "worldaudit_extension" / "line" / "child" / "engine.py"
    assert place.python("-c", names, str(engine)).strip() == "['os', 'platform', 'numpy']"


def test_the_ordinary_audit_runs_on_its_world(place: Place) -> None:
    shown = place.run("run", "line", "--profile", "smoke", "--judge", "always-fail")
    assert shown["state"] == "complete" and shown["gates"]["failures"] == 0 and shown["gates"]["accepted"] > 0
    assert {task for task in shown["items"] if len(task) == 1} == {"C", "D"}
