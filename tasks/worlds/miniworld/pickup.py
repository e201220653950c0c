"""PickUp: pick up one of the things that lie about in MiniWorld's three rooms.

ThreeRooms has no reward of its own; here an episode ends with one when the agent carries what its mission names.

Causal chain  see the thing -> pick it up
Success       the agent carries the thing that the mission names
NoCue         that thing, before it is close (at most 12 frames)
CF            the thing changes places with another one, is moved off the path, or is removed
"""

from __future__ import annotations

from tasks.worlds.miniworld.environment import MiniWorldEnvironment, relocate, remove, swap


class PickUp(MiniWorldEnvironment):
    name = "pickup"
    default_id = "MiniWorld-ThreeRooms-v0"
    mission = "pick up the {thing}"
    causal_chain = ("see goal", "pickup goal")
    final_event = "pickup goal"
    nocue_target = "the thing to pick up"

    @classmethod
    def make(cls, env_id):
        from miniworld.envs.threerooms import ThreeRooms

        from tasks.worlds.miniworld.engine import make, thing_of

        class ThreeRoomsPickUp(ThreeRooms):
            def _gen_world(self):
                super()._gen_world()
                self.wanted = [
                    entity
                    for entity in self.entities
                    if entity is not self.agent and thing_of(entity).kind in ("box", "ball", "key")
                ]
                self.box = self.wanted[self.np_random.integers(len(self.wanted))]
                self.mission = cls.mission.format(thing=thing_of(self.box).name)

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
