"""Judges that are Python: the embedded ones and any callable by entry point, in this process or in a few of their own.

Whoever wrote the callable, the run goes on: what it raises, `sys.exit` among it, is an item's failure, and the deadline ends
the judge's stage where no answer comes. An embedded judge answers at once, so that it needs neither thread nor deadline.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

from tasks.errors import BadInput
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply, Stopped
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message
from tasks.judges import make
from tasks.processes import abandon, pool

GRACE_S = 5.0  # for the loop of a coroutine function to say that it lives


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
        if inspect.isclass(found):
            found = found()
    except (Exception, SystemExit) as error:
        raise BadInput(f"entry_point {name!r} cannot be loaded: {type(error).__name__}: {error}") from error
    answer: Callable[[Message], Any] = getattr(found, "answer", found)
    if not callable(answer):
        raise BadInput(f"entry_point {name!r} is neither callable nor has a method answer(message)")
    return answer


class Quit(Exception):
    """A judge has called sys.exit; what it raises would end more than the judge."""


def _answer(api: str, name: str, seed: int, message: Message) -> Any:
    try:
        return load(api, name, seed)(message)
    except SystemExit as error:
        raise Quit(f"sys.exit({error.code!r})") from None


async def _answer_later(api: str, name: str, seed: int, message: Message) -> Any:
    try:
        return await load(api, name, seed)(message)
    except SystemExit as error:
        raise Quit(f"sys.exit({error.code!r})") from None


def _in_thread(call: Callable[[], Any]) -> asyncio.Future[Any]:
    """`call` in a thread that nobody has to wait for: it may never end, and a pool's would have to."""
    future: Future[Any] = Future()

    def work() -> None:
        future.set_running_or_notify_cancel()
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="a judge", daemon=True).start()
    return asyncio.wrap_future(future)


class LocalBackend:
    """A context manager. An exception of the judge is that item's api_error."""

    def __init__(self, spec: JudgeSpec):
        self.spec = spec
        self.name = spec.model if spec.api == "embedded" else spec.entry_point or ""
        self.seed = spec.decoding.seed or 0
        self._pool: ProcessPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # of a coroutine function, in a thread of its own
        self._stuck = False

    async def __aenter__(self) -> LocalBackend:
        try:
            answer = load(self.spec.api, self.name, self.seed)
        except ImportError as error:
            raise BadInput(f"judge {self.name!r} cannot be loaded: {error}") from error
        if inspect.iscoroutinefunction(answer):
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="a judge", daemon=True).start()
        elif self.spec.limits.processes > 1:
            self._pool = pool(self.spec.limits.processes)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
        if self._pool is not None:
            if self._stuck or kind is not None:
                abandon(self._pool)
            self._pool.shutdown(cancel_futures=True)

    def _begin(self, message: Message) -> asyncio.Future[Any]:
        """The judge at work, where this loop does not wait for it."""
        asked = (self.spec.api, self.name, self.seed, message)
        if self._loop is not None:
            return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_answer_later(*asked), self._loop))
        call = functools.partial(_answer, *asked)
        if self._pool is not None:
            return asyncio.wrap_future(self._pool.submit(call))
        return _in_thread(call)

    async def ask(self, item: AskedItem, message: Message) -> Reply:
        """An answer, or a Reply that says why there is none. Stopped where the judge is still at work after the deadline:
        nothing can end it, and it would be in the way of all that follows."""
        started = time.perf_counter()
        try:
            if self.spec.api == "embedded" and self._pool is None:
                text = _answer(self.spec.api, self.name, self.seed, message)
                await asyncio.sleep(0)
            else:
                text = await self._by_deadline(item, self._begin(message))
            if not isinstance(text, str):
                raise TypeError(f"answered {type(text).__name__}, not str")
        except Stopped:
            raise
        except Exception as error:
            return Reply("api_error", error=f"{type(error).__name__}: {error}"[:500], server="local")
        # An embedded judge's row holds nothing that a second run would write otherwise.
        latency = None if self.spec.api == "embedded" else (time.perf_counter() - started) * 1000
        return Reply("ok", text=text, finish_reason="stop", latency_ms=latency, server="local")

    async def _by_deadline(self, item: AskedItem, answer: asyncio.Future[Any]) -> Any:
        seconds = self.spec.limits.deadline_s
        done, _ = await asyncio.wait([answer], timeout=seconds)
        if done:
            return answer.result()
        reason = f"no answer within limits.deadline_s = {seconds:g}"
        answer.cancel()
        if self._loop is not None and await self._responds(self._loop):
            raise TimeoutError(reason)
        self._stuck = True
        raise Stopped(f"{reason} for {item.uid}; the judge is still at work", culprit=item.uid)

    async def _responds(self, loop: asyncio.AbstractEventLoop) -> bool:
        word = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop))
        return bool((await asyncio.wait([word], timeout=GRACE_S))[0])
