"""The transition and the resulting state, with the physics solved again: rule, effect, equation, evidence, predicted change,
new variables, intervention, explanation (paper 2, transition verifier)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from tasks.traces.family import BYSTANDER, FIRST, SECOND
from tasks.traces.record import snake
from tasks.verification.binding import spelled_label
from tasks.verification.calculations import CLAUSE, EQUALS, agree, calculations, label_of_step, same_kind, side_of
from tasks.verification.fields import as_text
from tasks.verification.formulas import Symbols, compared
from tasks.verification.judging import fits, fits_changed, judge, judge_told, known_elsewhere, reason, truth, why_open
from tasks.verification.laws import belongs
from tasks.verification.lexicon import TextNumber
from tasks.verification.quantities import Stated, is_slip_of_units, near, same
from tasks.verification.reading import BoundNumber, Reading, Text
from tasks.verification.reference import Reference
from tasks.verification.verdict import ABSTAIN, INVALID, Check, check
from tasks.verification.words import DIRECTIONS, moment_words

LONGEST_EQUATION = 2000
_DECIMAL = re.compile(r"\d\.\d|\d{3}")
_SUBCLAUSE = re.compile(r"[,;.]\s|\band\b|\bwhile\b|\bwhereas\b|\bbut\b|\bso\b")
_FROM = re.compile(r"\bfrom\b")


def moment(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """The result is not told of the earlier moment (`from ... to ...` names both)."""
    before, after = moment_words(reference.family.event if reference else "")
    match = before.search(reading.change.text)
    if match and not _FROM.search(reading.change.text):
        pointer, rule = "/state_1/predicted_change", "the result is told of the earlier moment"
        yield check("temporal words after", False, pointer, "the state after", match[0], rule)
    match = before.match(reading.effect.text)
    if match and not after.search(reading.effect.text):
        pointer, rule = "/transition/effect", "the effect is told of the earlier moment"
        yield check("temporal words after", False, pointer, "what happens", match[0], rule)


def rule(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The rule names the family's law, and not that of another."""
    if reading.rule:
        named = belongs(reading.rule, reference.family.laws)
        if named is None and reference.lexicon.rule.search(reading.rule):
            named = True
        why = "this law governs other scenes" if named is False else "the rule names the law"
        yield check("rule", named, "/transition/rule", "the family's law", reading.rule, why)


def effect(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The outcome that the effect claims."""
    claim = reference.lexicon.outcome(reading.effect.text)
    if claim is None:
        return
    key, outcome = reference.family.outcome.key, reference.outcome
    if outcome is None:
        why = f"the outcome cannot be derived: {why_open(reference, key)}"
        yield check("effect", None, "/transition/effect", key, claim, why)
    else:
        why = "the outcome that follows from the state"
        yield check("effect", claim == outcome, "/transition/effect", outcome, claim, why)


def subject(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The effect is told of the object that the question tracks."""
    binding, family, tracked = reference.binding, reference.family, reference.subject
    mentioned = binding.mentioned(reading.effect.text)
    if not mentioned or not tracked:
        return
    if tracked in mentioned:
        why = "the effect is told of the object in question"
        yield check("subject", True, "/transition/effect", tracked, tracked, why)
        return
    strangers = any(binding.role(name) in (None, BYSTANDER) for name in mentioned)
    second = binding.names.get(SECOND)
    of_second = family.subject == FIRST and second in mentioned
    other = of_second and (reference.gold or second not in reference.asked.objects)
    if (strangers or other) and tracked.lower() in family.roles[family.subject]:
        names, why = ", ".join(sorted(mentioned)), "the effect is told of another object"
        yield check("subject", False, "/transition/effect", tracked, names, why)


def outcomes_by_body(reading: Reading, reference: Reference) -> Iterator[Check]:
    """What is said to become of each of two bodies, clause by clause, where their outcomes differ."""
    first, other = reference.outcome, reference.family.second_outcome(reference.solved)
    names = reference.binding.names
    if not isinstance(first, str) or other is None or not {FIRST, SECOND} <= names.keys():
        return
    due = {names[FIRST]: first, names[SECOND]: other}
    for pointer, text in (
        ("/transition/effect", reading.effect.text),
        ("/state_1/predicted_change", reading.change.text),
        ("/derivation", reading.derivation.text),
    ):
        for clause in _SUBCLAUSE.split(text):
            mentioned = reference.binding.mentioned(clause) & due.keys()
            claims = reference.lexicon.outcomes_in(clause)
            if len(mentioned) == 1 and len(claims) == 1:
                name, claim = mentioned.pop(), claims.pop()
                ok, why = due[name] == claim, f"what becomes of the {name}"
                yield check("exchanged outcome", ok, pointer, due[name], clause.strip(), why)


def effect_values(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The numbers of the effect."""
    for bound in reading.effect.numbers:
        yield from _told(reference, bound, reading.effect, "effect value", "/transition/effect")


def _told(reference: Reference, bound: BoundNumber, text: Text, name: str, pointer: str) -> Iterator[Check]:
    """A number of a sentence, against what it is told of; the rest of the sentence may give its direction."""
    key, number = bound
    if key is None:
        yield from _unnamed(reference, number.stated, name, pointer)
        return
    stated = number.stated._replace(told=text.text[number.end :] or text.text)
    firm = fits(reference, stated, key) is not False or _is_firm(reference, text, number, key)
    yield judge_told(reference, name, stated, (key,), firm, pointer)


def _unnamed(reference: Reference, stated: Stated, name: str, pointer: str) -> Iterator[Check]:
    """A number without a name may be any known quantity of its dimension."""
    if not stated.dimension or stated.dimension == "number":
        return
    dimensions = reference.lexicon.dimensions
    keys = [key for key, kind in dimensions.items() if kind == stated.dimension and key in reference.solved]
    fitting = any(fits(reference, stated, key) or fits_changed(reference, stated, key) for key in keys)
    why = "equals a recomputed value" if fitting else "nothing says which quantity this is"
    yield check(name, True if fitting else None, pointer, "a known quantity", stated, why, "transition")


def equations(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The equation: its calculations, its formula with the values of the state, its result; it abstains where none can be
    evaluated."""
    text = reading.equation[:LONGEST_EQUATION]
    if not text:
        return
    decided = False
    for made in itertools.chain(
        _calculated(text, "equation", "/transition/equation"), _formulas(text, reading, reference)
    ):
        decided = decided or made.status != ABSTAIN
        yield made
    if not decided:
        expected, why = "an equation that can be evaluated", "not read as mathematics"
        yield check("equation", None, "/transition/equation", expected, text, why)


def miscalculated(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """Calculations that are wrong whatever the physics is."""
    made = itertools.chain(
        _calculated(reading.equation[:LONGEST_EQUATION], "equation", "/transition/equation"),
        calculated(reading, reference),
    )
    yield from (one for one in made if one.status == INVALID)


def calculated(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """The calculations in sentences and in values. That they are right does not make the transition right."""
    texts = [
        ("/transition/effect", reading.effect.text),
        *((f"/transition/evidence/{i}", fact.text) for i, fact in enumerate(reading.evidence)),
        ("/state_1/predicted_change", reading.change.text),
        ("/derivation", reading.derivation.text),
        ("/answer/explanation", reading.explanation.text),
        *((result.pointer, as_text(result.value)) for result in reading.results),
    ]
    for pointer, text in texts:
        if text:
            yield from _calculated(text, "calculation", pointer)


def _calculated(text: str, name: str, pointer: str) -> Iterator[Check]:
    """Each step of each chain against the next."""
    for chain in calculations(text):
        for one, other in itertools.pairwise(chain):
            ok: bool | None = agree(one, other)
            if not ok and (one.open or other.open) and not same_kind(one, other):
                ok, why = None, "a letter may be a unit or a symbol"
            else:
                why = "both sides have one value"
            label = None if ok else label_of_step(one, other)
            yield check(name, ok, pointer, f"{one.text} = {one.values[0].value:.5g}", other.text, why, label)


def _formulas(text: str, reading: Reading, reference: Reference) -> Iterator[Check]:
    """The clauses of an equation whose symbols have values, and the results that they name."""
    symbols = Symbols(reading, reference)
    for clause in CLAUSE.split(text):
        parts = [part.strip() for part in EQUALS.split(clause) if part.strip()]
        if len(parts) < 2:
            continue
        for made in compared(parts, symbols):
            shown, why = f"{made.one} = {made.value:.5g}", "the formula with the values of the state"
            label = "unit_scale" if made.ok is False and is_slip_of_units(made.ratio) else None
            yield check("formula", made.ok, "/transition/equation", shown, made.other, why, label)
        yield from _named_result(parts, reference)


def _named_result(parts: list[str], reference: Reference) -> Iterator[Check]:
    """The last number of a chain, as the quantity that its first part names."""
    sides = (side for part in reversed(parts) if (side := side_of(part)) is not None)
    result = next((side.alone for side in sides if side.alone is not None), None)
    key = _quantity_of(parts[0], reference)
    if key is not None and result is not None and fits(reference, result, key) is not None:
        yield judge(reference, "equation result", result, key, "/transition/equation")


def _firmly_named(label: str, reference: Reference) -> tuple[str, ...]:
    """The quantity that a label such as `F_b` or `weight of the ball` names without doubt."""
    if not 0 < len(label) < 40:
        return ()
    binding = reference.binding
    named = reference.lexicon.named(spelled_label(label), binding.labels, binding.roles, "")
    return named.keys if named.firm else ()


def _quantity_of(symbol: str, reference: Reference) -> str | None:
    """The quantity that the left side of an equation names: what is asked for, or the only known value."""
    known = reference.lexicon.symbols.get(symbol) or _firmly_named(symbol, reference)
    keys = [key for key in known if key in reference.solved]
    if reference.asked.target in keys:
        return reference.asked.target
    return keys[0] if len({reference.solved[key] for key in keys}) == 1 else None


def evidence(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The facts of the evidence, and those of the derivation that are given."""
    for i, fact in enumerate(reading.evidence):
        for bound in fact.numbers:
            yield from _fact(reading, reference, fact, bound, f"/transition/evidence/{i}")
    givens = reference.family.givens
    for bound in reading.derivation.numbers:
        if any(candidate in givens for candidate in bound.number.candidates):
            yield from _fact(reading, reference, reading.derivation, bound, "/derivation")


def _fact(reading: Reading, reference: Reference, text: Text, bound: BoundNumber, pointer: str) -> Iterator[Check]:
    key, number = bound
    if key is None or _misowned(reference, number, key):
        if number.owner and number.candidates:
            yield _stray_fact(reading, reference, text, number, pointer)
        return
    ok = fits(reference, number.stated, key)
    if ok is None:
        return
    label, why = "transition", "the fact as the state has it"
    if not ok and (fits_changed(reference, number.stated, key) or not _is_firm(reference, text, number, key)):
        return
    if not ok:
        label, why = reason(reference, number.stated, key, "state")
        if others := _holders(reference, number, key):
            label, why = "object", f"this is true of the {others[0]}"
    yield check("evidence", ok, pointer, truth(reference, key), text.around(number), why, label)


def _is_firm(reference: Reference, text: Text, number: TextNumber, key: str) -> bool:
    """Whether the words leave no doubt of which quantity a number is, and it has a unit where its quantity has one."""
    if not number.stated.dimension and reference.lexicon.dimensions[key] != "number":
        return False
    objects = reference.binding.objects
    return reference.lexicon.firmly(text.text.lower(), number.context, number.start, objects)


def _misowned(reference: Reference, number: TextNumber, key: str) -> bool:
    """Whether a fact is told of an object that could have such a quantity, and has another one."""
    owner = reference.family.quantities[key].owner
    role = reference.binding.role(number.owner) if number.owner else None
    return bool(owner) and role != owner and role in (FIRST, SECOND, BYSTANDER, reference.family.subject)


def _holders(reference: Reference, number: TextNumber, key: str) -> list[str]:
    """The other objects of which the number would be true."""
    name, dimension = snake(reference.family.quantities[key].name), reference.lexicon.dimensions[key]
    return [
        other
        for other, table in reference.attributes.items()
        if other.lower() != number.owner.lower() and name in table and same(number.stated, table[name], dimension)
    ]


def _stray_fact(reading: Reading, reference: Reference, text: Text, number: TextNumber, pointer: str) -> Check:
    """A named quantity, told of an object that is not known to have it."""
    item, shown = reference.family.quantities[number.candidates[0]], text.around(number)
    known = reference.given_attributes.get(number.owner, {}).get(snake(item.name))
    if known is not None and same(number.stated, known, ""):
        return check("evidence", True, pointer, f"{known:.4g}", shown, "a fact of another object", "object")
    holders = _holders(reference, number, number.candidates[0])
    sure = bool(reading.question) or reference.gold or FIRST not in reference.family.roles
    if holders and sure:
        expected, why = f"the {item.name} of the {holders[0]}", "the fact belongs to another object"
        return check("evidence", False, pointer, expected, shown, why, "object")
    return check("evidence", None, pointer, item.name, shown, "nothing is known of this", "object")


def change(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The predicted change: its numbers, and the outcome that it claims."""
    pointer = "/state_1/predicted_change"
    for bound in reading.change.numbers:
        if bound.key is not None or not bound.number.owner or not bound.number.candidates:
            yield from _told(reference, bound, reading.change, "predicted change", pointer)
    outcome, claim = reference.outcome, reference.lexicon.outcome(reading.change.text)
    if outcome is not None and claim is not None and DIRECTIONS.isdisjoint(reference.lexicon.outcomes):
        why = "the outcome that follows from the state"
        yield check("predicted change", claim == outcome, pointer, outcome, claim, why)


def results(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The new variables: quantities, and the outcome that they claim."""
    outcome = reference.outcome
    for result in reading.results:
        if result.keys and result.number is not None:
            firm = result.firm or _unexplained(reading, reference, result.keys, result.number)
            yield judge_told(reference, "new variable", result.number, result.keys, firm, result.pointer)
        elif result.claim is not None:
            ok, why = None if outcome is None else result.claim == outcome, "the outcome that follows from the state"
            yield check("new variable", ok, result.pointer, outcome, result.value, why)


def _unexplained(reading: Reading, reference: Reference, keys: tuple[str, ...], stated: Stated) -> bool:
    """Whether a number with the symbol of one quantity is no quantity of the scene at all, and nothing that the trace computes."""
    if len(keys) != 1 or known_elsewhere(reference, stated):
        return False
    return not any(near(stated.value, value) or near(stated.raw, value) for value in reading.computed)


def intervention(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The stated effect of the change that is asked for."""
    again, asked, stated = reference.counterfactual, reference.asked, reading.intervention
    if again is None:
        return
    pointer = "/transition/intervention"
    if not again.after:
        variable, why = str(stated.variable if stated else None), "the change is not one that can be recomputed"
        yield check("intervention", None, pointer, "a known parameter", variable, why)
        return
    target = str(again.target)
    if again.response is None:
        why = f"{target} cannot be derived: {why_open(reference, target)}"
        yield check("intervention", None, pointer, target, "", why)
        return
    why = f"{target} solved again with {asked.parameter} times {asked.factor:g}"
    if stated is not None and stated.response is not None:
        ok = stated.response == again.response
        yield check("intervention", ok, f"{pointer}/response", again.response, stated.response, why)
    if stated is not None and stated.new_value is not None:
        new, after, dimension = stated.new_value, float(again.after[target]), reference.lexicon.dimensions[target]
        fitting: bool | None = new.dimension in ("", dimension) and same(new, after, dimension)
        if not fitting and new.dimension not in ("", dimension) and not (reading.question or reference.gold):
            fitting = None  # the quantity asked for was made out, perhaps wrongly
        yield check("intervention size", fitting, f"{pointer}/new_value", f"{after:.4g}", new, why)


def explanation(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Named numbers of the explanation and of the derivation, where there is an answer to explain."""
    if reading.answer.value is None:
        return
    givens = reference.family.givens
    for text, pointer, skipped in (
        (reading.explanation, "/answer/explanation", ()),
        (reading.derivation, "/derivation", givens),  # its facts are checked as evidence
    ):
        for key, number in text.numbers:
            if key is not None and key in reference.solved and key not in skipped:
                yield _explained(reference, text, key, number, pointer)


def _explained(reference: Reference, text: Text, key: str, number: TextNumber, pointer: str) -> Check:
    """A number that explains: true of the scene, or of the scene with the change that is asked for."""
    ok, shown = fits(reference, number.stated, key), text.around(number)
    if ok is False and not _is_firm(reference, text, number, key):
        ok = True if fits_changed(reference, number.stated, key) else None
        why = "which quantity this is, is open" if ok is None else "solved again with the change"
        return check("explanation", ok, pointer, truth(reference, key), shown, why)
    again = reference.counterfactual.after.get(key) if reference.counterfactual else None
    if ok is False and isinstance(again, float | int):
        ok = same(number.stated, float(again), reference.lexicon.dimensions[key])
        if not ok:
            expected, why = f"{key} = {again:.4g}", "solved again with the change"
            return check("explanation", False, pointer, expected, shown, why, "intervention")
    label, why = ("transition", "as recomputed") if ok else reason(reference, number.stated, key, "transition")
    return check("explanation", ok, pointer, truth(reference, key), shown, why, label)
