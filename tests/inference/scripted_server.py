"""A model server that does what a script says: it speaks the three APIs, and fails in every way that real ones do.

    with ScriptedServer(lambda seen: Say("Yes")) as server:
        ... server.url ... server.seen ...

A script is a function of what the server saw. Answers carry what was seen, so that a test can tell whether each item got
its own. Also a program of its own for benchmarks: `python scripted_server.py PORT LATENCY_MS`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Seen:
    """One request as it came in: `kinds` is the order of its parts."""

    number: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    images: list[bytes]
    text: str
    kinds: list[str]
    bytes: int
    at: float = field(default_factory=time.monotonic)

    @property
    def mark(self) -> str:
        """What tells this message from any other: SHA-256 over its pictures and words."""
        return mark(self.images, self.text)


def mark(images: list[bytes], text: str) -> str:
    told = hashlib.sha256(text.encode())
    for image in images:
        told.update(hashlib.sha256(image).digest())
    return told.hexdigest()


@dataclass
class Say:
    """A proper reply with this text (or an API's own way of not giving one)."""

    text: str | None = "Yes"
    finish: str = "stop"
    reasoning: str | None = None
    reasoning_key: str = "reasoning"
    refusal: str | None = None
    logprobs: list[dict[str, float]] | None = None
    delay: float = 0.0
    usage: tuple[int, int] | None = (100, 5)
    fingerprint: str | None = None


@dataclass
class Fail:
    """A status and a body; `headers` may hold Retry-After."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Raw:
    """A 200 that is no reply."""

    body: bytes
    delay: float = 0.0


@dataclass
class Reset:
    """The connection is dropped, before a byte or in the middle of the body."""

    half: bool = False


@dataclass
class Slow:
    """A proper reply whose body drips."""

    say: Say
    seconds: float = 0.3


class Hang:
    """Accepts and never answers."""


Action = Say | Fail | Raw | Reset | Slow | Hang
Script = Callable[[Seen], Action]


class ScriptedServer:
    """Runs in a thread of its own. `seen` holds every request, probes included."""

    def __init__(self, script: Script, keep_images: bool = True):
        self.script, self.keep_images = script, keep_images
        self.seen: list[Seen] = []
        self.most_in_flight = self.in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked(self) -> list[Seen]:
        """The requests that were items, not probes."""
        return [seen for seen in self.seen if "word OK" not in seen.text]

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError, RuntimeError):
            self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/version":
            return web.json_response({"version": "0.0-scripted"})
        raw = await request.read()
        seen = read_request(len(self.seen), request.path, dict(request.headers), raw)
        self.seen.append(seen)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._act(request, seen, self.script(seen))
        finally:
            self.in_flight -= 1
            if not self.keep_images:
                seen.images = []
                seen.body = {}

    async def _act(self, request: web.Request, seen: Seen, action: Action) -> web.StreamResponse:
        if isinstance(action, Hang):
            await asyncio.sleep(3600)
        if isinstance(action, Reset):
            assert request.transport is not None
            if action.half:
                response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
                await response.prepare(request)
                await response.write(b'{"choices": [{"mess')
            request.transport.abort()
            raise ConnectionResetError
        if isinstance(action, Slow):
            payload = json.dumps(reply(seen, action.say)).encode()
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            for start in range(0, len(payload), -(-len(payload) // 4)):
                await response.write(payload[start : start + -(-len(payload) // 4)])
                await asyncio.sleep(action.seconds / 4)
            await response.write_eof()
            return response
        if action.delay:
            await asyncio.sleep(action.delay)
        if isinstance(action, Raw):
            return web.Response(body=action.body)
        if isinstance(action, Fail):
            if isinstance(action.body, (str, bytes)):
                return web.Response(status=action.status, body=action.body, headers=action.headers)
            body = action.body if action.body is not None else {"error": {"message": f"scripted {action.status}"}}
            return web.json_response(body, status=action.status, headers=action.headers)
        return web.json_response(reply(seen, action))


def read_request(number: int, path: str, headers: dict[str, str], raw: bytes) -> Seen:
    body = json.loads(raw) if raw else {}
    images: list[bytes] = []
    words: list[str] = []
    kinds: list[str] = []
    if "contents" in body:
        parts = body["contents"][0]["parts"]
    else:
        content = body.get("messages", [{}])[-1].get("content", [])
        parts = content if isinstance(content, list) else []
    for part in parts:
        if "text" in part:
            kinds.append("text")
            words.append(part["text"])
            continue
        kinds.append("image")
        if "image_url" in part:
            images.append(base64.b64decode(part["image_url"]["url"].partition(",")[2]))
        elif "source" in part:
            images.append(base64.b64decode(part["source"]["data"]))
        else:
            images.append(base64.b64decode(part["inline_data"]["data"]))
    return Seen(number, path, headers, body, images, "\n".join(words), kinds, len(raw))


def reply(seen: Seen, say: Say) -> dict[str, Any]:
    """A reply in the words of the API that was asked."""
    used = say.usage or (None, None)
    if seen.path.endswith("/messages"):
        finish = {"stop": "end_turn", "length": "max_tokens"}.get(say.finish, say.finish)
        blocks = [{"type": "thinking", "thinking": say.reasoning}] if say.reasoning else []
        blocks += [{"type": "text", "text": say.text}] if say.text is not None else []
        usage = {"input_tokens": used[0], "output_tokens": used[1]}
        return {"content": blocks, "stop_reason": finish, "usage": usage, "model": seen.body["model"]}
    if seen.path.endswith(":generateContent"):
        finish = {"stop": "STOP", "length": "MAX_TOKENS"}.get(say.finish, say.finish)
        parts = [{"text": say.reasoning, "thought": True}] if say.reasoning else []
        parts += [{"text": say.text}] if say.text is not None else []
        model = re.search(r"models/([^:]+)", seen.path)
        candidate: dict[str, Any] = {"content": {"parts": parts}, "finishReason": finish}
        if say.logprobs:
            candidate["logprobsResult"] = {
                "topCandidates": [
                    {"candidates": [{"token": token, "logProbability": log} for token, log in position.items()]}
                    for position in say.logprobs
                ]
            }
        return {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": used[0], "candidatesTokenCount": used[1]},
            "modelVersion": model[1] if model else "",
        }
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.reasoning is not None:
        message[say.reasoning_key] = say.reasoning
    if say.refusal is not None:
        message["refusal"] = say.refusal
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": say.finish}
    if say.logprobs:
        choice["logprobs"] = {
            "content": [
                {
                    "token": max(position, key=lambda token: position[token]),
                    "logprob": max(position.values()),
                    "top_logprobs": [{"token": token, "logprob": log} for token, log in position.items()],
                }
                for position in say.logprobs
            ]
        }
    return {
        "model": seen.body.get("model"),
        "choices": [choice],
        "usage": {"prompt_tokens": used[0], "completion_tokens": used[1]} if say.usage else None,
        "system_fingerprint": say.fingerprint,
    }


async def _serve(port: int, latency_s: float) -> None:
    """For benchmarks: reads the body, waits, says Yes. GET /stats tells how many and how long since the last such call."""
    payload = json.dumps(
        {"choices": [{"message": {"content": "Yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}
    ).encode()

    times: list[float] = []

    async def answer(request: web.Request) -> web.Response:
        times.append(time.monotonic())
        await request.read()
        await asyncio.sleep(latency_s)
        times.append(time.monotonic())
        return web.Response(body=payload, content_type="application/json")

    async def stats(request: web.Request) -> web.Response:
        told = {"requests": len(times) // 2, "seconds": max(times) - min(times)}
        times.clear()
        return web.json_response(told)

    app = web.Application(client_max_size=2**30)
    app.router.add_get("/stats", stats)
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=512).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2]) / 1000))
