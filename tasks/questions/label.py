"""One label as JSON, `{"answer": "<label>"}`: a thing that was handled, or what became of it (Task E; paper 1, Appendices C.1
and F.4).

strict      the whole answer is the object
robust      also an object in a code fence or in surrounding text, trailing commas, or a bare label of the vocabulary
leading     as strict
published   as robust, without removing reasoning first
"""

from __future__ import annotations

import itertools
import re

import polars as pl

from tasks.questions._answer import MARKUP, NO_TAGS, Parse, final_text, join, unreadable
from tasks.questions._base import Question, grade_equal
from tasks.questions._contract import Constraint, record
from tasks.questions._objects import Broken, load, only_object

KINDS = ("key", "ball", "box")
COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
STATUSES = ("holding", "dropped", "reacquired_and_holding")
VOCABULARY = (*(f"{kind}_{color}" for kind, color in itertools.product(KINDS, COLORS)), *STATUSES)
_SWAPPED = {f"{color}_{kind}": f"{kind}_{color}" for kind, color in itertools.product(KINDS, COLORS)}


def normalize(label: str) -> tuple[str, str | None]:
    """A label in the spelling of the vocabulary, and what was changed (`None`: nothing)."""
    plain = re.sub(r"[\s\-]+", "_", label.strip().strip(MARKUP + ".").lower()).replace("gray", "grey")
    plain = re.sub(r"^(?:the|a)_", "", plain)
    if plain in _SWAPPED:
        return _SWAPPED[plain], "word order"
    return plain, None if plain == label else "spelling"


def parse(text: str | None, answer_format: str, policy: str, think_tags: tuple[str, ...]) -> Parse:
    """The stated label, normalized. A JSON answer may hold any label; a bare one must be of the vocabulary."""
    final = final_text(text, NO_TAGS if policy == "published" else think_tags)
    if final.reason:
        return unreadable(final.reason)
    if policy in ("strict", "leading"):
        try:
            value = load(final.text)
        except ValueError:
            return unreadable("not_the_whole_answer", final.text[:40])
        if not isinstance(value, dict) or not isinstance(value.get("answer"), str) or final.recovery:
            return unreadable("missing_fields")
        return Parse("strict", normalize(value["answer"])[0], final.text[:200])
    try:
        found = only_object(final.text, lambda value: "answer" in value)
    except Broken as error:
        label, _ = normalize(re.sub(r"\A\W*(?:final\s+)?answer\s*(?::|is)\s*", "", final.text, flags=re.IGNORECASE))
        if "{" not in final.text and label in VOCABULARY:
            return Parse("recovered", label, final.text[:200], join(final.recovery, "bare label"))
        return unreadable("no_answer" if error.reason == "no_object" else error.reason)
    if not isinstance(found.value["answer"], str) or not found.value["answer"].strip():
        return unreadable("not_a_label", found.span[:200])
    label, note = normalize(found.value["answer"])
    recovery = join(final.recovery, found.recovery, note)
    return Parse("recovered" if recovery else "strict", label, found.span[:200], recovery)


QUESTION = Question(
    name="label",
    formats={"label": Constraint(schema=record(answer={"type": "string", "enum": list(VOCABULARY)}))},
    exam_tasks={"E": "label"},
    parse=parse,
    grade=grade_equal,
    wrong=pl.lit("wrong_label"),
    defaults=lambda task, gold: {"condition": "identity"},
)
