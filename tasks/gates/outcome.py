"""D4 and CF1: outcomes, and why a counterfactual fails (paper 1, Table 8)."""

from __future__ import annotations

from tasks.gates.case import Case, Findings


def d4_outcome(case: Case) -> Findings:
    """D4: in a fresh simulator Full succeeds, NoCue's actions too, CF fails; none is cut off by the step limit; and the
    table says the same."""
    found: Findings = {}
    for variant, trace in case.group.traces.items():
        seen = case.witness(variant).trace
        succeeds = variant != "cf"
        if seen.truncated or trace.truncated:
            found[variant] = "it ends at the step limit"
        elif seen.success != succeeds:
            found[variant] = f"in a fresh simulator it {'succeeds' if seen.success else 'fails'}"
        elif (trace.success, trace.terminated) != (seen.success, seen.terminated):
            found[variant] = "the table's outcome is not the simulator's"
        elif abs(trace.reward - seen.reward) > 1e-9:
            found[variant] = f"the table's reward {trace.reward} is not the simulator's {seen.reward}"
        else:
            found[variant] = None
    return found


def cf1_intervention(case: Case) -> Findings:
    """CF1: an intervention is declared, changes the start, and is what makes the same actions fail: without it they
    succeed, with it they fail for the reason that the environment declares."""
    if "cf" not in case.group.traces:
        return {}
    declared = case.group.traces["cf"].intervention
    if declared is None:
        return {"cf": "no intervention is declared"}
    full, cf = case.witness("full"), case.witness("cf")
    if full.states()[0] == cf.states()[0]:
        return {"cf": f"{declared.name} changes nothing at the start"}
    if not full.trace.success:
        return {"cf": "without the intervention the actions fail as well"}
    return {"cf": case.group.world.why_failed(full.trace, cf.trace)}
