from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.traces.equations import NotMath, evaluate


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("9.8·sin(30°)", {}, 4.9),
        ("2π√(3.7/9.8)", {}, 3.8607),
        ("½·307.0·0.243²", {}, 9.064),
        ("-5·(0.0 - 0.429236)/0.77", {}, 2.78725),
        (r"\frac{1}{2} m v^2", {"m": 2, "v": 3}, 9.0),
        (r"$g \sin(\theta) - \mu g \cos(\theta)$", {"g": 9.8, "θ": 0.5, "μ": 0.2}, 2.97831),
        ("v0²·sin(2θ)/g", {"v0": 24.3, "θ": 0.473, "g": 9.8}, 48.871),
        ("((8.71 - 2.0)·(-2.94) + 2·5.01·8.92)/(8.71 + 5.01)", {}, 5.0765),
        (r"\sqrt{2 \cdot 9.8 \cdot 11.2}", {}, 14.816),
        ("1,250 + 2.5e2", {}, 1500.0),
        ("10⁻² · 3", {}, 0.03),
    ],
)
def test_values(text, values, expected):
    assert evaluate(text, values) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "text", ["", "F", "a ==", "__import__('os')", "1/0", "sqrt(-1)", "the block moves", "9**9**9**9", "(" * 500]
)
def test_what_is_no_mathematics(text):
    with pytest.raises(NotMath):
        evaluate(text, {})


@settings(max_examples=80, deadline=None)
@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4), st.floats(1, 89))
def test_against_python(a, b, angle):
    a, b, angle = (float(f"{x:.4g}") for x in (a, b, angle))
    assert evaluate(f"{a!r}·sin({angle!r}°) + {b!r}²/2", {}) == pytest.approx(
        a * math.sin(math.radians(angle)) + b * b / 2
    )


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_never_anything_but_a_number_or_notmath(text):
    with contextlib.suppress(NotMath):
        assert math.isfinite(evaluate(text, {}))
