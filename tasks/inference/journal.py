"""Where responses are safe the moment they land: an append-only journal beside the artifacts.

    STORE/journal/inference/<key>/000001-<random>.jsonl, 000002-<random>.jsonl, ...

Every run opens a segment of its own. On a local folder a segment is one file that grows; each batch of rows is synced
before anyone is told that they landed. On an object store, where nothing can grow, each batch is a small object. The
batch is whatever came in while the last one was being written and a few milliseconds more, so that many answers at once
cost few syncs.

A row cut off by `kill -9` is the last of its segment and is not read: its request counts as one that was in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import math
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from storage import Store, StoreError
from storage.files import LocalFiles

Row = dict[str, Any]
GATHER_S = 0.005  # a row waits so long for others to be synced with it


class Journal:
    """The rows of one judge on one release. `key` names both; see `tasks.inference.stage.journal_key`."""

    def __init__(self, store: Store, key: str):
        self.store = store
        self.folder = f"journal/inference/{key}"
        self._file: io.FileIO | None = None
        self._held: int | None = None
        self._segment = 0
        self._queue: asyncio.Queue[tuple[bytes, asyncio.Future[None]]] | None = None
        self._task: asyncio.Task[None] | None = None

    # --- reading ------------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """Every complete row, oldest first."""
        for name in self._segments():
            data = self.store.files.read(f"{self.folder}/{name}")
            for line in data.splitlines(keepends=True):
                if line.endswith(b"\n"):
                    with contextlib.suppress(orjson.JSONDecodeError):
                        yield orjson.loads(line)

    def forget(self) -> None:
        """Remove every row, so that the next run asks everything again."""
        self.store.files.delete(self.folder)

    def _segments(self) -> list[str]:
        return [name for name in self.store.files.list(self.folder) if name.endswith(".jsonl")]

    # --- writing ------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Journal:
        if isinstance(self.store.files, LocalFiles):
            await self._lock(self.store.files.root / self.folder)
        names = self._segments()
        self._segment = int(names[-1][:6]) if names else 0
        self._queue = asyncio.Queue()
        self._task = asyncio.create_task(self._write_batches())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._held is not None:
            os.close(self._held)  # and with it the lock
            self._held = None

    async def _lock(self, folder: Path) -> None:
        """Two processes never ask one judge the same questions at once. The lock dies with its holder."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._held = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(f"cannot write {folder}: {error.strerror}; choose another place with --store") from error
        said = -math.inf
        while True:
            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - said > 30:
                    holder = os.pread(self._held, 32, 0).decode(errors="replace").strip() or "unknown"
                    print(f"inference: waiting for process {holder}, which is asking this judge now", file=sys.stderr)
                    said = time.monotonic()
                await asyncio.sleep(0.5)
        os.ftruncate(self._held, 0)
        os.pwrite(self._held, str(os.getpid()).encode(), 0)

    async def append(self, row: Row) -> None:
        """Returns when `row` is durable. StoreError where it cannot be written; the journal takes nothing more then."""
        assert self._queue is not None
        landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE), landed))
        await landed

    async def _write_batches(self) -> None:
        assert self._queue is not None
        broken: Exception | None = None
        while True:
            batch = [await self._queue.get()]
            await asyncio.sleep(GATHER_S)
            while not self._queue.empty():
                batch.append(self._queue.get_nowait())
            if broken is None:
                try:
                    await asyncio.to_thread(self._write, b"".join(line for line, _ in batch))
                except Exception as error:
                    broken = error
            for _, landed in batch:
                if landed.cancelled():
                    continue
                if broken is None:
                    landed.set_result(None)
                else:
                    landed.set_exception(broken)

    def _write(self, data: bytes) -> None:
        if not isinstance(self.store.files, LocalFiles):
            self.store.write(f"{self.folder}/{self._next_name()}", data)
            return
        try:
            if self._file is None:
                folder = self.store.files.root / self.folder
                self._file = open(folder / self._next_name(), "ab", buffering=0)  # noqa: SIM115
                _sync_folder(folder)
            if self._file.write(data) != len(data):
                raise OSError(28, "No space left on device")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise StoreError(
                f"cannot write {self.store.files.url(self.folder)}: {error.strerror or error}; what was received before "
                f"is safe; make room or choose another place with --store, then run again"
            ) from error

    def _next_name(self) -> str:
        """In the order of writing; the tail keeps two writers of an object store apart, where there is no lock."""
        self._segment += 1
        return f"{self._segment:06d}-{uuid.uuid4().hex[:8]}.jsonl"


def _sync_folder(folder: os.PathLike[str]) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
