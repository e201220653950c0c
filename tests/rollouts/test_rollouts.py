"""Seeds become groups deterministically; bad seeds are rows with a reason, and tries are bounded."""

import pytest

from storage import Store
from tasks import worlds
from tasks.errors import StageFailed
from tasks.rollouts import ROLLOUTS, TRIES, derived_seed
from tasks.stage import produce
from tasks.worlds.base import Rejected
from tasks.worlds.minigrid.doorkey import DoorKey


def groups_of(location, config):
    outcome = produce(str(location), ROLLOUTS, "x", config, {})
    return Store(location).get("rollouts", outcome.ref.key).read("groups")


def test_a_group_is_the_same_however_many_come_before_it(tmp_path):
    """GR3: candidate k depends on the run's seed and k alone."""
    config = {"world": "minigrid", "env": "keycorridor", "env_id": "MiniGrid-KeyCorridorS4R3-v0", "seed": 3}
    many = groups_of(tmp_path / "a", config | {"groups": 8})
    few = groups_of(tmp_path / "b", config | {"groups": 4, "first": 4})
    assert many[4:].equals(few)
    assert derived_seed(3, "a", 1) != derived_seed(3, "a", 2) != derived_seed(4, "a", 2)
    assert 0 <= derived_seed(2**60, "a", 0) < 2**31


def test_rejected_seeds_are_rows_with_their_reason(tmp_path):
    config = {"world": "minigrid", "env": "memory", "env_id": "MiniGrid-MemoryS7-v0", "seed": 3, "groups": 12}
    rows = groups_of(tmp_path, config)
    refused = rows.filter(~rows["accepted"])
    assert len(rows) - len(refused) == 12 and len(refused) > 0
    assert set(refused["reject_reason"]) == {"rollouts: the layout and start of an earlier group"}


def test_tries_are_bounded_and_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(worlds, "_REGISTERED", {})

    @worlds.register
    class Hopeless(DoorKey):
        name = "hopeless"
        tried = 0

        def rollout(self, seed):
            Hopeless.tried += 1
            raise Rejected("no way to (3, 3)")

    config = {"world": "minigrid", "env": "hopeless", "env_id": "MiniGrid-DoorKey-5x5-v0", "seed": 1, "groups": 5}
    with pytest.raises(StageFailed, match="gives 0 distinct clean rollouts in 24 candidates, 5 are wanted"):
        produce(str(tmp_path), ROLLOUTS, "x", config, {})
    assert Hopeless.tried == 5 * TRIES + TRIES
    assert Store(tmp_path).files.list("artifacts/rollouts") == []
