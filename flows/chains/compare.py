"""Two judges or two runs side by side: paired differences on the items that both were asked; a shard a pair."""

from __future__ import annotations

import pydantic
from pydantic import Field

from flows.request import Chain, ChainParameters
from flows.run import Run, Step
from tasks.exams import ANSWERS
from tasks.inference import INFERENCE
from tasks.parsing import PARSING
from tasks.scoring.compare import COMPARISON
from tasks.stage import Stage


class Side(pydantic.BaseModel):
    """A judge of a run: the keys of what it was asked and what it answered."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str
    answers: str
    responses: str
    parsed: str


class Parameters(ChainParameters):
    pairs: dict[str, tuple[Side, Side]] = Field(description="What is compared, by a name for each pair.")
    resamples: int = Field(default=20_000, ge=100, le=10_000_000, description="Of the bootstrap.")
    seed: int = Field(default=0, ge=0, lt=2**53, description="What the resamples are drawn from.")
    max_gap: float = Field(default=0.10, ge=0, le=1, description="Largest difference in the share of answers read.")


def steps(run: Run, asked: Parameters) -> None:
    how = {"resamples": asked.resamples, "seed": asked.seed, "max_gap": asked.max_gap}
    configs = {pair: {"names": [one.name, two.name], **how} for pair, (one, two) in asked.pairs.items()}
    run.each(COMPARISON, configs, inputs=_sides(run, asked))


def _sides(run: Run, asked: Parameters) -> dict[str, Step]:
    """`answers.first`, `parsed.second`, ...: what each side of a pair is read from."""
    tables: dict[str, Stage] = {"answers": ANSWERS, "responses": INFERENCE, "parsed": PARSING}
    return {
        f"{table}.{side}": run.given(
            stage,
            {pair: str(getattr(sides[place], table)) for pair, sides in asked.pairs.items()},
            step=f"{side}-{table}",
        )
        for place, side in enumerate(("first", "second"))
        for table, stage in tables.items()
    }


CHAIN = Chain("compare", "Two runs or judges side by side, with paired tests.", Parameters, steps, (COMPARISON,))
