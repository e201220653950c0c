"""Success or failure of what is shown: by its goal (Task C, yes or no), or by what a reference did (Task D, success or
fail; parsing policies of paper 1, Appendix F.4).

strict      the whole answer is the verdict
robust      a labeled verdict line, or a bare verdict that leads or ends the answer; negation understood; a conflict,
            an open reasoning block or an answer that breaks off gives none; never a search through free text
leading     the answer starts with the verdict (what paper 1 calls strict in Table 13)
published   the last verdict word anywhere (the public release; for reproduction only: it reads "without successful
            completion" as success)
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from tasks.errors import BadInput
from tasks.questions._answer import (
    BOUNDARY,
    CLOSING,
    MARKUP,
    OPENING,
    Parse,
    Statement,
    decide,
    final_text,
    join,
    squeezed,
    unreadable,
)
from tasks.questions._base import Outcomes, Question, grade_equal
from tasks.questions._contract import Constraint
from tasks.questions._objects import Broken, only_object

SPELLING = {"yes_no": ("no", "yes"), "success_fail": ("fail", "success")}  # of the value: failure, success
POSITIVE = ("yes", "success")
FORMATS = {"yes_no": Constraint(choice=("Yes", "No")), "success_fail": Constraint(choice=("Success", "Fail"))}
EXAM_TASKS = {"C": "yes_no", "D": "success_fail"}
CANONICAL = {"temporal": "orig", "visual": "clean", "framing": "neu"}  # the presentation phi_0 of paper 1, Appendix A.1

_GOOD = r"(?:success(?:ful(?:ly)?)?|succeed(?:s|ed)?|yes|pass(?:ed|es)?|true|completed|satisfied|achieved|accomplished)"
_BAD = r"(?:fail(?:s|ed|ure)?|no|unsuccessful(?:ly)?|incomplete|unsatisfied|false)"
_NOT = (
    r"(?:(?:(?:it|this|that)\s+)?(?:(?:is|was|has|have|had|did|does|do|could|can)\s*(?:not|n't)|not|never|no|non|without)"
    r"(?:\s+|-)(?:a\s+|an\s+|any\s+|been\s+|fully\s+|successfully\s+)*)"
)
_PHRASE = (
    rf"{OPENING}(?:\\(?:boxed|text\w*)\{{)*{OPENING}(?P<neg>{_NOT})?(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))(?![^\W_])"
)
_NOUN = "(?:verdict|answer|judge?ment|decision|conclusion|result|outcome|prediction|classification)"
_SO = r"(?:therefore|thus|hence|so|in conclusion|to conclude)"
_LABEL = re.compile(
    rf"(?:(?P<final>final|overall|ultimate)\s+)?\b{_NOUN}\b{OPENING}"
    rf"(?:\s*+(?::|=|-+>|→|[–—]|\bis\b|\bwould be\b|\bmust be\b|\bremains\b)[*_\s]*+){{1,3}}+(?:an?\s+)?{_PHRASE}{BOUNDARY}",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"\A{_PHRASE}{BOUNDARY}(?!\s*[.,;:!]?\s*(?:if|unless|or)\b)", re.IGNORECASE)
_TRAILING = re.compile(rf"(?:\A|\n|[.!?:]\s)[ \t]*(?:{_SO}\s*[,:]\s*)?{_PHRASE}{CLOSING}\Z", re.IGNORECASE)
_PUBLISHED = re.compile(
    r"\b(?:(success|successful|successfully|succeed|succeeded|yes)|(?:fail|failed|failure|no))\b", re.I
)
_STRICT = re.compile(r"(?:(success|yes)|fail|no)[.!]?", re.IGNORECASE)
_KEYS = ("verdict", "answer", "final_answer", "final_verdict", "result", "judgment", "judgement", "outcome", "success")
_TAIL = 600  # a trailing verdict is looked for in this many last characters


def _good(match: re.Match[str]) -> bool:
    return bool(match["good"]) != bool(match["neg"])


def _statements(text: str) -> list[Statement]:
    found: list[Statement] = []

    def add(match: re.Match[str], kind: str, rank: int, offset: int = 0) -> None:
        found.append(
            Statement(str(_good(match)), match.group(0).strip(), kind, rank, offset + match.end())  # type: ignore[arg-type]
        )

    for match in _LABEL.finditer(text):
        add(match, "labeled", 2 if match["final"] else 1)
    start = max(0, len(text) - _TAIL)
    if leading := _LEADING.match(text):
        add(leading, "leading", 0)
    if trailing := _TRAILING.search(text[start:]):
        add(trailing, "trailing", 0, start)
    return found


def _from_json(text: str) -> bool | str | None:
    """True/False out of an object with one verdict key; None where the text holds no object; a reason otherwise."""
    try:
        found = only_object(text, lambda value: any(key in value for key in _KEYS))
    except Broken as error:
        return error.reason if text.startswith(("{", "```")) else None
    stated = {_json_value(found.value[key]) for key in _KEYS if key in found.value}
    if len(stated) != 1:
        return "conflict"
    only = stated.pop()
    return only if only is not None else "not_a_verdict"


def _json_value(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.strip().lower() in ("true", "false"):  # "false" in quotes is not a boolean
        return None
    match = re.fullmatch(rf"{_PHRASE}[.!]?", value.strip(), re.IGNORECASE)
    return _good(match) if match else None


def parse(text: str | None, answer_format: str, policy: str, think_tags: tuple[str, ...]) -> Parse:
    """A verdict in the spelling of `answer_format` (`yes_no` or `success_fail`); either vocabulary is read."""
    spelling = SPELLING[answer_format]
    if policy == "published":
        words = list(_PUBLISHED.finditer(text or ""))
        if not words:
            return unreadable("no_answer")
        last = words[-1]
        whole = (text or "").strip() == last.group(0)
        return Parse(
            "strict" if whole else "recovered", spelling[bool(last[1])], last.group(0), None if whole else "last word"
        )

    final = final_text(text, think_tags)
    if final.reason:
        return unreadable(final.reason)
    if match := _STRICT.fullmatch(final.text):
        if final.recovery is None:
            return Parse("strict", spelling[bool(match[1])], match.group(0))
        if policy != "strict":
            return Parse("recovered", spelling[bool(match[1])], match.group(0), final.recovery)
    if policy == "strict":
        return unreadable("not_the_whole_answer", final.text[:40])
    if policy == "leading":
        match = _LEADING.match(final.text)
        if not match:
            return unreadable("no_answer")
        return Parse("recovered", spelling[_good(match)], match.group(0).strip(), join(final.recovery, "leading"))

    if "{" in final.text and isinstance(stated := _from_json(final.text), bool | str):
        if isinstance(stated, str):
            return unreadable(stated)
        return Parse("recovered", spelling[stated], None, join(final.recovery, "JSON"))
    plain = squeezed(final.text)
    read = decide(_statements(plain), plain)
    if read.mode == "none":
        return read
    bare = read.recovery != "labeled" and final.text.strip(MARKUP + ".!") == (read.span or "").strip(MARKUP + ".!")
    note = "markup removed" if bare else read.recovery
    return Parse("recovered", spelling[read.value == "True"], read.span, join(final.recovery, note))


# --- gold of a foreign exam -----------------------------------------------------------------------------------------------

_GOLD = {
    **{"yes": ("C", True), "no": ("C", False)},
    **dict.fromkeys(("success", "1"), ("D", True)),
    **dict.fromkeys(("fail", "failure", "0"), ("D", False)),
}


def gold(task: str, stated: str) -> str:
    """A gold verdict, in the spelling of the task's own answers. BadInput where it is no verdict."""
    if stated.lower() not in _GOLD:
        raise BadInput(f"gold {stated!r} is no verdict (success, fail, yes, no)")
    return SPELLING[EXAM_TASKS[task]][_GOLD[stated.lower()][1]]


def _defaults(task: str, spelled: str) -> Mapping[str, str]:
    return CANONICAL | {"variant": "full" if spelled in POSITIVE else "cf"}


def _task_of_gold(stated: str) -> str | None:
    return _GOLD[stated.lower()][0] if stated.lower() in _GOLD else None


_SUCCESS = pl.col("value").is_in(POSITIVE)

QUESTION = Question(
    name="verdict",
    formats=FORMATS,
    exam_tasks=EXAM_TASKS,
    parse=parse,
    grade=grade_equal,
    wrong=pl.when(_SUCCESS).then(pl.lit("false_success")).otherwise(pl.lit("false_fail")),
    columns={"yes": _SUCCESS},
    outcomes=Outcomes(frozenset({"yes", "success"}), frozenset({"no", "fail", "failure"})),
    gold=gold,
    defaults=_defaults,
    task_of_gold=_task_of_gold,
)
