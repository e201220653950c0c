"""A judge's key goes to its server and nowhere else, and is in nothing that is stored or shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tasks.errors import BadInput, StageFailed
from tasks.inference.secrets import Mask

from .raw_server import RawServer, http
from .release import infer, judge, make_release
from .scripted_server import Fail, Say, ScriptedServer

KEY = "sk-c0ffee0123456789"
APIS = ("openai", "anthropic", "gemini", "vllm")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("K", KEY)


def nowhere(store: str, *told: str) -> None:
    """The key, and any piece of it that is long enough to be worth something, is in no file of the store and in no text."""
    pieces = {KEY[start : start + 8] for start in range(len(KEY) - 7)}
    for path in Path(store).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not [piece for piece in pieces if piece.encode() in data], path
    for text in told:
        assert not [piece for piece in pieces if piece in text], text


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed_and_the_error_says_so(store, api, status, capfd):
    with (
        ScriptedServer(lambda seen: Say("Yes")) as other,
        ScriptedServer(lambda seen: Fail(status, "", {"Location": f"{other.url}/steal?key={KEY}"})) as server,
        pytest.raises(BadInput, match=rf"HTTP {status}: it redirects to http://\S+/steal\?key=\*\*\*, and no redirect"),
    ):
        infer(store, make_release(store, 3), judge(server.url, api=api, api_key_env="K"))
    assert not other.seen
    nowhere(store, capfd.readouterr().err)


def test_a_server_that_is_asked_whether_it_lives_cannot_redirect_either(store):
    """The breaker's probe, and vLLM's version."""

    def script(seen):
        if "word OK" in seen.text or seen.path.endswith("version"):
            return Fail(307, "", {"Location": f"{other.url}/steal"})
        return Say("Yes") if seen.number < 4 else Fail(500)

    with ScriptedServer(lambda seen: Say("Yes")) as other, ScriptedServer(script) as server:
        with pytest.raises(StageFailed):
            infer(store, make_release(store, 20), judge(server.url, api="vllm", api_key_env="K", limits={"retries": 2}))
        assert any("word OK" in seen.text for seen in server.seen)
    assert not other.seen


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "answer",
    [
        lambda request: b"HTTP/1.1 " + request + b"\r\n\r\n",
        lambda request: b"HTTP/1.1 200 OK\r\n" + _headers(request).replace(b":", b" ") + b"\r\n\r\n{}",
        lambda request: b"HTTP/1.1 200 OK\r\nContent-Length: " + _key_line(request) + b"\r\n\r\n{}",
        lambda request: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + _key_line(request) + b"\r\n",
        lambda request: http(b"\x00" * 50, Content_Encoding="gzip", X_Told=KEY),
        lambda request: http(b"<html>" + b"x" * 285 + KEY.encode() + b"</html>", "500 no"),
        lambda request: http(b"no " * 37 + KEY.encode()),
        lambda request: http(json.dumps({"error": {"message": "y" * 490 + KEY}}).encode(), "400 no"),
        lambda request: http(b'{"error": "' + b"".join(b"\\u%04x" % c for c in KEY.encode()) + b'"}', "401 no"),
        lambda request: http(json.dumps({"error": {"headers": [KEY] * 40}}).encode(), "422 no"),
    ],
)
def test_a_server_that_quotes_the_key_in_what_it_gets_wrong(store, api, answer, capfd):
    with RawServer(answer) as server, pytest.raises((BadInput, StageFailed)) as failure:
        infer(store, make_release(store, 3), judge(server.url, api=api, api_key_env="K", limits={"retries": 1}))
    assert KEY.encode() in server.requests[0]
    links, error = [], failure.value
    while error is not None:
        links.append(repr(error))
        error = error.__cause__ or error.__context__
    nowhere(store, capfd.readouterr().err, *links)


def _headers(request: bytes) -> bytes:
    return request.partition(b"\r\n\r\n")[0].partition(b"\r\n")[2]


def _key_line(request: bytes) -> bytes:
    return next(line for line in request.split(b"\r\n") if KEY.encode() in line)


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_quotes_the_key_is_stored_without_it(store, api):
    release = make_release(store, 5)
    with ScriptedServer(lambda seen: Say(f"Yes, {KEY}!", reasoning=f"the key is {KEY}", finish=KEY)) as server:
        rows = infer(store, release, judge(server.url, api=api, api_key_env="K"))
    assert set(rows["text"]) == {"Yes, ***!"} and set(rows["reasoning"]) == {"the key is ***"}
    nowhere(store)


def test_a_placeholder_for_a_key_may_be_said(store, monkeypatch):
    monkeypatch.setenv("K", "none")
    with ScriptedServer(lambda seen: Say("none of them")) as server:
        rows = infer(store, make_release(store, 3), judge(server.url, api_key_env="K"))
    assert set(rows["text"]) == {"none of them"}


@pytest.mark.parametrize("wrapping", [f"{KEY}\n", f"{KEY}\r\n", f" {KEY}\t", f"\ufeff{KEY}".removeprefix("\ufeff")])
def test_blanks_at_the_ends_of_a_key_are_cut(store, monkeypatch, wrapping):
    monkeypatch.setenv("K", wrapping)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        infer(store, make_release(store, 3), judge(server.url, api_key_env="K"))
        assert {seen.headers["Authorization"] for seen in server.seen} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    "value", [f"{KEY} {KEY}", f"{KEY}\r\nX-Other: 1", f"{KEY}\x1b[2J", f"{KEY}ü", "  ", f"\ufeff{KEY}"]
)
@pytest.mark.parametrize("api", APIS)
def test_what_is_no_key_is_refused_before_anything_is_sent(store, monkeypatch, value, api):
    monkeypatch.setenv("K", value)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        with pytest.raises(BadInput, match=r"\$K holds") as failure:
            infer(store, make_release(store, 3), judge(server.url, api=api, api_key_env="K"))
        assert not server.seen
    nowhere(store, str(failure.value))


def test_a_mask_knows_how_libraries_spell_a_key():
    odd = Mask('a"b\\c/d&e')
    for spelling in (odd.key, json.dumps(odd.key), repr(odd.key), "a%22b%5Cc%2Fd%26e"):
        assert not re.search("c.{0,2}d", odd(f"x {spelling} y")), spelling
    assert Mask(None)("anything") == Mask("").answer("anything") == "anything"
