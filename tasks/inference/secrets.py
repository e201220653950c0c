"""A judge's key: what may be one, and how it is kept out of everything that is stored or shown."""

from __future__ import annotations

import json
import urllib.parse
from dataclasses import dataclass

from tasks.errors import BadInput

MASK = "***"
SHORTEST = 8  # a shorter word is a placeholder such as "EMPTY" or "none", and answers say such words


def checked_key(value: str, variable: str) -> str:
    """A key as it is sent: blanks and line breaks at its ends, as a file leaves them, are cut. BadInput, which does not say
    the key, where there is nothing left or something that no header can carry."""
    key = value.strip()
    if not key:
        raise BadInput(f"${variable} holds only blanks; export the key")
    if not all("!" <= letter <= "~" for letter in key):
        raise BadInput(
            f"${variable} holds a key with a blank, a line break or a letter outside ASCII inside it, which no request "
            f"can carry; export the key alone"
        )
    return key


@dataclass(frozen=True)
class Mask:
    """Takes a key out of text, in the spellings that servers and libraries give it."""

    key: str | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        if not self.key:
            return ()
        quoted = (self.key, json.dumps(self.key)[1:-1], repr(self.key)[1:-1], urllib.parse.quote(self.key, safe=""))
        return tuple(sorted(set(quoted), key=len, reverse=True))

    def __call__(self, text: str) -> str:
        """For messages and errors: every key, however short."""
        for spelling in self.spellings:
            text = text.replace(spelling, MASK)
        return text

    def answer(self, text: str) -> str:
        """For what a judge says: a word too short to be a key may be said."""
        return self(text) if self.key and len(self.key) >= SHORTEST else text
