"""Shards that a worker computes: what it is sent, and a worker of another version."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flows.operations.placement import compute_shards, edition, run_elsewhere, stages
from tasks.errors import BadInput
from tasks.stage import Stage


def test_a_worker_is_told_the_version_of_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sent: dict[str, Any] = {}
    done = SimpleNamespace(is_final=lambda: True, is_completed=lambda: True)
    monkeypatch.setattr(
        "prefect.deployments.run_deployment",
        lambda **call: sent.update(call["parameters"]) or SimpleNamespace(state=done),
    )
    monkeypatch.setattr("prefect.client.orchestration.get_client", lambda **_: contextlib.nullcontext())
    stage = stages()["rendering"]
    assert run_elsewhere("shards/cpu", str(tmp_path), stage, {"a": ({}, {})}, []) is None
    assert sent["asked_by"] == edition(stage)

    from flows.operations.deployed import shards

    shards.validate_parameters(sent)


def test_a_worker_of_another_version_says_so(tmp_path: Path) -> None:
    """Its artifacts would have other keys, and the run would say that they are missing."""
    ours = stages()["rendering"]
    theirs = edition(Stage("rendering", ours.version + 1, ours.run))
    with pytest.raises(
        BadInput, match=rf"version {ours.version + 1} of .* this worker has .* install the same on both"
    ):
        compute_shards(str(tmp_path), "rendering", {"a": {"config": {}, "inputs": {}}}, [], 1, theirs)
