"""What tests of several stages share: a small exam, generated once a session by the real stages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from storage import Artifact, Store
from tasks.stage import Ref, Runner

SEED = 20261129


@dataclass(frozen=True)
class Generated:
    """The artifacts of a generated exam, by stage and shard."""

    store: Store
    refs: dict[str, dict[str, Ref]]

    def artifact(self, stage: str, shard: str = "all") -> Artifact:
        ref = self.refs[stage][shard]
        return self.store.get(ref.stage, ref.key)


def generate(folder: Path | str, profile: str = "smoke", world: str = "minigrid", processes: int = 0) -> Generated:
    """The chain from rollouts to answers, without a flow."""
    from tasks.exams import ANSWERS, EXAMS, RELEASE
    from tasks.exams.gridworld.profiles import load
    from tasks.gates import GATES
    from tasks.rendering import RENDERING
    from tasks.rollouts import ROLLOUTS
    from tasks.variants import VARIANTS

    plan = load(world, profile)
    shards = list(plan.shards)
    with Runner(str(folder), processes=processes) as runner:
        rollouts = runner.map(ROLLOUTS, {s: (plan.rollouts(s, SEED), {}) for s in shards})
        variants = runner.map(VARIANTS, {s: (plan.variants(s), {"rollouts": rollouts[s]}) for s in shards})
        rendering = runner.map(RENDERING, {s: (plan.place(s), {"variants": variants[s]}) for s in shards})
        gates = runner.map(
            GATES, {s: (plan.place(s), {"variants": variants[s], "rendering": rendering[s]}) for s in shards}
        )
        exams = runner.map(
            EXAMS,
            {
                s: (plan.exams(s, SEED), {"variants": variants[s], "rendering": rendering[s], "gates": gates[s]})
                for s in shards
            },
        )
        drafts = {f"exams.{s}": ref for s, ref in exams.items()}
        release = runner.map(RELEASE, {"all": ({}, drafts)})
        answers = runner.map(ANSWERS, {"all": ({}, drafts | {"release": release["all"]})})
    refs = {
        "rollouts": rollouts, "variants": variants, "rendering": rendering, "gates": gates, "exams": exams,
        "release": release, "answers": answers,
    }  # fmt: skip
    return Generated(Store(folder), refs)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The smoke exam of MiniGrid. Read only."""
    return generate(tmp_path_factory.mktemp("smoke"))
