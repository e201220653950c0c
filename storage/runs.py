"""Records of runs (`runs/<id>/run.json`) as the store needs them: which artifacts a run uses."""

from __future__ import annotations

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
    """Whether what a run.json holds is the record of that run."""
    return isinstance(value, dict) and value.get("id") == run_id and isinstance(value.get("artifacts", {}), dict)
