"""Responses that are in the store -> numbers -> a report; asks nobody."""

from __future__ import annotations

from pydantic import Field

from flows.chains.generate import SEED
from flows.judging import read, report, score
from flows.request import Chain, ChainParameters
from flows.run import Run, Step
from tasks.exams import ANSWERS, RELEASE
from tasks.inference import INFERENCE
from tasks.parsing import PARSING
from tasks.scoring import SCORING


class Parameters(ChainParameters):
    release: str = Field(description="Key of the exam's release.")
    answers: str = Field(description="Key of the exam's answers.")
    responses: dict[str, str] = Field(description="Judge -> key of its responses.")
    seed: int = SEED


def steps(run: Run, asked: Parameters) -> None:
    release, answers = run.given(RELEASE, asked.release), run.given(ANSWERS, asked.answers)
    responses = run.given(INFERENCE, asked.responses)
    run.exam(release)
    parsed = read(run, responses, release, tags_of(run, responses))
    score(run, answers, responses, parsed, asked.seed)
    report(run)


def tags_of(run: Run, responses: Step) -> dict[str, list[str] | None]:
    """The reasoning tags of each judge when it answered; None for answers that were collected elsewhere."""
    specs = {
        judge: run.store.get(ref.stage, ref.key).manifest["config"].get("spec") or {}
        for judge, ref in responses.refs.items()
    }
    return {judge: spec.get("reasoning_tags") for judge, spec in specs.items()}


CHAIN = Chain("score", "Parse and score the responses to an exam.", Parameters, steps, (PARSING, SCORING))
