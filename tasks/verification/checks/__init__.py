"""The checks, in the order in which a verdict lists them. Each is a function from what a trace states and the world that it
is held against to any number of checks; the modules are the areas that they decide (paper 2, appendix on the verifier)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tasks.verification.checks import answer, faithfulness, state, transition, trusted
from tasks.verification.reading import Reading
from tasks.verification.reference import Reference
from tasks.verification.verdict import Check

Checker = Callable[[Reading, Reference], Iterable[Check]]

FAMILY: tuple[Checker, ...] = (
    state.units,
    state.entities,
    state.relations,
    state.moment,
    transition.moment,
    state.quantities,
    state.attributes,
    state.conditions,
    state.contradictions,
    state.plausibility,
    state.forces,
    trusted.forces,
    trusted.contacts,
    trusted.words,
    transition.rule,
    transition.effect,
    transition.subject,
    transition.outcomes_by_body,
    transition.effect_values,
    transition.equations,
    transition.calculated,
    transition.evidence,
    transition.change,
    transition.results,
    transition.intervention,
    faithfulness.conclusion,
    answer.answer,
    transition.explanation,
)
# What can be said of a trace whose family is unknown.
ANY: tuple[Callable[[Reading, Reference | None], Iterable[Check]], ...] = (
    state.entities,
    state.relations,
    state.moment,
    transition.moment,
    transition.miscalculated,
    faithfulness.conclusion,
)
