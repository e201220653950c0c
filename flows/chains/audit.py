"""The judge audit, whole: seeds -> an exam -> every judge's answers -> numbers -> a report."""

from __future__ import annotations

from pydantic import Field

from flows.chains import generate
from flows.judging import ask, judge_specs, read, report, score, tags_of
from flows.request import Chain
from flows.run import Run
from tasks.inference import INFERENCE
from tasks.parsing import PARSING
from tasks.scoring import SCORING


class Parameters(generate.Parameters):
    judges: tuple[str, ...] = Field(description="Judges, embedded or of the configuration file.")


def steps(run: Run, asked: Parameters) -> None:
    specs = judge_specs(asked.judges, run.configuration)
    release, answers = generate.exam(run, asked.world, asked.profile, asked.seed)
    responses = ask(run, specs, release=release)
    parsed = read(run, responses, release, tags_of(specs))
    score(run, answers, responses, parsed, asked.seed)
    report(run)


STAGES = (*generate.STAGES, INFERENCE, PARSING, SCORING)
CHAIN = Chain("audit", "Generate, infer, parse, score, report.", Parameters, steps, STAGES)
