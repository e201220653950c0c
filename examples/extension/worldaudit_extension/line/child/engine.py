"""What runs in the child process: Python 3.9 or later and numpy, nothing of Worldaudit's."""

import os
import platform

import numpy as np

CELLS, CELL, HEIGHT = 8, 16, 64
ACTIONS = {"left": -1, "right": 1}
LIMIT = 20  # steps
SKY, GROUND, ROBOT, FLAG, POLE = (200, 220, 240), (90, 90, 90), (220, 40, 40), (40, 170, 60), (60, 60, 60)


class Line:
    """The simulator: the robot goes one cell a step; where the flag stands, the episode ends."""

    def __init__(self, cells):
        self.cells = cells

    def reset(self, seed, edits=()):
        robot, flag = np.random.RandomState(seed % 2**32).permutation(self.cells)[:2]
        self.state = {"robot": int(robot), "flag": int(flag)}
        for edit in edits:
            self.state["flag"] = edit["flag"]
        self.steps = 0
        return dict(self.state)

    def step(self, action):
        self.steps += 1
        self.state["robot"] = min(max(self.state["robot"] + ACTIONS[action], 0), self.cells - 1)
        reached = self.state["robot"] == self.state["flag"]
        return dict(self.state), reached, not reached and self.steps >= LIMIT

    def draw(self, state):
        frame = np.empty((HEIGHT, CELL * self.cells, 3), np.uint8)
        frame[:52], frame[52:] = SKY, GROUND
        left = state["robot"] * CELL
        frame[36:52, left + 2 : left + 14] = ROBOT
        if state["flag"] is not None:
            left = state["flag"] * CELL
            frame[6:36, left + 7 : left + 9] = POLE
            frame[8:20, left + 2 : left + 14] = FLAG
        return frame


class Engine:
    """What the parent calls. Made once for each set of options and role."""

    def __init__(self, simulator, env_id):
        self.simulator = simulator(int(env_id.split("-")[1]))

    def run(self, seed, actions, edits):
        """(states, reached, truncated) of the actions from a reset; None for actions: what leads to the flag."""
        states, reached, truncated = [self.simulator.reset(seed, edits)], False, False
        if actions is None:
            way = states[0]["flag"] - states[0]["robot"]
            actions = ["right" if way > 0 else "left"] * abs(way)
        for action in actions:
            if reached or truncated:
                break
            state, reached, truncated = self.simulator.step(action)
            states.append(state)
        return {"actions": list(actions), "states": states, "reached": reached, "truncated": truncated}

    def after(self, seed, actions, step):
        """What each action leads to after the first `step` of `actions`."""
        successors = {}
        for action in ACTIONS:
            self.run(seed, actions[:step], [])
            successors[action] = self.simulator.step(action)[0]
        return successors

    def draw(self, states):
        return [self.simulator.draw(state) for state in states]

    def python(self):
        return platform.python_version()

    def pid(self):
        return os.getpid()
