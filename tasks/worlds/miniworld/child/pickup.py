"""PickUp in the child process: ThreeRooms, ended with a reward when the agent carries what the mission names."""

from __future__ import annotations

from typing import Any

from .entities import thing_of
from .errors import BadInput
from .simulator import Simulator, make


class PickUp(Simulator):
    def make(self, env_id: str) -> Any:
        from miniworld.envs.threerooms import ThreeRooms

        mission = self.mission

        class ThreeRoomsPickUp(ThreeRooms):  # type: ignore[misc]
            def __init__(self, thing: str = "green_ball", **options: Any):
                self.wanted = thing.replace("_", " ")
                self.mission = mission.format(thing=self.wanted)
                super().__init__(**options)

            def _gen_world(self) -> None:
                super()._gen_world()
                named = {thing_of(entity).name: entity for entity in self.entities if entity is not self.agent}
                if self.wanted not in named:
                    raise BadInput(f"no {self.wanted} lies in {env_id}; there are {', '.join(sorted(named))}")
                self.box = named[self.wanted]

            def step(self, action: int) -> Any:
                observation, reward, terminated, truncated, info = super().step(action)
                if self.agent.carrying is self.box:
                    reward, terminated = reward + self._reward(), True
                return observation, reward, terminated, truncated, info

        return make(env_id, ThreeRoomsPickUp)
