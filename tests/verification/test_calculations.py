"""Calculations in texts: LaTeX, Unicode, plain text, units inside, words around; each step against the next."""

from __future__ import annotations

import itertools

import pytest

from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.latex import plain
from tasks.traces.record import render
from tasks.verification.calculations import agree, calculations, label_of_step
from tasks.verification.verifier import verify
from tests.work import calls


def steps(text):
    return [agree(one, other) for chain in calculations(plain(text)) for one, other in itertools.pairwise(chain)]


@pytest.mark.parametrize(
    "text",
    [
        "so F = 2.4 * 3.5 = 8.4 N",
        r"$F = 2.4\,\text{kg} \times 3.5\ \frac{\text{m}}{\text{s}^2} = 8.4 \text{ N}$",
        "F = 2,4 kg · 3,5 m/s² = 8,4 N".replace(",", "."),
        "p = 12.5 kPa = 12500 Pa",
        "(24.0 cm)² = 576 cm² = 0.0576 m²",
        "15.0 * 20.0 / (20.0 - 15.0) = 60 cm",
        "E = 0.5·2.0·(3.0)² = 9 J, v = √(2·9/2.0) = 3 m/s",
        "cos 60° = 0.5; sin(30) = 0.5",
        r"\sqrt{2 \cdot 9.8 \cdot 0.45} = 2.97 \text{ m/s}",
        "12.0 V / 240 Ω = 0.05 A = 50 mA (half of what it was)",
        "I divide 3.3 by 1.1 and get 3. Then 4.4/1.1 = 4 is the ratio.",
        "0.123 - 0.121 = 0.0018",  # the rounding of the operands allows it
        "3.0×10⁻³·2.0×10² = 0.6",
    ],
)
def test_right_steps(text):
    assert steps(text)
    assert all(steps(text))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (r"$0.25 \times 9.8 \times \cos(20^\circ) = 3.1 \text{ N}$", "transition"),
        ("0.35 m = 3.5 cm", "unit_scale"),
        ("2.4 * 3.5 = 84 N", "unit_scale"),
        ("10.0 V / 250 Ω = 0.05 A", "transition"),
        ("W = 3.0·9.8 = 29.4 N = 0.294 N", "unit_scale"),
    ],
)
def test_wrong_steps(text, label):
    assert False in steps(text)
    wrong = [pair for chain in calculations(plain(text)) for pair in itertools.pairwise(chain) if not agree(*pair)]
    assert {label_of_step(*pair) for pair in wrong} == {label}


@pytest.mark.parametrize(
    "text", ["m = 3 kg", "2 times 4 = 8", "v = a t = 3 m/s", "m·9.8 = 5", "the mass is 3", "a > 3 = b"]
)
def test_what_is_no_calculation(text):
    assert steps(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9 = 3",
        "(" * 1000 + "3" + ")" * 1000 + " = 3",
        "1+" * 5000 + "1 = 5001",
        "{" * 5000 + " = 2 = 3",
        "1=" * 9000,
    ],
)
def test_bad_input_is_bounded_work(text):
    steps("2**3 = 8")  # what is loaded at the first use is not counted
    assert calls(lambda: steps(text)) < 300_000


def test_latex_as_plain_text():
    assert plain(r"\frac{a+b}{2} \cdot \sqrt[3]{8}") == "((a+b)/(2)) · ((8)^(1/(3)))"
    assert plain(r"$v_{\text{max}} = 3.0\,\mathrm{m/s}$, at 12^{\circ}") == "v_max = 3.0 m/s, at 12°"
    assert plain(r"10^{-3}\ \rho_{b} \Delta T \boxed{4}") == "10^-3 ρ_b ΔT 4"
    assert plain("no marks at all") == "no marks at all"


@pytest.mark.parametrize("part", ["forces", "relations"])
def test_the_work_grows_with_the_statements_and_no_faster(part):
    def work(statements):
        trace = render(bank.trace(FAMILIES["friction"], 0))
        told = trace["state_0"][part]
        trace["state_0"][part] = (told * statements)[:statements]
        assert verify(trace).z_ans == "valid"
        return calls(lambda: verify(trace))

    assert work(10_000) < 11 * work(1_000)
