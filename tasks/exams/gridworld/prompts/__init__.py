"""Prompt sets: one TOML file each, `<name>.toml`, with everything that a model is told in words."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage import digest
from tasks.errors import BadInput

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PromptSet:
    name: str
    legend: str
    tasks: dict[str, dict[str, Any]]
    sha256: str

    def prompt(self, task: str, *before: str, **values: Any) -> str:
        """The task's text with its braces filled in, after the legend and the sentences that stand before it."""
        text = self.tasks[task]["text"].strip().format(**values)
        return "\n\n".join([self.legend, "\n".join([*(line for line in before if line), text])])

    def format_of(self, task: str) -> dict[str, Any]:
        """`answer_format` and `max_tokens` of a task, as an item has them."""
        return {name: self.tasks[task][name] for name in ("answer_format", "max_tokens")}


@functools.cache
def load(name: str) -> PromptSet:
    """A prompt set by name, or by the path of a TOML file. Raises BadInput, naming what there is."""
    path = Path(name) if name.endswith(".toml") else _FOLDER / f"{name}.toml"
    try:
        data = path.read_bytes()
        table = tomllib.loads(data.decode())
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in _FOLDER.glob("*.toml")))
        raise BadInput(f"no prompt set {name!r}; there are {known}, or give the path of a .toml file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"prompt set {path}: {error}") from error
    return PromptSet(name, table["legend"].strip(), table["tasks"], digest(data))
