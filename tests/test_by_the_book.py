"""docs/contributor.md, followed by the letter: its examples, each put where it says into a copy of the project, are found and work.

A copy holds the project as it is and the files that are added; nothing else of it is touched. Everything runs by the command, in
a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import worldaudit

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "contributor.md").read_text("utf-8")
BOOK = {path: text for text, path in re.findall(r"^```\w+\n(# (\S+)\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)}

ENVIRONMENT, PROFILE = "tasks/worlds/minigrid/crossing.py", "crossing.toml"
WORLD = "tasks/worlds/harbor/__init__.py"
QUESTION, METRICS = "tasks/questions/direction.py", "tasks/scoring/families/turning.py"
JUDGE = "tasks/judges/right_hander.py"
STAGE, CHAIN = "tasks/turns/__init__.py", "flows/chains/turning.py"

HARBOR = {  # what lies in the folder of the world beside its `__init__`
    "tasks/worlds/harbor/rooms.py": """
from tasks.worlds.harbor import WORLD
from tasks.worlds.minigrid.doorkey import DoorKey

class Rooms(DoorKey):
    world, name = WORLD.name, "rooms"
""",
    "tasks/worlds/harbor/profiles/tiny.toml": """
world = "harbor"
prompts = "minigrid-v1"
[shards.rooms]
env_id = "MiniGrid-DoorKey-5x5-v0"
groups = 2
C = { groups = 1, probes = false }
""",
}
TINY = """
world = "minigrid"
prompts = "minigrid-v1"
[shards.doorkey]
env_id = "MiniGrid-DoorKey-5x5-v0"
groups = 2
C = { groups = 1, probes = false }
"""
OUTSIDE = {  # the environment as an installed package has it; its other entry points are tests/test_extension.py's
    "outside.py": BOOK[ENVIRONMENT],
    "outside-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: outside\nVersion: 1\n",
    "outside-1.dist-info/entry_points.txt": "[worldaudit.environments]\ncrossing = outside:Crossing\n",
}
TURNS = {"a": ("left", "Left."), "b": ("left", "right"), "c": ("right", "right"), "d": ("right", "straight on")}


@dataclass(frozen=True)
class Copy:
    """A copy of the project, to which files are added."""

    folder: Path

    def add(self, *pages: str, **texts: str) -> Copy:
        """The page's own files by their path, and others."""
        for path, text in {page: BOOK[page] for page in pages}.items() | texts.items():
            file = self.folder / path
            assert not file.exists(), path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return self

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"WORLDAUDIT_NO_PREFECT": "1", "WORLDAUDIT_STORE": str(self.folder / "store")}
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=self.folder, timeout=120)

    def command(self, *arguments: str) -> dict[str, Any]:
        done = self.call(sys.executable, "-m", "worldaudit", *arguments, "--processes", "0", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        value: dict[str, Any] = json.loads(done.stdout)
        return value

    def table(self, name: str, run: str = "latest") -> pl.DataFrame:
        return worldaudit.table(worldaudit.open_store(str(self.folder / "store")), run, name)


@pytest.fixture
def project(tmp_path: Path) -> Copy:
    for name in ("flows", "storage", "tasks", "worldaudit"):
        shutil.copytree(ROOT / name, tmp_path / name)  # with what is compiled, which is quicker
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    return Copy(tmp_path)


def accuracy(shown: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(row["judge"], row["metric"]): row["value"] for row in shown["metrics"]}


@pytest.mark.parametrize("where", [{ENVIRONMENT: BOOK[ENVIRONMENT]}, OUTSIDE], ids=["in its place", "by entry point"])
def test_an_environment(project: Copy, where: dict[str, str]) -> None:
    project.add(PROFILE, **where)
    shown = project.command("run", "minigrid", "--profile", PROFILE, "--judge", "tile-reader")
    assert shown["gates"] == {"accepted": 3, "rejected": 0, "failures": 0}
    assert set(project.table("answers")["env"]) == {"crossing"}
    assert accuracy(shown)["tile-reader", "Acc_full"] == accuracy(shown)["tile-reader", "Acc_cf"] == 1.0


def test_a_world(project: Copy) -> None:
    shown = project.add(WORLD, **HARBOR).command("run", "harbor", "--profile", "tiny")
    assert shown["state"] == "complete" and shown["gates"]["failures"] == 0
    assert set(project.table("answers")["world"]) == {"harbor"}
    assert set(project.table("responses")["judge"]) == {"coin", "always-fail", "always-success"}


def imported(project: Copy) -> dict[str, Any]:
    """Answers to turns, as an exam that somebody else has given."""
    lines = [
        {"uid": uid, "task": "turn", "env": "road", "group_id": uid, "gold": gold} for uid, (gold, _) in TURNS.items()
    ]
    (project.folder / "index.jsonl").write_text("\n".join(map(json.dumps, lines)))
    said = [{"uid": uid, "text": text} for uid, (_, text) in TURNS.items()]
    (project.folder / "said.jsonl").write_text("\n".join(map(json.dumps, said)))
    return project.command("import-responses", "said.jsonl", "--index", "index.jsonl", "--judge", "somebody")


def test_a_kind_of_question(project: Copy) -> None:
    imported(project.add(QUESTION))
    read = project.table("parsed").sort("uid").select("parse_mode", "value", "reason").rows()
    assert read == [("recovered", "left", None), *[("strict", "right", None)] * 2, ("none", None, "no_answer")]
    graded = project.table("scores").sort("uid").select("correct", "failure").rows()
    assert graded == [(True, None), (False, "wrong_direction"), (True, None), (None, "unparsed: no_answer")]


def test_a_family_of_metrics(project: Copy) -> None:
    (row,) = imported(project.add(QUESTION, METRICS))["metrics"]
    assert (row["metric"], row["value"], row["n_planned"], row["n_ok"]) == ("Turn_Acc", 0.5, 4, 3)


def test_a_judge(project: Copy) -> None:
    project.add(JUDGE, **{"tiny.toml": TINY}).command(
        "run", "minigrid", "--profile", "tiny.toml", "--judge", "right-hander"
    )
    responses = project.table("responses")
    assert responses.height and set(responses.select("judge", "text").rows()) == {("right-hander", "Right.")}


def test_stages_and_a_chain(project: Copy) -> None:
    project.add(QUESTION, METRICS, JUDGE, STAGE, CHAIN)
    shown = project.command("run", "turning", "--judge", "right-hander", "--judge", "coin")
    assert [step["name"] for step in shown["stages"]] == [
        *("turn-exam", "release", "answers", "first-inference", "first-parsing"),
        *("turn-again", "inference", "parsing", "scoring", "reports"),
    ]
    assert shown["state"] == "complete" and shown["items"]["turn"] == 8
    assert accuracy(shown) == {("right-hander", "Turn_Acc"): 0.5, ("coin", "Turn_Acc"): 0.0}
    store = worldaudit.open_store(str(project.folder / "store"))
    again = store.get("turn-again", shown["artifacts"]["turn-again[right-hander]"]).read("items")
    assert again["prompt"].str.starts_with("You said: right. Look again. You face").all()


def test_a_physics_family(project: Copy) -> None:
    """A copy of `lever.py`, as the page on traces says, which stays a lever but for its name."""
    lever = (ROOT / "tasks" / "traces" / "families" / "lever.py").read_text("utf-8")
    project.add(**{"tasks/traces/families/see_saw.py": lever.replace('name="lever"', 'name="see_saw"')})
    project.command("traces", "generate", "--traces", "18", "--pairs", "1", "--no-pictures")
    assert project.table("traces").filter(family="see_saw").height == 1


@pytest.mark.parametrize("check", ["lint-imports", "ruff check", "ruff format --check"])
def test_they_keep_the_rules_of_the_house(project: Copy, check: str) -> None:
    program = Path(sys.executable).with_name(check.split()[0])
    if not program.exists():
        pytest.skip(f"{program.name} is not installed")
    done = project.add(*BOOK).call(str(program), *check.split()[1:])
    added = [page.removesuffix("/__init__.py").removesuffix(".py") for page in BOOK]
    assert not [name for name in added if name in done.stdout or name.replace("/", ".") in done.stdout], done.stdout


def test_the_page_has_a_file_for_each() -> None:
    assert set(BOOK) == {ENVIRONMENT, PROFILE, WORLD, QUESTION, METRICS, JUDGE, STAGE, CHAIN}
