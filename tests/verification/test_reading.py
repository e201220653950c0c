from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.verification.lexicon import lexicon_of
from tasks.verification.quantities import number, quantity
from tasks.verification.words import direction, force_name, opposed


@pytest.mark.parametrize(
    ("value", "unit", "canonical"),
    [
        ("6.31 m/s²", None, 6.31), ("6.31 m/s^2", None, 6.31), ("36 km/h", None, 10.0), ("1.5 × 10^3 N", None, 1500.0),
        ("1,370 J/K", None, 1370.0), ("twelve meters per second", None, 12.0), ("30 degrees", None, 30.0), ("55.4 cm", None, 0.554),
        ({"value": "2.5e-3", "unit": "kg"}, None, 0.0025), (20, "°C", 293.15), ("−4 m/s", None, -4.0), ("0.2", "", 0.2),
        ({"value": {"value": 3, "unit": "g"}}, None, 0.003), ("9.8 newtons", None, 9.8), ("0.0898 kohm", None, 89.8), ("3*10^-2 T", None, 0.03),
    ],
)  # fmt: skip
def test_quantities(value, unit, canonical):
    assert quantity(value, unit).value == pytest.approx(canonical)


@pytest.mark.parametrize(
    "value", [None, True, "yes", "to the right", "", [], {"value": None}, float("inf"), "3 apples"]
)
def test_what_is_no_quantity(value):
    assert quantity(value) is None


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 1e9), st.sampled_from(["{:.6g}", "{:.5e}", "{:,.4f}"]))
def test_numbers_in_many_spellings(value, form):
    text = form.format(value)
    assert number(text)[0] == pytest.approx(float(text.replace(",", "")))


def test_directions_are_vectors_and_negation_counts():
    assert direction("to the left") == (-1, 0)
    assert direction("vertically upward") == (0, 1)
    assert direction("not to the right") == (-1, 0)
    assert direction("opposite to the left") == (1, 0)
    assert direction("along the wind") is None
    assert opposed(direction("up the incline"), direction("down the incline"))
    assert opposed(direction("up the incline"), direction("down"))
    assert opposed(direction("left"), direction("up"))
    assert not opposed(direction("perpendicular to the surface"), direction("perpendicular to the incline"))
    assert opposed((None, 1), (1, None)) is None


def test_names_of_forces():
    assert force_name("Weight of the box") == "gravity"
    assert force_name("static frictional force") == "friction"
    assert force_name("applied push") == "push"


def test_numbers_of_a_text_know_what_they_are_told_of():
    lexicon = lexicon_of("collision")
    text = "A cart of mass 2080 g has an initial velocity of -16.6 km/h, the sled of mass eight kg rests."
    numbers = lexicon.numbers(text, ("cart", "sled"))
    assert [(n.candidates, n.owner, round(n.stated.value, 3)) for n in numbers] == [
        (("m1", "m2"), "cart", 2.08), (("v1", "v2"), "cart", -4.611), (("m1", "m2"), "sled", 8.0),
    ]  # fmt: skip


def test_outcomes_with_negation():
    lexicon = lexicon_of("friction")
    assert lexicon.outcome("The box does not move") == "stays at rest"
    assert lexicon.outcome("The box starts to slide") == "starts to move"
    assert lexicon.outcomes_in("It starts to move, then stays at rest") == {"starts to move", "stays at rest"}
    assert lexicon.outcome("It starts to move, then stays at rest") is None
    assert lexicon_of("em_induction").outcome("it runs anticlockwise") == "counterclockwise"
