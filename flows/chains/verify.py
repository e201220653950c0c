"""A file of traces that any model wrote -> verdicts, checks, metrics."""

from __future__ import annotations

from pydantic import Field

from flows.request import Chain, ChainParameters
from flows.run import Run
from tasks.traces.stages import TRACES as BANK
from tasks.verification.stages import SUBMISSIONS, VERIFY


class Parameters(ChainParameters):
    path: str = Field(description="The file: one JSON object, or raw answer, a line.")
    sha256: str = Field(description="Its digest, so that a rerun verifies what was verified.")
    name: str = Field(description="Whose traces these are.")
    question: bool = Field(default=True, description="Whether the question's text is part of the evidence.")
    bank: str | None = Field(default=None, description="The run whose gold states are used.")
    traces: dict[str, str] = Field(default_factory=dict, description="Family -> key of the bank's traces.")


def steps(run: Run, asked: Parameters) -> None:
    lines = run.one(SUBMISSIONS, {"path": asked.path, "sha256": asked.sha256, "name": asked.name})
    inputs = {"submissions": lines} | ({"traces": run.given(BANK, asked.traces)} if asked.traces else {})
    run.one(VERIFY, {"judge": asked.name, "question": asked.question}, inputs=inputs)


CHAIN = Chain("verify", "Verify traces that any model wrote.", Parameters, steps, (VERIFY,))
