"""What a world's child process and its parent send each other: lines of JSON, each followed by the raw bytes it announces.

A message is what JSON can hold, and numpy arrays and byte strings anywhere in it. Those travel as raw bytes, without a
copy on the way out; floats arrive as they were (NaN and infinities too), tuples as lists, dictionary keys as strings.
Nothing is pickled.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

PROTOCOL = 1
_RAW = "\0raw"  # the only key of what stands for an array or a byte string; its value is the number of that one
_NOTHING = "[]"
_READ = 1 << 16
_MOST_BUFFERS = 64  # in one system call


class Closed(Exception):
    """The other side has hung up."""


class TooLate(Exception):
    """The other side has not answered, or not taken what was sent, by the deadline."""


def encode(message: Any) -> list[memoryview]:
    """The message as buffers, to be sent one after the other. Raises TypeError where it holds anything else."""
    announced: list[list[Any]] = []
    raw: list[memoryview] = []

    def stand_in(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray) and not value.dtype.hasobject and not value.dtype.fields:
            announced.append([value.dtype.str, list(value.shape)])
            raw.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
        elif isinstance(value, (bytes, bytearray)):
            announced.append(["bytes", [len(value)]])
            raw.append(memoryview(bytes(value)))
        else:
            kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            raise TypeError(f"{kind} cannot be sent between processes")
        return {_RAW: len(raw) - 1}

    text = json.dumps(message, default=stand_in, separators=(",", ":"))
    head = json.dumps(announced) if announced else _NOTHING
    return [memoryview(f"{head}\t{text}\n".encode("ascii")), *raw]


class Wire:
    """One side of two pipes. `reading` and `writing` are file descriptors, which it closes."""

    def __init__(self, reading: int, writing: int):
        self._reading, self._writing = reading, writing
        self._rest = b""  # read already, not yet asked for
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(reading, select.POLLIN)
        self._writable.register(writing, select.POLLOUT)
        for descriptor in (reading, writing):
            os.set_inheritable(descriptor, False)

    def close(self) -> None:
        for descriptor in {self._reading, self._writing} - {-1}:
            os.close(descriptor)
        self._reading = self._writing = -1

    def send(self, buffers: Sequence[memoryview], deadline: float | None = None) -> None:
        """What `encode` made. With a deadline (a reading of time.monotonic) the pipe must not block. Raises Closed,
        TooLate."""
        pending = [buffer for buffer in buffers if len(buffer)]
        while pending:
            try:
                sent = os.writev(self._writing, pending[:_MOST_BUFFERS])
            except BlockingIOError:
                _wait(self._writable, deadline)
                continue
            except OSError as error:
                raise Closed from error
            while pending and sent >= len(pending[0]):
                sent -= len(pending.pop(0))
            if sent:
                pending[0] = pending[0][sent:]

    def receive(self, deadline: float | None = None) -> Any:
        """The next message. Raises Closed, TooLate."""
        head, _, text = self._line(deadline).decode("ascii").partition("\t")
        if head == _NOTHING:
            return json.loads(text)
        raw = [self._raw(kind, shape, deadline) for kind, shape in json.loads(head)]

        def put_back(value: dict[str, Any]) -> Any:
            return raw[value[_RAW]] if len(value) == 1 and _RAW in value else value

        return json.loads(text, object_hook=put_back)

    def _line(self, deadline: float | None) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            parts.append(self._some(deadline))
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _some(self, deadline: float | None) -> bytes:
        _wait(self._readable, deadline)
        try:
            data = os.read(self._reading, _READ)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        return data

    def _raw(self, kind: str, shape: list[int], deadline: float | None) -> np.ndarray | bytes:
        """The next array or byte string, read to where it stays."""
        if kind == "bytes":
            whole = np.empty(shape, dtype=np.uint8)
            self._fill(whole.data, deadline)
            return whole.tobytes()
        array = np.empty(shape, dtype=kind)
        self._fill(array.reshape(-1).view(np.uint8).data, deadline)
        return array

    def _fill(self, into: memoryview, deadline: float | None) -> None:
        at = min(len(self._rest), len(into))
        into[:at], self._rest = self._rest[:at], self._rest[at:]
        while at < len(into):
            _wait(self._readable, deadline)
            try:
                count = os.readv(self._reading, [into[at:]])
            except OSError as error:
                raise Closed from error
            if not count:
                raise Closed
            at += count


def _wait(poll: select.poll, deadline: float | None) -> None:
    """Until what it watches is ready, or has been hung up. Raises TooLate."""
    if deadline is not None and not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TooLate
