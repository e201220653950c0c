"""Meaning-preserving rewrites: what another writer may do to a trace without changing what it says.

The verifier must give a rewritten valid trace the verdict of the original. Each rewrite takes a trace and a random stream
and returns a new trace.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from typing import Any

from tasks.traces.record import plain, significant
from tasks.traces.units import from_canonical, to_canonical
from tasks.verification.quantities import QUANTITY

Trace = dict[str, Any]
OTHER_UNITS = {
    "m": ("cm", "mm"), "cm": ("m", "mm"), "kg": ("g",), "g": ("kg",), "s": ("ms",), "ms": ("s",), "N": ("kN",), "J": ("kJ",),
    "kJ": ("J",), "Pa": ("kPa",), "kPa": ("Pa",), "m/s": ("km/h", "cm/s"), "km/h": ("m/s",), "m/s²": ("cm/s²",), "V": ("mV",),
    "mV": ("V",), "A": ("mA",), "mA": ("A",), "Ω": ("kΩ",), "kΩ": ("Ω",), "°C": ("K",), "T": ("mT",), "mT": ("T",), "Wb": ("mWb",),
    "mWb": ("Wb",), "Hz": ("kHz",), "kHz": ("Hz",), "kg/m³": ("g/cm³",), "g/cm³": ("kg/m³",), "L": ("cm³",), "m²": ("cm²",),
    "cm²": ("m²",), "W": ("kW",), "N·m": ("kN·m",),
}  # fmt: skip
WORDS = (
    ("speeds up", "gains speed"), ("slows down", "loses speed"), ("to the right", "rightward"), ("to the left", "leftward"),
    ("starts to move", "begins moving"), ("stays at rest", "remains stationary"), ("rises", "goes up"), ("falls", "drops"),
    ("warms", "heats up"), ("cools", "gets colder"), ("grows", "gets longer"), ("shrinks", "gets shorter"),
    ("increases", "becomes larger"), ("decreases", "becomes smaller"), ("stays the same", "does not change"),
    ("counterclockwise", "anticlockwise"), ("sinks", "descends"),
)  # fmt: skip
FORCES = {
    "gravity": "weight",
    "normal": "normal force",
    "push": "applied force",
    "buoyancy": "buoyant force",
    "friction": "frictional force",
}
DIRECTIONS = {
    "down": "vertically downward",
    "up": "vertically upward",
    "left": "toward the left",
    "right": "toward the right",
}
RELATIONS = {
    "on": "resting_on", "touching": "in_contact_with", "apart": "separated_from", "attached_to": "fastened_to",
    "connected_to": "wired_to", "left_of": "to_the_left_of", "right_of": "to_the_right_of", "in": "inside",
}  # fmt: skip
SPOKEN = (
    ("m/s²", "meters per second squared"), ("kg/m³", "kilograms per cubic meter"), ("m/s", "meters per second"), ("°", " degrees"),
    ("Ω", "ohms"), ("kg", "kilograms"),
)  # fmt: skip


def _numbers(trace: Trace) -> list[tuple[dict[str, Any], str]]:
    """(quantity object, where) of every `{"value": number, "unit": ...}` of the trace."""
    numbers = []
    for table in (trace["state_0"]["variables"], trace["state_1"]["new_variables"]):
        numbers += [
            (value, "variable")
            for value in table.values()
            if isinstance(value, dict) and _is_number(value.get("value"))
        ]
    for thing in trace["state_0"]["objects"]:
        numbers += [
            (v, "attribute")
            for v in thing.get("attributes", {}).values()
            if isinstance(v, dict) and _is_number(v.get("value"))
        ]
    if _is_number(trace["answer"].get("value")):
        numbers.append((trace["answer"], "answer"))
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(trace: Trace, change: Callable[[str], str], question: bool = False) -> None:
    """Apply `change` to every sentence of the trace."""
    transition = trace["transition"]
    transition["effect"] = change(transition["effect"])
    transition["evidence"] = [change(fact) for fact in transition.get("evidence", [])]
    trace["state_1"]["predicted_change"] = change(trace["state_1"]["predicted_change"])
    if trace.get("derivation"):
        trace["derivation"] = change(trace["derivation"])
    if trace["answer"].get("explanation"):
        trace["answer"]["explanation"] = change(trace["answer"]["explanation"])
    if question:
        trace["question"] = change(trace["question"])


def other_units(trace: Trace, rng: random.Random) -> Trace:
    """Every structured quantity in another unit of its dimension, to four digits."""
    for quantity, _ in _numbers(trace):
        options = OTHER_UNITS.get(quantity.get("unit") or "")
        if options:
            spelled = rng.choice(options)
            canonical = to_canonical(quantity["value"], quantity["unit"])
            quantity["value"], quantity["unit"] = significant(from_canonical(canonical, spelled), 4), spelled
    return trace


def synonyms(trace: Trace, rng: random.Random) -> Trace:
    """Other words for changes, forces, directions and relations."""

    def change(text: str) -> str:
        for old, new in WORDS:
            text = re.sub(rf"\b{old}\b", new, text)
        return text

    _texts(trace, change)
    if isinstance(trace["answer"]["value"], str):
        trace["answer"]["value"] = change(trace["answer"]["value"])
    stated = trace["transition"].get("intervention")
    if stated:
        stated["response"] = change(stated["response"])
    for force in trace["state_0"]["forces"]:
        force["name"] = FORCES.get(force["name"], force["name"])
        force["direction"] = DIRECTIONS.get(force["direction"], force["direction"])
    for relation in trace["state_0"]["relations"]:
        relation["type"] = RELATIONS.get(relation["type"], relation["type"])
    return trace


def number_formats(trace: Trace, rng: random.Random) -> Trace:
    """Numbers as text: scientific, with thousands separators, with a times sign."""
    for quantity, _ in _numbers(trace):
        value = quantity["value"]
        mantissa, exponent = f"{value:.4e}".split("e")
        quantity["value"] = rng.choice(
            (
                f"{value:.4e}",
                f"{float(mantissa):g} × 10^{int(exponent)}",
                f"{value:,}",
                f"{float(mantissa):g}*10^{int(exponent)}",
            )
        )
    return trace


def reordered(trace: Trace, rng: random.Random) -> Trace:
    """Keys, objects, forces and relations in another order."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            items = list(value.items())
            rng.shuffle(items)
            return {key: shuffled(part) for key, part in items}
        if isinstance(value, list):
            return [shuffled(part) for part in value]
        return value

    for key in ("objects", "relations", "forces"):
        rng.shuffle(trace["state_0"][key])
    mixed: Trace = shuffled(trace)
    return mixed


def extra_objects(trace: Trace, rng: random.Random) -> Trace:
    """Objects that take no part."""
    trace["state_0"]["objects"] += [
        {"name": "ruler", "attributes": {"length": {"value": rng.randint(20, 60), "unit": "cm"}}},
        {"name": "notebook", "attributes": {"mass": {"value": round(rng.uniform(0.3, 1.2), 2), "unit": "kg"}}},
    ]
    return trace


def extra_text(trace: Trace, rng: random.Random) -> Trace:
    """Asides before and after the sentences."""
    trace["transition"]["effect"] = (
        "Considering everything given, this follows. " + trace["transition"]["effect"] + ", as expected"
    )
    trace["derivation"] = "Let us go step by step. " + trace["derivation"]
    trace["answer"]["explanation"] += ", which is what was asked for"
    trace["state_1"]["predicted_change"] += " by the end"
    return trace


def three_digits(trace: Trace, rng: random.Random) -> Trace:
    """Every number of the equation and of the tables rounded to three digits."""
    for quantity, _ in _numbers(trace):
        quantity["value"] = significant(quantity["value"])
    trace["transition"]["equation"] = re.sub(
        r"\d+\.\d+", lambda match: plain(float(match[0])), trace["transition"]["equation"]
    )
    return trace


def fields_left_out(trace: Trace, rng: random.Random) -> Trace:
    """Optional fields missing."""
    for holder, key in (
        (trace, "derivation"), (trace, "metadata"), (trace, "id"), (trace["transition"], "evidence"), (trace["transition"], "equation"),
        (trace["transition"], "rule"), (trace["answer"], "explanation"), (trace["state_0"], "assumptions"), (trace["state_0"], "forces"),
    ):  # fmt: skip
        if rng.random() < 0.6:
            holder.pop(key, None)
    return trace


def plain_ascii(trace: Trace, rng: random.Random) -> Trace:
    """Units and equations in ASCII."""

    def change(text: str) -> str:
        for old, new in (
            ("²", "^2"),
            ("³", "^3"),
            ("°C", " degC"),
            ("°", " deg"),
            ("kΩ", "kohm"),
            ("Ω", "ohm"),
            ("·", "*"),
            ("π", "pi"),
        ):
            text = text.replace(old, new)
        return text

    _texts(trace, change)
    equation = trace["transition"]["equation"]
    trace["transition"]["equation"] = (
        re.sub(r"°(?=[)\s·*/]|$)", "°", equation).replace("²", "^2").replace("·", "*").replace("π", "pi")
    )
    for quantity, _ in _numbers(trace):
        if quantity.get("unit"):
            quantity["unit"] = change(quantity["unit"]).strip()
    return trace


def spelled_units(trace: Trace, rng: random.Random) -> Trace:
    """Units in words."""

    def change(text: str) -> str:
        def spell(match: re.Match[str]) -> str:
            for symbol, words in SPOKEN:
                if match[2] == symbol:
                    return f"{match[1]} {words.strip()}"
            return match[0]

        return QUANTITY.sub(spell, text)

    _texts(trace, change)
    return trace


def latex(trace: Trace, rng: random.Random) -> Trace:
    """The equation in LaTeX."""
    text = trace["transition"]["equation"]
    text = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)
    for old, new in (
        ("·", " \\cdot "),
        ("θ", "\\theta "),
        ("μ", "\\mu "),
        ("ρ", "\\rho "),
        ("π", "\\pi "),
        ("°", "^\\circ"),
        ("²", "^2"),
        ("λ", "\\lambda "),
    ):
        text = text.replace(old, new)
    trace["transition"]["equation"] = f"${text}$"
    return trace


def flat_values(trace: Trace, rng: random.Random) -> Trace:
    """Quantities as texts: `"3.27 kg"` for value and unit."""
    for table in (trace["state_0"]["variables"], trace["state_1"]["new_variables"]):
        for key, value in table.items():
            if isinstance(value, dict) and value.get("unit"):
                table[key] = f"{plain(value['value'])} {value['unit']}"
    return trace


REWRITES: dict[str, Callable[[Trace, random.Random], Trace]] = {
    function.__name__: function
    for function in (
        other_units, synonyms, number_formats, reordered, extra_objects, extra_text, three_digits, fields_left_out, plain_ascii,
        spelled_units, latex, flat_values,
    )
}  # fmt: skip


def rewrite(trace: Trace, name: str, rng: random.Random) -> Trace:
    """A rewritten copy of a trace of the release form."""
    return REWRITES[name](copy.deepcopy(trace), rng)
