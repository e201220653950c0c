"""Trajectory groups as the stages pass them on: rows of `groups` and `trajectories` made whole again, and back."""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from storage import Artifact
from tasks.worlds.base import Environment, Episode, Event, Intervention, MaskBox

VARIANTS = ("full", "nocue", "cf")


@dataclass
class Group:
    """A trajectory group: one seed of one environment, its variants and NoCue's mask. Full comes first in `episodes`."""

    group_id: str
    environment: Environment
    seed: int
    mission: str
    actions: list[str]
    episodes: dict[str, Episode] = field(default_factory=dict)
    mask: list[MaskBox] = field(default_factory=list)

    @functools.cached_property
    def mask_by_step(self) -> dict[int, list[MaskBox]]:
        boxes: dict[int, list[MaskBox]] = defaultdict(list)
        for box in self.mask:
            boxes[box.step].append(box)
        return dict(boxes)

    @property
    def short_id(self) -> str:
        """The group as a uid names it, without its environment."""
        return self.group_id.removeprefix(f"{self.environment.name}_")


def trajectory_row(
    group_id: str, variant: str, episode: Episode, environment: Environment, mask: Sequence[MaskBox] = ()
) -> dict[str, Any]:
    """A row of `trajectories`."""
    return {
        "group_id": group_id,
        "variant": variant,
        "actions": episode.actions,
        "success": episode.success,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "reward": episode.reward,
        "states": [json.dumps(environment.encode(state), separators=(",", ":")) for state in episode.states],
        "events": [{"step": event.step, "name": event.name} for event in episode.events],
        "intervention": json.dumps(episode.intervention.to_json()) if episode.intervention else None,
        "mask": [vars(box) for box in mask] if variant == "nocue" else None,
    }


def groups(artifact: Artifact, environment: Environment, only: set[str] | None = None) -> Iterator[Group]:
    """The groups of an artifact that have trajectories, in order, one in memory at a time; `only` picks by group id."""
    rows = {row["group_id"]: row for row in artifact.arrow("groups").to_pylist()}
    current: Group | None = None
    decoded: dict[str, Any] = {}  # NoCue's states are Full's, and most of CF's are
    for batch in artifact.batches("trajectories"):
        for record in batch.to_batches(max_chunksize=32):
            for row in record.to_pylist():
                if only is not None and row["group_id"] not in only:
                    continue
                if current is None or current.group_id != row["group_id"]:
                    if current is not None:
                        yield current
                    head = rows[row["group_id"]]
                    current = Group(head["group_id"], environment, head["seed"], head["mission"], head["actions"])
                    decoded.clear()
                for state in row["states"]:
                    if state not in decoded:
                        decoded[state] = environment.decode(json.loads(state))
                current.episodes[row["variant"]] = _episode(row, current, [decoded[state] for state in row["states"]])
                if row["mask"]:
                    current.mask = [MaskBox(**box) for box in row["mask"]]
    if current is not None:
        yield current


def _episode(row: dict[str, Any], group: Group, states: list[Any]) -> Episode:
    intervention = json.loads(row["intervention"]) if row["intervention"] else None
    return Episode(
        mission=group.mission,
        actions=row["actions"],
        states=states,
        success=row["success"],
        terminated=row["terminated"],
        truncated=row["truncated"],
        reward=row["reward"],
        intervention=Intervention.from_json(intervention) if intervention else None,
        events=[Event(**event) for event in row["events"]],
    )
