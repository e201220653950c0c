"""A judge behind HTTP: rates, retries, one deadline an item, a circuit breaker, a first request that checks everything.

The wire is aiohttp's (docs/contributor.md compares clients); what is ours is what none of them has: when to give up an
item, when to give up the run, and what may be said of an answer.

One backend belongs to one event loop, holds one connection pool, and closes it on exit.
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import replace

import aiohttp

from tasks.errors import BadInput, StageFailed
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply, Stopped
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message, Text
from tasks.inference.pace import Pace
from tasks.inference.progress import Progress
from tasks.inference.providers import Fault, Garbage, fault, payload_of, provider_of
from tasks.inference.providers.fields import member, word
from tasks.inference.secrets import Mask

KEEPALIVE_S = 4.0  # less than the 5 s after which vLLM and uvicorn drop an idle connection under a client's feet
CONNECT_S = 15.0
LONGEST_BACKOFF_S = 60.0
PROBES = 3
PREFLIGHT_RETRIES = 3
LARGEST_REPLY = 16 * 2**20  # bytes of a body, unpacked


class Failed(Exception):
    """One try that gave no answer."""

    def __init__(self, fault: Fault):
        super().__init__(fault.message)
        self.fault = fault


class HostedBackend:
    """`base` is the URL that the spec names, or that of a server which was started for it."""

    def __init__(self, spec: JudgeSpec, base: str | None = None, progress: Progress | None = None):
        self.spec = spec
        self.base = base or spec.url()
        self.progress = progress
        self.provider = provider_of(spec)
        self._key = spec.api_key()
        self._mask = Mask(self._key)
        self._url = self.provider.url(self.base, spec.model)
        # A server of one's own has another port every time, and is the same server all the same.
        self._host = "vllm serve" if spec.serve else urllib.parse.urlsplit(self.base).netloc
        self._version = ""
        self._pace = Pace(spec.limits.requests_per_minute, spec.limits.tokens_per_minute)
        self._random = random.Random()
        self._bad_tries = 0  # in a row, over all items, without an answer in between
        self._suspect: str | None = None  # the item at which the row of bad tries began
        self._probing: asyncio.Task[str | None] | None = None
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> HostedBackend:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self.spec.concurrency + 1, keepalive_timeout=KEEPALIVE_S),
            timeout=aiohttp.ClientTimeout(total=self.spec.limits.timeout_s, sock_connect=CONNECT_S),
            headers={"Content-Type": "application/json", **self.provider.headers(self._key)},
            proxy=_proxy(self.base),  # and not trust_env, which would also send what ~/.netrc has for the host
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._probing is not None:
            self._probing.cancel()
        if self._session is not None:
            await self._session.close()

    # --- asking -------------------------------------------------------------------------------------------------

    async def ask(self, item: AskedItem, message: Message) -> Reply:
        """An answer within the item's deadline, or a Reply `api_error` that says why there is none.

        Raises Stopped where the server is dead, or the key or the account is refused.
        """
        return await self._within_deadline(item, message, self.spec.limits.retries)

    async def _within_deadline(self, item: AskedItem, message: Message, retries: int) -> Reply:
        started = time.monotonic()
        last = "no reply yet"
        tries = 0
        try:
            async with asyncio.timeout(self.spec.limits.deadline_s) as clock:
                body = self.provider.body(self.spec, item, message)
                while True:
                    await self._gate()
                    await self._turn(clock, item.tokens)
                    tries += 1
                    try:
                        reply = await self._once(item, body)
                    except Failed as failed:
                        last = failed.fault.message
                        if (settled := self._settled(failed.fault)) is not None:
                            return settled
                        if failed.fault.kind == "wait":
                            await self._wait_for_rate(failed.fault, tries)
                            continue
                        await self._count_bad_try(item, failed.fault)
                        if tries > retries:
                            return self._error(f"{last} (after {tries} tries)")
                        await asyncio.sleep(self._backoff(tries, failed.fault.retry_after))
                        continue
                    self._bad_tries, self._suspect = 0, None
                    return reply
        except TimeoutError:
            passed = time.monotonic() - started
            return self._error(f"no answer within the deadline of {passed:.0f} s, {tries} tries; the last: {last}")

    async def _turn(self, clock: asyncio.Timeout, tokens: int) -> None:
        """Wait for the judge's own rates and for a server that lets nobody in. That is no fault of the item, so its
        deadline stands still."""
        loop = asyncio.get_running_loop()
        started, deadline = loop.time(), clock.when()
        clock.reschedule(None)
        wait = self._pace.reserve(tokens)
        if wait > 1:
            self._show_wait(wait, "own rates")
        await self._pace.enter(wait)
        assert deadline is not None
        clock.reschedule(deadline + loop.time() - started)

    def _show_wait(self, seconds: float, reason: str) -> None:
        if self.progress is not None:
            self.progress.waiting_until = max(self.progress.waiting_until, time.monotonic() + seconds)
            self.progress.waiting_for = reason

    async def _once(self, item: AskedItem, body: bytes) -> Reply:
        """One request. Raises Failed."""
        started = time.perf_counter()
        status, headers, raw = await self._send("POST", self._url, body)
        latency = (time.perf_counter() - started) * 1000
        if status != 200:
            raise Failed(fault(status, headers, raw, self._mask))
        try:
            reply = self._masked(self.provider.read(self.spec, item, payload_of(raw)))
        except Garbage as error:
            start = self._mask(raw[:2000].decode("utf-8", "replace")).strip()[:120]
            raise Failed(Fault("passing", f"a reply that this API does not send ({error}): {start!r}")) from None
        if reply.input_tokens is not None:
            self._pace.used(item.tokens, reply.input_tokens + (reply.output_tokens or 0))
        server = " ".join(filter(None, (self._host, self._version, reply.server)))
        return replace(reply, latency_ms=latency, server=server)

    async def _send(
        self, method: str, url: str, body: bytes | None = None, timeout: float | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of a reply. Follows no redirect: the key is for this server alone. Raises Failed, whose
        words are free of the key, and which has no cause: what a library says may quote the request."""
        assert self._session is not None
        seconds = timeout or self.spec.limits.timeout_s
        limit = aiohttp.ClientTimeout(total=seconds, sock_connect=min(CONNECT_S, seconds))
        try:
            async with self._session.request(method, url, data=body, allow_redirects=False, timeout=limit) as response:
                return response.status, response.headers, await _read(response)
        except TimeoutError:
            problem = Fault("passing", f"no reply within {seconds:g} s")
        except Failed as failed:
            problem = failed.fault
        except Exception as error:  # aiohttp's own, the system's, and whatever a strange reply makes of its parser
            problem = Fault("passing", self._mask(f"{type(error).__name__}: {error}")[:300])
        raise Failed(problem)

    def _masked(self, reply: Reply) -> Reply:
        """A judge that quotes the key is stored without it."""
        said = (reply.text, reply.reasoning, reply.finish_reason, reply.server)
        text, reasoning, finish_reason, server = (value and self._mask.answer(value) for value in said)
        return replace(reply, text=text, reasoning=reasoning, finish_reason=finish_reason, server=server)

    def _settled(self, fault: Fault) -> Reply | None:
        """The Reply of a fault that no retry can mend; None for one that may pass. Raises Stopped where no other
        request can do better."""
        variable = self.spec.key_variable() or "api_key_env"
        if fault.kind == "key":
            raise Stopped(f"{self._host} refuses the key in ${variable} ({fault.message})", abort=False, bad_input=True)
        if fault.kind == "quota":
            raise Stopped(f"the account at {self._host} is used up ({fault.message})", abort=False)
        if fault.kind == "refused":
            return Reply("refused", text=None, finish_reason="refused", error=fault.message, server=self._host)
        if fault.kind == "permanent":
            return self._error(fault.message)
        return None

    async def _wait_for_rate(self, fault: Fault, tries: int) -> None:
        """Too many requests: this item backs off, at least as long as the server asks; until then nobody else sends
        either. A wait that is shorter than the backoff counts as none given."""
        asked = fault.retry_after or 0.0
        if asked > self.spec.limits.deadline_s:
            raise Stopped(f"{self._host} asks to wait {asked:.0f} s ({fault.message})", abort=False)
        self._pace.close(asked)
        seconds = self._backoff(tries, asked)
        self._show_wait(seconds, "rate limit of the server")
        # Spread over a while, so that those who waited together do not come back together.
        await asyncio.sleep(seconds + self._random.uniform(0, 0.1 * seconds + 0.01 * self.spec.concurrency))

    def _backoff(self, tries: int, retry_after: float | None) -> float:
        seconds = min(self.spec.limits.backoff_s * 2.0 ** min(tries - 1, 10), LONGEST_BACKOFF_S)
        return max(self._random.uniform(0.5, 1.0) * seconds, retry_after or 0.0)

    def _error(self, reason: str) -> Reply:
        return Reply("api_error", error=reason, server=" ".join(filter(None, (self._host, self._version))))

    # --- the circuit breaker --------------------------------------------------------------------------------------

    async def _gate(self) -> None:
        """Nobody sends while the server is being probed."""
        if self._probing is not None and not self._probing.done():
            await asyncio.shield(self._probing)

    async def _count_bad_try(self, item: AskedItem, fault: Fault) -> None:
        """After `breaker` bad tries in a row the server has to show that it lives. Raises Stopped where it does not.

        One poisonous picture also fails every time; only a question that is harmless in itself tells the two apart, and
        a health page cannot: an engine may be dead behind it.
        """
        self._bad_tries += 1
        if self._suspect is None:
            self._suspect = item.uid
        if self._bad_tries < self.spec.limits.breaker:
            return
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._probe())
        suspect = self._suspect
        dead = await asyncio.shield(self._probing)
        if dead is None:
            self._bad_tries = 0
            self._suspect = None
            return
        raise Stopped(
            f"{self._host} is dead after item {suspect}: {fault.message}; asked for a word, it said: {dead}",
            culprit=suspect,
        )

    async def _probe(self) -> str | None:
        """None if the server still answers anything sensible to one short line of text, else what it said last."""
        said = "nothing"
        for number in range(PROBES):
            status, said = await self._say_a_word()
            if status is not None and status < 500:
                return None
            await asyncio.sleep(self._backoff(number + 1, None))
        return said

    async def _say_a_word(self) -> tuple[int | None, str]:
        """(status, what it said) of a request without pictures."""
        assert self._session is not None
        item = replace(_WORD, effective={"max_tokens": 16}, requested={"max_tokens": 16})
        renamed = self.spec.decoding.rename.get("max_tokens", "max_tokens")
        item = replace(item, effective={renamed: 16})
        body = self.provider.body(self.spec, item, Message((Text("Reply with the word OK."),)))
        try:
            status, headers, raw = await self._send("POST", self._url, body, min(30.0, self.spec.limits.timeout_s))
        except Failed as failed:
            return None, failed.fault.message
        return status, "a proper answer" if status == 200 else fault(status, headers, raw, self._mask).message

    # --- the first request ----------------------------------------------------------------------------------------

    async def preflight(self, item: AskedItem, message: Message) -> Reply:
        """One real question, the largest, before anything else is spent; its answer counts.

        BadInput where the judge's table or the server's flags have to change, StageFailed where the server is down.
        """
        await self._find_version()
        try:
            reply = await self._within_deadline(item, message, retries=min(PREFLIGHT_RETRIES, self.spec.limits.retries))
        except Stopped as stopped:
            raise (BadInput if stopped.bad_input else StageFailed)(
                f"preflight: {stopped}; nothing was sent"
            ) from stopped
        finally:
            self._bad_tries, self._suspect = 0, None
        if reply.status == "api_error":
            raise await self._diagnosed(item, reply.error or "")
        if reply.status == "ok" and item.constraint and "structured" in item.effective:
            self._check_obeyed(item, reply)
        unrated = item.outcomes and reply.p_success is None and self.spec.api != "openai"
        if reply.status == "ok" and unrated:
            raise BadInput(
                f"preflight: {self._host} gave no log-probabilities of a verdict for {item.uid} "
                f"(its answer: {reply.text!r}); remove logprobs, or set structured = true as well"
            )
        return reply

    def _check_obeyed(self, item: AskedItem, reply: Reply) -> None:
        assert item.constraint is not None
        if not item.constraint.obeyed_by(reply.text or ""):
            raise BadInput(
                f"preflight: {self._host} did not keep to the answer format of {item.uid}, so it ignores structured "
                f"output (it said {(reply.text or '')[:120]!r}); remove structured, or use a server that enforces it"
            )

    async def _diagnosed(self, item: AskedItem, error: str) -> Exception:
        """What to change, as far as the error tells."""
        about = f"preflight with the largest item, {item.uid} ({_size(item)}): {self._url}: {error}"
        lowered = error.lower()
        sent = ", ".join(item.effective)
        if re.search(r"at most \d+ (image|picture)|too many images|maximum number of images", lowered):
            return BadInput(
                f"{about}. It takes fewer pictures a request: raise that at the server "
                f"(vLLM: --limit-mm-per-prompt '{{\"image\": {len(item.image_ids)}}}')"
            )
        if re.search(
            r"context length|context window|too long|input_tokens|max_model_len|maximum.{0,20}tokens", lowered
        ):
            return BadInput(f"{about}. The item does not fit its context: raise it (vLLM: --max-model-len)")
        for name in item.effective:
            if name in ("structured", "extra"):
                continue
            if re.search(rf"\b{re.escape(name)}\b", lowered):
                other = "max_completion_tokens"
                rename = f' or decoding.rename = {{ max_tokens = "{other}" }}' if other in lowered else ""
                return BadInput(
                    f'{about}. It refuses the parameter {name}: set decoding.drop = ["{name}"]{rename}; sent were: {sent}'
                )
        if error.startswith(("HTTP 413", "HTTP 404", "HTTP 400")):
            status, said = await self._say_a_word()
            if status == 200 and item.image_ids:
                return BadInput(
                    f"{about}. A request without pictures is answered, so it is the pictures: their number or the size of "
                    f"the body is over a limit of the server or of a proxy before it, or the model takes none"
                )
            if error.startswith("HTTP 404"):
                named = self.spec.model.lower() in lowered or "model" in lowered
                hint = (
                    f"the server has no model {self.spec.model!r}" if named else "there is no such API under that URL"
                )
                return BadInput(f"{about}. It seems that {hint}: check model and base_url ({said})")
            return BadInput(f"{about}. Without pictures it says: {said}")
        if "does not send" in error or error.startswith(("HTTP 3", "HTTP 405", "HTTP 501")):
            return BadInput(
                f"{about}. That is no model server that speaks the {self.spec.api} API: check api and base_url"
            )
        if error.startswith("HTTP 4"):
            return BadInput(about)
        return StageFailed(f"{about}. The server is down or out of order; nothing was spent")

    async def _find_version(self) -> None:
        """vLLM says its version; it goes into every row."""
        if self.spec.api != "vllm":
            return
        try:
            status, _, raw = await self._send("GET", f"{self.base.removesuffix('/v1')}/version", timeout=5)
            version = word(member(payload_of(raw), "version")) if status == 200 else None
        except (Failed, Garbage):
            return
        self._version = f"vllm-{version}" if version else ""


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, as far as it may go. Failed where it is larger: asking again would bring the same."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > LARGEST_REPLY:
            response.close()
            raise Failed(Fault("permanent", f"a reply of more than {LARGEST_REPLY >> 20} MiB"))
    return bytes(body)


def check_sizes(spec: JudgeSpec, asked: list[AskedItem]) -> None:
    """BadInput names the first question that the API's documented limits, or those of the TOML, forbid."""
    if not spec.hosted:
        return
    provider, limits = provider_of(spec), spec.limits
    images = limits.max_images if limits.max_images is not None else provider.images
    if spec.serve and spec.serve.max_images is not None:
        images = spec.serve.max_images
    megabytes = limits.max_body_mb if limits.max_body_mb is not None else provider.body_mb
    for item in asked:
        if images is not None and len(item.image_ids) > images:
            raise BadInput(
                f"item {item.uid} has {len(item.image_ids)} pictures and {spec.model} takes {images}; raise "
                f"limits.max_images or serve.max_images (vLLM: --limit-mm-per-prompt), or use another server"
            )
        if megabytes is not None and item.body_bytes > megabytes * 1e6:
            raise BadInput(
                f"item {item.uid} makes a request of {item.body_bytes / 1e6:.1f} MB and {spec.model} takes "
                f"{megabytes:g} MB; raise limits.max_body_mb if the server takes more"
            )
        if spec.api == "vllm" and (special := re.search(r"<\|[a-z_]+\|>", item.prompt)):
            raise BadInput(f"item {item.uid}: vLLM would take {special[0]} in its prompt for a special token")


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for a URL; none for this machine, which a proxy cannot reach."""
    parts = urllib.parse.urlsplit(url)
    if _loopback(parts.hostname or "") or urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


_WORD = AskedItem("probe", "", "", (), "", {}, {}, None, "", 0, 16)


def _size(item: AskedItem) -> str:
    return f"{len(item.image_ids)} pictures, a body of {item.body_bytes / 1e6:.1f} MB"
