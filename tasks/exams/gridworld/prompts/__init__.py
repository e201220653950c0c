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
_KINDS = {str: "a text", int: "a whole number"}


@dataclass(frozen=True)
class PromptSet:
    name: str
    legend: str
    tasks: dict[str, dict[str, Any]]
    sha256: str

    def prompt(self, task: str, *before: str, **values: Any) -> str:
        """The task's text with its braces filled in, after the legend and the sentences that stand before it. Raises BadInput
        for braces that nothing fills in."""
        try:
            text = self.tasks[task]["text"].strip().format(**values)
        except (LookupError, ValueError, AttributeError) as error:
            raise BadInput(
                f"prompt set {self.name}: the text of [tasks.{task}] has braces that cannot be filled in ({error}); it may "
                f"have {', '.join(values) or 'none'}; a brace of its own is written twice"
            ) from None
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
    legend, tasks = table.get("legend"), table.get("tasks")
    if not isinstance(legend, str) or not isinstance(tasks, dict):
        raise BadInput(f"prompt set {path} needs a text `legend` and a table [tasks.X] for each task X")
    for task, said in tasks.items():
        for key, kind in (("text", str), ("answer_format", str), ("max_tokens", int)):
            if not isinstance(said, dict) or not isinstance(said.get(key), kind):
                raise BadInput(f"prompt set {path}: [tasks.{task}] needs {key}, {_KINDS[kind]}")
    return PromptSet(name, legend.strip(), tasks, digest(data))
