"""A judge's key in a whole run: it is in nothing that the run, its server or its report leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flows.command import TINY, worldaudit
from tests.inference.raw_server import RawServer, http

KEY = "sk-Wq7Lr2Zt9Vx4Kc8Mn3Bd6"
PIECES = {KEY[start : start + 10].encode() for start in range(len(KEY) - 9)}

CONFIG = """
[judges.leaky]
api = "openai"
base_url = "{url}"
model = "m"
api_key_env = "K"
limits = {{ retries = 0, max_failed = {max_failed}, concurrency = 1, breaker = 1000 }}
"""


def _answer(request: bytes) -> bytes:
    """Quotes what it was sent: in a status line, a header, a length, an error or an answer, in turn."""
    _answer.asked += 1
    line = next(line for line in request.split(b"\r\n") if KEY.encode() in line)
    told = {"choices": [{"message": {"content": f"Yes, {KEY}"}, "finish_reason": "stop"}]}
    return [
        http(json.dumps(told).encode()),
        b"HTTP/1.1 " + request + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + line.replace(b":", b" ") + b"\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + line + b"\r\n\r\n{}",
        http(json.dumps({"error": {"message": f"no {KEY}"}}).encode(), "400 Bad"),
    ][(_answer.asked - 1) % 5]


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize("max_failed", [1.0, 0.0])
def test_a_key_that_a_server_quotes_is_nowhere(tmp_path: Path, max_failed: float) -> None:
    _answer.asked = 0
    store, home, config = tmp_path / "store", tmp_path / "home", tmp_path / "judges.toml"
    environ = {"WORLDAUDIT_PREFECT_HOME": str(home), "HOME": str(tmp_path), "K": KEY}
    with RawServer(_answer) as server:
        config.write_text(CONFIG.format(url=server.url, max_failed=max_failed))
        command = ["run", "minigrid", "--profile", TINY, "--judge", "leaky", "--processes", "0"]
        done = worldaudit(*command, "--config", str(config), "--store", str(store), "--json", prefect=True, **environ)
    assert done.code == (0 if max_failed else 1), done.err
    assert _answer.asked > (5 if max_failed else 0)
    files = [path for root in (store, home) for path in root.rglob("*") if path.is_file()]
    assert any(path.name == "run.json" for path in files) and any(path.suffix == ".db" for path in files)
    left = {str(path): path.read_bytes() for path in files} | {"stdout": done.out.encode(), "stderr": done.err.encode()}
    assert not [place for place, data in left.items() if any(piece in data for piece in PIECES)]
    if max_failed:
        assert any(place.endswith("report.html") for place in left)
