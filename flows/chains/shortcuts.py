"""The shortcut audit of an exam: what a judge that cannot see could score, beside what judges have reached."""

from __future__ import annotations

from pydantic import Field

from flows.chains.score import tags_of
from flows.judging import read
from flows.request import Chain, ChainParameters
from flows.run import Run
from tasks.audit import SHORTCUTS
from tasks.exams import ANSWERS, RELEASE
from tasks.inference import INFERENCE
from tasks.parsing import PARSING


class Parameters(ChainParameters):
    release: str = Field(description="Key of the exam's release.")
    answers: str = Field(description="Key of the exam's answers.")
    responses: dict[str, str] = Field(default_factory=dict, description="Judge -> key of its responses.")
    seed: int = Field(default=0, ge=0, lt=2**32, description="What the folds are drawn from.")


def steps(run: Run, asked: Parameters) -> None:
    release, answers = run.given(RELEASE, asked.release), run.given(ANSWERS, asked.answers)
    responses = run.given(INFERENCE, asked.responses)
    run.exam(release)
    parsed = read(run, responses, release, tags_of(run, responses))
    run.one(SHORTCUTS, {"seed": asked.seed}, release=release, answers=answers, responses=responses, parsed=parsed)


CHAIN = Chain("shortcuts", "What a judge that cannot see could score.", Parameters, steps, (PARSING, SHORTCUTS))
