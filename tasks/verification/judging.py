"""A stated number against the recomputed quantity: whether it is that, and what is wrong where it is not."""

from __future__ import annotations

from tasks.traces.units import from_canonical
from tasks.verification.quantities import Stated, is_slip_of_units, near, quantity, same
from tasks.verification.reference import Reference
from tasks.verification.verdict import CHECKS, Check, Expected, check
from tasks.verification.words import direction

OFF_BY_TEN = "off by a power of ten"
_CELSIUS = ("°C", "degC")
_COMMON_UNITS = ("km/h", "m/s")  # of which a number is often right while its unit is not


def fits(reference: Reference, stated: Stated, key: str) -> bool | None:
    """Whether a stated number is the quantity `key`; None where that quantity is not known."""
    expected = reference.solved.get(key)
    if not isinstance(expected, int | float):
        return None
    item, dimension = reference.family.quantities[key], reference.lexicon.dimensions[key]
    if (stated.value < 0 < expected and item.either_sign) or (expected < 0 < stated.value and _told_in_words(stated)):
        stated = stated._replace(value=-stated.value, raw=-stated.raw)
    if stated.dimension and stated.dimension != dimension:
        is_difference = item.difference and stated.dimension == "temperature"
        return is_difference and same(stated._replace(value=stated.raw), expected, "temperature")
    if item.difference and stated.unit in _CELSIUS:
        stated = stated._replace(value=stated.raw)
    if not stated.dimension:
        spelled = (from_canonical(expected, unit) for unit in item.spellings)
        return any(same(stated, value, "") for value in spelled) or same(stated, expected, dimension)
    return same(stated, expected, dimension)


def _told_in_words(stated: Stated) -> bool:
    """Whether words behind a size say that it is negative: to the left, or down, where right and up are positive."""
    way = direction(stated.told) if stated.told else None
    return way is not None and -1.0 in way


def reason(reference: Reference, stated: Stated, key: str, default: str) -> tuple[str, str]:
    """(label, rule) for a number that is not what it should be."""
    expected = float(reference.solved[key])
    item, dimension = reference.family.quantities[key], reference.lexicon.dimensions[key]
    if stated.dimension and stated.dimension != dimension:
        return "unit_scale", f"a {item.name} is not measured in {stated.unit}"
    change = reference.family.change
    if change and key in change:
        other = reference.solved.get(change[1] if key == change[0] else change[0])
        if isinstance(other, float | int) and same(stated, float(other), dimension):
            return "temporal", "this is the value of the other moment"
    if expected and dimension != "temperature":
        ratio = stated.value / expected
        if is_slip_of_units(ratio):
            return "unit_scale", OFF_BY_TEN
        if near(ratio, -1.0):
            return "unit_scale", "the sign is reversed"
    if unit := _unit_in_which(stated, expected, dimension, item.spellings):
        right, given = (spelled or "plain units" for spelled in (unit[0], stated.unit))
        return "unit_scale", f"the number is right in {right}, not in {given}"
    return default, "not the value that the scene implies"


def _unit_in_which(stated: Stated, expected: float, dimension: str, spellings: tuple[str, ...]) -> tuple[str] | None:
    """(the unit in which the number would be right); None where there is none."""
    plain = stated._replace(value=stated.raw)
    for spelled in (*spellings, *_COMMON_UNITS):
        known = dimension == (quantity(1.0, spelled) or stated).dimension
        kind = dimension if dimension == "temperature" else ""
        if known and spelled != stated.unit and same(plain, from_canonical(expected, spelled), kind):
            return (spelled,)
    return None


def judge(reference: Reference, name: str, stated: Stated, key: str, pointer: str) -> Check:
    """Hold a stated number against the recomputed quantity `key`."""
    ok = fits(reference, stated, key)
    if ok is None:
        return check(name, None, pointer, key, stated, f"{key} cannot be derived: {why_open(reference, key)}")
    if ok:
        return check(name, True, pointer, truth(reference, key), stated, "equals the recomputed value")
    label, rule = reason(reference, stated, key, CHECKS[name][1])
    return check(name, False, pointer, truth(reference, key), stated, rule, label)


def judge_told(
    reference: Reference, name: str, stated: Stated, keys: tuple[str, ...], firm: bool, pointer: str
) -> Check:
    """Hold a number against what it is said to be, where the words may leave that open. It is wrong only where one quantity is
    meant without doubt; else it is right if it is one of those that may be meant, and open if not."""
    fitting = next((key for key in keys if fits(reference, stated, key) or fits_changed(reference, stated, key)), None)
    if fitting is not None and isinstance(reference.solved.get(fitting), int | float):
        return check(name, True, pointer, truth(reference, fitting), stated, "equals the recomputed value")
    if firm and len(keys) == 1:
        return judge(reference, name, stated, keys[0], pointer)
    return check(name, None, pointer, " or ".join(keys), stated, "which quantity this is, is open")


def known_elsewhere(reference: Reference, stated: Stated) -> bool:
    """Whether a number is some quantity of the scene, whatever it is called."""
    dimensions = reference.lexicon.dimensions
    keys = (key for key, kind in dimensions.items() if not stated.dimension or kind == stated.dimension)
    return any(fits(reference, stated, key) or fits_changed(reference, stated, key) for key in keys)


def fits_changed(reference: Reference, stated: Stated, key: str) -> bool:
    """Whether a number is the quantity after the change that is asked for."""
    after = reference.counterfactual.after.get(key) if reference.counterfactual else None
    dimension = reference.lexicon.dimensions[key]
    if not isinstance(after, int | float) or stated.dimension not in ("", dimension):
        return False
    return same(stated, float(after), dimension)


def truth(reference: Reference, key: str) -> Expected:
    """The recomputed quantity, as a check shows it."""
    return Expected(key, float(reference.solved[key]), reference.family.quantities[key].unit)


def why_open(reference: Reference, key: str) -> str:
    """Why a quantity cannot be derived."""
    missing = reference.family.missing(reference.state, key)
    return f"{', '.join(missing)} not given" if missing else "no solution"
