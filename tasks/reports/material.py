"""What a report is made of: the tables of a run's artifacts, read once, and empty where a run has none of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from storage import Artifact, Store
from storage.runs import artifacts_of
from storage.tables import SCHEMAS
from tasks.exams import ANSWERS, EXAMS, RELEASE
from tasks.gates import GATES
from tasks.inference import INFERENCE
from tasks.parsing import PARSING
from tasks.rendering import RENDERING
from tasks.rollouts import ROLLOUTS
from tasks.scoring import SCORING
from tasks.variants import VARIANTS

GENERATION = (GATES.name, RENDERING.name, VARIANTS.name)  # what an exam's shard was built from


def empty(table: str) -> pl.DataFrame:
    return pl.from_arrow(SCHEMAS[table].empty_table())  # type: ignore[return-value]


def concat(table: str, artifacts: Mapping[str, Artifact]) -> pl.DataFrame:
    """`table` of every artifact; empty where there is none."""
    return pl.concat([empty(table), *(artifact.read(table) for artifact in artifacts.values())])


@dataclass(frozen=True)
class Material:
    """`run` is the run's record. Artifacts are by shard name; `found` holds those that are whole, by step; `lost` names
    those that the record names and the store has no more, or not whole."""

    run: Mapping[str, Any]
    found: Mapping[str, Mapping[str, Artifact]]
    lost: Sequence[str] = ()

    @classmethod
    def of(cls, store: Store, run: Mapping[str, Any]) -> Material:
        """The artifacts that the run's record names, and those that its exam was built from, as manifests name them."""
        found: dict[str, dict[str, Artifact]] = {}
        lost: list[str] = []
        for used in sorted(artifacts_of(run), key=lambda used: (used.step, used.shard)):
            if used.stage in (ROLLOUTS.name, EXAMS.name, *GENERATION):
                continue  # found through the exam, the same way whether this run or an earlier one made it
            if artifact := store.find(used.stage, used.key):
                found.setdefault(used.step, {})[used.shard] = artifact
            else:
                lost.append(f"{used.step}[{used.shard}]")
        for shard, key in _inputs(found.get(RELEASE.name, {}).get("all"), f"{EXAMS.name}."):
            if exam := store.find(EXAMS.name, key):
                found.setdefault(EXAMS.name, {})[shard] = exam
                for stage in GENERATION:
                    if artifact := store.find(stage, exam.manifest["inputs"].get(stage, "")):
                        found.setdefault(stage, {})[shard] = artifact
        return cls(run, found, lost)

    def all(self, step: str) -> Mapping[str, Artifact]:
        return self.found.get(step, {})

    @functools.cached_property
    def items(self) -> pl.DataFrame:
        return concat("items", self.all(RELEASE.name))

    @functools.cached_property
    def images(self) -> list[pa.Table]:
        """The exam's pictures, a table a part."""
        return [batch for artifact in self.all(RELEASE.name).values() for batch in artifact.batches("images")]

    @functools.cached_property
    def answers(self) -> pl.DataFrame:
        return concat("answers", self.all(ANSWERS.name))

    @functools.cached_property
    def responses(self) -> pl.DataFrame:
        return concat("responses", self.all(INFERENCE.name))

    @functools.cached_property
    def canaries(self) -> pl.DataFrame:
        return concat("canaries", self.all(INFERENCE.name))

    @functools.cached_property
    def parsed(self) -> pl.DataFrame:
        return concat("parsed", self.all(PARSING.name))

    @functools.cached_property
    def scores(self) -> pl.DataFrame:
        return concat("scores", self.all(SCORING.name))

    @functools.cached_property
    def metrics(self) -> pl.DataFrame:
        return concat("metrics", self.all(SCORING.name))

    @functools.cached_property
    def comparisons(self) -> pl.DataFrame:
        return concat("comparisons", self.all(SCORING.name))

    @functools.cached_property
    def findings(self) -> pl.DataFrame:
        return concat("findings", self.all(SCORING.name))

    @functools.cached_property
    def groups(self) -> pl.DataFrame:
        return concat("groups", self.all(GATES.name))

    @functools.cached_property
    def gate_results(self) -> pl.DataFrame:
        """Of the gates on trajectories and of those on items, with `env` (the shard)."""
        both = [
            artifact.read("gate_results").with_columns(env=pl.lit(shard))
            for step in (GATES.name, EXAMS.name)
            for shard, artifact in self.all(step).items()
        ]
        return pl.concat([empty("gate_results").with_columns(env=pl.lit("")), *both])

    @property
    def judges(self) -> list[str]:
        """Those that the run names first, in its order, then any other that has answered."""
        answered = self.responses["judge"].unique(maintain_order=True).to_list()
        return list(dict.fromkeys([*self.run["judges"], *answered]))

    def spec(self, judge: str) -> dict[str, Any]:
        """How the judge was configured; empty for answers that were collected elsewhere."""
        artifact = self.all(INFERENCE.name).get(judge)
        return (artifact.manifest["config"].get("spec") or {}) if artifact else {}


def _inputs(artifact: Artifact | None, prefix: str) -> Iterator[tuple[str, str]]:
    for role, key in sorted((artifact.manifest["inputs"] if artifact else {}).items()):
        if role.startswith(prefix):
            yield role.removeprefix(prefix), key
