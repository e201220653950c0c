"""How fast a bank is made and verified, and where the verifier's time goes.

    python -m bench.traces [--rounds 5]

Baseline for verification: checking the same traces against the JSON Schema with `jsonschema`, which alone is most of what a
verifier without recomputation does. Rounds alternate, so that a busy machine slows both; the best round of each counts. CPU
time of one process; every round has traces that were not seen before.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable
from typing import Any

import jsonschema

from tasks.traces import bank, gates, pairs
from tasks.traces.record import render
from tasks.traces.remembered import forget
from tasks.traces.schema import LENIENT
from tasks.verification.verifier import verify

SHARES = {
    "schema": "form",
    "reading": "read",
    "reference and solving": "refer",
    "entities and relations": ("entities", "relations"),
    "quantities and conditions": ("quantities", "attributes", "conditions"),
    "forces": "forces",
    "effect": ("effect", "subject", "effect_values"),
    "equation (sympy)": "equations",
    "evidence": "evidence",
    "predicted change": "change",
    "new variables": "results",
    "intervention": "intervention",
    "answer and faithfulness": ("conclusion", "answer", "explanation"),
}


def seconds(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def traces(seed: int, n: int = 400) -> list[dict[str, Any]]:
    return [render(record) for record in bank.generate(n, seed)]


def generation() -> int:
    """The default bank with pairs and gates, without pictures; the number of pairs."""
    records = list(bank.generate())
    failed = [gate for record in records for gate in gates.check_trace(record, render(record)) if not gate.passed]
    made = list(pairs.generate(records))
    assert not failed
    return len(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    wall = time.perf_counter()
    cold = seconds(generation)
    print(
        f"generation, 200 traces and {pairs.PER_TRACE * bank.TRACES:,} pairs: {cold:.2f} s CPU with all imports ({time.perf_counter() - wall:.2f} s wall)"
    )
    print(f"generation again in the same process: {min(seconds(generation) for _ in range(2)):.2f} s CPU")

    validator = jsonschema.Draft7Validator(LENIENT)
    for trace in traces(0):
        verify(trace)
    ours, baseline = [], []
    for seed in range(1, rounds + 1):
        fresh = traces(seed)
        forget()
        baseline.append(len(fresh) / seconds(lambda fresh=fresh: [validator.is_valid(trace) for trace in fresh]))
        ours.append(len(fresh) / seconds(lambda fresh=fresh: [verify(trace) for trace in fresh]))
    print(f"verification: {max(ours):,.0f} traces/s on one core (rounds: {', '.join(f'{rate:,.0f}' for rate in ours)})")
    print(f"baseline, jsonschema alone: {max(baseline):,.0f} traces/s; ratio {max(ours) / max(baseline):.2f}")

    fresh = traces(99)
    forget()
    profile = cProfile.Profile()
    profile.enable()
    for trace in fresh:
        verify(trace)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = next(entry[3] for (_, _, name), entry in stats.items() if name == "verify")
    print("share of time by check (under the profiler):")
    for label, functions in SHARES.items():
        names = (functions,) if isinstance(functions, str) else functions
        spent = sum(e[3] for (path, _, name), e in stats.items() if name in names and "/verification/" in path)
        print(f"  {label:<26} {spent / total:6.1%}")


if __name__ == "__main__":
    main()
