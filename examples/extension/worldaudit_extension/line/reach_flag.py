"""Reach the flag: the robot goes to the cell in which the flag stands.

Success: robot and flag in one cell. NoCue: the flag, in at most three frames, before the robot stands beside it.
Counterfactuals: the flag stands in another cell from the start, or is not there.
"""

from functools import partial

from worldaudit import Branch, Environment, Episode, Event, MaskBox, Rejected
from worldaudit_extension.line import WORLD
from worldaudit_extension.line.process import ENGINE
from worldaudit_extension.line.witness import LineWitness

HIDDEN = 127


def flag_box(state):
    """left, top, width, height of the flag with its pole in the frame of `state`."""
    return None if state["flag"] is None else (state["flag"] * 16 + 2, 6, 12, 30)


def near(state):
    return state["flag"] is not None and abs(state["robot"] - state["flag"]) <= 1


class ReachFlag(Environment):
    world, name, default_id = WORLD.name, "reach-flag", "Line-8-v0"
    causal_chain, final_event = ("reach flag",), "reach flag"
    nocue_target, nocue_budget = "the flag", 3
    frame_size = (128, 64)

    def _planned(self, seed):
        return self._episode(ENGINE("main", "run", seed, None, []), None)

    def execute(self, seed, actions, intervention=None):
        edits = intervention.parameters[self.changes] if intervention else []
        return self._episode(ENGINE("main", "run", seed, list(actions), edits), intervention)

    def _episode(self, ran, intervention):
        return Episode(
            mission="go to the flag",
            actions=ran["actions"],
            states=ran["states"],
            success=ran["reached"],
            terminated=ran["reached"],
            truncated=ran["truncated"],
            reward=float(ran["reached"]),
            intervention=intervention,
            events=self.events(ran["states"]),
        )

    def events(self, states):
        return [Event(step, "reach flag") for step, state in enumerate(states) if state["robot"] == state["flag"]]

    def nocue(self, full):
        far = [step for step, state in enumerate(full.states) if not near(state)][: self.nocue_budget]
        if not far:
            raise Rejected("the robot starts beside the flag")
        return [MaskBox(step, *flag_box(full.states[step])) for step in far]

    def interventions(self, full):
        start = full.states[0]
        passed = {state["robot"] for state in full.states}

        def move():
            cells = [cell for cell in range(8) if not passed & {cell - 1, cell, cell + 1}]
            if not cells:
                raise Rejected("there is no cell away from the robot's way")
            return [{"flag": cells[start["robot"] % len(cells)]}]

        return [("move flag", move), ("remove flag", lambda: [{"flag": None}])]

    def allowed_divergence(self, full, cf):
        for step, (a, b) in enumerate(zip(full.states, cf.states, strict=True)):
            if a["robot"] != b["robot"]:
                return f"the robot differs at step {step}"
        return None

    def encode(self, state):
        return dict(state)

    def decode(self, state):
        return dict(state)

    def frames(self, seed, episode):
        yield from ENGINE("main", "draw", episode.states)

    def hide(self, frame, boxes):
        frame = frame.copy()
        for box in boxes:
            frame[box.top : box.top + box.height, box.left : box.left + box.width] = HIDDEN
        return frame

    def branches(self, seed, actions, steps):
        def draw(state):
            return ENGINE("main", "draw", [state])[0]

        return {
            step: {
                action: Branch(state, partial(draw, state))
                for action, state in ENGINE("main", "after", seed, list(actions), step).items()
            }
            for step in steps
        }

    def contradicts(self, state, action, after):
        way = {"left": -1, "right": 1}[action]
        return after["flag"] != state["flag"] or after["robot"] != min(max(state["robot"] + way, 0), 7)

    def witness(self, seed, actions, intervention, full=None):
        edits = intervention.parameters[self.changes] if intervention else []
        ran = ENGINE("fresh", "run", seed, list(actions), edits)
        return LineWitness(self._episode(ran, intervention), flag_box, near)
