"""Checks of the initial state: variables, attributes, conditions, relations, forces (paper 2, state verifier)."""

from __future__ import annotations

import re
from typing import Any

from tasks.traces.record import snake
from tasks.traces.units import dimension as dimension_of
from tasks.verification.case import as_dict, as_list, as_text, as_unit, relation_type, same
from tasks.verification.reading import Stated, direction, force_name, occurrences, opposed, quantity
from tasks.verification.reference import Reference

_SPEED = dimension_of("m/s")
_POSITIVE = frozenset(map(dimension_of, ("kg", "kg/m³", "s", "m³", "m²")))
_PLACED = re.compile(r"(to the left of|to the right of|in contact with|apart from|touching)\b")


class StateChecks(Reference):
    def state(self) -> None:
        self.entities()
        self.relations(self.reference_relations())
        self.temporal_words()
        for key, voices in self.own.items():
            for stated, pointer in voices:
                if "/objects/" in pointer:
                    self.attribute(stated, key, pointer)
                else:
                    self.variable(stated, key, pointer)
        for name, label, stated, pointer in self.foreign:
            self.foreign_attribute(name, snake(label), stated, pointer)
        for key, (value, pointer) in self.conditions.items():
            self.condition(key, value, pointer)
        implausible = self.family.implausible
        if implausible and (complaint := implausible(self.solved, self.state_words())):
            self.add("plausible", False, "/state_0", "a state that can exist", *complaint)
        self.forces()

    def variable(self, stated: Stated, key: str, pointer: str) -> None:
        if key in self.family.constants:
            item = self.family.quantities[key]
            assert item.constant is not None
            value, low, high, rule = item.constant
            self.add("variable", low <= stated.value <= high, pointer, f"{value:g} {item.unit}", stated, rule)
            return
        self.judge("variable", stated, key, pointer)
        if not self.within_bounds(stated, key):
            self.add("bounds", False, pointer, "a possible value", stated, "outside of physical bounds")

    def foreign_attribute(self, name: str, label: str, stated: Stated, pointer: str) -> None:
        """An attribute that is no quantity of the family: it is known only where the question (or gold) gives it."""
        expected = self.extra.get(name, {}).get(label)
        if expected is None:
            return
        ok = same(stated, expected, "")
        others = [table[label] for other, table in self.all_attributes().items() if other != name and label in table]
        swapped = not ok and any(same(stated, value, "") for value in others)
        rule = "the attribute as the question gives it"
        self.add("attribute", ok, pointer, f"{expected:.4g}", stated, rule, label="object" if swapped else None)

    def condition(self, key: str, value: str, pointer: str) -> None:
        expected, options = self.reference.get(key), self.family.conditions[key]
        said = value.lower() if value.lower() in options else self.option_of(key, value)
        known = said is not None and expected is not None
        rule = "the condition of the scene" if known else "the wording is not one that is read"
        self.add("condition", said == expected if known else None, pointer, expected, value, rule)

    def state_words(self) -> str:
        """The names and words of the initial state, in lower case."""
        words = [*self.objects, *(value for value in self.variables.values() if isinstance(value, str))]
        for item in as_list(self.s0.get("objects")):
            words += [as_text(value) for value in as_dict(as_dict(item).get("attributes")).values()]
        return " ".join(words).lower()

    def option_of(self, key: str, value: str) -> str | None:
        found = [o for o in self.family.conditions[key] if re.search(rf"\b{re.escape(o)}(?:ward)?s?\b", value.lower())]
        return found[0] if len(found) == 1 else None

    def all_attributes(self) -> dict[str, dict[str, float]]:
        """Numbers that belong to objects, by name: those of the question and those of the solved state."""
        found: dict[str, dict[str, float]] = {name: dict(table) for name, table in self.extra.items()}
        for key, item in self.family.quantities.items():
            value = self.solved.get(key)
            if item.owner in self.names and isinstance(value, float | int):
                found.setdefault(self.names[item.owner], {}).setdefault(snake(item.name), float(value))
        return found

    def attribute(self, stated: Stated, key: str, pointer: str) -> None:
        ok = self.fits(stated, key)
        if ok is False:
            item = self.family.quantities[key]
            own = self.names.get(item.owner)
            for other, table in self.all_attributes().items():
                if other != own and same(
                    stated, table.get(snake(item.name), float("nan")), self.reader.dimensions[key]
                ):
                    self.add(
                        "attribute",
                        False,
                        pointer,
                        f"{self.solved[key]:.4g}",
                        stated,
                        f"this is the {item.name} of the {other}",
                        label="object",
                    )
                    return
        self.judge("attribute", stated, key, pointer)

    def within_bounds(self, stated: Stated, key: str) -> bool:
        value, dimension = stated.value, self.reader.dimensions[key]
        if dimension == _SPEED:
            return abs(value) <= 3e8
        if dimension == "temperature":
            return value >= -0.01
        if dimension in _POSITIVE:
            return 0 <= value <= 1e9
        return abs(value) < 1e15

    def reference_relations(self) -> list[tuple[str, str, str]]:
        if self.gold is not None:
            return list(self.gold.relations)
        try:
            pairs = self.family.relations(self.solved)
        except (KeyError, TypeError):
            pairs = ()
        found = [(kind, self.names[a], self.names[b]) for kind, a, b in pairs if a in self.names and b in self.names]
        lowered = self.question.lower()
        mentions = occurrences(lowered, self.objects)
        for match in _PLACED.finditer(lowered):
            kind = relation_type(match[1])
            clause = max(
                lowered.rfind(". ", 0, match.start()), lowered.rfind("; ", 0, match.start()), match.start() - 60
            )
            before = [name for start, end, name in mentions if clause <= start and end <= match.start()]
            after = [name for start, _, name in mentions if match.end() <= start <= match.end() + 5]
            if kind and before and after and before[-1] != after[0]:
                found.append((kind, before[-1], after[0]))
        return found

    def forces(self) -> None:
        stated = [as_dict(force) for force in as_list(self.s0.get("forces"))]
        if not stated:
            return
        try:
            specs = list(self.family.forces(self.solved))
        except (KeyError, TypeError):
            specs = []
        expected = [(spec, force_name(spec.name), self.names.get(spec.target, "").lower()) for spec in specs]
        known_names = {name for _, name, _ in expected}
        left = list(expected)
        unmatched: list[tuple[int, dict[str, Any], str, str]] = []
        for i, force in enumerate(stated):
            name, target = force_name(as_text(force.get("name"))), as_text(force.get("target")).lower()
            match = next((e for e in left if e[1] == name and e[2] == target), None)
            if match is None:
                unmatched.append((i, force, name, target))
                continue
            left.remove(match)
            self.force(i, force, match[0])
        for i, force, name, target in unmatched:
            pointer = f"/state_0/forces/{i}/target"
            match = next((e for e in left if e[1] == name), None)
            bodies = {
                n.lower() for n in self.objects if self.role_of.get(n.lower()) in ("a", "b", "body", "bystander", None)
            }
            if match is not None and target in bodies and match[2] in bodies:
                left.remove(match)
                self.add("force body", False, pointer, match[2], target, f"{name} acts on another body")
            elif (
                name in known_names
                and target in self.role_of
                and any(e[1] == name and e[2] == target for e in expected)
            ):
                self.add(
                    "force body",
                    False,
                    pointer,
                    f"one {name} on the {target}",
                    "two",
                    "a force is told twice of one body",
                )
            else:
                way = direction(as_text(force.get("direction")))
                if name == "gravity" and way is not None and way[1] is not None:
                    self.add(
                        "force direction",
                        way[1] < 0,
                        f"/state_0/forces/{i}/direction",
                        "down",
                        force.get("direction"),
                        "gravity points down",
                    )
                else:
                    self.add(
                        "force",
                        None,
                        pointer,
                        "a force of the family",
                        f"{name} on {target}",
                        "the family does not speak of this force",
                    )
        if self.gold is not None:
            for spec, name, target in left:
                self.add(
                    "force missing",
                    False,
                    "/state_0/forces",
                    f"{name} on {target}",
                    "none",
                    f"the {spec.name} is missing",
                )

    def force(self, i: int, force: dict[str, Any], spec: Any) -> None:
        pointer = f"/state_0/forces/{i}"
        way, right = direction(as_text(force.get("direction"))), direction(spec.direction)
        clash = opposed(way, right) if way and right else None
        if way is None and spec.contrary and re.search(spec.contrary, as_text(force.get("direction")), re.I):
            clash = True
        self.add(
            "force direction",
            None if clash is None else not clash,
            f"{pointer}/direction",
            spec.direction,
            force.get("direction"),
            f"the {spec.name} in this scene",
        )
        magnitude = quantity(force.get("magnitude"), as_unit(force.get("unit")))
        if magnitude is None:
            return
        ok = self.fits(magnitude, spec.magnitude)
        if ok is None and spec.magnitude in self.solved:
            return
        if ok is not None:
            expected = self.solved[spec.magnitude]
            self.add(
                "force magnitude",
                ok,
                f"{pointer}/magnitude",
                f"{expected:.4g} N",
                magnitude,
                f"the {spec.name} from the state",
            )
