"""A world as an installed package would offer it, and a MiniWorld environment with a simulator of its own."""

import sys

import pytest

from flows.runner import Runner
from storage import Store
from tasks import worlds
from tasks.errors import BadInput
from tasks.exams.gridworld.profiles import load
from tasks.exams.gridworld.prompts import load as prompt_set
from tasks.rollouts import ROLLOUTS
from tasks.worlds import WORLDS, environment, environments
from tasks.worlds.miniworld import check
from tests.conftest import generate

LAGOON = {
    "lagoon/__init__.py": """
from tasks.worlds.base import World
WORLD = World("lagoon", "The Lagoon", __name__, ("minigrid",), ("coin",), lambda: [("water", True, "wet")])
""",
    "lagoon/islands.py": """
from lagoon import WORLD
from tasks.worlds.minigrid.doorkey import DoorKey
class Islands(DoorKey):
    world, name, default_id = WORLD.name, "islands", "MiniGrid-DoorKey-6x6-v0"
""",
    "lagoon/profiles/tiny.toml": """
world = "lagoon"
prompts = "lagoon-v1"
[shards.islands]
env_id = "MiniGrid-DoorKey-6x6-v0"
groups = 2
C = { groups = 1, probes = false }
""",
    "lagoon/prompts/lagoon-v1.toml": '''
legend = "You see a lagoon."
[tasks.C]
text = """{evidence} {mission}: was it done? Answer yes or no."""
answer_format = "yes_no"
max_tokens = 16
evidence = { composite = "One picture.", split = "{count} pictures." }
framing = { neu = "", pos = "It was.", neg = "It was not." }
''',
    "lagoon-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: lagoon\nVersion: 1\n",
    "lagoon-1.dist-info/entry_points.txt": "[worldaudit.worlds]\nlagoon = lagoon:WORLD\n",
}
BLUE_ROOM = {
    "blue_room.py": """
from tasks.worlds.miniworld.oneroom import OneRoom
class BlueRoom(OneRoom):
    name, mission, nocue_target = "blueroom", "walk up to the {color} box", "the blue box"
    simulator = "blue_room_simulator.py:BlueBox"
""",
    "blue_room_simulator.py": """
from miniworld.envs.oneroom import OneRoom
from miniworld_child.simulator import Simulator, make
from paint import COLOR
class BlueBox(Simulator):
    def make(self, env_id):
        mission = self.mission.format(color=COLOR)
        class Blue(OneRoom):
            def _gen_world(self):
                super()._gen_world()
                self.box.color, self.mission = COLOR, mission
        return make(env_id, Blue)
""",
    "paint.py": "COLOR = 'blue'\n",
}
MISSING = [f"{name}: {message}" for name, works, message in check() if not works]


def install(files, folder, monkeypatch):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def lagoon(monkeypatch, tmp_path):
    install(LAGOON, tmp_path, monkeypatch)
    vars(WORLDS).pop("_offered", None)  # which is looked up once
    yield
    vars(WORLDS).pop("_offered", None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "lagoon"]:
        del sys.modules[name]


def test_it_brings_environments_profiles_and_prompts(lagoon, tmp_path):
    assert list(WORLDS)[-1] == "lagoon" and WORLDS["lagoon"].title == "The Lagoon"
    assert list(environments("lagoon")) == ["islands"] and "islands" not in environments("minigrid")
    made = generate(tmp_path / "store", profile="tiny", world="lagoon")
    answers, items = made.artifact("answers").read("answers"), made.artifact("release").read("items")
    assert set(answers["world"]) == {"lagoon"} and set(answers["env"]) == {"islands"}
    assert len(items) == 18 and items["prompt"].str.starts_with("You see a lagoon.").all()


def test_what_it_does_not_bring_is_said_with_what_there_is(lagoon):
    with pytest.raises(BadInput, match=r"no profile 'tinny' of lagoon \(did you mean 'tiny'\?\); there are tiny"):
        load("lagoon", "tinny")
    with pytest.raises(BadInput, match=r"unknown world 'lagon'.*'lagoon'"):
        load("lagon", "tiny")
    with pytest.raises(
        BadInput, match=r"unknown lagoon environment 'island' \(did you mean 'islands'\?\); there are islands"
    ):
        environment("lagoon", "island")
    with pytest.raises(BadInput, match=r"no prompt set 'lagoon-v2'; there are .*lagoon-v1"):
        prompt_set("lagoon-v2", "lagoon")
    with pytest.raises(BadInput, match="no prompt set 'lagoon-v1'"):
        prompt_set("lagoon-v1", "minigrid")


def test_an_environment_that_cannot_be_loaded_harms_no_other(monkeypatch, tmp_path, request):
    broken = {
        "reef-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: reef\nVersion: 1\n",
        "reef-1.dist-info/entry_points.txt": "[worldaudit.environments]\nreef = reef_that_is_not_there:Reef\n",
    }
    install(broken, tmp_path, monkeypatch)
    worlds._from_entry_points.cache_clear()
    request.addfinalizer(worlds._from_entry_points.cache_clear)
    assert "doorkey" in environments("minigrid")
    with pytest.raises(
        BadInput, match=r"environment 'reef' \(reef_that_is_not_there:Reef\) cannot be loaded: No module"
    ):
        environment("minigrid", "reef")


def test_the_projects_own_worlds_say_what_commands_and_reports_need():
    for name, world in WORLDS.items():
        assert world.name == name and world.title and world.distributions
        assert all(cls.world == name for cls in environments(name).values())
        assert world.judges[-3:] == ("coin", "always-fail", "always-success")
    assert [name for name, world in WORLDS.items() if world.required] == ["minigrid"]
    assert all(works for _, works, _ in WORLDS["minigrid"].check())


@pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING))
def test_a_users_miniworld_environment_with_a_simulator_beside_it(monkeypatch, tmp_path):
    install(BLUE_ROOM, tmp_path, monkeypatch)
    config = {"world": "miniworld", "env": "blue_room:BlueRoom", "env_id": "MiniWorld-OneRoom-v0", "seed": 3}
    with Runner(str(tmp_path / "store"), processes=0) as runner:
        ref = runner.map(ROLLOUTS, {"blue": (config | {"groups": 1}, {})})["blue"]
    (row,) = Store(tmp_path / "store").get(ref.stage, ref.key).arrow("trajectories").to_pylist()
    group, *_ = Store(tmp_path / "store").get(ref.stage, ref.key).arrow("groups").to_pylist()
    assert group["mission"] == "walk up to the blue box" and '"box","blue"' in row["states"][0] and row["success"]
