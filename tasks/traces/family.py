"""What a physics family is: quantities, formulas, forces, relations, words, questions and a diagram, all as data.

A state is a plain dict from canonical keys to numbers (canonical units: SI, and degrees) and words
(conditions). `solve` extends a state by every quantity that follows from it. `equations` states each derived quantity
once more, as text that a trace can carry; the recomputation gate and the verifier evaluate it, so that a slip in a
formula and a slip in an equation show each other up.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tasks.traces.panel import Panel as Panel
else:
    Panel = Any

State = dict[str, float | str]
Solved = Mapping[str, Any]  # a state with all that follows from it

# Roles with a fixed meaning: two bodies of one kind, of which the first is followed; a single body; and an object that takes
# no part, which is in the picture and in the question.
FIRST, SECOND, BODY, BYSTANDER = "a", "b", "body", "bystander"
BODIES = ("block", "crate", "cart", "box", "sled", "trunk", "case", "bin")
SMALL_BODIES = ("ball", "stone", "puck", "marble", "coin", "pebble", "bead", "cork")
OPPOSITES = {
    "left": "right",
    "right": "left",
    "up": "down",
    "down": "up",
    "up the incline": "down the incline",
    "down the incline": "up the incline",
    "clockwise": "counterclockwise",
    "counterclockwise": "clockwise",
}


class Constant(NamedTuple):
    """The value of a constant, the values between which others round it, and how a check words that."""

    value: float
    low: float
    high: float
    rule: str


@dataclass(frozen=True)
class Quantity:
    """`unit` is canonical, `units` are the spellings in which a trace may state it (the first is canonical), `low` and
    `high` bound what a generated scene draws; derived quantities have none. `owner` is the role it belongs to."""

    name: str
    symbol: str
    unit: str
    units: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    owner: str = ""
    aliases: tuple[str, ...] = ()
    difference: bool = False  # of two temperatures: 5 °C is then 5 K
    either_sign: bool = False  # a size here, to which other conventions give a sign
    whole: bool = False  # a count: only whole numbers are drawn
    constant: Constant | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        return self.units or (self.unit,)


GRAVITY = Quantity(
    "gravitational acceleration",
    "g",
    "m/s²",
    constant=Constant(9.8, 9.7, 10.1, "gravitational acceleration near the ground"),
)
AWAY_FROM_CENTER = r"away from (?:the )?cent"


@dataclass(frozen=True)
class ForceSpec:
    """A force that acts in a solved state. `reversible`: scenes exist where it points the other way. `contrary`: a regular
    expression of directions that are no vector, yet wrong for it."""

    name: str
    target: str
    direction: str
    magnitude: str
    reversible: bool = False
    contrary: str = ""


@dataclass(frozen=True)
class Outcome:
    """The qualitative consequence: `key` in a solved state, the question that asks for it, and for each value a regular
    expression by which it is recognized in other people's words."""

    key: str
    question: str
    words: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """One family of scenes. `setting`, `effect` and `equations` are templates: `{role}` is an object's name, `{key}` a
    quantity as the trace states it."""

    name: str
    roles: Mapping[str, tuple[str, ...]]
    recognize: Mapping[str, str]  # role -> regular expression over other people's object names
    quantities: Mapping[str, Quantity]
    conditions: Mapping[str, tuple[str, ...]]
    formulas: Mapping[str, Callable[..., float | str] | tuple[Callable[..., float | str], ...]]
    equations: Callable[[Solved], Mapping[str, str]]
    relations: Callable[[Solved], tuple[tuple[str, str, str], ...]]
    forces: Callable[[Solved], tuple[ForceSpec, ...]]
    rules: tuple[str, ...]
    rule_words: str  # a regular expression that a statement of the right law matches
    setting: str
    effect: str
    subject: str  # the role that the question tracks
    headline: str  # the quantity that the effect states
    outcome: Outcome
    targets: tuple[str, ...]
    interventions: tuple[str, ...]  # parameters that a counterfactual question may change
    assumptions: tuple[str, ...]
    accept: Callable[[Solved], bool]
    draw: Callable[[Panel], None]
    change: tuple[str, str] | None = None  # (before, after): the same property at two moments
    initial: tuple[str, ...] = ()  # derived quantities of the initial state
    defaults: Mapping[str, str] = field(default_factory=dict)  # conditions that go without saying
    positive: tuple[
        str, ...
    ] = ()  # quantities that a counterfactual must leave above zero, else it tells another story
    two_moments: tuple[str, ...] = ()  # givens that are one property at two moments: exchanged, they tell another scene
    shared_outcome: Callable[[Solved], bool] = lambda s: False  # whether both bodies have the outcome of the first
    event: str = ""  # a regular expression of the event between the two moments, as in `after the ...`
    synonyms: Mapping[str, str] = field(default_factory=dict)  # other people's keys of its quantities
    contrary: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # condition -> option -> words that deny it
    laws: frozenset[str] = (
        frozenset()
    )  # the fields of physics that govern its scenes, as `verification.laws` names them
    causes: tuple[str, ...] | None = None  # forces that need a cause and have one here; None where that is not known
    smooth: bool = True  # whether scenes without friction are of this family
    second_outcome: Callable[[Solved], str | None] = lambda s: None  # the outcome of the second body, where it differs
    # (what cannot exist in a state, the rule that says so), by the words of the scene
    implausible: Callable[[State, str], tuple[str, str] | None] | None = None

    @functools.cached_property
    def givens(self) -> tuple[str, ...]:
        """Keys that a scene draws, in the order in which they are declared."""
        return tuple(key for key, quantity in self.quantities.items() if quantity.low is not None)

    @functools.cached_property
    def constants(self) -> dict[str, float]:
        """Values of the constants by key."""
        return {key: quantity.constant.value for key, quantity in self.quantities.items() if quantity.constant}

    @functools.cached_property
    def derived(self) -> tuple[str, ...]:
        """Numeric keys that follow from the givens."""
        known = {*self.givens, *self.constants}
        return tuple(key for key in self.quantities if key not in known)

    @functools.cached_property
    def _formulas(self) -> tuple[tuple[str, Callable[..., float | str], tuple[str, ...]], ...]:
        flat = []
        for key, functions in self.formulas.items():
            for function in functions if isinstance(functions, tuple) else (functions,):
                flat.append((key, function, tuple(inspect.signature(function).parameters)))
        return tuple(flat)

    def solve(self, state: Mapping[str, float | str]) -> State:
        """`state` and all that follows from it. What cannot be derived (an open condition, a missing number, no real
        solution) is left out; nothing that `state` says is overwritten."""
        solved: State = dict(state)
        while True:
            grew = False
            for key, function, needs in self._formulas:
                if key in solved:
                    continue
                try:
                    value = function(*[solved[need] for need in needs])
                except (KeyError, ZeroDivisionError, ValueError, OverflowError, TypeError):
                    continue
                if isinstance(value, complex) or value != value or value == "":
                    continue
                solved[key] = value
                grew = True
            if not grew:
                return solved

    def missing(self, state: Mapping[str, float | str], key: str) -> tuple[str, ...]:
        """The givens and conditions without which `key` cannot be derived from `state`; empty where it can be."""
        solved = self.solve(state)
        open_keys: list[str] = []
        seen: set[str] = set()

        def walk(wanted: str) -> None:
            if wanted in solved or wanted in seen:
                return
            seen.add(wanted)
            first = next((needs for name, _, needs in self._formulas if name == wanted), None)
            if first is None:
                open_keys.append(wanted)
                return
            for need in first:
                walk(need)

        walk(key)
        return tuple(dict.fromkeys(open_keys))
