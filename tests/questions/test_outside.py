"""A kind of question as an installed package would offer it: asked, read and graded by packages that do not know it."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys

import polars as pl
import pytest

import tasks.inference
import tasks.parsing
from storage import Store, digest
from tasks.errors import BadInput
from tasks.inference import INFERENCE, parse_judge, stage_config
from tasks.inference.importing import read_index
from tasks.judges import Message
from tasks.parsing import PARSING
from tasks.questions import (
    QUESTIONS,
    Constraint,
    Parse,
    Question,
    constraint_of,
    exam_tasks,
    final_text,
    question_of_format,
    question_of_task,
    unreadable,
)
from tasks.stage import Ref, produce


def parse(text, answer_format, policy, think_tags):
    final = final_text(text, think_tags)
    if found := re.search(r"\d+", final.text):
        return Parse("strict" if found[0] == final.text else "recovered", found[0], found[0])
    return unreadable(final.reason or "no_number")


def grade(rows):
    """Half for one more or less."""
    off = (pl.col("value").cast(pl.Int64) - pl.col("gold").cast(pl.Int64)).abs()
    return rows.with_columns(
        score=pl.when(off == 0).then(1.0).when(off == 1).then(0.5).otherwise(0.0),
        correct=off == 0,
        components=pl.lit(None, pl.String),
    )


def gold(task, stated):
    if not stated.isdigit():
        raise BadInput(f"gold {stated!r} is no count")
    return stated


COUNT = Question(
    name="count",
    formats={"number": Constraint(schema={"type": "integer"})},
    exam_tasks={"COUNT": "number"},
    parse=parse,
    grade=grade,
    wrong=pl.concat_str(pl.lit("counted "), pl.col("value")),
    columns={"many": pl.col("value").cast(pl.Int64) > 2},
    gold=gold,
    defaults=lambda task, stated: {"condition": "doors"},
)
ITEMS = {"one": ("How many doors? 3", "3"), "two": ("How many doors? 4", "3"), "three": ("How many doors?", "1")}


def answer(message: Message) -> str:
    return message.text.removeprefix("How many doors?").strip() or "many"


@pytest.fixture
def count(monkeypatch):
    monkeypatch.setitem(QUESTIONS._registered, "count", COUNT)


def test_it_is_found_by_its_format_and_by_its_task(count):
    assert question_of_format("number") is question_of_task("COUNT") is COUNT
    assert constraint_of("number").as_json() == {"json_schema": {"type": "integer"}}
    assert "COUNT" in exam_tasks()


def test_it_is_asked_read_and_graded(count, tmp_path):
    location = str(tmp_path / "store")
    store = Store(location)
    writer = store.writer("release", digest("counting"))
    writer.add(
        "items",
        [
            {
                "uid": uid,
                "task": "COUNT",
                "prompt": prompt,
                "image_ids": [],
                "answer_format": "number",
                "max_tokens": 8,
            }
            for uid, (prompt, _) in ITEMS.items()
        ],
    )
    writer.commit(1, {}, {})
    release = Ref("release", writer.key)
    spec = parse_judge("counter", {"api": "python", "entry_point": f"{__name__}:answer"})
    asked = produce(location, INFERENCE, "counter", stage_config("counter", spec), {"release": release}).ref
    read = produce(location, PARSING, "counter", {}, {"release": release, "responses": asked}).ref
    parsed = store.get(read.stage, read.key).read("parsed")
    assert dict(parsed.select("uid", "value").iter_rows()) == {"one": "3", "two": "4", "three": None}
    assert parsed.filter(uid="three")["reason"].to_list() == ["no_number"]

    question = question_of_task("COUNT")
    rows = parsed.filter(pl.col("value").is_not_null()).select(
        "value",
        task=pl.lit("COUNT"),
        gold=pl.col("uid").replace_strict({uid: gold for uid, (_, gold) in ITEMS.items()}),
    )
    graded = question.grade(rows).with_columns(wrong=question.wrong, **question.columns)
    assert graded["score"].to_list() == [1.0, 0.5] and graded["correct"].to_list() == [True, False]
    assert graded["wrong"].to_list()[1] == "counted 4" and graded["many"].to_list() == [True, True]


def test_its_answers_can_be_a_foreign_exam(count, tmp_path):
    index = tmp_path / "index.jsonl"
    index.write_text('{"uid": "one", "task": "COUNT", "env": "doors", "group_id": "g", "gold": "3"}')
    (row,) = read_index(index)
    assert (row["answer_format"], row["gold"], row["condition"]) == ("number", "3", "doors")
    index.write_text('{"uid": "one", "task": "COUNT", "env": "doors", "group_id": "g", "gold": "few"}')
    with pytest.raises(BadInput, match="row 1: gold 'few' is no count"):
        read_index(index)


@pytest.mark.parametrize("package", [tasks.inference, tasks.parsing])
def test_who_asks_and_reads_knows_no_world_and_no_judge(package):
    """In a process of its own, every module of the package is imported, and with it no world and no embedded judge."""
    names = [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    program = f"import sys, {', '.join([package.__name__, *names])}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    loaded = done.stdout.split()
    assert not [name for name in loaded if name.startswith(("tasks.worlds", "tasks.exams", "tasks.scoring"))]
    assert {name for name in loaded if name.startswith("tasks.judges.")} <= {"tasks.judges._message"}
