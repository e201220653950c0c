"""One of the letters A to D: which candidate comes next (Task A; parsing policies of paper 1, Appendix F.4).

strict      the whole answer is the letter
robust      a labeled answer, or a bare letter that leads or ends the answer; conflicts give none
leading     the answer starts with the letter
published   the first isolated letter anywhere (reads the article in "A key ..." as an answer)
"""

from __future__ import annotations

import re

import polars as pl

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
from tasks.questions._base import Question, grade_equal
from tasks.questions._contract import Constraint
from tasks.questions._objects import Broken, only_object

LETTERS = ("A", "B", "C", "D")

_KIND = r"(?:(?:option|candidate|choice|answer|state|image|picture|observation|panel|letter)\s+)?"
_LETTER = rf"{OPENING}(?:\\(?:boxed|text\w*)\{{)*{OPENING}(?i:{_KIND}){OPENING}(?P<letter>[A-D])(?![A-Za-z0-9'’])"
_NOUN = (
    r"(?:answer|choice|option|selection|candidate|verdict|(?:next|resulting|correct)\s+(?:state|observation|image|one))"
)
_NO_SECOND = r"(?![)\]]?[ \t]*[,;/]?[ \t]*(?:(?:or|and)\s+)?\(?[A-D]\b(?!\s+\w))"
_LABEL = re.compile(
    rf"(?i:(?P<final>final|overall)\s+)?(?i:\b{_NOUN}\b){OPENING}"
    rf"(?:\s*+(?i::|=|-+>|→|\b(?:is|would be|must be|should be)\b)[*_\s]*+){{1,3}}+{_LETTER}{BOUNDARY}{_NO_SECOND}"
)
_IS_CORRECT = re.compile(
    rf"(?:\A|\n|[.!?:,]\s+){_LETTER}[)\]*_`\"'”’]*\s+is\s+(?:the\s+)?(?:correct|right|answer|best)\b"
)
_LEADING = re.compile(rf"\A{_LETTER}(?:{BOUNDARY}|(?=\)\s)){_NO_SECOND}")
_TRAILING = re.compile(rf"(?:\A|\n|[.!?:]\s)[ \t]*{_LETTER}{CLOSING}\Z")
_ISOLATED = re.compile(r"(?<![A-Za-z0-9])[A-D](?![A-Za-z0-9])")
_KEYS = ("answer", "final_answer", "choice", "option", "letter")
_TAIL = 600


def _statements(text: str) -> list[Statement]:
    found = [
        Statement(match["letter"], match.group(0).strip(), "labeled", 2 if match["final"] else 1, match.end())
        for match in _LABEL.finditer(text)
    ]
    found += [Statement(m["letter"], m.group(0).strip(), "labeled", 1, m.end()) for m in _IS_CORRECT.finditer(text)]
    if match := _LEADING.match(text):
        found.append(Statement(match["letter"], match.group(0).strip(), "leading", 0, match.end()))
    start = max(0, len(text) - _TAIL)
    if match := _TRAILING.search(text[start:]):
        found.append(Statement(match["letter"], match.group(0).strip(), "trailing", 0, start + match.end()))
    return found


def parse(text: str | None, answer_format: str, policy: str, think_tags: tuple[str, ...]) -> Parse:
    """One of A, B, C, D."""
    if policy == "published":
        match = _ISOLATED.search(text or "")
        if match is None:
            return unreadable("no_answer")
        whole = (text or "").strip() == match.group(0)
        return Parse(
            "strict" if whole else "recovered", match.group(0), match.group(0), None if whole else "first letter"
        )
    final = final_text(text, think_tags)
    if final.reason:
        return unreadable(final.reason)
    if match := re.fullmatch(r"\(?([A-D])\)?[.!]?", final.text):
        if final.recovery is None:
            return Parse("strict", match[1], match.group(0))
        if policy != "strict":
            return Parse("recovered", match[1], match.group(0), final.recovery)
    if policy == "strict":
        return unreadable("not_the_whole_answer", final.text[:40])
    if policy == "leading":
        match = _LEADING.match(final.text)
        return Parse("recovered", match["letter"], match.group(0), "leading") if match else unreadable("no_answer")
    if final.text.startswith(("{", "```")):
        try:
            stated = only_object(final.text, lambda value: any(key in value for key in _KEYS))
        except Broken as error:
            return unreadable(error.reason)
        letters = {str(stated.value[key]).strip().strip("().") for key in _KEYS if key in stated.value}
        if len(letters) != 1 or not re.fullmatch("[A-D]", only := letters.pop()):
            return unreadable("conflict" if letters else "not_a_letter")
        return Parse("recovered", only, stated.span[:200], join(final.recovery, "JSON", stated.recovery))
    if re.fullmatch("[a-d][.)]?", final.text):
        return Parse("recovered", final.text[0].upper(), final.text, join(final.recovery, "lower case"))
    plain = squeezed(final.text)
    read = decide(_statements(plain), plain)
    if read.mode == "none":
        return read
    bare = final.text.strip(MARKUP + ".!()[]") == read.value
    return Parse("recovered", read.value, read.span, join(final.recovery, "markup removed" if bare else read.recovery))


def _wrong() -> pl.Expr:
    """What the chosen candidate is made to show (column `options`, by letter), where the exam says."""
    place = pl.col("value").replace_strict({letter: place for place, letter in enumerate(LETTERS)}, default=0)
    option = pl.col("options").cast(pl.List(pl.String)).list.get(place, null_on_oob=True)
    return pl.concat_str(pl.lit("chose "), option.fill_null("another candidate"))


QUESTION = Question(
    name="letter",
    formats={"letter": Constraint(choice=LETTERS)},
    exam_tasks={"A": "letter"},
    parse=parse,
    grade=grade_equal,
    wrong=_wrong(),
    defaults=lambda task, gold: {"condition": "true"},
)
