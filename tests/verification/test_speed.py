"""What the verifier's speed is measured on: texts that it has not read before."""

from __future__ import annotations

import inspect

from tasks.traces import bank, latex
from tasks.traces.families import FAMILIES
from tasks.traces.record import render
from tasks.traces.remembered import forget
from tasks.verification import calculations, lexicon
from tasks.verification.speed import traces_per_second


def _kept() -> dict[str, int]:
    """How many texts each cached function of the readers keeps."""
    readers = {
        f"{module.__name__}.{name}": function
        for module in (calculations, latex, lexicon)
        for name, function in vars(module).items()
        if hasattr(function, "cache_info")
        and function.__module__ == module.__name__
        and {"text", "part", "side"} & inspect.signature(function).parameters.keys()
    }
    return {name: function.cache_info().currsize for name, function in readers.items()}


def test_no_text_is_remembered_when_the_speed_is_measured():
    traces = [render(bank.trace(FAMILIES[name], 1)) for name in ("collision", "optics")]
    assert traces_per_second(traces) > 0
    latex.plain(r"\frac{1}{2}")  # the bank writes no LaTeX
    kept = _kept()
    assert len(kept) >= 6 and any(kept.values())
    forget()
    assert set(_kept().values()) == {0}
