"""D1, D2 and same length: variants of a group line up step by step (paper 1, Table 8)."""

from __future__ import annotations

from tasks.gates.case import Case, Findings


def d1_action_identity(case: Case) -> Findings:
    """D1: every variant prescribes exactly the group's actions."""
    wanted = case.group.actions
    found: Findings = {}
    for variant, trace in case.group.traces.items():
        differing = [step for step, (a, b) in enumerate(zip(trace.actions, wanted, strict=False)) if a != b]
        if len(trace.actions) != len(wanted):
            found[variant] = f"{len(trace.actions)} actions instead of {len(wanted)}"
        else:
            found[variant] = f"another action at step {differing[0]}" if differing else None
    return found


def d2_length(case: Case) -> Findings:
    """D2: |states| = |frames| = |actions| + 1."""
    found: Findings = {}
    for variant, trace in case.group.traces.items():
        wanted = len(case.group.actions) + 1
        frames = case.image_ids.get(variant, {})
        if len(trace.states) != wanted:
            found[variant] = f"{len(trace.states)} states for {wanted - 1} actions"
        elif sorted(frames) != list(range(wanted)):
            found[variant] = f"{len(frames)} frames for {wanted} states"
        else:
            found[variant] = None
    return found


def same_length(case: Case) -> Findings:
    """Beyond the paper: all variants show equally many frames, so that no length tells which one it is."""
    lengths = {variant: len(case.image_ids.get(variant, {})) for variant in case.group.traces}
    return {
        variant: None if length == lengths["full"] else f"{length} frames where Full has {lengths['full']}"
        for variant, length in lengths.items()
    }
