"""What a person sees while a judge works."""

from __future__ import annotations

import io
import time

from tasks.inference.progress import Progress

from .release import infer, judge, make_release
from .scripted_server import Fail, Say, ScriptedServer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_gets_plain_lines_five_seconds_apart(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    out = io.StringIO()
    progress = Progress("g", 1000, stream=out)
    for _ in range(600):
        now[0] += 0.1
        progress.done += 1
        progress.show()
    progress.show(last=True)
    lines = out.getvalue().splitlines()
    assert "\r" not in out.getvalue() and "\x1b" not in out.getvalue()
    assert 10 <= len(lines) <= 12  # in sixty seconds


def test_a_terminal_gets_one_line_that_rewrites_itself():
    out = Terminal()
    progress = Progress("g", 10, stream=out)
    progress.shown = 0
    progress.show()
    progress.show(last=True)
    assert out.getvalue().count("\r") == 2 and out.getvalue().count("\n") == 1


def test_the_line_says_all_there_is(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress("g", 100, reused=40, currency="USD", stream=io.StringIO())
    now[0] += 10
    progress.done, progress.failed, progress.in_flight, progress.truncated, progress.cost = 18, 2, 5, 1, 0.25
    progress.waiting_until, progress.waiting_for = now[0] + 30, "rate limit of the server"
    assert progress.line() == (
        "g: 58/100 done (40 from before), 5 in flight, waiting 30 s (rate limit of the server), 2 failed, "
        "1 truncated, 0 refused, 2.0/s, 20 s left, 0.2500 USD so far"
    )
    assert progress.pending == 40


def test_a_wait_shows_and_the_first_failure_is_quoted_once(store, monkeypatch, capfd):
    """UX3."""
    monkeypatch.setattr("tasks.inference.progress.PLAIN_EVERY_S", 0.05)
    release = make_release(store, 20)

    def script(seen):
        if seen.number == 5:
            return Fail(429, None, {"Retry-After": "1.5"})
        return Fail(422, {"error": {"message": "odd picture"}}) if seen.number in (8, 9) else Say("Yes")

    with ScriptedServer(script) as server:
        infer(store, release, judge(server.url, limits={"concurrency": 1, "max_failed": 0.2}))
    told = capfd.readouterr().err
    assert "waiting 1 s (rate limit of the server)" in told
    assert told.count("first failure at ") == 1 and "HTTP 422: odd picture" in told
