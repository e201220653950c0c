"""Formulas in symbols against the values of a scene."""

from __future__ import annotations

import pytest

from tasks.verification.verifier import verify

QUESTIONS = {
    "pulley": "A crate of mass 6 kg and a box of mass 4 kg hang from one string over an ideal pulley, the crate to the left of the box. The "
    "heavier one is already descending with an initial speed of 1 m/s; the elapsed time is 0.5 s. What is the acceleration of the crate?",
    "circuit": "A battery with a voltage of 12 V feeds a lamp with a resistance of 60 Ω. Then a heater with a resistance of 140 Ω is added in "
    "series. Does the current from the battery rise or fall?",
    "optics": "A candle with an object height of 4 cm stands to the left of a thin converging lens with a focal length of 20 cm, at an object "
    "distance of 30 cm. What is the image distance of the candle?",
    "friction": "A box of mass 5 kg rests on a floor with a static friction coefficient of 0.7 and a kinetic friction coefficient of 0.1. It is "
    "pushed to the right with a pushing force of 20 N. What is the friction force of the box?",
    "thermal": "A plate of mass 2 kg with a specific heat of 500 J/(kg·K) and an initial temperature of 80 °C touches a stove and is cooled by a "
    "heat of 20000 J. What is the final temperature of the plate?",
    "spring": "A cart of mass 2 kg on a smooth floor is fastened by a spring with a stiffness of 200 N/m to a wall; the wall is to the left of "
    "the cart. The spring is stretched by an initial displacement of 0.3 m and released from rest. The later displacement is 0.1 m. "
    "What is the acceleration at release of the cart?",
}
VARIABLES = {
    "pulley": {"m_crate": "6 kg", "m_box": "4 kg"},
    "circuit": {"U": "12 V", "R_lamp": "60 Ω", "R_heater": "140 Ω"},
    "optics": {"f": "20 cm", "d_o": "30 cm"},
    "friction": {"m": "5 kg", "mu_s": 0.7, "F": "20 N"},
    "thermal": {"m": "2 kg", "c": "500 J/(kg·K)", "Q": "20000 J"},
    "spring": {"m": "2 kg", "k": "200 N/m", "x": "0.3 m"},
}


def formulas(family, equation):
    """(status, label) of what is said of an equation."""
    trace = {
        "scenario_family": family,
        "question": QUESTIONS[family],
        "state_0": {"objects": [], "relations": [], "forces": [], "variables": VARIABLES[family], "assumptions": []},
        "transition": {"rule": "", "effect": "", "equation": equation, "evidence": []},
        "state_1": {"predicted_change": "", "new_variables": {}},
        "derivation": "",
        "answer": {"value": None, "unit": None, "explanation": ""},
    }
    return {(one.status, one.label) for one in verify(trace).checks if one.pointer.startswith("/transition/equation")}


@pytest.mark.parametrize(
    ("family", "equation"),
    [
        ("pulley", "a = (m_crate - m_box)·g/(m_crate + m_box)"),
        ("pulley", "a = (m1 - m2) g / (m1 + m2)"),
        ("pulley", r"$T = \frac{2 m_1 m_2 g}{m_1 + m_2}$"),
        ("circuit", "R = R_lamp + R_heater"),
        ("circuit", "I = U/(R_lamp + R_heater) = 12/200 = 0.06 A"),
        ("circuit", "I1 = U/R"),
        ("optics", "1/f = 1/d_o + 1/d_i"),
        ("optics", "1/20 = 1/30 + 1/d_i"),
        ("optics", "d_i = f·d_o/(d_o − f)"),
        ("friction", "N = m g; f_max = μs N"),
        ("thermal", "ΔT = Q/(m c)"),
        ("spring", "a = kx/m"),
        ("spring", "a = k·x₀/m"),
    ],
)
def test_right_formulas(family, equation):
    assert formulas(family, equation) == {("valid", "transition")}


@pytest.mark.parametrize(
    ("family", "equation", "label"),
    [
        ("pulley", "a = (m1 + m2)·g/(m1 - m2)", "transition"),
        ("pulley", "T = m1·m2·g/(m1 + m2)", "transition"),
        ("circuit", "R = R_lamp·R_heater/(R_lamp + R_heater)", "transition"),
        ("circuit", "I = U·R = 12/200 = 0.06 A", "transition"),
        ("optics", "1/d_i = 1/f + 1/d_o", "transition"),
        ("optics", "1·20 = 1/30 + 1/d_i", "transition"),
        ("friction", "N = m/g", "transition"),
        ("thermal", "ΔT = Q·m/c", "transition"),
        ("spring", "a = k·x/(10·m)", "unit_scale"),
    ],
)
def test_wrong_formulas(family, equation, label):
    assert ("invalid", label) in formulas(family, equation)


@pytest.mark.parametrize(
    ("family", "equation"),
    [
        ("pulley", "a = (M - m)·g/(M + m)"),  # which mass is M?
        ("pulley", "q = m1·g"),
        ("circuit", "W = U·I·s"),
        ("optics", "B/G = b/g"),
        ("friction", "F_net = F - f_r"),
        ("spring", "the cart is pulled = to the wall"),
    ],
)
def test_what_is_open_is_not_judged(family, equation):
    assert "invalid" not in {status for status, _ in formulas(family, equation)}
