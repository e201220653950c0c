"""Which quantity, and whose, a statement speaks of: the one place where that is decided.

Reading asks here for every number, label and phrase; what stays open is None, and no check judges it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tasks.traces import latex
from tasks.traces.family import BYSTANDER, FIRST, Family
from tasks.traces.record import snake
from tasks.verification.fields import Fields, as_text
from tasks.verification.lexicon import Lexicon, TextNumber, lexicon_of
from tasks.verification.quantities import Stated, quantity
from tasks.verification.words import DIRECTIONS, first_mentions, occurrences

_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉′’", "0123456789''")


class Labeled(NamedTuple):
    """The quantities that a labeled value may be (one where `firm`), and the number that it states."""

    keys: tuple[str, ...]
    number: Stated | None
    firm: bool


@dataclass(frozen=True)
class Binding:
    """`names` maps roles to objects, `roles` maps objects (in lower case) to roles, `objects` are the names as listed and those
    that only the question names, `labels` maps the release's own labels to quantities.
    `sure`: which of two bodies is the first follows from more than the order in which they are listed."""

    family: Family
    lexicon: Lexicon
    objects: tuple[str, ...]
    names: Mapping[str, str]
    roles: Mapping[str, str]
    labels: Mapping[str, str]
    sure: bool = True

    def role(self, name: str) -> str | None:
        """The role of an object; None for one that is not known to have any."""
        return self.roles.get(name.lower())

    def takes_part(self, name: str) -> bool:
        return self.role(name) not in (None, BYSTANDER)

    def mentioned(self, text: str) -> set[str]:
        """The objects that a text names."""
        return {name for _, _, name in occurrences(text.lower(), self.objects)}

    def label(self, label: str, value: Any) -> Labeled:
        """The quantity that a variable states, by its name and its value's unit."""
        plain_number = quantity(value)
        if (key := self.labels.get(label)) is not None:
            return Labeled((key,), plain_number, True)
        label = spelled_label(label)
        named = self.lexicon.named(label, self.labels, self.roles, plain_number.dimension if plain_number else "")
        number = quantity(value, named.unit) if named.unit else plain_number
        return Labeled(named.keys, number, named.firm)

    def condition(self, label: str) -> str | None:
        """The condition that a variable's name states."""
        return next((key for key in self.family.conditions if snake(key) == label), None)

    def condition_by_value(self, value: str) -> str | None:
        """The condition that an unknown variable states, where its value is one of the family's options."""
        for key, options in self.family.conditions.items():
            if value.lower() in options and not DIRECTIONS.issuperset(options):
                return key
        return None

    def option(self, key: str, value: str) -> str | None:
        """The option of a condition that a wording means."""
        options, lowered = self.family.conditions[key], value.lower()
        if lowered in options:
            return lowered
        meant = [option for option in options if self.lexicon.options[option].search(lowered)]
        return meant[0] if len(meant) == 1 else None

    def attribute(self, label: str, role: str | None, number: Stated) -> tuple[str | None, bool]:
        """(the quantity that an object's attribute states, whether that is without doubt): one that belongs to the object's role,
        or to nobody."""
        if role is None:
            return None, False
        lowered, quantities = snake(label.lower()), self.family.quantities
        for key, item in quantities.items():
            if item.owner == role and (snake(item.name) == lowered or lowered in item.aliases):
                return key, snake(item.name) == lowered or len(lowered) > 2
        named = self.lexicon.named(label, self.lexicon.labels({}), {}, number.dimension)
        mine = [key for key in named.keys if quantities[key].owner in ("", role)]
        return (mine[0], named.firm) if mine else (None, False)

    def number(self, number: TextNumber, among: Collection[str] | None = None) -> str | None:
        """The one quantity that a number in a text is told of, `among` those where given."""
        if not number.candidates:
            return None
        dimensions, dimension = self.lexicon.dimensions, number.stated.dimension
        keys = [
            key
            for key in number.candidates
            if (not dimension or dimensions[key] == dimension) and (among is None or key in among)
        ]
        if not keys:
            return None
        owner = number.owner.lower().replace("_", " ")
        if owner:
            role = self.roles.get(owner) or self.roles.get(owner.replace(" ", "_"))
            mine = [key for key in keys if role and self.family.quantities[key].owner == role]
            if mine:
                return mine[0]
            if role is None or role == BYSTANDER:
                return None
        return keys[0] if len(keys) == 1 else None

    def phrase(self, text: str) -> str | None:
        """The quantity that a phrase names, by its longest name and its owner."""
        matches = self.lexicon.name_pattern.findall(text.lower())
        if not matches:
            return None
        keys = self.lexicon.names[max(matches, key=len)]
        owners = {self.role(name) for name in self.mentioned(text)}
        mine = [key for key in keys if self.family.quantities[key].owner in owners]
        return mine[0] if mine else keys[0] if len(keys) == 1 else None


def spelled_label(label: str) -> str:
    """A label without LaTeX, small digits and primes."""
    return latex.plain(label).translate(_SMALL)


def bind(fields: Fields, family: Family, names: Mapping[str, str] | None = None) -> Binding:
    """The binding of a trace of a family. `names` (role -> object) where they are known; else they are made out."""
    lexicon = lexicon_of(family.name)
    told = family.subject == FIRST and any(name and name.lower() in fields.effect.lower() for name in fields.names)
    sure = names is not None or bool(fields.question) or told
    names = names if names is not None else assign_roles(fields, lexicon)
    roles = {name.lower(): role for role, name in names.items()}
    objects = tuple(dict.fromkeys((*fields.names, *names.values())))
    return Binding(family, lexicon, objects, names, roles, lexicon.labels(names), sure)


def assign_roles(fields: Fields, lexicon: Lexicon) -> dict[str, str]:
    """Which object plays which role: by the names that the family gives, in the order in which the question mentions them;
    else by the words that people use for that role."""
    free = [name for name in fields.names if name]
    free += _only_asked(fields, lexicon, free)
    rank = _mention_rank(fields, lexicon, free)
    order = lexicon.role_order
    if not fields.question:  # the effect is told of the subject
        subject = lexicon.family.subject
        order = [subject, *(role for role in order if role != subject)]
    roles: dict[str, str] = {}
    for role in order:
        pool = [name for name in free if name.lower() in lexicon.family.roles[role]]
        if pool:
            roles[role] = min(pool, key=rank.__getitem__)
            free.remove(roles[role])
    for role in lexicon.role_order:
        if role not in roles and role in lexicon.recognize:
            match = next((name for name in free if lexicon.recognize[role].search(name)), None)
            if match:
                roles[role] = match
                free.remove(match)
    return roles


def _only_asked(fields: Fields, lexicon: Lexicon, listed: list[str]) -> list[str]:
    """Objects that the question names and the trace leaves out."""
    words = dict.fromkeys(name for names in lexicon.family.roles.values() for name in names)
    told = [name for _, _, name in occurrences(fields.question.lower(), words)]
    known = " ; ".join(listed).lower().replace("_", " ")
    return [name for name in dict.fromkeys(told) if name not in known]


def _mention_rank(fields: Fields, lexicon: Lexicon, names: list[str]) -> dict[str, tuple[int, int]]:
    """The lower, the earlier an object is spoken of: in the question; without one, by the labels of the variables, and what
    takes part is spoken of more often than what stands by."""
    if fields.question:
        return first_mentions(fields.question.lower(), names)
    texts = [fields.change, fields.derivation, *fields.evidence]
    texts += [as_text(force.get("target")) for force in fields.forces]
    counts = [name for _, _, name in occurrences(" ; ".join(texts).lower(), names)]
    labels = " ; ".join(fields.variables).replace("_", " ").lower()
    rank = {name: (at, -counts.count(name)) for name, (at, _) in first_mentions(labels, names).items()}
    for _, _, name in occurrences(fields.effect.lower(), names)[:1]:
        rank[name] = (-1, 0)
    return rank
