"""An episode on the line executed again in a fresh engine."""

import numpy as np

from worldaudit import MaskBox, Witness
from worldaudit_extension.line.process import ENGINE


class LineWitness(Witness):
    def __init__(self, episode, flag_box, near):
        self.episode, self._flag_box, self._near = episode, flag_box, near
        self._frames = ENGINE("fresh", "draw", episode.states)

    def states(self):
        return self.episode.states

    def invalid_state(self, state):
        robot, flag = state.get("robot"), state.get("flag")
        if robot not in range(8) or (flag is not None and flag not in range(8)):
            return f"robot in cell {robot}, flag in cell {flag}, of 8"
        return None

    def misread(self, step, pixels, masked):
        differs = (pixels != self._frames[step]).any(axis=2)
        for box in masked:
            differs[box.top : box.top + box.height, box.left : box.left + box.width] = False
        return f"{differs.sum()} pixels at step {step} are not what the simulator draws" if np.any(differs) else None

    def faces_target(self, step):
        return self._near(self.episode.states[step])

    def target_boxes(self, step):
        box = self._flag_box(self.episode.states[step])
        return [MaskBox(step, *box)] if box else []
