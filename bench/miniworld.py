"""Generating a MiniWorld exam against the bare cost of stepping and rendering the same frames.

    python -m bench.miniworld [--profile base] [--processes 2]

The bare loop makes each environment once, resets it, and steps every variant of every group with MiniWorld's own drawing
at the same size, with what threads Mesa starts by itself; it plans nothing, checks nothing, encodes nothing and writes
nothing. Ours runs the stages rollouts to answers: plans, masks, counterfactuals, PNG, every gate (which steps everything
and draws a part again in a fresh simulator) and the exam's pages; first in as many worker processes as a run has by
default, for the wall time, then in this process, for the CPU time by stage (this process's and MiniWorld's).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.generation import ours
from storage import Store
from tasks.exams.gridworld.profiles import load
from tasks.trajectories import groups
from tasks.worlds import environment
from tasks.worlds.miniworld.process import PROCESS

BARE = """
import json, os, resource, sys
sys.stdout = sys.stderr
import pyglet
pyglet.options["headless"] = True
import gymnasium, miniworld
frames = 0
for env_id, runs in json.load(sys.stdin).items():
    env = gymnasium.make(env_id, disable_env_checker=True, obs_width=256, obs_height=192).unwrapped
    env.params.set("cam_pitch", -20)
    for seed, actions in runs:
        env.reset(seed=seed)
        frames += 1
        for action in actions:
            env.step(env.actions[action])
            frames += 1
used = resource.getrusage(resource.RUSAGE_SELF)
os.write(1, json.dumps([frames, used.ru_utime + used.ru_stime]).encode())
"""


def cpu() -> float:
    """CPU seconds of this process and of MiniWorld's."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime
    if PROCESS.pid is None:
        return seconds
    fields = Path(f"/proc/{PROCESS.pid}/stat").read_text().rpartition(")")[2].split()
    return seconds + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bare(folder: str, profile: str, variants: dict) -> tuple[int, float, float]:
    """Frames that a bare loop steps and draws, its CPU seconds and its wall seconds."""
    store, plan = Store(folder), load("miniworld", profile)
    runs: dict[str, list] = {}
    for name, shard in plan.shards.items():
        world = environment("miniworld", shard.env or name, shard.env_id)
        for group in groups(store.get("variants", variants[name].key), world):
            for variant in ("full", "cf"):  # NoCue's frames are Full's
                steps = runs.setdefault(shard.env_id.partition("?")[0], [])
                steps.append((group.seed, group.actions[: len(group.episodes[variant].states) - 1]))
    start = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-c", BARE], input=json.dumps(runs), text=True, capture_output=True, check=True
    )
    wall = time.perf_counter() - start
    frames, seconds = json.loads(result.stdout)
    return frames, seconds, wall


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--profile", default="base")
    arguments.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        walls, rounds = [], []
        for turn in range(2):  # in turn, and the better of two each: other work on the machine comes and goes
            start = time.perf_counter()
            _, made = ours(f"{folder}/{turn}", options.profile, options.processes, world="miniworld")
            walls.append(time.perf_counter() - start)
            rounds.append(bare(f"{folder}/{turn}", options.profile, made["variants"]))
        spent, _ = ours(f"{folder}/cpu", options.profile, world="miniworld", clock=cpu)
    wall, frames = min(walls), rounds[0][0]
    seconds, bare_wall = (min(values) for values in list(zip(*rounds, strict=True))[1:])
    print(
        f"bare stepping and drawing of {frames:,} frames: {bare_wall:.1f} s wall, {seconds:.1f} s CPU, "
        f"{1000 * seconds / frames:.2f} ms a frame"
    )
    for name, value in spent.items():
        print(f"  {name:<12} {value:6.1f} s CPU")
    total = sum(spent.values())
    print(f"ours, all stages: {wall:.1f} s wall in {options.processes} processes, {total:.1f} s CPU")
    print(f"ours / bare: {wall / bare_wall:.2f}x by wall time, {total / seconds:.2f}x by CPU time")


if __name__ == "__main__":
    main()
