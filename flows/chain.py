"""The chain: from seeds to a report."""

from __future__ import annotations

from flows.run import Run, Step
from tasks.exams import ANSWERS, EXAMS, RELEASE
from tasks.gates import GATES
from tasks.inference import INFERENCE
from tasks.parsing import PARSING
from tasks.rendering import RENDERING
from tasks.reports import write_report
from tasks.rollouts import ROLLOUTS
from tasks.scoring import SCORING
from tasks.variants import VARIANTS


def generate(run: Run) -> tuple[Step, Step]:
    """Seeds -> the exam: the release that judges may see, and the answers that only the audit may."""
    rollouts = run.envs(ROLLOUTS)
    variants = run.envs(VARIANTS, rollouts=rollouts)
    rendering = run.envs(RENDERING, variants=variants)
    gates = run.envs(GATES, variants=variants, rendering=rendering)
    exams = run.envs(EXAMS, variants=variants, rendering=rendering, gates=gates)
    release = run.one(RELEASE, exams=exams)
    answers = run.one(ANSWERS, exams=exams, release=release)
    return release, answers


def infer(run: Run, release: Step) -> Step:
    """The exam -> every judge's responses."""
    return run.judges(INFERENCE, release=release)


def score(run: Run, release: Step, answers: Step, responses: Step) -> None:
    """Responses -> parsed answers, metrics, the report."""
    parsed = run.judges(PARSING, release=release, responses=responses)
    run.one(SCORING, answers=answers, responses=responses, parsed=parsed)
    run.report(write_report)


def audit(run: Run) -> None:
    """The whole chain."""
    release, answers = generate(run)
    responses = infer(run, release)
    score(run, release, answers, responses)


def infer_exam(run: Run) -> None:
    """Ask judges about an exam that is in the store."""
    infer(run, run.given(RELEASE))


def score_exam(run: Run) -> None:
    """Score the responses that are in the store for an exam that is in the store; asks nobody."""
    score(run, run.given(RELEASE), run.given(ANSWERS), run.given(INFERENCE))


CHAINS = {"audit": audit, "generate": generate, "infer": infer_exam, "score": score_exam}
