"""Seed -> a bank of stated worlds: traces, preference pairs and, where asked for, pictures; a shard a physics family."""

from __future__ import annotations

from pydantic import Field

from flows.request import Chain, ChainParameters
from flows.run import Run, Step
from tasks.traces.bank import SEED, TRACES
from tasks.traces.pairs import PER_TRACE
from tasks.traces.stages import DIAGRAMS, PAIRS, configs
from tasks.traces.stages import TRACES as BANK


class Size(ChainParameters):
    """How large a bank is, and what it is drawn from."""

    traces: int = Field(default=TRACES, ge=1, le=1_000_000, description="How many traces.")
    pairs: int = Field(default=PER_TRACE, ge=1, le=64, description="Pairs a trace.")
    seed: int = Field(default=SEED, ge=0, lt=2**53, description="What everything is drawn from.")


class Parameters(Size):
    pictures: bool = Field(default=True, description="Draw the diagrams, too.")


def bank(run: Run, size: Size) -> tuple[Step, Step]:
    """Traces and pairs."""
    plan = configs(size.traces, size.seed, size.pairs)
    traces = run.each(BANK, plan[BANK.name])
    return traces, run.each(PAIRS, plan[PAIRS.name], traces=traces)


def steps(run: Run, asked: Parameters) -> None:
    traces, _ = bank(run, asked)
    if asked.pictures:
        plan = configs(asked.traces, asked.seed, asked.pairs)
        run.each(DIAGRAMS, plan[DIAGRAMS.name], traces=traces)


CHAIN = Chain("bank", "Make a bank of traces and preference pairs.", Parameters, steps, (BANK, PAIRS, DIAGRAMS))
