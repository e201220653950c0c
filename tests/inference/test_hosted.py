"""What a hosted judge gets right when its server does not."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path

import polars as pl
import pytest

from storage import Store
from tasks.errors import BadInput, StageFailed
from tasks.inference.exam import asked_items, message_of
from tasks.inference.hosted import HostedBackend
from tasks.inference.message import Pictures
from tasks.inference.pace import Bucket
from tasks.judges._prompt import EMPTY_SCENE

from .release import infer, judge, make_release
from .scripted_server import Fail, Hang, Raw, Reset, Say, ScriptedServer, Slow


def one(store, script, tasks="C", **table):
    """The row of a single item."""
    release = make_release(store, 1, tasks=tasks)
    with ScriptedServer(script) as server:
        rows = infer(store, release, judge(server.url, **table))
    return rows.row(0, named=True), server


APIS = ["openai", "vllm", "anthropic", "gemini"]


# --- what an answer says ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS)
def test_each_api_is_spoken(store, api, monkeypatch):
    monkeypatch.setenv("KEY", "sk-1")
    row, server = one(
        store,
        lambda seen: Say("Yes", usage=(11, 3)),
        api=api,
        api_key_env="KEY",
        decoding={"max_tokens": 9, "top_p": 0.5},
    )
    assert (row["status"], row["text"], row["input_tokens"], row["output_tokens"]) == ("ok", "Yes", 11, 3)
    [seen] = server.asked
    headers = {name.lower(): value for name, value in seen.headers.items()}
    assert "sk-1" in (
        headers.get("authorization", "") + headers.get("x-api-key", "") + headers.get("x-goog-api-key", "")
    )
    sent = seen.body.get("generationConfig", seen.body)
    assert sent.get("max_tokens", sent.get("maxOutputTokens")) == 9
    assert sent.get("top_p", sent.get("topP")) == 0.5
    assert sent["temperature"] == 0.0
    assert row["latency_ms"] > 0 and "m" in row["server"].split()


@pytest.mark.parametrize("api", APIS)
def test_reasoning_that_eats_the_budget_is_truncated(store, api):
    """IC3: the text is the model's thought; no verdict may come of it."""
    row, _ = one(store, lambda seen: Say(None, "length", reasoning="the agent is on the goal so SUCCESS"), api=api)
    assert row["status"] == "truncated" and not row["text"]
    assert row["reasoning"] == "the agent is on the goal so SUCCESS"


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_both_names_of_reasoning_are_known(store, key):
    row, _ = one(store, lambda seen: Say(None, "length", reasoning="SUCCESS", reasoning_key=key))
    assert (row["status"], row["text"], row["reasoning"]) == ("truncated", "", "SUCCESS")


@pytest.mark.parametrize(
    ("said", "status", "text", "reasoning"),
    [
        ("<think>SUCCESS seems right", "truncated", "", "<think>SUCCESS seems right"),
        ("SUCCESS?</think>\nVerdict: FAILURE", "ok", "Verdict: FAILURE", "SUCCESS?</think>"),
        ("<think>a</think><think>b</think> No", "ok", "No", "<think>a</think><think>b</think>"),
        ("<think>a</think><think>b", "truncated", "", None),
        ("<musing>Yes</musing> No", "ok", "<musing>Yes</musing> No", None),
    ],
)
def test_reasoning_tags_are_kept_apart(store, said, status, text, reasoning):
    row, _ = one(store, lambda seen: Say(said))
    assert (row["status"], row["text"]) == (status, text)
    if reasoning:
        assert row["reasoning"] == reasoning


def test_tag_names_are_the_judges_own(store):
    row, _ = one(store, lambda seen: Say("<musing>Yes</musing> No"), reasoning_tags=["musing"])
    assert (row["text"], row["reasoning"]) == ("No", "<musing>Yes</musing>")


@pytest.mark.parametrize(
    ("api", "action"),
    [
        ("openai", Say(None, refusal="I cannot help with that.")),
        ("openai", Say(None, "content_filter")),
        ("openai", Fail(400, {"error": {"code": "content_filter", "message": "filtered"}})),
        ("anthropic", Say("", "refusal")),
        ("gemini", Say(None, "SAFETY")),
        ("gemini", Raw(b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}')),
    ],
)
def test_a_refusal_is_refused_and_asked_once(store, api, action):
    row, server = one(store, lambda seen: action, api=api)
    assert row["status"] == "refused"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([{"Yes": -0.1, "No": -2.5}], 0.9168),
        ([{"S": -1.0, "Su": -1.0, "Success": -1.0, "F": -0.5}], 0.6454),
        ([{" ": -0.1}, {"No": -0.01, "yes": -9999.0}], 0.0),
    ],
)
@pytest.mark.parametrize("api", ["openai", "gemini"])
def test_p_success_adds_up_the_beginnings_of_verdicts(store, positions, expected, api):
    row, _ = one(store, lambda seen: Say("Yes", logprobs=positions), api=api, logprobs=True)
    assert row["p_success"] == pytest.approx(expected, abs=1e-3)


def test_log_probabilities_without_a_verdict_say_nothing(store):
    positions = [{"Maybe": -0.1, "Perhaps": -2.0}]
    row, _ = one(store, lambda seen: Say("Maybe", logprobs=positions), logprobs=True)
    assert row["p_success"] is None
    with pytest.raises(BadInput, match="no log-probabilities of a verdict"):
        one(store, lambda seen: Say("Maybe", logprobs=positions), api="vllm", logprobs=True)


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_structured_output_in_each_api(store):
    release = make_release(store, 5)
    answers = {
        "A": "B",
        "C": "Yes",
        "D": "Fail",
        "E": '{"answer":"key_red"}',
        "B": EMPTY_SCENE,
    }

    def say(seen):
        task = next(
            task
            for task, word in (
                ("A", "letter"),
                ("B", "Describe"),
                ("C", "Yes or No"),
                ("D", "Success or"),
                ("E", "JSON only"),
            )
            if word in seen.text
        )
        wrapped = "json_schema" in str(seen.body.get("response_format", seen.body.get("output_config")))
        return Say(f'{{"answer": "{answers[task]}"}}' if wrapped and task in "ACD" else answers[task])

    for api in APIS:
        with ScriptedServer(say) as server:
            rows = infer(store, release, judge(server.url, api=api, structured=True), name=api)
        assert dict(rows.select(pl.col("uid").str.head(1), "text").iter_rows()) == answers
        asked = str([seen.body for seen in server.asked])
        assert {
            "openai": "response_format",
            "vllm": "structured_outputs",
            "anthropic": "output_config",
            "gemini": "text/x.enum",
        }[api] in asked
        assert '"structured"' in rows["effective"][0]


def test_a_server_that_ignores_structured_output_is_found_out(store):
    release = make_release(store, 4, tasks="C")
    with ScriptedServer(lambda seen: Say("The agent seems to get there.")) as server:
        with pytest.raises(BadInput, match=r"preflight.*ignores structured output.*seems to get there"):
            infer(store, release, judge(server.url, api="vllm", structured=True))
        assert len(server.asked) == 1


def test_rejected_parameters_are_named_before_any_spend_and_renamed_on_request(store):
    """IC8: asked for and really sent are two columns; a seed that nobody confirms is not a seed."""
    release = make_release(store, 8, tasks="C")

    def script(seen):
        if "max_tokens" in seen.body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Fail(400, {"error": {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}})
        if "temperature" in seen.body:
            return Fail(400, {"error": {"message": "Unsupported value: 'temperature'", "param": "temperature"}})
        return Say("Yes")

    with ScriptedServer(script) as server:
        with pytest.raises(
            BadInput,
            match=r'preflight.*refuses the parameter max_tokens.*rename = \{ max_tokens = "max_completion_tokens"',
        ):
            infer(store, release, judge(server.url))
        renamed = {"rename": {"max_tokens": "max_completion_tokens"}, "seed": 3}
        with pytest.raises(BadInput, match=r'drop = \["temperature"\]'):
            infer(store, release, judge(server.url, decoding=renamed))
        assert len(server.asked) == 2
        rows = infer(store, release, judge(server.url, decoding=renamed | {"drop": ["temperature"]}))
    row = rows.row(0, named=True)
    assert row["requested"] == '{"max_tokens": 64, "seed": 3, "temperature": 0.0}'
    assert row["effective"] == '{"max_completion_tokens": 64, "seed": 3, "seeded": false}'
    assert "temperature" not in server.asked[-1].body


def test_a_server_that_names_its_fingerprint_is_seeded(store):
    row, _ = one(store, lambda seen: Say("Yes", fingerprint="fp_1"), decoding={"seed": 3})
    assert '"seeded": true' in row["effective"] and row["server"].endswith("m fp_1")


# --- rates, waits, retries ---------------------------------------------------------------------------------------------


def test_concurrency_is_a_ceiling(store):
    release = make_release(store, 40)
    with ScriptedServer(lambda seen: Say("Yes", delay=0.02)) as server:
        infer(store, release, judge(server.url, limits={"concurrency": 5}))
    assert server.most_in_flight == 5


def test_requests_a_minute_are_kept(store):
    release = make_release(store, 12)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        infer(store, release, judge(server.url, limits={"requests_per_minute": 600}))
    at = [seen.at for seen in server.asked]
    assert at[-1] - at[0] > 0.02  # ten a second at once, the others as they come due
    bucket = Bucket(600)
    assert [round(bucket.take(1)) for _ in range(31)][-1] == 2  # the 31st leaves two seconds later, ten a second


def test_waiting_for_ones_own_rate_does_not_use_up_the_deadline(store):
    release = make_release(store, 15)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        limits = {"requests_per_minute": 300, "concurrency": 15, "deadline_s": 1.6}
        rows = infer(store, release, judge(server.url, limits=limits))
    at = [seen.at for seen in server.asked]
    assert rows["status"].unique().to_list() == ["ok"]
    assert at[-1] - at[0] > 1.5  # five at once, the last of the others two seconds later


def test_tokens_a_minute_are_settled_with_what_was_used():
    bucket = Bucket(6000)  # 100 a second
    assert bucket.take(100) == 0
    assert bucket.take(1000) == pytest.approx(10, abs=0.1)
    bucket.give_back(900)
    assert bucket.take(0) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"Retry-After": "0.4"}, None, 0.4),
        ({"retry-after-ms": "400"}, None, 0.4),
        ({}, {"error": {"message": "slow down", "details": [{"retryDelay": "0.4s"}]}}, 0.4),
    ],
)
def test_retry_after_holds_everyone_back(store, headers, body, wait):
    release = make_release(store, 60)
    said = []

    def script(seen):
        if seen.number == 20:
            said.append(time.monotonic())
            return Fail(429, body, headers)
        return Say("Yes", delay=0.01)

    with ScriptedServer(script) as server:
        rows = infer(store, release, judge(server.url, limits={"concurrency": 4}))
    assert rows["status"].unique().to_list() == ["ok"]
    later = sorted(seen.at - said[0] for seen in server.asked if seen.at > said[0])
    assert len([at for at in later if at < wait - 0.01]) <= 8  # those that were on their way
    assert len([at for at in later if at >= wait - 0.01]) >= 30


def test_waits_for_a_rate_limit_use_up_no_retries(store):
    row, server = one(
        store, lambda seen: Fail(429) if 1 <= seen.number < 9 or not seen.number else Say("Yes"), limits={"retries": 1}
    )
    assert row["status"] == "ok" and len(server.asked) == 10


def test_a_wait_that_is_too_long_stops_the_run(store):
    release = make_release(store, 9)
    script = lambda seen: Fail(429, None, {"Retry-After": "7200"}) if seen.number >= 3 else Say("Yes")  # noqa: E731
    with (
        ScriptedServer(script) as server,
        pytest.raises(StageFailed, match=r"asks to wait 7200 s.*3 of 9 answered.*6 pending"),
    ):
        infer(store, release, judge(server.url, limits={"concurrency": 1}))


@pytest.mark.parametrize(
    "action", [Fail(500), Fail(503), Fail(529), Reset(), Reset(half=True), Raw(b"<html>"), Raw(b'{"choices": []}')]
)
def test_what_may_pass_is_tried_again(store, action):
    release = make_release(store, 6)
    failed = []

    def script(seen):
        if seen.number % 3 == 1 and seen.mark not in failed:
            failed.append(seen.mark)
            return action
        return Say(seen.mark)

    with ScriptedServer(script) as server:
        rows = infer(store, release, judge(server.url))
    assert rows["status"].unique().to_list() == ["ok"] and failed
    assert len(server.asked) == 6 + len(failed)


def test_slow_bodies_are_waited_for(store):
    row, _ = one(store, lambda seen: Slow(Say("Yes"), 0.3))
    assert row["status"] == "ok"


@pytest.mark.parametrize("status", [400, 403, 404, 413, 422])
def test_what_cannot_pass_is_asked_once(store, status):
    release = make_release(store, 30)
    bad = set()

    def script(seen):
        if seen.number in (5, 9):
            bad.add(seen.mark)
        return Fail(status, {"error": {"message": "no such thing"}}) if seen.mark in bad else Say("Yes")

    with ScriptedServer(script) as server:
        rows = infer(store, release, judge(server.url, limits={"concurrency": 1, "max_failed": 0.1}))
    assert rows["status"].value_counts().sort("status").rows() == [("api_error", 2), ("ok", 28)]
    assert len(server.asked) == 30
    assert rows.filter(status="api_error")["error"][0] == f"HTTP {status}: no such thing"


def test_one_deadline_bounds_an_item_over_all_its_tries(store):
    release = make_release(store, 5, tasks="C")
    stuck = []

    def script(seen):
        if seen.number == 3:
            stuck.append(seen.mark)
        return Hang() if seen.mark in stuck else Say("Yes")

    with ScriptedServer(script) as server:
        rows = infer(store, release, judge(server.url, limits={"timeout_s": 0.4, "deadline_s": 1.0, "max_failed": 0.3}))
    row = rows.filter(status="api_error").row(0, named=True)
    assert "deadline" in row["error"] and "no reply within 0.4 s" in row["error"]
    assert len(rows.filter(status="ok")) == 4


def test_a_key_that_is_refused_stops_at_once_and_is_not_quoted(store, monkeypatch, capfd):
    monkeypatch.setenv("KEY", "sk-very-secret")
    release = make_release(store, 9)
    refusal = Fail(401, {"error": {"message": "Incorrect API key provided: sk-very-secret"}})
    with ScriptedServer(lambda seen: refusal) as server:
        with pytest.raises(BadInput, match=r"preflight.*refuses the key in \$KEY.*\*\*\*") as caught:
            infer(store, release, judge(server.url, api_key_env="KEY"))
        assert len(server.asked) == 1
    with (
        ScriptedServer(lambda seen: Say("Yes") if seen.number < 3 else refusal) as server,
        pytest.raises(BadInput, match=r"3 of 9 answered, 0 failed, 6 pending") as later,
    ):
        infer(store, release, judge(server.url, api_key_env="KEY", limits={"concurrency": 1}))
    everything = str(caught.value) + str(later.value) + capfd.readouterr().err
    everything += "".join(path.read_bytes().decode("latin-1") for path in Path(store).rglob("*") if path.is_file())
    assert "sk-very-secret" not in everything


def test_an_empty_account_stops_the_run_cleanly(store):
    release = make_release(store, 9)
    empty = Fail(429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}})
    with (
        ScriptedServer(lambda seen: Say("Yes") if seen.number < 4 else empty) as server,
        pytest.raises(StageFailed, match=r"used up.*4 of 9 answered, 0 failed, 5 pending"),
    ):
        infer(store, release, judge(server.url, limits={"concurrency": 1}))


# --- the circuit breaker --------------------------------------------------------------------------------------------


def test_a_server_that_dies_of_an_item_leaves_the_others_pending(store):
    """IC7 (a): the third of 100 items kills it."""
    release = make_release(store, 100)
    with ScriptedServer(lambda seen: Say("Yes") if seen.number < 2 else Fail(500)) as server:
        with pytest.raises(
            StageFailed, match=r"is dead after item \w\.test\.s\d+.*2 of 100 answered, 1 failed, 97 pending"
        ):
            infer(store, release, judge(server.url, limits={"concurrency": 1}))
        assert len(server.seen) < 20
    with ScriptedServer(lambda seen: Say("No")) as again:
        rows = infer(store, release, judge(again.url))
    assert rows["status"].to_list() == ["ok"] * 100


def test_the_resumed_run_asks_only_what_is_missing_and_the_culprit_last(store, monkeypatch):
    release = make_release(store, 30)
    killer = []

    def script(seen):
        if seen.number == 2:
            killer.append(seen.mark)
        return Say("Yes") if seen.number < 2 else Fail(500)

    monkeypatch.setenv("JUDGE_URL", "")
    spec = judge(None, base_url_env="JUDGE_URL", limits={"concurrency": 1})
    with ScriptedServer(script) as server, pytest.raises(StageFailed):
        monkeypatch.setenv("JUDGE_URL", server.url)
        infer(store, release, spec)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        monkeypatch.setenv("JUDGE_URL", server.url)
        infer(store, release, spec)
    assert len(server.asked) == 28
    assert [seen.mark for seen in server.asked if seen.number][-1:] == killer or server.asked[0].mark == killer[0]


def test_a_poisonous_item_is_told_from_a_dead_server(store):
    release = make_release(store, 40)
    poison = []

    def script(seen):
        if seen.number == 3:
            poison.append(seen.mark)
        return Fail(500) if seen.mark in poison else Say("Yes")

    with ScriptedServer(script) as server:
        rows = infer(store, release, judge(server.url, limits={"concurrency": 1}))
    assert rows["status"].value_counts().sort("status").rows() == [("api_error", 1), ("ok", 39)]
    assert len(server.seen) - len(server.asked) == 1  # it was asked for a word once


def test_a_server_that_never_answers_is_given_up(store):
    """IC7 (b)."""
    release = make_release(store, 20)
    with (
        ScriptedServer(lambda seen: Say("Yes") if seen.number < 3 else Hang()) as server,
        pytest.raises(
            StageFailed,
            match=r"is dead after item.*no reply within 0.3 s; asked for a word, it said: no reply within 0.3 s",
        ),
    ):
        infer(store, release, judge(server.url, limits={"concurrency": 2, "timeout_s": 0.3}))


def test_nothing_gets_through_any_more(store):
    release = make_release(store, 60)
    script = lambda seen: Say("Yes") if seen.number < 5 or "word OK" in seen.text else Fail(422)  # noqa: E731
    with ScriptedServer(script) as server, pytest.raises(StageFailed, match=r"10 items in a row failed"):
        infer(store, release, judge(server.url, limits={"concurrency": 1}))
    assert len(server.asked) < 20


# --- preflight -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (lambda seen: len(seen.images) > 1 and Fail(400, {"error": {"message": "At most 1 image(s) may be provided in one prompt."}}), "limit-mm-per-prompt '{\"image\": 8}'"),
        (lambda seen: seen.bytes > 1000 and Fail(404, "not found"), "size of the body is over a limit"),
        (lambda seen: seen.bytes > 1000 and Fail(413, "Request Entity Too Large"), "size of the body is over a limit"),
        (lambda seen: len(seen.images) > 1 and Fail(400, {"error": {"message": "Input length (9000) exceeds model's maximum context length (4096)."}}), "--max-model-len"),
    ],
)  # fmt: skip
def test_a_limit_of_the_server_stops_an_eight_frame_plan_before_it_spends(store, limit, words):
    """IC6: 0 items are marked failed, and the message names the flag to raise."""
    release = make_release(store, 12, images=8)
    with ScriptedServer(lambda seen: limit(seen) or Say("Yes")) as server:
        with pytest.raises(BadInput) as caught:
            infer(store, release, judge(server.url))
        assert words in str(caught.value) and "8 pictures" in str(caught.value)
        assert len(server.asked) == 1
    journal = Store(store).files.list("journal/inference")
    assert all(
        not name.endswith(".jsonl") for key in journal for name in Store(store).files.list(f"journal/inference/{key}")
    )


def test_limits_that_are_known_are_checked_without_a_request(store):
    release = make_release(store, 3, images=3)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        with pytest.raises(BadInput, match=r"has 3 pictures and m takes 2"):
            infer(store, release, judge(server.url, limits={"max_images": 2}))
        with pytest.raises(BadInput, match=r"MB and m takes 0.001 MB"):
            infer(store, release, judge(server.url, limits={"max_body_mb": 0.001}))
    assert not server.seen


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Raw(b"<html>Welcome to nginx!</html>"), "no model server that speaks the openai API.*check api and base_url"),
        (Fail(404, {"detail": "Not Found"}), "no such API under that URL"),
        (Fail(404, {"error": {"message": "The model `m` does not exist.", "code": 404}}), "no model 'm'"),
        (Fail(405, "Method Not Allowed"), "no model server"),
        (
            Fail(501, "<html><style>p {}</style><h1>Error</h1>\n<p>Unsupported method"),
            "HTTP 501: Error Unsupported method. That is no",
        ),
        (Fail(302, "", {"Location": "https://login"}), "no model server"),
    ],
)
def test_an_endpoint_that_is_no_model_server(store, action, words):
    release = make_release(store, 3)
    with ScriptedServer(lambda seen: action) as server, pytest.raises(BadInput, match=words):
        infer(store, release, judge(server.url))


def test_a_server_that_is_down(store):
    release = make_release(store, 3)
    with pytest.raises(StageFailed, match=r"127\.0\.0\.1:9.*down or out of order; nothing was spent"):
        infer(store, release, judge("http://127.0.0.1:9/v1"))


def test_the_preflight_answer_counts(store):
    release = make_release(store, 7)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        infer(store, release, judge(server.url))
    assert len(server.asked) == 7


# --- one client a loop -----------------------------------------------------------------------------------------------


def test_two_loops_one_after_the_other_and_two_threads(store):
    """IC11: no error, and every descriptor is given back."""
    artifact = Store(store).get("release", make_release(store, 20).key)
    errors: list[BaseException] = []

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    with ScriptedServer(lambda seen: Say("Yes"), keep_images=False) as server:
        spec = judge(server.url, limits={"concurrency": 50})

        def ask(times: int = 500) -> None:
            async def go():
                with Pictures(artifact) as pictures:
                    asked = asked_items(artifact, spec, pictures)
                    gate = asyncio.Semaphore(50)
                    async with HostedBackend(spec) as backend:

                        async def one(number):
                            async with gate:
                                return await backend.ask(asked[number % 20], message_of(asked[number % 20], pictures))

                        replies = await asyncio.gather(*(one(number) for number in range(times)))
                    session = backend._session
                assert session.closed
                assert [reply.status for reply in replies] == ["ok"] * times

            try:
                asyncio.run(go())
            except BaseException as error:
                errors.append(error)

        ask(20)
        time.sleep(0.2)
        before = descriptors()
        ask()
        ask()
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until = time.monotonic() + 10
        while descriptors() > before and time.monotonic() < until:
            time.sleep(0.1)  # the server closes its ends a little later
        assert not errors
        assert len(server.asked) == 2020
        assert descriptors() <= before


def test_a_proxy_of_the_environment_is_used_and_bypassed_where_it_says_so(store, monkeypatch):
    release = make_release(store, 2)
    with ScriptedServer(lambda seen: Say("Yes")) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        infer(store, release, judge("http://judge.invalid/v1"))
        assert len(proxy.asked) == 2
        monkeypatch.setenv("no_proxy", "judge.invalid")
        with pytest.raises(StageFailed, match=r"Cannot connect to host judge\.invalid"):
            infer(store, release, judge("http://judge.invalid/v1", model="n"))
