"""Stage `gates`: which groups may enter an exam (paper 1, Table 8, and a gate beyond it).

Each gate is a function of a `GroupEvidence`; it questions a fresh simulator or the rendered pixels rather than what the
generator said of itself. Gates on exam items (D3, leak-free, decidable) are applied while an exam is built
(`tasks.exams.item_gates`).
"""

from __future__ import annotations

from collections.abc import Callable

from storage.store import ArtifactWriter
from tasks.gates.alignment import d1_action_identity, d2_length, same_length
from tasks.gates.group_evidence import Findings, GroupEvidence
from tasks.gates.mask import d5_no_interaction_masking, n1_mask
from tasks.gates.outcome import cf1_intervention, d4_outcome
from tasks.gates.physics import d6_physics, e1_causal_chain, e2_state_encoding
from tasks.stage import Config, Inputs, Stage
from tasks.trajectories import groups
from tasks.worlds import environment

GATES_BY_NAME: dict[str, Callable[[GroupEvidence], Findings]] = {
    "D1": d1_action_identity,
    "D2": d2_length,
    "same_length": same_length,
    "D4": d4_outcome,
    "D5": d5_no_interaction_masking,
    "D6": d6_physics,
    "E1": e1_causal_chain,
    "E2": e2_state_encoding,
    "N1": n1_mask,
    "CF1": cf1_intervention,
}


def examine(evidence: GroupEvidence) -> list[dict[str, object]]:
    """Rows of `gate_results` for one group. A gate that cannot even be asked (a frame is missing) has failed."""
    rows: list[dict[str, object]] = []
    for name, gate in GATES_BY_NAME.items():
        try:
            findings = gate(evidence)
        except Exception as error:
            findings = {"full": f"the gate cannot be asked: {type(error).__name__}: {error}"}
        rows += [
            {
                "group_id": evidence.group.group_id,
                "variant": variant,
                "gate": name,
                "passed": wrong is None,
                "detail": wrong,
            }
            for variant, wrong in findings.items()
        ]
    return rows


def gate(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """`groups`, `trajectories`, `frames`, `images` -> `gate_results`, and `groups` with their final acceptance.

    Configuration: world, env, env_id.
    """
    env = environment(config["world"], config["env"], config["env_id"])
    image_ids: dict[str, dict[str, dict[int, str]]] = {}
    for group_id, variant, step, image_id in inputs["rendering"].read("frames").iter_rows():
        image_ids.setdefault(group_id, {}).setdefault(variant, {})[step] = image_id
    images = inputs["rendering"].arrow("images")
    place = {image_id: row for row, image_id in enumerate(images["image_id"].to_pylist())}
    refused: dict[str, str] = {}
    for group in groups(inputs["variants"], env):
        evidence = GroupEvidence(
            group, image_ids.get(group.group_id, {}), lambda image_id: images["png"][place[image_id]].as_py()
        )
        rows = examine(evidence)
        writer.add("gate_results", rows)
        failed = [f"{row['gate']} ({row['variant']}): {row['detail']}" for row in rows if not row["passed"]]
        if failed:
            refused[group.group_id] = "gates: " + "; ".join(failed)
    heads = inputs["variants"].arrow("groups").to_pylist()
    for row in heads:
        if row["accepted"] is None:
            reason = refused.get(row["group_id"])
            row |= {"accepted": reason is None, "reject_reason": reason}
    writer.add("groups", heads)


GATES = Stage("gates", 1, gate)
