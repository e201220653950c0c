"""D6, E1 and E2: trajectories replay, events happen in order, states are valid and shown (paper 1, Table 8)."""

from __future__ import annotations

from tasks.gates.group_evidence import Findings, GroupEvidence


def d6_physics(evidence: GroupEvidence) -> Findings:
    """D6: every stored trajectory is what a fresh simulator does; NoCue's states are Full's; CF departs from Full only
    as its intervention makes it."""
    environment, episodes = evidence.group.environment, evidence.group.episodes
    found: Findings = {}
    for variant in episodes:
        stored, seen = evidence.stored[variant], evidence.witness(variant).states()
        if len(stored) != len(seen):
            found[variant] = f"{len(stored)} states, a fresh simulator gives {len(seen)}"
            continue
        differing = [step for step, (a, b) in enumerate(zip(stored, seen, strict=True)) if a != b]
        found[variant] = f"state {differing[0]} is not what a fresh simulator gives" if differing else None
    if "nocue" in episodes and found["nocue"] is None:
        found["nocue"] = None if evidence.stored["full"] == evidence.stored["nocue"] else "its states are not Full's"
    if "cf" in episodes and found["cf"] is None:
        found["cf"] = environment.allowed_divergence(evidence.witness("full").episode, evidence.witness("cf").episode)
    return found


def e1_causal_chain(evidence: GroupEvidence) -> Findings:
    """E1: the environment's critical events happen in their order, read off a fresh simulator's states; the table lists
    the same events. CF keeps its own."""
    environment = evidence.group.environment
    found: Findings = {}
    for variant, episode in evidence.group.episodes.items():
        events = environment.events(evidence.witness(variant).episode.states)
        problem = environment.chain_in_order(events) if variant != "cf" else None
        if problem is None and events != episode.events:
            problem = "the table's events are not the simulator's"
        found[variant] = problem
    return found


def e2_state_encoding(evidence: GroupEvidence) -> Findings:
    """E2: every stored state is one that the world can be in, and every picture shows, read back from its pixels, the
    state of a fresh simulator (outside NoCue's mask)."""
    found: Findings = {}
    # What has passed for Full need not be asked of NoCue: its states are Full's, and so are the pictures without a mask.
    passed: set[tuple[int, int, int, str]] = set()
    for variant in evidence.group.episodes:
        witness = evidence.witness(variant)
        found[variant] = None
        for step, state in enumerate(evidence.stored[variant]):
            boxes = evidence.boxes(variant, step)
            shown = (id(witness), step, id(state), evidence.image_ids[variant][step])
            if not boxes and shown in passed:
                continue
            problem = witness.invalid_state(state)
            if problem is None and step < len(witness.episode.states) and (boxes or witness.draws(step)):
                problem = witness.misread(step, evidence.pixels(variant, step), boxes)
            if problem:
                found[variant] = problem
                break
            if not boxes:
                passed.add(shown)
    return found
