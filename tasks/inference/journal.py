"""Where responses are safe the moment they land: an append-only journal beside the artifacts.

    STORE/journal/inference/<key>/000001-<random>.jsonl, 000002-<random>.jsonl, ...

Every run opens a segment of its own. On a local folder a segment is one file that grows: a row is with the kernel before
anyone is told that it landed, so that no `kill -9` can lose it, and a thread that rests only when there is nothing to do
syncs the file, so that a power failure costs the last moments at most. On an object store, where nothing can grow, each
batch of rows is a small object, and a row has landed when its object is there; a batch is whatever came in while the last
one was being written.

A row cut off in the middle is the last of its segment and is not read: its request counts as one that was in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
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


class Journal:
    """The rows of one judge on one release. `key` names both; see `tasks.inference.exam.journal_key`."""

    def __init__(self, store: Store, key: str):
        self.store = store
        self.folder = f"journal/inference/{key}"
        self._file: io.FileIO | None = None
        self._held: int | None = None  # the lock, on a local folder
        self._segment = 0
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._broken: StoreError | None = None

    # --- reading ------------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """Every complete row, oldest first."""
        for name in self._segments():
            data = self.store.files.read(f"{self.folder}/{name}")
            for line in data.splitlines(keepends=True):
                if line.endswith(b"\n"):
                    with contextlib.suppress(orjson.JSONDecodeError):
                        yield orjson.loads(line)

    def _segments(self) -> list[str]:
        return [name for name in self.store.files.list(self.folder) if name.endswith(".jsonl")]

    # --- writing ------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Journal:
        if isinstance(self.store.files, LocalFiles):
            await self._lock(self.store.files.root / self.folder)
        names = self._segments()
        self._segment = int(names[-1][:6]) if names else 0
        self._closing, self._broken = False, None
        self._work = asyncio.Event()
        self._task = asyncio.create_task(self._sync() if self._held is not None else self._upload())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Everything that was appended is synced. StoreError where that fails."""
        assert self._task is not None
        self._closing = True
        self._work.set()
        await self._task
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._held is not None:
            os.close(self._held)  # and with it the lock
            self._held = None
        if self._broken is not None:
            raise self._broken

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
        """Returns when `row` has landed. StoreError where it cannot be written; the journal takes nothing more then."""
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        if self._broken is not None:
            raise self._broken
        if self._held is not None:
            self._write(line)
            self._work.set()
            return
        landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, landed))
        self._work.set()
        await landed

    def _write(self, line: bytes) -> None:
        """Hand a row to the kernel: microseconds, so that it needs no thread."""
        assert isinstance(self.store.files, LocalFiles)
        try:
            if self._file is None:
                folder = self.store.files.root / self.folder
                self._file = open(folder / self._next_name(), "ab", buffering=0)  # noqa: SIM115
                _sync_folder(folder)
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._broken = self._full(error)
            raise self._broken from error

    async def _sync(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            last = self._closing
            if self._file is not None and self._broken is None:
                try:
                    await asyncio.to_thread(os.fsync, self._file.fileno())
                except OSError as error:
                    self._broken = self._full(error)
            if last:
                return

    async def _upload(self) -> None:
        while not self._closing or self._waiting:
            await self._work.wait()
            self._work.clear()
            batch, self._waiting = self._waiting, []
            if not batch:
                continue
            path = f"{self.folder}/{self._next_name()}"
            try:
                await asyncio.to_thread(self.store.write, path, b"".join(line for line, _ in batch))
            except StoreError as error:
                self._broken = error
            if self._waiting or self._closing:
                self._work.set()
            for _, landed in batch:
                if landed.done():
                    continue
                if self._broken is None:
                    landed.set_result(None)
                else:
                    landed.set_exception(self._broken)

    def _full(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write {self.store.files.url(self.folder)}: {error.strerror or error}; what was received before is "
            f"safe; make room or choose another place with --store, then run again"
        )

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
