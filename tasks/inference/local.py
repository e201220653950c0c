"""Judges that are Python: the embedded ones and any callable by entry point, in this process or in a few of their own."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from tasks.errors import BadInput
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message
from tasks.judges import make
from tasks.processes import pool


@functools.cache
def load(api: str, name: str, seed: int) -> Callable[[Message], Any]:
    """The function that answers. BadInput where an entry point leads nowhere."""
    if api == "embedded":
        return make(name, seed).answer
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise BadInput(f"entry_point {name!r} cannot be loaded: {error}") from error
    if inspect.isclass(found):
        found = found()
    answer: Callable[[Message], Any] = getattr(found, "answer", found)
    if not callable(answer):
        raise BadInput(f"entry_point {name!r} is neither callable nor has a method answer(message)")
    return answer


def _answer(api: str, name: str, seed: int, message: Message) -> Any:
    return load(api, name, seed)(message)


class LocalBackend:
    """A context manager. An exception of the judge is that item's api_error."""

    def __init__(self, spec: JudgeSpec):
        self.spec = spec
        self.name = spec.model if spec.api == "embedded" else spec.entry_point or ""
        self.seed = spec.decoding.seed or 0
        self._pool: Executor | None = None
        self._coroutine = False

    async def __aenter__(self) -> LocalBackend:
        try:
            self._coroutine = inspect.iscoroutinefunction(load(self.spec.api, self.name, self.seed))
        except ImportError as error:
            raise BadInput(f"judge {self.name!r} cannot be loaded: {error}") from error
        if self.spec.limits.processes > 1:
            self._pool = pool(self.spec.limits.processes)
        elif self.spec.api == "python":  # a callable may wait for something; the loop must not
            self._pool = ThreadPoolExecutor(self.spec.concurrency)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    async def ask(self, item: AskedItem, message: Message) -> Reply:
        started = time.perf_counter()
        call = functools.partial(_answer, self.spec.api, self.name, self.seed, message)
        try:
            if self._coroutine:
                text = await asyncio.wait_for(call(), self.spec.limits.deadline_s)
            elif self._pool is not None:
                future = asyncio.get_running_loop().run_in_executor(self._pool, call)
                text = await asyncio.wait_for(future, self.spec.limits.deadline_s)
            else:
                text = call()
                await asyncio.sleep(0)
            if not isinstance(text, str):
                raise TypeError(f"answered {type(text).__name__}, not str")
        except Exception as error:
            return Reply("api_error", error=f"{type(error).__name__}: {error}"[:500], server="local")
        # An embedded judge's row holds nothing that a second run would write otherwise.
        latency = None if self.spec.api == "embedded" else (time.perf_counter() - started) * 1000
        return Reply("ok", text=text, finish_reason="stop", latency_ms=latency, server="local")
