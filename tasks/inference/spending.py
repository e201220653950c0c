"""What a flow needs to know of a stage that spends: how far it has come, what it would send, what it has cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from storage import Artifact, Store
from tasks.errors import BadInput
from tasks.inference.answered import answered_and_failed, journal_of, journal_state
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import cost_of
from tasks.inference.plan import Plan, plan
from tasks.stage import Config, Ref, Spending


def so_far(store: Store, config: Config, inputs: Mapping[str, Ref]) -> Config | None:
    """The configuration of a snapshot of what has been answered; None where nothing was (a failure is no answer)."""
    spec, asking = JudgeSpec.model_validate(config["spec"]), config.get("asking")
    release = inputs["release"].key
    answered, _ = answered_and_failed(journal_of(store, release, spec, asking))
    if not any(replicate < spec.replicates for _, replicate, _ in answered):
        return None
    return {**config, "snapshot": journal_state(store, release, spec, asking)}


def would_send(store: Store, config: Config, inputs: Mapping[str, Ref]) -> Plan | None:
    """What the stage would send; None where the release, or an artifact with its pictures, is not in the store yet."""
    opened = {role: store.find(ref.stage, ref.key) for role, ref in inputs.items()}
    there = {role: artifact for role, artifact in opened.items() if artifact is not None}
    if len(there) < len(opened):
        return None
    spec = JudgeSpec.model_validate(config["spec"])
    return plan(there["release"], spec, config["judge"], config.get("asking"), pictures_of(there))


def pictures_of(inputs: Mapping[str, Artifact]) -> list[Artifact]:
    """The artifacts beside the release that hold pictures: the roles `images` and `images.<shard>`."""
    return [inputs[role] for role in sorted(inputs) if role == "images" or role.startswith("images.")]


def cost(artifact: Artifact, config: Config) -> dict[str, Any] | None:
    """Tokens and money that a finished artifact has cost; None without prices."""
    spec = JudgeSpec.model_validate(config["spec"])
    if spec.prices is None:
        return None
    tokens_in, tokens_out = artifact.read("responses").select(pl.col("input_tokens", "output_tokens").sum()).row(0)
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "amount": cost_of(spec, tokens_in, tokens_out, 0),
        "currency": spec.prices.currency,
    }


def failed(artifact: Artifact) -> bool:
    """Whether a question of a finished artifact has no answer."""
    return bool(artifact.read("responses")["status"].is_in(["api_error", "pending"]).any())


def preflight(config: Config) -> None:
    """BadInput, naming the judge, where its key is not at hand."""
    spec = JudgeSpec.model_validate(config["spec"])
    try:
        if spec.hosted:
            spec.api_key()
    except BadInput as error:
        raise BadInput(f"judge {config['judge']}: {error}") from None


SPENDING = Spending(so_far, would_send, cost, failed, preflight)
