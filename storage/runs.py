"""Records of runs (`runs/<id>/run.json`) as the store needs them: which artifacts a run uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Used:
    """An artifact that a run made, found or started from."""

    step: str
    shard: str
    stage: str
    key: str


def artifacts_of(record: Mapping[str, Any]) -> Iterator[Used]:
    """In the record's order. `artifacts` maps `step[shard]` to a key, `stage_of` a step to its stage where they differ."""
    stage_of = record.get("stage_of") or {}
    for name, key in (record.get("artifacts") or {}).items():
        step, _, shard = name.partition("[")
        yield Used(step, shard.removesuffix("]"), stage_of.get(step, step), key)


def is_record(value: Any, run_id: str) -> bool:
    """Whether what a run.json holds is the record of that run, and names artifacts by words that cannot leave the store."""
    return (
        isinstance(value, dict)
        and value.get("id") == run_id
        and _are_names(value.get("artifacts", {}))
        and _are_names(value.get("stage_of") or {})
    )


def _are_names(value: Any) -> bool:
    """Whether it maps words to words that are each the name of one folder."""
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(word, str) and _NAME.fullmatch(word) for name, word in value.items()
    )


_NAME = re.compile(r"[\w-][\w.-]*")
