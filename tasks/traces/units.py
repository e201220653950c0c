"""Units as quantities. `pint` decides what a unit means; each spelling is asked once a process.

A unit is reduced to (factor, offset, dimension): `value * factor + offset` is the value in the project's canonical unit
of that dimension (SI, but degrees for angles).
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


class Unit(NamedTuple):
    """`factor` and `offset` lead to the canonical unit; `dimension` is pint's, spelled one way, or `number`,
    `angle`, `temperature`."""

    factor: float
    offset: float
    dimension: str


NONE = Unit(1.0, 0.0, "number")
_SPECIAL = {
    "": NONE,
    "1": NONE,
    "turns": NONE,
    "turn": NONE,
    "times": NONE,
    "%": Unit(0.01, 0.0, "number"),
    "°": Unit(1.0, 0.0, "angle"),
    "deg": Unit(1.0, 0.0, "angle"),
    "degree": Unit(1.0, 0.0, "angle"),
    "degrees": Unit(1.0, 0.0, "angle"),
    "rad": Unit(57.29577951308232, 0.0, "angle"),
    "radians": Unit(57.29577951308232, 0.0, "angle"),
    "°C": Unit(1.0, 273.15, "temperature"),
    "degC": Unit(1.0, 273.15, "temperature"),
    "celsius": Unit(1.0, 273.15, "temperature"),
    "°F": Unit(5 / 9, 273.15 - 160 / 9, "temperature"),
    "K": Unit(1.0, 0.0, "temperature"),
    "kelvin": Unit(1.0, 0.0, "temperature"),
}

_NO_POWER = re.compile(r"\d\s*\)*\s*\*\*|\*\*\s*\(?\s*[-+]?\d{4}")  # 9**9**9 and kg**9999: pint would compute for ever


@functools.cache
def _registry():  # type: ignore[no-untyped-def]
    import pint

    return pint.UnitRegistry(cache_folder=None)


def normalize(unit: str) -> str:
    """One spelling for a unit as people write it: superscripts, middle dots, `^`, `m/s2`."""
    text = unit.strip().replace("·", "*").replace("⋅", "*").replace("×", "*").replace("^", "**").replace("Ω", "Ω")
    text = re.sub(r"(?<=[⁰¹²³⁴⁵⁶⁷⁸⁹])(?=[a-zA-Z])", "*", text)
    text = re.sub(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "**" + m[1].translate(SUPERSCRIPTS), text)
    text = re.sub(r"(?<=[a-zA-Z])(?=-?\d)", "**", text)
    text = text.replace("{", "").replace("}", "").replace("μ", "µ").replace("/kgK", "/(kg*K)")
    text = re.sub(r"/\s*kg(?:\s*[*]\s*|\s+)K\b", "/(kg*K)", text)  # J/kg·K means J/(kg·K)
    text = re.sub(r"(?<=[\w)])\s+(?=[a-zA-Z])", "*", text) if " per " not in text else text
    return text


@functools.lru_cache(maxsize=4096)
def unit(text: str) -> Unit | None:
    """What `text` means, or None where it is no unit."""
    text = text.strip()
    if text in _SPECIAL:
        return _SPECIAL[text]
    if len(text) > 40:
        return None
    spelled = normalize(text).replace("Ω", "ohm")
    if _NO_POWER.search(spelled):
        return None
    try:
        quantity = _registry().parse_units(spelled)
        base = _registry().Quantity(1, quantity).to_base_units()
    except Exception:  # pint raises a dozen kinds, down to tokenize errors
        return None
    parts = sorted((name, float(power)) for name, power in quantity.dimensionality.items() if power)
    dimension = " ".join(f"{name}^{power:g}" for name, power in parts) or "number"
    return Unit(round(float(base.magnitude), 15) or float(base.magnitude), 0.0, dimension)


def to_canonical(value: float, spelled: str) -> float:
    """`value` in the canonical unit; ValueError where the unit is unknown."""
    meant = unit(spelled)
    if meant is None:
        raise ValueError(f"unknown unit {spelled!r}")
    return value * meant.factor + meant.offset


def from_canonical(value: float, spelled: str) -> float:
    """The inverse of `to_canonical`."""
    meant = unit(spelled)
    if meant is None:
        raise ValueError(f"unknown unit {spelled!r}")
    return (value - meant.offset) / meant.factor


def dimension(spelled: str) -> str:
    """The dimension of a known unit; `unknown` otherwise."""
    meant = unit(spelled)
    return meant.dimension if meant else "unknown"
