"""Checks of the answer: against the recomputed truth (z_ans) and against the trace's own statements (z_faith)."""

from __future__ import annotations

from typing import Any

from tasks.verification.case import CONCLUSION, as_unit, as_word, near, response_of, same
from tasks.verification.reading import quantity
from tasks.verification.transition_checks import TransitionChecks


class AnswerChecks(TransitionChecks):
    def answers(self) -> None:
        value, spelled = self.answer.get("value"), as_unit(self.answer.get("unit"))
        if value is None:
            self.add("answer", None, "/answer/value", "an answer", "none", "no answer is given")
            return
        target, number = self.asked["target"], quantity(value, spelled)
        if target is None and number is not None:  # what the trace itself gives with this value
            target = next(
                (
                    k
                    for k, r in self.results_by_key.items()
                    if r.dimension == number.dimension and near(r.value, number.value)
                ),
                None,
            )
            self.asked["target"] = target
        own = self.own_answers()
        agree = [self.answers_agree(statement, unit, value, spelled) for statement, unit in own]
        yes, no = agree.count(True), agree.count(False)
        faithful = None if not yes and not no else yes >= no
        if own:
            self.add(
                "answer in trace",
                faithful,
                "/answer/value",
                ", ".join(f"{s} {u or ''}".strip() for s, u in own[:3]),
                value,
                "what most of the trace says",
            )
        truth: bool | None = None
        expected: Any = None
        if self.asked["type"] == "counterfactual" and (number is None or self.response):
            said = response_of(as_word(value))
            expected = self.response
            truth = None if said is None or expected is None else said == expected
        elif number is not None and target in self.family.quantities:
            expected = self.solved.get(target)
            truth = self.fits(number, target)
        elif number is not None:
            keys = [
                k
                for k, d in self.reader.dimensions.items()
                if k in self.solved and d == number.dimension and number.dimension
            ]
            if keys and self.asked["type"] != "qualitative":
                truth = True if any(self.fits(number, key) for key in keys) else None
        else:
            said_outcome = self.outcome_of(as_word(value))
            expected = self.solved.get(self.family.outcome.key)
            truth = None if said_outcome is None or expected is None else said_outcome == expected
            if said_outcome is None and isinstance(value, bool | str) and expected is not None:
                lowered = as_word(value).lower()
                if lowered in ("yes", "no") and self.question:
                    asked = self.reader.stated_outcomes(self.question.rsplit(".", 1)[-1])
                    if len(asked) == 1:
                        truth = (asked.pop() == expected) == (lowered == "yes")
        wrong = "transition" if faithful else "faithfulness"
        if self.asked["type"] == "counterfactual" and faithful:
            wrong = "intervention"
        if (
            truth is False
            and number is not None
            and target in self.solved
            and isinstance(self.solved[target], float | int)
        ):
            label, _ = self.reason(number, target, wrong)
            wrong = label if label == "unit_scale" and faithful else wrong
        rule = "the answer solved again" if truth is not None else self.open_answer(target)
        shown = f"{expected:.4g}" if isinstance(expected, float | int) else str(expected)
        self.add("answer", truth, "/answer/value", shown, f"{value} {spelled or ''}".strip(), rule, label=wrong)
        self.explain()

    def open_answer(self, target: str | None) -> str:
        if target is None:
            return "what is asked is not known"
        return f"the answer cannot be derived: {self.why_open(target)}"

    def own_answers(self) -> list[tuple[Any, str | None]]:
        """What the trace itself gives as the quantity asked for: result, explanation, conclusion."""
        target = self.asked["target"]
        found: list[tuple[Any, str | None]] = []
        if self.asked["type"] == "counterfactual":
            if self.stated_response is not None:
                found.append((self.stated_response, None))
        elif target in self.family.quantities:
            if target in self.results_by_key:
                result = self.results_by_key[target]
                found.append((result.raw, result.unit or None))
            for text in (self.explanation, self.derivation):
                for told in self.reader.told(text, self.listed)[::-1]:
                    if target in told.keys:
                        found.append((told.stated.raw, told.stated.unit or None))
                        break
        else:
            if getattr(self, "new_outcome", None):
                found.append((self.new_outcome, None))
            if claim := self.outcome_of(self.effect):
                found.append((claim, None))
        match = CONCLUSION.search(self.derivation)
        if match:
            found.append((match[1].strip().strip('"'), None))
        return found

    def explain(self) -> None:
        """Named numbers of the explanation and of the derivation."""
        for text, pointer in ((self.explanation, "/answer/explanation"), (self.derivation, "/derivation")):
            for told in self.reader.told(text, self.listed):
                key = self.resolve(told)
                if key is None or key not in self.solved or (key in self.givens and pointer == "/derivation"):
                    continue
                ok = self.fits(told.stated, key)
                if ok is False and self.after and isinstance(self.after.get(key), float | int):
                    ok = same(told.stated, float(self.after[key]), self.reader.dimensions[key])
                    if not ok:
                        self.add(
                            "explanation",
                            False,
                            pointer,
                            f"{key} = {self.after[key]:.4g}",
                            text[max(0, told.start - 30) : told.end],
                            "solved again with the change",
                            label="intervention",
                        )
                        continue
                label, rule = ("transition", "as recomputed") if ok else self.reason(told.stated, key, "transition")
                self.add(
                    "explanation",
                    ok,
                    pointer,
                    self.truth(key),
                    text[max(0, told.start - 30) : told.end],
                    rule,
                    label=label,
                )
