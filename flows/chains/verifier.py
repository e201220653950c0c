"""The audit of the trace verifier on a bank: false positives, detection, what bare text gives away."""

from __future__ import annotations

from pydantic import Field

from flows.chains.bank import Size, bank
from flows.request import Chain
from flows.run import Run
from tasks.traces.stages import PAIRS
from tasks.traces.stages import TRACES as BANK
from tasks.verification.audit import AUDIT, VERDICTS


class Parameters(Size):
    surface: bool = Field(default=True, description="Whether bare text tells chosen from rejected.")


def steps(run: Run, asked: Parameters) -> None:
    traces, pairs = bank(run, asked)
    families = {name: {"family": name} for name in traces.refs}
    verdicts = run.each(VERDICTS, families, traces=traces, pairs=pairs)
    run.one(AUDIT, {"surface": asked.surface, "seed": asked.seed}, traces=traces, pairs=pairs, verdicts=verdicts)


STAGES = (BANK, PAIRS, VERDICTS, AUDIT)
CHAIN = Chain("verifier", "How well the trace verifier does on a bank.", Parameters, steps, STAGES)
