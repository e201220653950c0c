"""Seeds -> an exam: the release that judges may see, and the answers that only the audit may."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from flows.request import Chain, ChainParameters
from flows.run import Run, Step
from tasks.exams import ANSWERS, EXAMS, RELEASE
from tasks.exams.gridworld import profiles
from tasks.gates import GATES
from tasks.rendering import RENDERING
from tasks.rollouts import ROLLOUTS
from tasks.variants import VARIANTS

STAGES = (ROLLOUTS, VARIANTS, RENDERING, GATES, EXAMS, RELEASE, ANSWERS)
SEED: Any = Field(default=7, ge=0, lt=2**53, description="What everything that is drawn is drawn from.")


class Parameters(ChainParameters):
    world: str = Field(description="Which simulator the exam comes from.")
    profile: str = Field(default="base", description="How large the exam is: a profile's name, or its file.")
    seed: int = SEED


def exam(run: Run, world: str, profile: str, seed: int) -> tuple[Step, Step]:
    """The release and the answers, a shard an environment until they are gathered."""
    plan = profiles.load(world, profile)
    place = {shard: plan.place(shard) for shard in plan.shards}
    rollouts = run.each(ROLLOUTS, {shard: plan.rollouts(shard, seed) for shard in plan.shards})
    variants = run.each(VARIANTS, {shard: plan.variants(shard) for shard in plan.shards}, rollouts=rollouts)
    rendering = run.each(RENDERING, place, variants=variants)
    gates = run.each(GATES, place, variants=variants, rendering=rendering)
    items = {shard: plan.exams(shard, seed) for shard in plan.shards}
    exams = run.each(EXAMS, items, variants=variants, rendering=rendering, gates=gates)
    release = run.one(RELEASE, {}, exams=exams)
    run.exam(release)
    return release, run.one(ANSWERS, {}, exams=exams, release=release)


def steps(run: Run, asked: Parameters) -> None:
    exam(run, asked.world, asked.profile, asked.seed)


CHAIN = Chain("generate", "Only the exam release, from rollouts to exams.", Parameters, steps, STAGES)
