"""What tests of several stages share: a small exam, generated once a session by the real stages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from flows.operations.launch import execute
from flows.request import Request
from storage import Artifact, Store
from storage.runs import artifacts_of
from tasks.stage import Ref

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
    store = Store(folder)
    request = Request(
        store=store.location,
        command="generate",
        chain="generate",
        parameters={"world": world, "profile": profile, "seed": SEED},
        configuration={"run": {"processes": processes}},
    )
    refs: dict[str, dict[str, Ref]] = {}
    for used in artifacts_of(execute(request)):
        refs.setdefault(used.step, {})[used.shard] = Ref(used.stage, used.key)
    return Generated(store, refs)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The smoke exam of MiniGrid. Read only."""
    return generate(tmp_path_factory.mktemp("smoke"))
