"""Prompt sets: everything that a model is told in words, one TOML file each: `<name>.toml` here, or in `prompts/` in the
folder of a world that is installed beside the project."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage import digest
from tasks.errors import BadInput
from tasks.worlds import WORLDS

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
def load(name: str, world: str | None = None) -> PromptSet:
    """A prompt set by name, the world's own ones included, or by the path of a TOML file. Raises BadInput, naming what
    there is."""
    known = {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))} | (WORLDS[world].prompts if world else {})
    path = Path(name) if name.endswith(".toml") else known.get(name)
    try:
        if path is None:
            raise FileNotFoundError(name)
        data = path.read_bytes()
        table = tomllib.loads(data.decode())
    except FileNotFoundError:
        raise BadInput(
            f"no prompt set {name!r}; there are {', '.join(known)}, or give the path of a .toml file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"prompt set {path}: {error}") from error
    return PromptSet(name, table["legend"].strip(), table["tasks"], digest(data))
