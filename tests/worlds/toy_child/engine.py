from __future__ import annotations

import os
import sys
import time

import numpy as np


class Rejected(Exception):
    """One of the errors that the parent knows by name."""


class Counter:
    """What an environment has done here: it counts."""

    start = 0


class Engine:
    def __init__(self, simulator, env_id, **options):
        self.simulator, self.env_id, self.options = simulator, env_id, options
        self.count = simulator.start

    def add(self):
        self.count += 1
        return self.count

    def about(self):
        return [os.getpid(), list(sys.version_info[:2]), sys.argv[3], sorted(self.options)]

    def echo(self, *values):
        return values

    def described(self, array):
        return [array.dtype.str, list(array.shape), array.tobytes()]

    def arrays(self):
        return {
            "float64": np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324]),
            "frames": [np.full((4, 3, 3), value, dtype=np.uint8) for value in range(3)],
            "strided": np.arange(24, dtype=np.int32).reshape(4, 6)[::2, ::-2],
            "big-endian": np.array([1, 2], dtype=">u2"),
            "none": np.empty((0, 3), dtype=np.float32),
            "scalar": np.array(7, dtype=np.int64),
            "flags": np.array([[True, False]]),
            "text": np.array(["a", "bcd"]),
            "complex": np.array([1 + 2j]),
            "numbers": [np.float64(0.1), np.float32(0.5), np.int64(3), np.bool_(True)],
        }

    def unsendable(self):
        return object()

    def say(self, text):
        print(text)
        os.write(1, b"and from below\n")
        sys.stderr.write("and on stderr\n")

    def wait(self, seconds):
        time.sleep(seconds)

    def abort(self):
        sys.stderr.write("the last thing that was said\n")
        os.abort()

    def leave(self):
        sys.exit(3)

    def fails(self, kind, text):
        raise {"Rejected": Rejected, "ValueError": ValueError}[kind](text)
