"""Answers that were collected elsewhere -> numbers, over an exam of ours or one that an index describes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from flows.request import Chain, ChainParameters
from flows.run import Run, Step
from tasks.exams import ANSWERS, RELEASE
from tasks.inference.importing import IMPORTED, INDEX_ANSWERS, INDEX_RELEASE
from tasks.parsing import PARSING
from tasks.scoring import SCORING


class Parameters(ChainParameters):
    imported: dict[str, Any] = Field(description="What was read: the judge, its files and their digests.")
    index: dict[str, Any] | None = Field(default=None, description="A foreign exam's index, with its digest.")
    release: str | None = Field(default=None, description="Key of the exam's release, where there is no index.")
    answers: str | None = Field(default=None, description="Key of the exam's answers, where there is no index.")
    policy: str = Field(default="robust", description="How answers are read.")
    resamples: int = Field(default=20_000, ge=100, le=10_000_000, description="Of the bootstrap.")
    seed: int = Field(default=0, ge=0, lt=2**53, description="What the resamples are drawn from.")


def steps(run: Run, asked: Parameters) -> None:
    judge = asked.imported["judge"]
    release, answers = exam(run, asked)
    responses = run.each(IMPORTED, {judge: asked.imported}, release=release)
    parsed = run.each(PARSING, {judge: {"policy": asked.policy}}, release=release, responses=responses)
    config = {"resamples": asked.resamples, "seed": asked.seed}
    run.one(SCORING, config, answers=answers, responses=responses, parsed=parsed)


def exam(run: Run, asked: Parameters) -> tuple[Step, Step]:
    if asked.index is None:
        release, answers = run.given(RELEASE, asked.release or ""), run.given(ANSWERS, asked.answers or "")
    else:
        release = run.one(INDEX_RELEASE, asked.index)
        answers = run.one(INDEX_ANSWERS, asked.index, release=release)
    run.exam(release)
    return release, answers


CHAIN = Chain("import-responses", "Score answers that were collected elsewhere.", Parameters, steps, (PARSING, SCORING))
