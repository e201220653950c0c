"""Answers calls of the parent until it hangs up, with the engines that the world's own child folder makes.

That folder has a module `engine` with a class `Engine(simulator, **options)`, one object a configuration; its methods are
what can be called. `simulator` is the class that the environment names, for what an environment needs done here.

An exception goes back as the name of its class and its text; the parent knows `BadInput`, `StageFailed` and `Rejected`
by those names, and takes any other for a fault.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import platform
import select
import signal
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .wire import PROTOCOL, Closed, Wire, encode

MOST_ENGINES = 24  # the one that was used longest ago goes
EXPECTED = ("BadInput", "StageFailed", "Rejected")
_SET_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


def serve(reading: int, writing: int, world: str, folder: str, package: Callable[[str, str], None]) -> None:
    """Say who this is, then answer until the other side hangs up."""
    _end_with_parent(reading)
    wire = Wire(reading, writing)
    wire.send(encode({"protocol": PROTOCOL, "python": platform.python_version(), "world": world}))
    engines = Engines(world.replace("-", "_") + "_child", lambda name: package(name, folder))
    while True:
        try:
            call = wire.receive()
        except Closed:
            return
        wire.send(_answer(engines, call))


def _end_with_parent(reading: int) -> None:
    """End when the parent does, however it ends, also in the middle of a call. Where there is Linux the kernel sees to it;
    elsewhere, and where a script stands between parent and child, a thread watches for the end of the pipe."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_end_with_pipe, args=(reading,), daemon=True).start()


def _end_with_pipe(reading: int) -> None:
    poll = select.poll()
    poll.register(reading, 0)  # being hung up is told in any case
    poll.poll()
    os._exit(0)


def _answer(engines: Engines, call: dict[str, Any]) -> list[memoryview]:
    try:
        engine = engines.get(call["engine"], call["role"])
        return encode({"value": getattr(engine, call["method"])(*call["arguments"])})
    except Exception as error:
        kind = type(error).__name__
        if kind not in EXPECTED:
            traceback.print_exc()
        return encode({"error": [kind, str(error)]})


class Engines:
    """The engines of one world, each made when it is first called."""

    def __init__(self, package: str, load: Callable[[str], None]):
        self._package, self._load = package, load
        self._engines: OrderedDict[str, Any] = OrderedDict()
        self._simulators: dict[str, Any] = {}

    def get(self, options: dict[str, Any], role: str) -> Any:
        """The engine with these options (`simulator`, and what `Engine` takes) that plays a role."""
        key = f"{role} {options}"
        if key not in self._engines:
            others = dict(options)
            module = self._module("engine")  # first, since a simulator's file may import from it
            simulator = self._simulator(others.pop("simulator"))
            self._engines[key] = module.Engine(simulator, **others)
            if len(self._engines) > MOST_ENGINES:
                self._engines.popitem(last=False)
        self._engines.move_to_end(key)
        return self._engines[key]

    def _module(self, name: str) -> Any:
        if self._package not in sys.modules:
            self._load(self._package)
        return importlib.import_module(f"{self._package}.{name}")

    def _simulator(self, place: str) -> Any:
        """The class at `module:Class` of the world's child folder, or at `/path/to/file.py:Class`."""
        if place not in self._simulators:
            module, _, name = place.rpartition(":")
            found = _from_file(module) if module.endswith(".py") else self._module(module)
            self._simulators[place] = getattr(found, name)
        return self._simulators[place]


def _from_file(path: str) -> Any:
    """A module by its file, which may import what lies beside it."""
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.append(folder)
    name = os.path.splitext(os.path.basename(path))[0]
    if name not in sys.modules:
        return importlib.import_module(name)
    if os.path.realpath(getattr(sys.modules[name], "__file__", None) or "") == os.path.realpath(path):
        return sys.modules[name]
    raise ImportError(f"{path}: there is another module {name!r} here; give the file another name")
