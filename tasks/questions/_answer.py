"""What a parser returns, and what every parser does to a text first."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

ParseMode = Literal["strict", "recovered", "none"]
THINK_TAGS = ("think", "thinking", "thought", "reasoning", "reflection")
NO_TAGS: tuple[str, ...] = ()
MARKUP = "*_`\"'“”‘’#>~ \t"

# What ends a bare word of an answer: punctuation that closes or explains it, a bracket, a spaced dash, a line break or
# the end. A plain blank does not ("No key is visible"), nor does a slash ("Yes/No") or a question mark ("Success?").
BOUNDARY = r"(?=[*_`\"'”’)\]}$]*(?:[.,;:!]|\s*\n|\s*$|\s+[(\[]|\s+[-–—]+\s|[–—]))(?![.,;:!]\d|\.[ \t]*\d)"
OPENING = r"[*_`\"'“‘(\[{$#>\s]*"
CLOSING = r"(?:[^\w?]|_)*"  # markup, punctuation and emoji behind the last word


@dataclass(frozen=True)
class Parse:
    """One answer, read.

    `value` is spelled as gold is (`yes`, `fail`, `B`, `key_yellow`, canonical JSON of a scene) and is None exactly when
    `mode` is `none`; `reason` then says why. `span` is the text that decided. `recovery` says what had to be done to a
    text that is not the bare answer.
    """

    mode: ParseMode
    value: str | None = None
    span: str | None = None
    recovery: str | None = None
    reason: str | None = None


def unreadable(reason: str, span: str | None = None) -> Parse:
    return Parse("none", reason=reason, span=span)


@dataclass(frozen=True)
class Final:
    """The part of a text that may hold an answer: `text` after the reasoning blocks; `reason` where there is none."""

    text: str
    recovery: str | None = None
    reason: str | None = None


def final_text(text: str | None, think_tags: tuple[str, ...] = THINK_TAGS) -> Final:
    """`text` with widths normalized (NFKC) and everything through the last closing reasoning tag removed.

    A block that is opened and never closed means that the answer was never reached: reason `reasoning_not_closed`.
    """
    if text is None or not text.strip():
        return Final("", reason="empty")
    plain = unicodedata.normalize("NFKC", text).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    names = "|".join(map(re.escape, think_tags))
    closings = list(re.finditer(rf"</(?:{names})\s*>", plain, re.IGNORECASE)) if names and "</" in plain else []
    rest = plain[closings[-1].end() :] if closings else plain
    if names and "<" in rest and re.search(rf"<(?:{names})\s*>", rest, re.IGNORECASE):
        return Final("", reason="reasoning_not_closed")
    rest = rest.strip()
    if not rest:
        return Final("", reason="empty")
    return Final(rest, recovery="reasoning removed" if closings else None)


_LONG_RUN = re.compile(r"([*_`\"'“”‘’(\[{)\]}$#>=:\-–—.,!\s]{24})[*_`\"'“”‘’(\[{)\]}$#>=:\-–—.,!\s]+")


def squeezed(text: str) -> str:
    """`text` with runs of blanks, markup and punctuation cut to 24 characters, so that no pattern backtracks over more."""
    return _LONG_RUN.sub(lambda run: run[1] + ("\n" if "\n" in run[0] else ""), text)


def join(*notes: str | None) -> str | None:
    """Recovery notes as one text; None where there are none."""
    return "; ".join(note for note in notes if note) or None


@dataclass(frozen=True)
class Statement:
    """A place in a text that states an answer. `rank` 2: a line labeled final; 1: a labeled line; 0: a bare answer."""

    value: str
    span: str
    kind: Literal["labeled", "leading", "trailing"]
    rank: int
    end: int


REOPENED = re.compile(
    r"(?:^|[.!?:\n(]\s*)(?:oh,?\s+|but\s+|no,?\s+|hm+,?\s*)?"
    r"(?:wait\b|hmm|actually\b|let(?:'s| me| us)\b|on second thought|on reflection|correction\b|scratch that|"
    r"i (?:was wrong|made a mistake|need to (?:re|check))|re-?(?:examin|check|think|consider|evaluat|look|read)ing\b)",
    re.IGNORECASE,
)
CUT_OFF = re.compile(
    r"(?:[,:;(\[{=\-–]|\b(?:the|an|to|of|is|are|was|and|or|but|at|in|on|with|by|for|from|that|then|if|because|when|as))\s*\Z",
    re.IGNORECASE,
)


def decide(statements: list[Statement], text: str) -> Parse:
    """The one answer that `statements` of `text` agree on.

    A line labeled final outranks the rest; otherwise every statement must agree, and two different answers give none.
    An answer at the head alone counts only if the explanation behind it neither reopens the question nor breaks off.
    """
    if not statements:
        return unreadable("no_answer")
    top = [s for s in statements if s.rank == 2] or statements
    values = {s.value for s in top}
    if len(values) > 1:
        return unreadable("conflict", " | ".join(dict.fromkeys(s.span for s in top))[:200])
    chosen = max(top, key=lambda s: (s.rank, s.end))
    if all(s.kind == "leading" for s in top):
        rest = text[chosen.end :]
        if found := REOPENED.search(rest):
            return unreadable("reopened", found.group(0).strip()[:200])
        if rest.strip() and CUT_OFF.search(rest[-200:]):
            return unreadable("cut_off", rest[-40:])
    return Parse("recovered", chosen.value, chosen.span[:200], chosen.kind)
