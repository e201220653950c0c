"""Text from elsewhere, made harmless for a terminal."""

from __future__ import annotations

import re

# C0 but tab and line feed, DEL, C1, and the marks that turn the direction of what follows.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_C1 = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""`text` with every character that could command a terminal spelled out, such as `\x1b`; lone surrogates become
    U+FFFD."""
    shown = _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))
    return without_surrogates(shown)


def printable_json(text: str) -> str:
    """JSON with the same characters escaped: what it says stays the same."""
    return without_surrogates(_C1.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def without_surrogates(text: str) -> str:
    """`text` as UTF-8 can say it: half of a surrogate pair becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
