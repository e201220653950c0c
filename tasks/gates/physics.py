"""D6, E1 and E2: trajectories replay, events happen in order, states are valid and shown (paper 1, Table 8)."""

from __future__ import annotations

from tasks.gates.case import Case, Findings


def d6_physics(case: Case) -> Findings:
    """D6: every stored trajectory is what a fresh simulator does; NoCue's states are Full's; CF departs from Full only
    as its intervention makes it."""
    world, traces = case.group.world, case.group.traces
    found: Findings = {}
    for variant in traces:
        stored, seen = case.stored[variant], case.witness(variant).states()
        if len(stored) != len(seen):
            found[variant] = f"{len(stored)} states, a fresh simulator gives {len(seen)}"
            continue
        differing = [step for step, (a, b) in enumerate(zip(stored, seen, strict=True)) if a != b]
        found[variant] = f"state {differing[0]} is not what a fresh simulator gives" if differing else None
    if "nocue" in traces and found["nocue"] is None:
        found["nocue"] = None if case.stored["full"] == case.stored["nocue"] else "its states are not Full's"
    if "cf" in traces and found["cf"] is None:
        found["cf"] = world.allowed_divergence(case.witness("full").trace, case.witness("cf").trace)
    return found


def e1_causal_chain(case: Case) -> Findings:
    """E1: the environment's critical events happen in their order, read off a fresh simulator's states; the table lists
    the same events. CF keeps its own."""
    world = case.group.world
    found: Findings = {}
    for variant, trace in case.group.traces.items():
        events = world.events(case.witness(variant).trace.states)
        problem = world.chain_in_order(events) if variant != "cf" else None
        if problem is None and events != trace.events:
            problem = "the table's events are not the simulator's"
        found[variant] = problem
    return found


def e2_state_encoding(case: Case) -> Findings:
    """E2: every stored state is one that the world can be in, and every picture shows, read back from its pixels, the
    state of a fresh simulator (outside NoCue's mask)."""
    found: Findings = {}
    # What has passed for Full need not be asked of NoCue: its states are Full's, and so are the pictures without a mask.
    passed: set[tuple[int, int, int, str]] = set()
    for variant in case.group.traces:
        witness = case.witness(variant)
        found[variant] = None
        for step, state in enumerate(case.stored[variant]):
            boxes = case.boxes(variant, step)
            shown = (id(witness), step, id(state), case.image_ids[variant][step])
            if not boxes and shown in passed:
                continue
            problem = witness.invalid_state(state)
            if problem is None and step < len(witness.trace.states) and (boxes or witness.draws(step)):
                problem = witness.misread(step, case.pixels(variant, step), boxes)
            if problem:
                found[variant] = problem
                break
            if not boxes:
                passed.add(shown)
    return found
