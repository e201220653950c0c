"""Physics of the 17 families: two independent routes to every answer, conservation laws, known values."""

from __future__ import annotations

import dataclasses
import math

import pytest

from tasks.traces import bank, gates
from tasks.traces.equations import evaluate
from tasks.traces.families import FAMILIES, RELEASE
from tasks.traces.record import render
from tasks.traces.units import dimension, from_canonical, to_canonical, unit

EACH = pytest.mark.parametrize("name", FAMILIES)


@EACH
def test_every_derived_quantity_has_an_equation_that_agrees(name):
    family = FAMILIES[name]
    for index in range(12):
        solved = family.solve(bank.trace(family, index).state)
        equations = family.equations(solved)
        reachable = [key for key in family.derived if key in solved and not key.startswith(("B", "theta", "dflux"))]
        assert set(reachable) == set(equations), "each derived quantity is stated once more, as text"
        for key, template in equations.items():
            numbers = {
                k: repr(float(v)) if float(v) >= 0 else f"({float(v)!r})"
                for k, v in solved.items()
                if not isinstance(v, str)
            }
            assert evaluate(template.format_map(numbers), {}) == pytest.approx(float(solved[key]), rel=1e-9), key


@EACH
def test_traces_pass_every_gate(name):
    family = FAMILIES[name]
    for index in range(18):
        record = bank.trace(family, index)
        failed = [gate for gate in gates.check_trace(record, render(record)) if not gate.passed]
        assert not failed


@EACH
def test_a_wrong_sign_in_solve_fails_the_recomputation_gate(name):
    family = FAMILIES[name]
    caught = 0
    for key in family.targets:
        functions = family.formulas[key]
        first = functions[0] if isinstance(functions, tuple) else functions

        def negated(first=first):
            import inspect

            names = ", ".join(inspect.signature(first).parameters)
            return eval(f"lambda {names}: -first({names})", {"first": first})

        broken = dataclasses.replace(family, formulas={**family.formulas, key: negated()})
        found = False
        for index in range(60):
            record = bank.trace(family, index)
            if record.target != key:
                continue
            told = dataclasses.replace(record, family=broken)
            gate = {g.gate: g for g in gates.check_trace(told, render(record))}["recomputation"]
            assert not gate.passed
            found = True
            break
        caught += found
    assert caught, "no target of the family was drawn"


def _solved(name, **state):
    family = FAMILIES[name]
    return family.solve({**family.constants, **state})


def test_conservation_in_collisions():
    for index in range(30):
        family = FAMILIES["collision"]
        s = family.solve(bank.trace(family, index).state)
        after = s["m1"] * s["v1f"] + s["m2"] * s["v2f"]
        assert after == pytest.approx(s["momentum"], rel=1e-9)
        energy = (s["m1"] * s["v1f"] ** 2 + s["m2"] * s["v2f"] ** 2) / 2
        if s["kind"] == "elastic":
            assert energy == pytest.approx(s["energy"], rel=1e-9)
        else:
            assert energy < s["energy"]


def test_work_and_energy_on_the_incline():
    family = FAMILIES["inclined_plane"]
    for index in range(30):
        s = family.solve(bank.trace(family, index).state)
        gain = s["mass"] * (s["v1"] ** 2 - s["v0"] ** 2) / 2
        height = s["distance"] * math.sin(math.radians(s["angle"])) * (1 if s["motion"] == "down" else -1)
        assert gain == pytest.approx(s["mass"] * s["g"] * height - s["friction"] * s["distance"], rel=1e-6)


def test_energy_of_pendulum_and_spring():
    for index in range(10):
        s = FAMILIES["pendulum"].solve(bank.trace(FAMILIES["pendulum"], index).state)
        assert s["v1"] ** 2 / 2 == pytest.approx(s["g"] * (s["h0"] - s["h1"]), rel=1e-9)
        s = FAMILIES["spring"].solve(bank.trace(FAMILIES["spring"], index).state)
        assert s["mass"] * s["v1"] ** 2 / 2 + s["e1"] == pytest.approx(s["e0"], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "state", "key", "expected"),
    [
        ("free_fall", {"h0": 11.2, "v0": 0.0}, "fall", 1.512),
        ("pulley", {"m1": 11.8, "m2": 15.3}, "acceleration", 1.2656),
        ("optics", {"f": 0.093, "do": 0.406}, "di", 0.1206),
        ("wave", {"f": 7804.0, "lam1": 1.433}, "v1", 11183.13),
        ("thermal", {"mass": 1.7, "c": 130.0, "T0": 279.55, "T1": 360.15}, "Q", 17812.6),
        ("em_induction", {"N": 5.0, "B": 1.217, "A": 0.3527, "theta0": 0.0, "theta1": 90.0, "dt": 0.77}, "emf", 2.7872),
        ("lever", {"weight1": 69.8, "d1": 0.9, "d2": 0.6}, "balance", 104.7),
        ("circuit", {"V": 9.1, "R1": 69.8, "R2": 59.6, "wiring": "series"}, "i1", 0.0703),
        ("projectile", {"v0": 24.3, "angle": 27.1}, "peak", 6.25),
    ],
)  # fmt: skip
def test_known_values(name, state, key, expected):
    assert _solved(name, **state)[key] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("field", "B0", "B1", "sense"),
    [("into", 0.2, 0.5, "counterclockwise"), ("into", 0.5, 0.2, "clockwise"), ("out of", 0.2, 0.5, "clockwise")],
)
def test_lenz(field, B0, B1, sense):
    assert _solved("em_induction", field=field, B0=B0, B1=B1)["sense"] == sense


def test_what_is_open_is_named_and_not_derived():
    family = FAMILIES["inclined_plane"]
    state = {**family.constants, "angle": 30.0, "motion": "down"}
    assert "acceleration" not in family.solve(state)
    assert family.missing(state, "acceleration") == ("mu",)


def test_special_units_agree_with_pint():
    import pint

    registry = pint.UnitRegistry()
    for spelled, name in (("°", "degree"), ("%", "percent")):
        assert unit(spelled).factor == pytest.approx(
            1.0 if spelled == "°" else float(registry.Quantity(1, name).to("dimensionless").magnitude)
        )
    for value, spelled, kelvin in ((20.0, "°C", 293.15), (68.0, "°F", 293.15), (20.0, "K", 20.0)):
        assert to_canonical(value, spelled) == pytest.approx(kelvin)
        assert from_canonical(kelvin, spelled) == pytest.approx(value)
    for one, other in (
        ("m/s²", "m/s^2"),
        ("m/s²", "m s⁻²"),
        ("kΩ", "V/mA"),
        ("N·m", "J"),
        ("Wb", "T·m²"),
        ("1/s", "Hz"),
    ):
        assert dimension(one) == dimension(other) != "unknown", (one, other)
    assert unit("furlongs per") is None


def test_families_are_found_by_being_there_in_the_order_of_the_release():
    assert tuple(FAMILIES)[:17] == RELEASE
    assert {family.name: name for name, family in FAMILIES.items()} == {name: name for name in FAMILIES}


def test_a_family_from_outside_is_generated_verified_and_keyed_apart(monkeypatch):
    from tasks.traces.pairs import make
    from tasks.traces.stages import TRACES, configs
    from tasks.verification.verifier import verify

    before = configs(17, 2026, 1)[TRACES.name]["lever"]
    monkeypatch.setattr(FAMILIES, "_registered", {})
    FAMILIES.register("seesaw", dataclasses.replace(FAMILIES["lever"], name="seesaw"))
    assert tuple(FAMILIES) == (*RELEASE, "seesaw")
    record = bank.trace(FAMILIES["seesaw"], 0)
    assert verify(render(record)).family == "seesaw"
    assert verify(render(record)).z_ans == "valid"
    assert all(verify(pair.rendered).labels for pair in make(record, "test", 8) if pair.label == "relation")
    after = configs(18, 2026, 1)[TRACES.name]
    assert list(after) == [*RELEASE, "seesaw"]
    assert after["lever"]["families"] == [*RELEASE, "seesaw"], "the same number of traces over other families"
    assert "families" not in before
    assert configs(17, 2026, 1, RELEASE)[TRACES.name]["lever"] == before


def test_what_is_peculiar_to_a_family_is_its_own():
    """No module of traces or verification names a family, but the registry and the family's own file."""
    import re
    from pathlib import Path

    vocabulary = {"friction", "buoyancy", "spring", "fluid", "wave", "lever"}  # words of forces and things, too
    wanted = re.compile(r"\b(?:" + "|".join(name for name in RELEASE if name not in vocabulary) + r")\b")
    root = Path(bank.__file__).parents[1]
    for path in (*root.glob("traces/*.py"), *root.glob("verification/**/*.py")):
        assert not wanted.search(path.read_text(encoding="utf-8")), path
