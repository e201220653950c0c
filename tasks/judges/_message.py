"""What a judge is shown: text and PNG bytes, in order, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Png:
    """`sha256` is over `data`, the bytes of the PNG file."""

    data: bytes
    sha256: str


@dataclass(frozen=True)
class Message:
    """One user turn. `parts` in the order in which a model reads them."""

    parts: tuple[Text | Png, ...]

    @property
    def text(self) -> str:
        """All its text, one part a line."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def images(self) -> list[bytes]:
        """The bytes of its PNG files, in order."""
        return [part.data for part in self.parts if isinstance(part, Png)]


class Judge(Protocol):
    """An embedded judge, or any Python object that can answer: text and PNG bytes in, text out."""

    def answer(self, message: Message) -> str: ...
