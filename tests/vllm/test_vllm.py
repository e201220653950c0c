"""A real vLLM server on a CPU, with a tiny model that is made on the spot. `make test-vllm`.

It builds an environment of its own first (tests/vllm/make_environment; about 3 GB, two to five minutes, once), then
starts two servers (about a minute each). Answers are random; what is tested is everything between the exam and the score.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from storage import Store, digest
from tasks.errors import BadInput, StageFailed
from tasks.inference import INFERENCE, JudgeSpec, parse_judge, stage_config
from tasks.inference.vllm import Server, served
from tasks.parsing import PARSING
from tasks.scoring import SCORING
from tasks.stage import Ref, produce

pytestmark = pytest.mark.vllm

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = Path(os.environ.get("VLLM_ENVIRONMENT", ROOT / ".venv-vllm"))
ENVIRONMENT = {
    "PYTHONPATH": str(HERE / "shim"),
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "TORCHDYNAMO_DISABLE": "1",  # or the first log-probabilities compile for 25 s
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}
FLAGS = ["--enforce-eager", "--max-num-seqs", "32", "--kv-cache-memory-bytes", "134217728"]
# A random model would otherwise write blanks until its budget is gone.
FLAGS += ["--structured-outputs-config", '{"backend": "xgrammar", "disable_any_whitespace": true}']
ITEMS_A_TASK = 8
PROMPTS = ROOT / "tasks" / "exams" / "gridworld" / "prompts" / "minigrid-v1.toml"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    if not shutil.which("python3.11"):
        pytest.skip("the CPU build of vLLM needs python3.11")
    subprocess.run([str(HERE / "make_environment"), str(FOLDER)], check=True)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    make = [str(FOLDER / "bin" / "python"), str(HERE / "tiny_model.py"), str(folder), str(PROMPTS)]
    subprocess.run(make, env=os.environ | ENVIRONMENT, check=True, capture_output=True)
    return str(folder)


def serve(model: str, **more) -> dict:
    return {
        "command": [str(FOLDER / "bin" / "vllm"), "serve"],
        "path": model,
        "dtype": "float32",
        "max_model_len": 4096,
        "max_images": 8,
        "flags": FLAGS,
        "env": ENVIRONMENT,
        "ready_s": 600,
    } | more


def tiny(**table) -> JudgeSpec:
    limits = {"concurrency": 16, "timeout_s": 300, "deadline_s": 600} | table.pop("limits", {})
    return parse_judge("tiny", {"api": "vllm", "model": "tiny", "structured": True, "limits": limits} | table)


@pytest.fixture(scope="module")
def exam(tmp_path_factory) -> tuple[str, Ref, Ref]:
    """(store, release, answers) of 40 items of the base exam, eight a task, C's composite and split ones among them."""
    location = str(tmp_path_factory.mktemp("exam"))
    command = [sys.executable, "-m", "flows.commands.cli", "generate", "minigrid", "--store", location, "--json"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    store = Store(location)
    base = store.get("release", json.loads(done.stdout)["exam"])
    items = base.read("items")
    spread = pl.int_range(pl.len()).over("task") % (pl.len().over("task") // ITEMS_A_TASK) == 0
    chosen = items.filter(spread).group_by("task", maintain_order=True).head(ITEMS_A_TASK)
    images = base.read("images").join(
        chosen.select(pl.col("image_ids").explode().alias("image_id")), on="image_id", how="semi"
    )
    answers = (
        next(store.get(stage, key) for stage, key in store.artifacts() if stage == "answers")
        .read("answers")
        .join(chosen.select("uid"), on="uid", how="semi")
    )
    refs = []
    for stage, tables in (("release", {"items": chosen, "images": images}), ("answers", {"answers": answers})):
        writer = store.writer(stage, digest("forty items"))
        for table, rows in tables.items():
            writer.add(table, rows)
        writer.commit(1, {}, {})
        refs.append(Ref(stage, writer.key))
    assert len(chosen) == 40 == len(answers) and chosen["image_ids"].list.len().max() > 1
    return location, refs[0], refs[1]


@pytest.fixture(scope="module")
def running(model) -> Iterator[Server]:
    """A server that is already up, as someone else's would be."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = served(tiny(serve=serve(model)))
    try:
        yield asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def test_a_server_is_started_used_and_stopped_and_its_answers_are_scored(exam, model):
    location, release, answers = exam
    store = Store(location)
    spec = tiny(
        serve=serve(model, max_images=12, max_model_len=8192),
        logprobs=True,
        decoding={"seed": 1, "max_tokens": 160},
        canaries=["twins"],
    )
    found = produce(location, INFERENCE, "tiny", stage_config("tiny", spec), {"release": release})
    artifact = store.get("inference", found.ref.key)
    rows = artifact.read("responses")
    assert len(rows) == 40 == rows["uid"].n_unique()
    assert set(rows["status"]) <= {"ok", "truncated"}
    verdicts = rows.filter(pl.col("uid").str.contains("^[CD]"))
    assert verdicts["p_success"].null_count() == 0 and verdicts["p_success"].is_between(0, 1).all()
    assert verdicts["p_success"].n_unique() > 4  # it looks at the pictures
    assert rows["server"].str.contains("vllm-0.32.0").all() and rows["effective"].str.contains('"seeded": true').all()
    assert artifact.read("canaries")["passed"].to_list() in ([True], [None])

    parsed = produce(location, PARSING, "tiny", {}, {"release": release, "responses": found.ref})
    read = store.get("parsing", parsed.ref.key).read("parsed").join(rows.select("uid", "status"), on="uid")
    assert read.filter(status="ok")["parse_mode"].unique().to_list() == ["strict"]  # the grammar was kept to
    scored = produce(
        location,
        SCORING,
        "all",
        {"resamples": 200},
        {"answers": answers, "responses.tiny": found.ref, "parsed.tiny": parsed.ref},
    )
    scores = store.get("scoring", scored.ref.key).read("scores")
    assert len(scores) == 40 and scores["score"].drop_nulls().is_between(0, 1).all()
    assert scores["p_success"].count() == 16  # every verdict of C and D
    left = subprocess.run(["pgrep", "-f", f"serve {model}"], capture_output=True, text=True).stdout
    assert not left.strip()  # it was stopped


def small(location: str, count: int, prompt: str = "Answer with ONLY: Yes or No.") -> Ref:
    """One item with `count` pictures."""
    import numpy as np

    from tests.inference.release import picture, png

    store = Store(location)
    pictures = [picture(png(np.full((112, 112, 3), number * 20))) for number in range(count)]
    writer = store.writer("release", digest(f"{count} {prompt}"))
    writer.add("images", pictures)
    ids = [entry["image_id"] for entry in pictures]
    writer.add(
        "items",
        [
            {
                "uid": "C.one",
                "task": "C",
                "prompt": prompt,
                "image_ids": ids,
                "answer_format": "yes_no",
                "max_tokens": 16,
            }
        ],
    )
    writer.commit(1, {}, {})
    return Ref("release", writer.key)


def ask(location: str, release: Ref, spec: JudgeSpec) -> dict:
    outcome = produce(location, INFERENCE, "tiny", stage_config("tiny", spec), {"release": release})
    return Store(location).get("inference", outcome.ref.key).read("responses").row(0, named=True)


def test_too_many_pictures(running, tmp_path):
    with pytest.raises(
        BadInput, match=r"9 pictures.*HTTP 400: At most 8 image.*--limit-mm-per-prompt '\{\"image\": 9\}'"
    ):
        ask(str(tmp_path), small(str(tmp_path), 9), tiny(base_url=running.url))


def test_a_prompt_that_is_too_long(running, tmp_path):
    release = small(str(tmp_path), 1, "goal " * 6000 + "Answer with ONLY: Yes or No.")
    with pytest.raises(BadInput, match=r"HTTP 400.*does not fit its context.*--max-model-len"):
        ask(str(tmp_path), release, tiny(base_url=running.url))


def test_a_wrong_model_name(running, tmp_path):
    with pytest.raises(BadInput, match=r"HTTP 404.*no model 'huge'"):
        ask(str(tmp_path), small(str(tmp_path), 1), tiny(base_url=running.url, model="huge"))


def test_a_budget_over_the_models_length(running, tmp_path):
    spec = tiny(base_url=running.url, decoding={"max_tokens": 100_000})
    with pytest.raises(BadInput, match=r"HTTP 400.*max_tokens"):
        ask(str(tmp_path), small(str(tmp_path), 1), spec)


def test_an_answer_that_is_cut_is_truncated(running, tmp_path):
    row = ask(
        str(tmp_path), small(str(tmp_path), 1), tiny(base_url=running.url, structured=False, decoding={"max_tokens": 3})
    )
    assert (row["status"], row["finish_reason"], row["output_tokens"]) == ("truncated", "length", 3)


def test_the_order_of_pictures_reaches_the_model(running, tmp_path):
    """IC4: the same three pictures in two orders are two questions with two answers."""
    location = str(tmp_path)
    found = []
    for name, order in (("abc", (0, 9, 3)), ("cba", (3, 9, 0))):
        import numpy as np

        from tests.inference.release import picture, png

        pictures = [picture(png(np.full((112, 112, 3), number * 25))) for number in order]
        writer = Store(location).writer("release", digest(name))
        writer.add("images", pictures)
        item = {"uid": "C.one", "task": "C", "prompt": "Yes or No?", "answer_format": "yes_no", "max_tokens": 16}
        writer.add("items", [item | {"image_ids": [entry["image_id"] for entry in pictures]}])
        writer.commit(1, {}, {})
        found.append(ask(location, Ref("release", writer.key), tiny(base_url=running.url, logprobs=True))["p_success"])
    assert found[0] != found[1]


def test_a_server_that_is_killed(running, tmp_path):
    """Last, for it is the end of the server."""
    from tests.inference.release import make_release

    location = str(tmp_path)
    release = make_release(location, 60, size=112, tasks="C")
    spec = tiny(base_url=running.url, limits={"concurrency": 2, "backoff_s": 0.05})

    def kill() -> None:
        journal = Path(location) / "journal"
        while sum(path.read_bytes().count(b"\n") for path in journal.rglob("*.jsonl")) < 10:
            threading.Event().wait(0.05)
        os.killpg(running.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(StageFailed, match=r"is dead after item C\.test.*answered, 1 failed, \d+ pending"):
        produce(location, INFERENCE, "tiny", stage_config("tiny", spec), {"release": release})
    killer.join()
