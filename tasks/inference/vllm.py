"""A vLLM server of our own: started, waited for, used, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tasks.errors import BadInput, StageFailed
from tasks.inference.config import JudgeSpec, Serve

STOP_S = 20.0
POLL_S = 0.5


@dataclass(frozen=True)
class Server:
    """A running server: where it listens, and the process (and process group) that it is."""

    url: str
    pid: int


def command_of(spec: JudgeSpec, port: int) -> list[str]:
    """The command line that serves a judge's model under the name that its requests use."""
    serve = spec.serve or Serve()
    flags: list[str] = ["--served-model-name", spec.model, "--host", "127.0.0.1", "--port", str(port)]
    for flag, value in (
        ("--tensor-parallel-size", serve.tensor_parallel_size),
        ("--max-model-len", serve.max_model_len),
        ("--dtype", serve.dtype),
    ):
        if value is not None:
            flags += [flag, str(value)]
    if serve.max_images is not None:
        flags += ["--limit-mm-per-prompt", f'{{"image": {serve.max_images}}}']
    return [*serve.command, serve.path or spec.model, *flags, *serve.flags]


@contextlib.asynccontextmanager
async def served(spec: JudgeSpec) -> AsyncIterator[Server]:
    """A server that lives as long as the context, and not longer than this process.

    BadInput where the command cannot be started; StageFailed with the end of its log where it does not get ready.
    """
    serve = spec.serve or Serve()
    port = serve.port or _free_port()
    handle, name = tempfile.mkstemp(prefix="worldaudit-vllm-", suffix=".log")
    log = Path(name)
    try:
        process = subprocess.Popen(
            command_of(spec, port),
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=subprocess.STDOUT,
            env=os.environ | serve.env,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
    except OSError as error:
        log.unlink()
        raise BadInput(
            f"cannot start {serve.command[0]!r}: {error.strerror}; install vLLM in an environment of its own and name it: "
            f'serve.command = ["/path/to/bin/vllm", "serve"]'
        ) from error
    finally:
        os.close(handle)
    server = Server(f"http://127.0.0.1:{port}", process.pid)
    try:
        await _ready(process, server.url, serve.ready_s, log)
        yield server
    except StageFailed:
        raise
    else:
        log.unlink()
    finally:
        await asyncio.to_thread(_stop, process)


async def _ready(process: subprocess.Popen[bytes], base: str, seconds: float, log: Path) -> None:
    until = time.monotonic() + seconds
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        while time.monotonic() < until:
            if process.poll() is not None:
                raise StageFailed(f"the vLLM server ended with {process.returncode} before it was ready; {_tail(log)}")
            with contextlib.suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with session.get(f"{base}/health") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(POLL_S)
    raise StageFailed(f"the vLLM server was not ready within serve.ready_s = {seconds:g} s; {_tail(log)}")


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return f"the end of its log ({log}):\n" + "\n".join(lines[-15:])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The server and what it started: politely, then not."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            continue
        break


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """A run that is killed must not leave a server behind that holds the GPU. Linux only; elsewhere nothing happens."""
    with contextlib.suppress(AttributeError):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
