"""D1, D2 and same length: variants of a group line up step by step (paper 1, Table 8)."""

from __future__ import annotations

from tasks.gates.group_evidence import Findings, GroupEvidence


def d1_action_identity(evidence: GroupEvidence) -> Findings:
    """D1: every variant prescribes exactly the group's actions."""
    wanted = evidence.group.actions
    found: Findings = {}
    for variant, episode in evidence.group.episodes.items():
        differing = [step for step, (a, b) in enumerate(zip(episode.actions, wanted, strict=False)) if a != b]
        if len(episode.actions) != len(wanted):
            found[variant] = f"{len(episode.actions)} actions instead of {len(wanted)}"
        else:
            found[variant] = f"another action at step {differing[0]}" if differing else None
    return found


def d2_length(evidence: GroupEvidence) -> Findings:
    """D2: |states| = |frames| = |actions| + 1."""
    found: Findings = {}
    for variant, episode in evidence.group.episodes.items():
        wanted = len(evidence.group.actions) + 1
        frames = evidence.image_ids.get(variant, {})
        if len(episode.states) != wanted:
            found[variant] = f"{len(episode.states)} states for {wanted - 1} actions"
        elif sorted(frames) != list(range(wanted)):
            found[variant] = f"{len(frames)} frames for {wanted} states"
        else:
            found[variant] = None
    return found


def same_length(evidence: GroupEvidence) -> Findings:
    """Beyond the paper: all variants show equally many frames, so that no length tells which one it is."""
    lengths = {variant: len(evidence.image_ids.get(variant, {})) for variant in evidence.group.episodes}
    return {
        variant: None if length == lengths["full"] else f"{length} frames where Full has {lengths['full']}"
        for variant, length in lengths.items()
    }
