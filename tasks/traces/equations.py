"""Equations as mathematics: text to number, through `sympy`, once for every shape of an equation.

Each number in a text becomes a placeholder; the shape that is left is parsed and compiled by sympy and kept, so that
equal shapes with other numbers cost a function call.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tasks.traces import latex

_NUMBER = re.compile(
    r"(?<![\w.])\d+(?:,\d{3})+(?:\.\d+)?(?![\d,])|(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?<![\w.])\.\d+"
)
_PLAIN = str.maketrans(
    {
        **dict(zip("·⋅×∙", "****", strict=True)),
        "−": "-",
        "–": "-",
        "÷": "/",
        "^": "**",
        "|": "",
        "½": " 0.5 ",
        "π": " pi ",
    }
    | {char: f"**{digit}" for digit, char in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
)
_ALLOWED = re.compile(r"^[\w\s+\-*/().,']*$")
_FUNCTIONS = ("sqrt", "sin", "cos", "tan", "exp", "log", "ln", "abs")


_BARE_ARGUMENT = re.compile(r"\b(sin|cos|tan|ln|log|exp|sqrt)\s+(\([^()]*\)|[\w.]+)")  # cos 30, sin θ
_PLACEHOLDER = re.compile(r"n\d+n")


class _Number(NamedTuple):
    """A number as it is written in an expression."""

    value: float
    decimals: int


class NotMath(ValueError):
    """The text is no expression that this module reads."""


def prepare(text: str) -> str:
    """Unicode and LaTeX mathematics as plain operators; degrees become radians where the sign ° says so."""
    text = latex.plain(text.strip())
    if "⁻" in text:
        text = re.sub(r"⁻([⁰¹²³⁴⁵⁶⁷⁸⁹])", r"**-\1", text).replace("-⁰", "-0")
        text = re.sub(r"-([¹²³⁴⁵⁶⁷⁸⁹])", lambda m: "-" + str("⁰¹²³⁴⁵⁶⁷⁸⁹".index(m[1])), text)
    text = text.translate(_PLAIN)
    if "√" in text:
        text = re.sub(r"√\s*\(", " sqrt(", text)
        text = re.sub(r"√\s*([\w.]+)", r" sqrt(\1)", text)
    if "°" in text:
        text = re.sub(r"([\d.]+)\s*°", r"(\1*pi/180)", text)
    return _BARE_ARGUMENT.sub(r"\1(\2)", text)


@functools.lru_cache(maxsize=8192)
def _compile(shape: str) -> tuple[Callable[..., float], tuple[int | str, ...]]:
    """The function of a shape and its arguments: the number of a placeholder, or the name of a symbol. NotMath where sympy cannot read it."""
    import sympy
    from sympy.parsing.sympy_parser import (
        implicit_multiplication,
        parse_expr,
        standard_transformations,
    )

    if not _ALLOWED.match(shape) or len(shape) > 400 or "__" in shape:
        raise NotMath(shape)
    names = [name for name in dict.fromkeys(re.findall(r"[^\W\d]\w*'?", shape)) if name not in (*_FUNCTIONS, "pi")]
    safe = {name: f"x{i}x" for i, name in enumerate(names)}
    text = re.sub(r"[^\W\d]\w*'?", lambda m: safe.get(m[0], m[0]), shape)
    symbols = {alias: sympy.Symbol(alias, real=True) for alias in safe.values()}
    scope = {name: getattr(sympy, "Abs" if name == "abs" else "log" if name == "ln" else name) for name in _FUNCTIONS}
    scope |= {
        name: getattr(sympy, name) for name in ("pi", "Integer", "Float", "Rational", "Symbol", "Add", "Mul", "Pow")
    }
    try:
        expression = parse_expr(
            text,
            local_dict=dict(symbols),
            global_dict=scope,
            transformations=(*standard_transformations, implicit_multiplication),
            evaluate=False,
        )
        function = sympy.lambdify(list(symbols.values()), expression, modules="math", cse=False)
    except Exception as error:  # the parser raises SyntaxError, TokenError, TypeError, AttributeError
        raise NotMath(shape) from error
    return function, tuple(int(name[1:-1]) if _PLACEHOLDER.fullmatch(name) else name for name in names)


@functools.lru_cache(maxsize=4096)
def _shape(text: str) -> tuple[str, tuple[_Number, ...]]:
    """The text with `n0n`, `n1n`, ... for its numbers, and the numbers."""
    numbers: list[_Number] = []

    def placeholder(match: re.Match[str]) -> str:
        digits = match[0].replace(",", "")
        numbers.append(_Number(float(digits), 0 if "e" in digits.lower() else len(digits.partition(".")[2])))
        return f"n{len(numbers) - 1}n"

    shape = _NUMBER.sub(placeholder, prepare(text))
    return " ".join(shape.split()), tuple(numbers)


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of an expression whose symbols `values` knows.

    Raises NotMath where the text is no mathematics, a symbol is unknown or the value is not a finite number.
    """
    function, names, numbers = _function(text)
    return _called(function, _arguments(text, names, numbers, values), text)


class Spread(NamedTuple):
    """A value, and how far it may be off because the numbers that it is computed from are rounded."""

    value: float
    rounding: float


def spread(text: str, values: Mapping[str, float]) -> Spread:
    """The value of an expression, its written numbers being rounded to the decimals that they show (whole ones are exact).
    Raises NotMath as `evaluate` does."""
    function, names, numbers = _function(text)
    arguments = _arguments(text, names, numbers, values)
    value = _called(function, arguments, text)
    rounding = 0.0
    for place, name in enumerate(names):
        if not isinstance(name, int) or numbers[name].decimals == 0:
            continue
        moved = list(arguments)
        moved[place] += 0.5 * 10.0 ** -numbers[name].decimals
        try:
            rounding += abs(_called(function, moved, text) - value)
        except NotMath:
            continue
    return Spread(value, rounding)


def _function(text: str) -> tuple[Callable[..., float], tuple[int | str, ...], tuple[_Number, ...]]:
    shape, numbers = _shape(text)
    if not shape:
        raise NotMath(text)
    return *_compile(shape), numbers


def _arguments(
    text: str, names: tuple[int | str, ...], numbers: tuple[_Number, ...], values: Mapping[str, float]
) -> list[float]:
    try:
        return [values[name] if isinstance(name, str) else numbers[name].value for name in names]
    except KeyError as error:
        raise NotMath(f"{text!r}: {error}") from error


def _called(function: Callable[..., float], arguments: list[float], text: str) -> float:
    try:
        result = function(*arguments)
        if isinstance(result, int | float) and math.isfinite(result):  # "1, 2" is a tuple, sqrt(-1) may be complex
            return float(result)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError) as error:
        raise NotMath(f"{text!r}: {error}") from error
    raise NotMath(text)
