"""Somebody is told of a failed refresh, and a notice that cannot be delivered hides nothing."""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.operations.notify import send, told_of_failure
from tasks.config import Notify

RUN = SimpleNamespace(name="refresh-1", id="0123", parameters={"judges": ["a"]})
STATE = SimpleNamespace(name="Failed", message="a: 12 of 100 answered")


def test_a_program_gets_the_notice_on_its_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "audit.toml"
    config.write_text(f"[notify]\ncommand = ['sh', '-c', 'cat > {tmp_path}/told']\n")
    monkeypatch.setenv("WORLDAUDIT_CONFIG", str(config))
    told_of_failure(SimpleNamespace(name="refresh"), RUN, STATE)
    told = json.loads((tmp_path / "told").read_text())
    assert (told["flow"], told["state"], told["message"]) == ("refresh", "Failed", STATE.message)
    assert told["parameters"] == {"judges": ["a"]}


def test_a_web_hook_gets_the_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    got = []

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        monkeypatch.setenv("HOOK", f"http://127.0.0.1:{server.server_port}/")
        send(Notify(webhook_env="HOOK"), {"flow": "refresh"})
    assert got == [{"flow": "refresh"}]


@pytest.mark.parametrize(
    "text", ["[notify]\ncommand = ['false']\n", "[notify]\nwebhook_env = 'NOT_SET'\n", "[notfy]\n"]
)
def test_a_notice_that_fails_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    config = tmp_path / "audit.toml"
    config.write_text(text)
    monkeypatch.setenv("WORLDAUDIT_CONFIG", str(config))
    told_of_failure(SimpleNamespace(name="refresh"), RUN, STATE)
    assert "nobody could be told of the failed refresh" in capsys.readouterr().err


def test_without_a_notify_table_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLDAUDIT_CONFIG", raising=False)
    told_of_failure(SimpleNamespace(name="refresh"), RUN, STATE)
