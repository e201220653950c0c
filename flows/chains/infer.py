"""An exam that is in the store -> judges' responses."""

from __future__ import annotations

from pydantic import Field

from flows.judging import ask, judge_specs
from flows.request import Chain, ChainParameters
from flows.run import Run
from tasks.exams import RELEASE
from tasks.inference import INFERENCE


class Parameters(ChainParameters):
    release: str = Field(description="Key of the exam's release.")
    judges: tuple[str, ...] = Field(description="Judges, embedded or of the configuration file.")


def steps(run: Run, asked: Parameters) -> None:
    specs = judge_specs(asked.judges, run.configuration)
    release = run.given(RELEASE, asked.release)
    run.exam(release)
    ask(run, specs, release=release)


CHAIN = Chain("infer", "Ask judges about an exam.", Parameters, steps, (INFERENCE,))
