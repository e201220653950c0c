"""The stated-world side: from a seed to a bank of traces and pairs, and the audit of the verifier on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flows.launch import Reporter
from flows.run import Request, Run, Step
from storage import Store
from tasks.stage import Config, Runner
from tasks.traces.bank import SEED, TRACES
from tasks.traces.pairs import PER_TRACE
from tasks.traces.stages import DIAGRAMS, PAIRS, configs
from tasks.traces.stages import TRACES as BANK
from tasks.verification.audit import AUDIT, VERDICTS


def bank(run: Run) -> tuple[Step, Step]:
    """Seed -> traces and pairs."""
    traces = run.envs(BANK)
    pairs = run.envs(PAIRS, traces=traces)
    return traces, pairs


def pictured(run: Run) -> None:
    """Seed -> traces, pairs, pictures."""
    traces, _ = bank(run)
    run.envs(DIAGRAMS, traces=traces)


def audited(run: Run) -> None:
    """Seed -> traces, pairs, verdicts on both, the figures of the audit."""
    traces, pairs = bank(run)
    verdicts = run.envs(VERDICTS, traces=traces, pairs=pairs)
    run.one(AUDIT, traces=traces, pairs=pairs, verdicts=verdicts)


CHAINS = {"bank": bank, "pictures": pictured, "audit": audited}


def stage_configs(n: int, seed: int, per_trace: int, surface: bool) -> Mapping[str, Mapping[str, Config]]:
    """What each shard of each stage reads."""
    made = configs(n, seed, per_trace)
    families = {name: {"family": name} for name in made[BANK.name]}
    return {**made, VERDICTS.name: families, AUDIT.name: {"all": {"surface": surface, "seed": seed}}}


def traces(
    store: str,
    chain: str = "bank",
    n: int = TRACES,
    seed: int = SEED,
    per_trace: int = PER_TRACE,
    surface: bool = True,
    processes: int = 1,
    command: str = "worldaudit traces generate",
    reporter: Reporter | None = None,
) -> dict[str, Any]:
    """Run a chain over the stages of the bank; the run's record. Inside a Prefect flow its shards are task runs."""
    reporter = reporter or Reporter()
    request = Request(
        store=store, command=command, chain=f"traces {chain}", world="traces", profile=f"{n}x{per_trace}", seed=seed
    )
    Store(store).check_writable()
    with Runner(Store(store).location, processes=processes, on_outcome=reporter.outcome) as runner:
        run = Run(request, stage_configs(n, seed, per_trace, surface), runner, reporter.stage)
        return run.execute(CHAINS[chain])
