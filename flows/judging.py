"""The steps that several chains share: ask judges, read their answers, score them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flows.run import Run, Step
from tasks.config import Configuration
from tasks.inference import INFERENCE, JudgeSpec, parse_judge, resolve, stage_config
from tasks.parsing import PARSING
from tasks.reports import write_report
from tasks.scoring import SCORING
from tasks.stage import Config


def judge_specs(names: Iterable[str], configuration: Configuration) -> dict[str, JudgeSpec]:
    """The judges asked for. BadInput where there is no such judge, or its table is wrong."""
    known = {name: parse_judge(name, table, "configuration") for name, table in configuration.judges.items()}
    return resolve(names, known)


def ask(run: Run, specs: Mapping[str, JudgeSpec], step: str = INFERENCE.name, **inputs: Step) -> Step:
    """A release -> the responses of each judge. `inputs`: `release`, the same for all or one a judge, and `images` where its
    pictures lie in another artifact."""
    tokens = run.request.askings
    configs = {name: stage_config(name, spec, **tokens.get(f"{step}[{name}]", {})) for name, spec in specs.items()}
    return run.each(INFERENCE, configs, step, inputs)


def read(
    run: Run, responses: Step, release: Step, tags: Mapping[str, Sequence[str] | None], step: str = PARSING.name
) -> Step:
    """Responses of each judge -> what they answer. `tags`: by judge, the reasoning tags that are taken out first; None for the
    usual ones."""
    configs: dict[str, Config] = {
        judge: {} if own is None else {"think_tags": list(own)} for judge, own in tags.items()
    }
    return run.each(PARSING, configs, step, release=release, responses=responses)


def tags_of(specs: Mapping[str, JudgeSpec]) -> dict[str, Sequence[str] | None]:
    return {judge: spec.reasoning_tags for judge, spec in specs.items()}


def score(run: Run, answers: Step, responses: Step, parsed: Step, seed: int) -> Step:
    """Everything that was read -> scores, metrics, comparisons, findings."""
    return run.one(SCORING, {"seed": seed}, answers=answers, responses=responses, parsed=parsed)


def report(run: Run) -> None:
    run.report(write_report)
