"""PickUp: pick up one of the things that lie about in MiniWorld's three rooms.

ThreeRooms has no reward of its own; here an episode ends with one when the agent carries what its mission names: the thing
that the configuration names (`...?thing=green_ball`), so that a reference and its query have the same mission.

Causal chain  see the thing -> pick it up
Success       the agent carries the thing that the mission names
NoCue         that thing, before it is close (at most 12 frames)
CF            the thing changes places with another one, is moved off the path, or is removed
"""

from __future__ import annotations

from tasks.errors import BadInput
from tasks.worlds.miniworld.environment import MiniWorldEnvironment, relocate, remove, swap


class PickUp(MiniWorldEnvironment):
    name = "pickup"
    default_id = "MiniWorld-ThreeRooms-v0?thing=green_ball"
    mission = "pick up the {thing}"
    causal_chain = ("see goal", "pickup goal")
    final_event = "pickup goal"
    nocue_target = "the thing to pick up"

    @classmethod
    def make(cls, env_id):
        from miniworld.envs.threerooms import ThreeRooms

        from tasks.worlds.miniworld.engine import make, thing_of

        class ThreeRoomsPickUp(ThreeRooms):
            def __init__(self, thing="green_ball", **options):
                self.wanted = thing.replace("_", " ")
                self.mission = cls.mission.format(thing=self.wanted)
                super().__init__(**options)

            def _gen_world(self):
                super()._gen_world()
                named = {thing_of(entity).name: entity for entity in self.entities if entity is not self.agent}
                if self.wanted not in named:
                    raise BadInput(f"no {self.wanted} lies in {env_id}; there are {', '.join(sorted(named))}")
                self.box = named[self.wanted]

            def step(self, action):
                observation, reward, terminated, truncated, info = super().step(action)
                if self.agent.carrying is self.box:
                    reward, terminated = reward + self._reward(), True
                return observation, reward, terminated, truncated, info

        return make(env_id, ThreeRoomsPickUp)

    def plan(self, planner):
        planner.take(planner.state.goal)

    def interventions(self, full):
        start = full.states[0]
        others = [
            index
            for index, thing in enumerate(start.things)
            if thing.kind in ("box", "ball", "key") and index != start.goal
        ]
        return [
            ("swap things", lambda: swap(start, start.goal, others[start.seed % len(others)])),
            ("relocate thing", lambda: relocate(self, full, start.goal)),
            ("remove thing", lambda: remove(start.goal)),
        ]
