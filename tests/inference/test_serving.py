"""Starting, waiting for, using and stopping a server, with a stand-in for vLLM. The real one: tests/vllm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tasks.errors import BadInput, StageFailed
from tasks.inference import parse_judge
from tasks.inference.vllm import command_of

from .release import infer, make_release

STAND_IN = """
import asyncio, os, sys, time
from aiohttp import web

started, port = time.monotonic(), int(sys.argv[sys.argv.index("--port") + 1])
open(os.environ["PID_FILE"], "w").write(str(os.getpid()))
print("loading", sys.argv[1], flush=True)
if os.environ.get("FAILS"):
    sys.exit("CUDA out of memory")

async def health(request):
    return web.Response(status=200 if time.monotonic() - started > 0.7 and not os.environ.get("NEVER") else 503)

async def chat(request):
    body = await request.json()
    await asyncio.sleep(float(os.environ.get("SLOW", 0)))
    said = sys.argv[sys.argv.index("--served-model-name") + 1]
    return web.json_response({"model": said, "choices": [{"message": {"content": "Yes"}, "finish_reason": "stop"}]})

app = web.Application()
app.router.add_get("/health", health)
app.router.add_post("/v1/chat/completions", chat)
web.run_app(app, host="127.0.0.1", port=port, print=None, shutdown_timeout=0.5)
"""


@pytest.fixture
def serve(tmp_path):
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)

    def table(**env) -> dict:
        env = {"PID_FILE": str(tmp_path / "pid")} | {name: str(value) for name, value in env.items()}
        return {"command": [sys.executable, str(script)], "path": "/models/m", "env": env, "ready_s": 20}

    return table


def judge(serve: dict, **limits):
    return parse_judge("g", {"api": "vllm", "model": "m", "serve": serve, "limits": {"backoff_s": 0.01} | limits})


def alive(tmp_path) -> bool:
    try:
        os.kill(int((tmp_path / "pid").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_it_is_started_waited_for_used_and_stopped(store, tmp_path, serve, capfd):
    rows = infer(store, make_release(store, 12), judge(serve()))
    assert rows["status"].unique().to_list() == ["ok"] and rows["server"].unique().to_list() == ["vllm serve m"]
    assert not alive(tmp_path)
    assert "g: starting a vLLM server for m" in capfd.readouterr().err
    assert infer(store, make_release(store, 12), judge(serve())).equals(rows)  # the artifact is there: nothing starts


def test_a_command_that_is_not_there(store, serve):
    with pytest.raises(BadInput, match=r"cannot start '/no/vllm'.*serve\.command"):
        infer(store, make_release(store, 2), judge(serve() | {"command": ["/no/vllm", "serve"]}))


def test_a_server_that_ends_before_it_is_ready_shows_its_log(store, serve):
    with pytest.raises(
        StageFailed, match=r"ended with 1 before it was ready(.|\n)*loading /models/m\nCUDA out of memory"
    ):
        infer(store, make_release(store, 2), judge(serve(FAILS=1)))


def test_a_server_that_never_gets_ready_is_stopped(store, tmp_path, serve):
    with pytest.raises(StageFailed, match=r"not ready within serve\.ready_s = 2 s"):
        infer(store, make_release(store, 2), judge(serve(NEVER=1) | {"ready_s": 2}))
    assert not alive(tmp_path)


def test_a_killed_run_leaves_no_server_behind(store, tmp_path, serve):
    """OC7: it would hold the GPU, and the next run would wait for memory."""
    release = make_release(store, 4)
    code = (
        "import json, sys\nfrom tasks.inference import INFERENCE, parse_judge, stage_config\n"
        "from tasks.stage import Ref, produce\nstore, key, table = sys.argv[1:]\n"
        "spec = parse_judge('g', json.loads(table))\n"
        "produce(store, INFERENCE, 'g', stage_config('g', spec), {'release': Ref('release', key)})\n"
    )
    table = {"api": "vllm", "model": "m", "serve": serve(SLOW=60)}
    child = subprocess.Popen([sys.executable, "-c", code, store, release.key, json.dumps(table)])
    until = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.5)
    assert child.poll() is None and alive(tmp_path)
    child.send_signal(signal.SIGKILL)
    child.wait()
    while alive(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(tmp_path)


def test_the_command_line(serve):
    table = serve() | {"tensor_parallel_size": 2, "max_model_len": 4096, "max_images": 8, "dtype": "bfloat16"}
    command = command_of(judge(table | {"flags": ["--enforce-eager"]}), 8000)
    assert command[1:] == [
        *(table["command"][1], "/models/m", "--served-model-name", "m", "--host", "127.0.0.1", "--port", "8000"),
        *("--tensor-parallel-size", "2", "--max-model-len", "4096", "--dtype", "bfloat16"),
        *("--limit-mm-per-prompt", '{"image": 8}', "--enforce-eager"),
    ]
