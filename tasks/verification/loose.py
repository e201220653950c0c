"""JSON as people and models write it: comments, trailing commas, single quotes, Python's constants and tuples, names without
quotes. `json` reads what is JSON; this reader takes over where it gives up.

A value is read where it begins, what stands behind it is left; each liberty that was needed is named.
"""

from __future__ import annotations

import re
from typing import Any

DEEPEST = 100  # levels of nesting that are read
_BLANK = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|\#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:_\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d][\w-]*")
_CONSTANTS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_PLAIN = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'”’"}
_CLOSING = {"{": "}", "[": "]", "(": ")"}


class NotLoose(ValueError):
    """The text is no value that this reader knows. `refused`: it is one that must not be guessed at."""

    def __init__(self, reason: str, refused: bool = False):
        super().__init__(reason)
        self.refused = refused


class Loose:
    """Reads values of one text; `liberties` names what was taken."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.liberties: dict[str, None] = {}

    def read(self, at: int) -> Any:
        """The value that begins at `at`; `self.at` is then behind it. NotLoose where there is none."""
        self.at = at
        return self._value(0)

    def _take(self, liberty: str) -> None:
        self.liberties[liberty] = None

    def _blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        if match and match.end() > self.at:
            if not match[0].isspace():
                self._take("comments removed")
            self.at = match.end()

    def _peek(self) -> str:
        self._blank()
        return self.text[self.at : self.at + 1]

    def _value(self, depth: int) -> Any:
        char = self._peek()
        if depth > DEEPEST:
            raise NotLoose(f"nested more than {DEEPEST} levels deep", refused=True)
        if char in _QUOTES:
            return self._string()
        if char == "{":
            return self._object(depth)
        if char and char in "[(":
            return self._list(depth)
        if match := _NUMBER.match(self.text, self.at):
            self.at = match.end()
            digits = match[0].replace("_", "")
            return float(digits) if re.search(r"[.eE]", digits) else int(digits) if len(digits) < 400 else float(digits)
        return self._constant()

    def _constant(self) -> Any:
        match = _WORD.match(self.text, self.at)
        if match is None or match[0] not in _CONSTANTS:
            word = match[0] if match else self.text[self.at : self.at + 12]
            raise NotLoose(f"{word!r} is no value", refused=word in ("NaN", "Infinity"))
        self.at = match.end()
        if match[0][0].isupper():
            self._take("constants of Python read")
        return _CONSTANTS[match[0]]

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        members: dict[str, Any] = {}
        while (char := self._peek()) != "}":
            key = self._key(char)
            if key in members:
                raise NotLoose(f"the key {key!r} occurs twice in one object", refused=True)
            if self._peek() != ":":
                raise NotLoose(f"no colon after {key!r}")
            self.at += 1
            members[key] = self._value(depth + 1)
            self._separator("}")
        self.at += 1
        return members

    def _key(self, char: str) -> str:
        if char in _QUOTES:
            return self._string()
        match = _WORD.match(self.text, self.at)
        if match is None:
            raise NotLoose(f"{self.text[self.at : self.at + 12]!r} is no name of a field")
        self._take("names quoted")
        self.at = match.end()
        return match[0]

    def _list(self, depth: int) -> list[Any]:
        closing = _CLOSING[self.text[self.at]]
        if closing == ")":
            self._take("tuples read as lists")
        self.at += 1
        items = []
        while self._peek() != closing:
            items.append(self._value(depth + 1))
            self._separator(closing)
        self.at += 1
        return items

    def _separator(self, closing: str) -> None:
        """A comma, which may be missing before the end of a line and surplus before the end of the list."""
        before = self.at
        char = self._peek()
        if char == ",":
            self.at += 1
            if self._peek() == closing:
                self._take("trailing commas removed")
        elif char != closing:
            if "\n" not in self.text[before : self.at]:
                raise NotLoose(f"{self.text[self.at : self.at + 12]!r} where a comma was expected")
            self._take("missing commas added")

    def _string(self) -> str:
        opening = self.text[self.at]
        closing = _QUOTES[opening]
        if opening != '"':
            self._take("quotes read")
        parts: list[str] = []
        plain, at = _PLAIN[closing], self.at + 1
        while True:
            match = plain.match(self.text, at)
            assert match is not None
            parts.append(match[0])
            at = match.end()
            if at + 1 >= len(self.text) and self.text[at : at + 1] != closing:
                raise NotLoose("a text that does not end")
            if self.text[at] == closing:
                self.at = at + 1
                return "".join(parts)
            piece, at = self._escape(at)
            parts.append(piece)

    def _escape(self, at: int) -> tuple[str, int]:
        """What the backslash at `at` stands for, and where it ends."""
        char = self.text[at + 1]
        if char == "u" and re.match(r"[0-9a-fA-F]{4}", self.text[at + 2 : at + 6]):
            return chr(int(self.text[at + 2 : at + 6], 16)), at + 6
        if char in _ESCAPES:
            return _ESCAPES[char], at + 2
        if char in "\"'\\/":
            return char, at + 2
        return "\\" + char, at + 2
