"""An environment from outside the project: a MiniGrid world of one's own, and its card.

    PYTHONPATH=examples worldaudit run minigrid --profile examples/ferry.toml

Two rooms with a gap between them, and the goal in the second. The card below the world is all that the audit needs to know.
"""

from gymnasium import register
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Goal, Wall
from minigrid.minigrid_env import MiniGridEnv

from tasks.worlds.minigrid.environment import MiniGridEnvironment, relocate, remove
from tasks.worlds.minigrid.planner import places_of


class FerryWorld(MiniGridEnv):
    def __init__(self, size=9, **options):
        mission = MissionSpace(lambda: "get to the green goal square")
        super().__init__(mission_space=mission, grid_size=size, max_steps=200, **options)

    def _gen_grid(self, width, height):
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        gap = self._rand_int(1, height - 1)
        for y in set(range(1, height - 1)) - {gap}:
            self.grid.set(width // 2, y, Wall())
        self.place_obj(Goal(), top=(width // 2 + 1, 1))
        self.place_agent(top=(1, 1), size=(width // 2 - 1, height - 2))
        self.mission = "get to the green goal square"


register("Ferry-v0", FerryWorld)


class Ferry(MiniGridEnvironment):
    name, default_id = "ferry", "Ferry-v0"
    causal_chain, final_event = ("reach goal",), "reach goal"
    nocue_target, nocue_budget = "the goal", 5

    def plan(self, planner):
        planner.reach(planner.find("goal"))

    def targets(self, states):
        return places_of(states[0], "goal")

    def interventions(self, full):
        (goal,) = self.targets(full.states)
        return [("relocate goal", lambda: relocate(full, goal)), ("remove goal", lambda: remove(full, goal))]
