"""D4 and CF1: outcomes, and why a counterfactual fails (paper 1, Table 8)."""

from __future__ import annotations

from tasks.gates.group_evidence import Findings, GroupEvidence


def d4_outcome(evidence: GroupEvidence) -> Findings:
    """D4: in a fresh simulator Full succeeds, NoCue's actions too, CF fails; none is cut off by the step limit; and the
    table says the same."""
    found: Findings = {}
    for variant, episode in evidence.group.episodes.items():
        seen = evidence.witness(variant).episode
        succeeds = variant != "cf"
        if seen.truncated or episode.truncated:
            found[variant] = "it ends at the step limit"
        elif seen.success != succeeds:
            found[variant] = f"in a fresh simulator it {'succeeds' if seen.success else 'fails'}"
        elif (episode.success, episode.terminated) != (seen.success, seen.terminated):
            found[variant] = "the table's outcome is not the simulator's"
        elif abs(episode.reward - seen.reward) > 1e-9:
            found[variant] = f"the table's reward {episode.reward} is not the simulator's {seen.reward}"
        else:
            found[variant] = None
    return found


def cf1_intervention(evidence: GroupEvidence) -> Findings:
    """CF1: an intervention is declared, changes the start, and is what makes the same actions fail: without it they
    succeed, with it they fail for the reason that the environment declares."""
    if "cf" not in evidence.group.episodes:
        return {}
    declared = evidence.group.episodes["cf"].intervention
    if declared is None:
        return {"cf": "no intervention is declared"}
    full, cf = evidence.witness("full"), evidence.witness("cf")
    if full.states()[0] == cf.states()[0]:
        return {"cf": f"{declared.name} changes nothing at the start"}
    if not full.episode.success:
        return {"cf": "without the intervention the actions fail as well"}
    return {"cf": evidence.group.environment.why_failed(full.episode, cf.episode)}
