"""Answers written by hand in the style of different models, each with what the verifier should say of it."""

from __future__ import annotations

import json

INCLINE = "A 5.0 kg block slides down a frictionless incline at 30 degrees. What is the acceleration of the block?"
FRICTION = (
    "A box of mass 10 kg rests on a floor with a static friction coefficient of 0.5 and a kinetic friction coefficient of 0.3. "
    "It is pushed to the right with a pushing force of 30 N. Does the box start to move or stay at rest?"
)


def incline(**changes):
    trace = {
        "scenario_family": "inclined_plane",
        "question": INCLINE,
        "state_0": {
            "objects": [{"name": "block", "attributes": {"mass": 5.0, "mass_unit": "kg"}}, {"name": "incline"}],
            "relations": [{"type": "on", "args": ["block", "incline"]}],
            "forces": [
                {"name": "gravity", "target": "block", "direction": "downward", "magnitude": 49, "unit": "N"},
                {"name": "normal", "target": "block", "direction": "perpendicular to the incline"},
            ],
            "variables": {"mass": "5.0 kg", "angle": "30°", "mu": 0},
        },
        "transition": {
            "rule": "Newton's second law",
            "effect": "The block accelerates down the incline at 4.9 m/s²",
            "equation": "a = g·sin(θ) = 9.8·sin(30°) = 4.9 m/s²",
        },
        "state_1": {"predicted_change": "It gains speed", "new_variables": {"acceleration": "4.9 m/s²"}},
        "answer": {"value": 4.9, "unit": "m/s²", "explanation": "The acceleration is 4.9 m/s²"},
    }
    return _merged(trace, changes)


def friction(**changes):
    trace = {
        "scenario_family": "friction",
        "question": FRICTION,
        "state_0": {
            "objects": [{"name": "box", "attributes": {"mass": {"value": 10, "unit": "kg"}}}, {"name": "floor"}],
            "relations": [{"type": "on", "args": ["box", "floor"]}],
            "forces": [
                {"name": "push", "target": "box", "direction": "right", "magnitude": 30, "unit": "N"},
                {"name": "static friction", "target": "box", "direction": "left", "magnitude": 30, "unit": "N"},
            ],
            "variables": {"mass": {"value": 10, "unit": "kg"}, "mu_s": 0.5, "mu_k": 0.3, "F_applied_N": 30},
        },
        "transition": {
            "rule": "static friction balances the push as long as it is below its limit",
            "effect": "The box does not move",
            "equation": "f_max = 0.5*10*9.8 = 49 N",
        },
        "state_1": {"predicted_change": "The box remains at rest", "new_variables": {"moves": False}},
        "answer": {"value": "no", "unit": None, "explanation": "The push is below the limit of 49 N"},
    }
    return _merged(trace, changes)


def _merged(trace, changes):
    for path, value in changes.items():
        holder = trace
        *parents, last = path.split("__")
        for part in parents:
            holder = holder[part]
        holder[last] = value
    return trace


FENCED = "```json\n" + json.dumps(incline(), ensure_ascii=False, indent=1) + "\n```"
CHATTY = (
    "Sure! Let me work through the physics {step by step}. Here is the trace:\n\n```json\n"
    + json.dumps(friction())
    + "\n```\nLet me know if you want more detail."
)
LATEX = json.dumps(incline(), ensure_ascii=False).replace(
    "a = g·sin(θ) = 9.8·sin(30°) = 4.9 m/s²", r"$a = g \sin(\theta) = 9.8 \cdot \sin(30^\circ) = \frac{9.8}{2} = 4.9$"
)
CUT_OFF = json.dumps(incline(derivation="The slope is 30 degrees and there is no friction, so only gravity"))[:-60]
CENTIMETERS = json.dumps(
    incline(
        transition__effect="The block accelerates down the incline at 490 cm/s^2",
        state_1__new_variables={
            "acceleration_cm": {"value": 490, "unit": "cm/s^2"},
            "acceleration": {"value": 490, "unit": "cm/s²"},
        },
        answer={"value": "490", "unit": "cm/s^2", "explanation": "The acceleration is 490 cm/s^2"},
    )
)
MISTAKEN_CENTIMETERS = json.dumps(incline(state_1__new_variables={"acceleration": {"value": 4.9, "unit": "cm/s²"}}))
DOES_NOT_MOVE = json.dumps(friction())
MOVES_AFTER_ALL = json.dumps(friction(transition__effect="The box slides to the right"))
CONTRADICTION = json.dumps(
    incline(answer={"value": 9.8, "unit": "m/s²", "explanation": "The acceleration is 4.9 m/s²"})
)
WORDS_AND_SCIENCE = json.dumps(
    incline(
        transition__effect="The block accelerates down the incline at 4.9e0 meters per second squared",
        state_0__variables={"mass": "five kg", "angle": "30 degrees", "mu": "0"},
    )
)
REVERSED_FRICTION = json.dumps(
    friction(
        state_0__forces=[
            {"name": "applied force", "target": "box", "direction": "rightward", "magnitude": 30, "unit": "N"},
            {"name": "friction", "target": "box", "direction": "to the right", "magnitude": 30, "unit": "N"},
        ]
    )
)
OPEN_FRICTION = json.dumps(
    incline(
        question="A block slides down an incline at 30 degrees. What is the acceleration of the block?",
        state_0__variables={"angle": "30°"},
        state_0__objects=[{"name": "block"}, {"name": "incline"}],
        state_0__forces=[],
        transition__equation="",
    )
)
HALLUCINATED_STATE = json.dumps(incline(state_0__variables={"mass": "5.0 kg", "angle": "60°", "mu": 0}))

# (text, how it decodes, labels that must be found, labels that must not be, z values that must hold)
ANSWERS = {
    "fenced": (FENCED, "ok", (), None, {"z_state": "valid", "z_trans": "valid", "z_ans": "valid", "z_faith": "valid"}),
    "chatty": (CHATTY, "ok", (), None, {"z_state": "valid", "z_trans": "valid", "z_ans": "valid"}),
    "latex": (LATEX, "ok", (), None, {"z_schema": "valid", "z_trans": "valid", "z_ans": "valid"}),
    "cut off": (CUT_OFF, "truncated", (), None, {"z_state": "valid", "z_trans": "valid"}),
    "in centimeters": (CENTIMETERS, "ok", (), None, {"z_trans": "valid", "z_ans": "valid"}),
    "centimeters for meters": (MISTAKEN_CENTIMETERS, "ok", ("unit_scale",), ("state",), {"z_trans": "invalid"}),
    "does not move": (DOES_NOT_MOVE, "ok", (), None, {"z_trans": "valid", "z_ans": "valid"}),
    "slides after all": (MOVES_AFTER_ALL, "ok", ("transition",), ("state",), {"z_trans": "invalid"}),
    "answer against the trace": (
        CONTRADICTION,
        "ok",
        ("faithfulness",),
        ("state",),
        {"z_ans": "invalid", "z_faith": "invalid"},
    ),
    "words and scientific": (WORDS_AND_SCIENCE, "ok", (), None, {"z_state": "valid", "z_trans": "valid"}),
    "friction with the push": (REVERSED_FRICTION, "ok", ("force",), ("transition",), {"z_state": "invalid"}),
    "friction left open": (OPEN_FRICTION, "ok", (), None, {"z_ans": "abstain"}),
    "another angle": (HALLUCINATED_STATE, "ok", ("state",), ("faithfulness",), {"z_state": "invalid"}),
}
