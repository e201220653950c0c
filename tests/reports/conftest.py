"""A run on the smoke exam with answers that were made up here: one judge that accepts everything, one whose answers
attack the page, one that was interrupted after 37 items."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from flows.runner import Runner
from storage import Store
from tasks.parsing import PARSING
from tasks.scoring import SCORING
from tasks.stage import Ref
from tests.conftest import Generated

ATTACK = (
    "</script><script>document.documentElement.dataset.owned = 1</script>"
    '<img src=x onerror="document.documentElement.dataset.owned = 1"><!-- \'"&amp; \u202e \u2028 \x00 ☃ é'
)
HOSTILE_NAME = "sly<b onclick=alert(1)>&\"'"
LONG = "x" * 1_000_000 + " the end"
ACCEPTING = {"A": "A", "B": "{}", "C": "Yes", "D": "Success", "E": '{"answer": "holding"}'}
ANSWERED_BEFORE_THE_END = 37

Item = dict[str, Any]


def accepting(item: Item, place: int) -> dict[str, Any]:
    return {"status": "ok", "text": ACCEPTING[item["task"]]}


def attacking(item: Item, place: int) -> dict[str, Any]:
    return {"status": "ok", "text": LONG if place == 5 else ATTACK, "reasoning": ATTACK, "server": ATTACK}


def interrupted(item: Item, place: int) -> dict[str, Any]:
    return accepting(item, place) if place < ANSWERED_BEFORE_THE_END else {"status": "pending"}


def answered(store: Store, release: Ref, judge: str, reply: Callable[[Item, int], dict[str, Any]]) -> Ref:
    """The artifact of a judge's answers, as the stage `inference` would leave it."""
    key = hashlib.sha256(judge.encode()).hexdigest()
    writer = store.writer("inference", key)
    items = store.get("release", release.key).read("items").to_dicts()
    sent = {"requested": json.dumps({"seed": 3, "temperature": 0.0}), "effective": json.dumps({"temperature": 0.0})}
    writer.add(
        "responses",
        [
            {"uid": item["uid"], "judge": judge, "replicate": 0, **sent, **reply(item, n)}
            for n, item in enumerate(items)
        ],
    )
    config = {"judge": judge, "spec": {"api": "openai", "model": "m"}}
    writer.commit(1, config, {"release": release.key})
    return Ref("inference", key)


def judged(
    exam: Generated, folder: Path, replies: dict[str, Callable[[Item, int], dict[str, Any]]], expected: Iterable[str]
) -> tuple[Store, dict[str, Any]]:
    """A store of its own with the exam, the judges' answers, parsed and scored, and the record of that run."""
    shutil.copytree(exam.store.location, folder, dirs_exist_ok=True)
    store = Store(folder)
    release, answers = exam.refs["release"]["all"], exam.refs["answers"]["all"]
    responses = {name: answered(store, release, name, reply) for name, reply in replies.items()}
    with Runner(str(folder), processes=0) as runner:
        parsed = runner.map(
            PARSING, {name: ({}, {"release": release, "responses": ref}) for name, ref in responses.items()}
        )
        inputs = {"answers": answers}
        inputs |= {f"responses.{name}": ref for name, ref in responses.items()}
        inputs |= {f"parsed.{name}": ref for name, ref in parsed.items()}
        scoring = runner.one(SCORING, {"resamples": 200}, inputs)
    artifacts = {"release[all]": release.key, "answers[all]": answers.key, "scoring[all]": scoring.key}
    artifacts |= {f"inference[{name}]": ref.key for name, ref in responses.items()}
    artifacts |= {f"parsing[{name}]": ref.key for name, ref in parsed.items()}
    return store, record(artifacts, list(expected))


def record(artifacts: dict[str, str], judges: list[str]) -> dict[str, Any]:
    return {
        "id": "20260101T000000.000Z-0000", "command": "worldaudit run minigrid", "chain": "audit", "world": "minigrid",
        "profile": "smoke", "seed": 7, "judges": judges, "state": "running", "started": "2026-01-01T00:00:00.000+00:00",
        "stages": [], "artifacts": artifacts, "exam": artifacts.get("release[all]"), "cost": {}, "commit": None,
        "python": "3", "packages": {}, "configuration": {},
    }  # fmt: skip


@pytest.fixture(scope="session")
def finished(smoke: Generated, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, dict[str, Any]]:
    replies = {"yes-sayer": accepting, HOSTILE_NAME: attacking, "unfinished": interrupted}
    return judged(smoke, tmp_path_factory.mktemp("judged"), replies, [*replies, "absent"])
