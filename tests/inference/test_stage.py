"""The stage: isolation, resumption, one row a question, failures that never pass for answers."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time

import polars as pl
import pytest

from storage import Store
from tasks.errors import BadInput, StageFailed
from tasks.inference import INFERENCE, embedded, journal_state, local, parse_judge, stage_config
from tasks.inference.message import Message
from tasks.stage import Ref, produce

from .release import infer, judge, make_release
from .scripted_server import Fail, Say, ScriptedServer

KEYS = ["uid", "judge", "replicate"]


# --- local judges --------------------------------------------------------------------------------------------------


def shout(message: Message) -> str:
    return f"{len(message.images)} pictures, {len(message.text)} characters"


async def later(message: Message) -> str:
    return "Yes"


class Counter:
    def answer(self, message: Message) -> str:
        return "No"


def moody(message: Message) -> str:
    if sum(message.images[0]) % 10 == 0:
        raise RuntimeError("not today")
    return "Yes"


def broken(message: Message) -> str:
    raise RuntimeError("never")


def number(message: Message) -> int:
    return 3


def python(function: str, **table):
    return parse_judge("g", {"api": "python", "entry_point": f"{__name__}:{function}"} | table)


@pytest.mark.parametrize(
    ("function", "text"), [("shout", "1 pictures, 64 characters"), ("later", "Yes"), ("Counter", "No")]
)
def test_any_python_callable_is_a_judge(store, function, text):
    rows = infer(store, make_release(store, 4, tasks="C"), python(function))
    assert rows["status"].unique().to_list() == ["ok"]
    assert rows["text"].unique().to_list() == [text]


def test_an_entry_point_that_leads_nowhere(store):
    release = make_release(store, 2)
    for entry in ("nowhere:answer", f"{__name__}:nothing"):
        with pytest.raises(BadInput, match="cannot be loaded"):
            infer(store, release, parse_judge("g", {"api": "python", "entry_point": entry}))


def test_an_exception_of_a_judge_is_that_items_failure(store):
    rows = infer(store, make_release(store, 40, tasks="C"), python("moody", limits={"max_failed": 0.5}))
    failed = rows.filter(status="api_error")
    assert 0 < len(failed) < 20 and failed["text"].null_count() == len(failed)
    assert failed["error"][0] == "RuntimeError: not today"


def test_a_judge_that_always_fails_stops_the_run(store):
    release = make_release(store, 40)
    with pytest.raises(StageFailed, match=r"10 items in a row failed.*RuntimeError: never.*30 pending"):
        infer(store, release, python("broken"))
    with pytest.raises(StageFailed, match="TypeError: answered int, not str"):
        infer(store, release, python("number"))


def leaves(message: Message) -> str:
    sys.exit(0)


async def leaves_later(message: Message) -> str:
    sys.exit(0)


class LeavesAtOnce:
    def __init__(self) -> None:
        sys.exit(0)


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("function", ["leaves", "leaves_later"])
def test_a_judge_that_calls_exit_is_one_that_fails(store, function, processes):
    with pytest.raises(StageFailed, match=r"10 items in a row failed.*sys.exit\(0\)"):
        infer(store, make_release(store, 20), python(function, limits={"processes": processes}))


def test_a_judge_that_calls_exit_while_it_is_loaded_cannot_be_loaded(store):
    with pytest.raises(BadInput, match="cannot be loaded: SystemExit"):
        infer(store, make_release(store, 2), python("LeavesAtOnce"))


def loops(message: Message) -> str:
    while True:
        time.sleep(0.01)


async def loops_later(message: Message) -> str:
    return loops(message)


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("function", ["loops", "loops_later"])
def test_the_deadline_ends_a_judge_that_does_not_end(store, function, processes, monkeypatch):
    monkeypatch.setattr(local, "GRACE_S", 0.2)
    stopped = r"deadline_s = 0.5 for .*; the judge is still at work; 0 of 20 answered, 1 failed"
    with pytest.raises(StageFailed, match=stopped):
        infer(store, make_release(store, 20), python(function, limits={"deadline_s": 0.5, "processes": processes}))


async def dawdles(message: Message) -> str:
    await asyncio.sleep(60)
    return "Yes"


def test_a_coroutine_that_can_be_ended_costs_its_item_only(store):
    with pytest.raises(StageFailed, match=r"10 items in a row failed.*deadline_s = 0.05"):
        infer(store, make_release(store, 20), python("dawdles", limits={"deadline_s": 0.05}))


def test_processes_change_nothing_but_the_time(store):
    release = make_release(store, 30)
    alone = infer(store, release, embedded("coin"), name="coin")
    spec = embedded("coin").model_copy(update={"limits": embedded("coin").limits.model_copy(update={"processes": 2})})
    assert infer(store, release, spec, name="coin", asking="again").equals(alone)


def test_an_embedded_judges_table_is_the_same_bytes_in_two_stores(tmp_path):
    digests = []
    for name in ("one", "two"):
        location = str(tmp_path / name)
        release = make_release(location, 25)
        outcome = produce(location, INFERENCE, "c", stage_config("c", embedded("coin")), {"release": release})
        digests.append([part["sha256"] for part in Store(location).get("inference", outcome.ref.key).manifest["parts"]])
    assert digests[0] == digests[1]


# --- isolation ---------------------------------------------------------------------------------------------------------


def test_it_reads_items_and_images_and_nothing_else(store, monkeypatch):
    release = make_release(store, 5)
    from storage.store import Artifact

    read = set()
    for method in ("batches", "arrow", "read"):
        real = getattr(Artifact, method)
        monkeypatch.setattr(Artifact, method, lambda self, table, real=real: (read.add(table), real(self, table))[1])
    produce(store, INFERENCE, "c", stage_config("c", embedded("coin")), {"release": release})
    assert read == {"items", "images"}


def test_nothing_but_prompt_and_pictures_reaches_a_server(store):
    """No uid, no file name, no image id."""
    release = make_release(store, 10, images=2)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        infer(store, release, judge(server.url))
    items = Store(store).get("release", release.key).read("items")
    secrets = [*items["uid"], *items["image_ids"].explode()]
    for seen in server.asked:
        told = str({**seen.body, "messages": None}) + seen.text + seen.path + str(seen.headers)
        assert not any(secret in told for secret in secrets)


# --- resumption --------------------------------------------------------------------------------------------------------


def start_child(tmp_path, store: str, release: Ref, url: str) -> subprocess.Popen:
    """The stage in a process of its own."""
    script = tmp_path / "child.py"
    code = (
        "import sys\nfrom tasks.inference import INFERENCE, parse_judge, stage_config\nfrom tasks.stage import Ref, produce\n"
        "store, key, url = sys.argv[1:]\n"
        "spec = parse_judge('g', {'api': 'openai', 'model': 'm', 'base_url': url,\n"
        "    'limits': {'concurrency': 8, 'backoff_s': 0.01, 'timeout_s': 5, 'deadline_s': 20}})\n"
        "produce(store, INFERENCE, 'g', stage_config('g', spec), {'release': Ref('release', key)})\n"
    )
    script.write_text(code)
    return subprocess.Popen([sys.executable, str(script), store, release.key, url], stderr=subprocess.PIPE)


def test_kill_9_repeats_at_most_what_was_in_flight(store, tmp_path):
    """OC1: 100 items, killed after 37 answers, then again; in the end 100 rows, and the bill says what was repeated."""
    release = make_release(store, 100)
    reached = threading.Event()
    answered = []

    def script(seen):
        if len(answered) >= limit[0]:
            reached.set()
            return Say("Yes", delay=30)  # in flight when the process dies
        answered.append(seen.mark)
        return Say(seen.mark, delay=0.005)

    with ScriptedServer(script) as server:
        url = server.url
        limit = [37]
        for stop in (37, 70):
            limit[0] = stop
            reached.clear()
            child = start_child(tmp_path, store, release, url)
            assert reached.wait(60)
            time.sleep(0.2)
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stderr.close()
            assert (
                Store(store).find("inference", INFERENCE.key(stage_config("g", judge(url)), {"release": release}))
                is None
            )
        limit[0] = 10_000
        rows = infer(store, release, judge(url, limits={"concurrency": 8}))
    assert len(rows) == 100 == rows.select(KEYS).n_unique()
    assert rows["status"].unique().to_list() == ["ok"]
    repeated = len(answered) - len(set(answered))
    assert repeated <= 2 * 8
    assert len(server.asked) <= 100 + 2 * 8
    assert set(rows["text"]) == set(answered)


def test_a_partial_run_can_be_looked_at_and_says_how_partial_it_is(store):
    """OC1: 37 of 100, not a clean 37; the full run is another artifact."""
    release = make_release(store, 100)
    with ScriptedServer(lambda seen: Say("Yes") if seen.number < 37 else Fail(401)) as server:
        spec = judge(server.url, limits={"concurrency": 1})
        with pytest.raises(
            BadInput, match=r"37 of 100 answered, 0 failed, 63 pending.*worldaudit infer [0-9a-f]{12} --judge g"
        ):
            infer(store, release, spec)
        state = journal_state(Store(store), release.key, spec)
        outcome = produce(store, INFERENCE, "g", stage_config("g", spec, snapshot=state), {"release": release})
        rows = Store(store).get("inference", outcome.ref.key).read("responses")
        assert dict(rows["status"].value_counts().iter_rows()) == {"ok": 37, "pending": 63}
        assert rows.filter(status="pending")["text"].null_count() == 63
        server.script = lambda seen: Say("No")
        full = infer(store, release, spec)
        assert len(full) == 100 and full["status"].unique().to_list() == ["ok"]
        assert journal_state(Store(store), release.key, spec) != state
    assert len(server.asked) == 100 + 1


def test_it_resumes_on_an_object_store(s3):
    release = make_release(s3, 20)
    with ScriptedServer(lambda seen: Say("Yes") if seen.number < 8 else Fail(401)) as server:
        spec = judge(server.url, limits={"concurrency": 2})
        with pytest.raises(BadInput, match="8 of 20 answered"):
            infer(s3, release, spec)
        server.script = lambda seen: Say("No")
        rows = infer(s3, release, spec)
    assert rows["text"].value_counts().sort("text").rows() == [("No", 12), ("Yes", 8)]


def test_a_smaller_release_has_its_own_rows(store):
    """SE3: 100 items, then 60: exactly 60 rows."""
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        assert len(infer(store, make_release(store, 100), judge(server.url))) == 100
        assert len(infer(store, make_release(store, 60), judge(server.url))) == 60


def test_a_retry_is_one_row(store):
    """SE3: first 429, then ok."""
    release = make_release(store, 3)
    with ScriptedServer(lambda seen: Fail(429) if seen.number < 2 else Say("Yes")) as server:
        rows = infer(store, release, judge(server.url))
    assert len(rows) == 3 == rows.select(KEYS).n_unique()


def test_one_failure_changes_no_type(store):
    """SE1: one api_error among 100 rows."""
    release = make_release(store, 100)
    with ScriptedServer(lambda seen: Fail(422) if seen.number == 50 else Say("Yes")) as server:
        mixed = infer(store, release, judge(server.url))
        clean = infer(store, release, judge(server.url, model="n"))
    assert mixed.schema == clean.schema
    assert len(mixed.filter(status="api_error")) == 1


def test_too_many_failures_are_a_failed_stage_and_only_they_are_asked_again(store):
    release = make_release(store, 50)
    with ScriptedServer(lambda seen: Fail(422) if seen.number % 5 == 1 else Say("Yes")) as server:
        with pytest.raises(StageFailed, match=r"10 of 50 requests failed, more than limits.max_failed = 0.05 allows"):
            infer(store, release, judge(server.url))
        server.script = lambda seen: Say("No")
        rows = infer(store, release, judge(server.url))
    assert len(server.asked) == 60
    assert rows["text"].value_counts().sort("text").rows() == [("No", 10), ("Yes", 40)]


def test_items_that_fail_again_and_again_do_not_keep_a_run_from_its_end(store):
    """They are asked last, all in a row, and that says nothing about the server."""
    release = make_release(store, 300, tasks="C")
    bad = set()

    def script(seen):
        if seen.number == 290:
            return Fail(401)
        if seen.number in range(20, 290, 20):
            bad.add(seen.mark)
        return Fail(422) if seen.mark in bad else Say("Yes")

    with ScriptedServer(script) as server:
        spec = judge(server.url, limits={"concurrency": 1})
        with pytest.raises(BadInput, match="276 of 300 answered, 14 failed, 10 pending"):
            infer(store, release, spec)
        rows = infer(store, release, spec)
    assert rows["status"].value_counts().sort("status").rows() == [("api_error", 14), ("ok", 286)]
    assert {seen.mark for seen in server.asked[-14:]} == bad


def test_a_retry_asks_what_failed_and_a_new_asking_everything(store):
    release = make_release(store, 50)
    with ScriptedServer(lambda seen: Fail(422) if seen.number == 7 else Say("Yes")) as server:
        spec = judge(server.url)
        infer(store, release, spec)
        infer(store, release, spec)
        assert len(server.asked) == 50  # the artifact is there
        assert infer(store, release, spec, retried="1")["status"].unique().to_list() == ["ok"]
        assert len(server.asked) == 51
        infer(store, release, spec, asking="second")
        assert len(server.asked) == 101
        assert infer(store, release, spec)["status"].to_list().count("api_error") == 1  # both are kept
        infer(store, release, spec, asking="second")
        assert len(server.asked) == 101


def test_a_new_name_and_faster_limits_ask_nothing_again(store):
    release = make_release(store, 20)
    with ScriptedServer(lambda seen: Say(seen.mark)) as server:
        one = infer(store, release, judge(server.url), name="old")
        two = infer(store, release, judge(server.url, limits={"concurrency": 3}), name="new")
        assert len(server.asked) == 20
    assert two["judge"].unique().to_list() == ["new"]
    assert one.drop("judge").equals(two.drop("judge"))


def test_replicates_are_asked_one_by_one_and_added(store):
    """IC12: a server that flips its answer every second time is not silently overwritten."""
    release = make_release(store, 20, tasks="C")
    times: dict[str, int] = {}

    def script(seen):
        times[seen.mark] = times.get(seen.mark, 0) + 1
        return Say("Yes" if times[seen.mark] % 2 else "No")

    with ScriptedServer(script) as server:
        infer(store, release, judge(server.url))
        rows = infer(store, release, judge(server.url, replicates=2))
        assert len(server.asked) == 40
    assert len(rows) == 40 == rows.select(KEYS).n_unique()
    flips = rows.pivot(on="replicate", index="uid", values="text").select((pl.col("0") != pl.col("1")).mean())
    assert flips.item() == 1.0


def test_another_server_half_way_is_noticed(store, monkeypatch, capfd):
    release = make_release(store, 20)
    spec = judge(None, base_url_env="JUDGE_URL", limits={"concurrency": 1})
    with ScriptedServer(lambda seen: Say("Yes") if seen.number < 9 else Fail(401)) as one:
        monkeypatch.setenv("JUDGE_URL", one.url)
        with pytest.raises(BadInput):
            infer(store, release, spec)
    with ScriptedServer(lambda seen: Say("Yes")) as two:
        monkeypatch.setenv("JUDGE_URL", two.url)
        rows = infer(store, release, spec)
    assert re.search(
        rf"warning: earlier answers came from 127.0.0.1:{one.port} m, this one from 127.0.0.1:{two.port} m",
        capfd.readouterr().err,
    )
    assert rows["server"].n_unique() == 2


# --- money -----------------------------------------------------------------------------------------------------------------


def test_a_budget_stops_the_run_cleanly(store):
    """UX2: the rest stays pending; no answer that was paid for is lost; a larger budget goes on."""
    release = make_release(store, 100)
    prices = {"input": 100.0, "output": 1000.0}  # a million: 0.01 + 0.005 an answer, at most 0.07
    with ScriptedServer(lambda seen: Say("Yes", usage=(100, 5), delay=0.002)) as server:
        spec = judge(server.url, prices=prices, limits={"budget": 0.6, "concurrency": 4})
        with pytest.raises(
            StageFailed, match=r"budget of 0.6 USD would be passed \(0\.\d+ spent.*0 failed, (\d+) pending"
        ) as caught:
            infer(store, release, spec)
        answered = len(server.asked)
        assert 15 <= answered < 40 and answered * 0.015 <= 0.6
        assert f"{answered} of 100 answered" in str(caught.value)
        infer(store, release, judge(server.url, prices=prices, limits={"budget": 5}))
        assert len(server.asked) == 100


def test_a_server_that_counts_no_tokens_does_not_blind_the_budget(store):
    release = make_release(store, 100)
    with ScriptedServer(lambda seen: Say("Yes", usage=None)) as server:
        spec = judge(server.url, prices={"input": 100.0, "output": 1000.0}, limits={"budget": 1.0, "concurrency": 1})
        with pytest.raises(StageFailed, match="budget of 1 USD would be passed"):
            infer(store, release, spec)
        assert 10 < len(server.asked) < 16  # each is taken for its whole 64 tokens out


# --- a store that fills up ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    not os.path.ismount("/dev/shm") or os.geteuid() != 0, reason="mounting a small file system needs root"
)
def test_a_store_that_fills_up_keeps_what_was_received(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        from storage import StoreError

        release = make_release(str(small), 60)
        with ScriptedServer(lambda seen: Say("x" * 20_000)) as server:
            with pytest.raises(StoreError, match=r"No space left on device.*received before is safe"):
                infer(str(small), release, judge(server.url, limits={"concurrency": 2}))
            first = len(server.asked)
            assert first < 60
            subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=True)
            rows = infer(str(small), release, judge(server.url))
            assert len(rows) == 60 == rows.select(KEYS).n_unique()
            assert len(server.asked) <= 60 + 2 + 1
    finally:
        subprocess.run(["umount", str(small)], check=False)
