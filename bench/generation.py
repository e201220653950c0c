"""Generating an exam against a plain loop over the same pictures.

    python -m bench.generation [--profile base] [--processes 2]

The plain loop steps each trajectory in Minigrid, renders every frame with Minigrid's renderer, composes the same pages
with Pillow and encodes each unique picture with Pillow's default level. It plans nothing, checks nothing and writes no
tables. Ours runs the stages rollouts to answers, gates included, without a flow: in one worker process, and in as many as
a run has by default. Start-up of the workers is counted.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable

import gymnasium
import polars as pl
from PIL import Image, ImageDraw, ImageFont

from flows.operations.launch import build
from flows.request import Request
from storage import Store
from tasks.exams.gridworld.keyframes import keyframes
from tasks.exams.gridworld.profiles import load
from tasks.pictures.storyboard import CAPTION, COLUMNS, GAP, TITLE
from tasks.pictures.styles import VISUALS
from tasks.stage import Ref
from tasks.trajectories import groups
from tasks.worlds import environment

SEED = 20261129


# The pages as one writes them plainly with Pillow; the layout is that of tasks/rendering/storyboard.py.


def captioned(caption, frame):
    page = Image.new("RGB", (frame.shape[1], frame.shape[0] + CAPTION), "white")
    _caption(page, 0, 1, caption)
    page.paste(Image.fromarray(frame), (0, CAPTION))
    return page


def storyboard(frames, columns=COLUMNS):
    height, width = frames[0][1].shape[:2]
    rows = -(-len(frames) // columns)
    page = Image.new("RGB", (GAP + columns * (width + GAP), GAP + rows * (CAPTION + height + GAP)), "white")
    for place, (caption, frame) in enumerate(frames):
        row, column = divmod(place, columns)
        left, top = GAP + column * (width + GAP), GAP + row * (CAPTION + height + GAP)
        _caption(page, left, top + 1, caption)
        page.paste(Image.fromarray(frame), (left, top + CAPTION))
    return page


def sheet(parts):
    page = Image.new("RGB", (parts[0][1].width, sum(TITLE + part.height for _, part in parts)), "white")
    top = 0
    for title, part in parts:
        _caption(page, GAP, top + 8, title)
        page.paste(part, (0, top + TITLE))
        top += TITLE + part.height
    return page


def panel(current, candidates):
    left, right = storyboard([current], 1), storyboard(candidates, 2)
    page = Image.new("RGB", (left.width + 2 * GAP + right.width, right.height), "white")
    page.paste(left, (0, 0))
    page.paste(right, (left.width + 2 * GAP, 0))
    return page


def _caption(page, left, top, text):
    ImageDraw.Draw(page).text((left, top), text, fill="black", font=FONT)


FONT = ImageFont.load_default(20)


def ours(
    folder: str,
    profile: str,
    processes: int = 0,
    world: str = "minigrid",
    clock: Callable[[], float] = time.process_time,
) -> tuple[dict[str, float], dict[str, dict[str, Ref]]]:
    """Seconds of `clock` by step of the chain, rollouts to answers, and what was made. Without the chain's record and
    Prefect: only the shards are computed."""
    request = Request(
        store=folder,
        command="bench",
        chain="generate",
        parameters={"world": world, "profile": profile, "seed": SEED},
        configuration={"run": {"processes": processes}},
    )
    run = build(request)
    spent: dict[str, float] = {}
    refs: dict[str, dict[str, Ref]] = {}
    with run.runner as runner:
        for step in run.planned:
            start = clock()
            refs[step.name] = runner.map(step.stage, step.shards, step.name)
            spent[step.name] = clock() - start
    return spent, refs


def plain(folder: str, profile: str, refs: dict[str, dict[str, Ref]]) -> tuple[int, dict[str, float]]:
    """How many unique pictures the plain loop encoded, and its CPU seconds by kind of work."""
    store, plan = Store(folder), load("minigrid", profile)
    answers = store.get("answers", refs["answers"]["all"].key).read("answers").drop("task")
    items = store.get("release", refs["release"]["all"].key).read("items").join(answers, on="uid")
    spent: dict[str, float] = defaultdict(float)
    done: set[str] = set()

    def timed(kind, work, *arguments):
        start = time.process_time()
        result = work(*arguments)
        spent[kind] += time.process_time() - start
        return result

    def encode(page):
        file = io.BytesIO()
        page.save(file, "PNG")
        return file.getvalue()

    for name, shard in plan.shards.items():
        world = environment("minigrid", shard.env or name, shard.env_id)
        registered, _, query = shard.env_id.partition("?")
        arguments = {"size": int(query.split("=")[1])} if query else {}
        env = timed("step", lambda r=registered, a=arguments: gymnasium.make(r, **a).unwrapped)
        shard_items = items.filter(
            (pl.col("env") == world.name) & (pl.col("env_id") == shard.env_id) & ~pl.col("image_ids").is_null()
        )
        used = set(shard_items["group_id"]) | set(shard_items["reference_group_id"].drop_nulls())
        frames: dict[tuple[str, str], list] = {}
        made = {
            group.group_id: group for group in groups(store.get("variants", refs["variants"][name].key), world, used)
        }
        for group in made.values():
            for variant, episode in group.episodes.items():
                timed("step", lambda seed=group.seed, e=env: e.reset(seed=seed))
                if episode.intervention:
                    from tasks.worlds.minigrid.simulator import thing_of

                    for x, y, code in episode.intervention.parameters["cells"]:
                        env.grid.set(x, y, thing_of(code))
                shown = [timed("render", env.get_pov_render, 32)]
                for action in group.actions:
                    timed("step", env.step, env.actions[action])
                    shown.append(timed("render", env.get_pov_render, 32))
                frames[group.group_id, variant] = shown
        for row in shard_items.iter_rows(named=True):
            if done.issuperset(row["image_ids"]):
                continue
            done.update(row["image_ids"])
            visual = VISUALS[row["visual"]]
            shown = [
                (
                    f"step {step}",
                    timed("style", visual, frames[row["group_id"], row["variant"]][step], row["group_id"], step),
                )
                for step in row["steps"]
            ]
            match row["task"]:
                case "A":
                    pages = [timed("compose", panel, shown[0], shown * 4)]
                    for _ in range(4):  # the candidates are rendered too
                        timed("render", env.get_pov_render, 32)
                case "B":
                    pages = [Image.fromarray(shown[0][1])]
                case "D":
                    reference = row["reference_group_id"]
                    above = [
                        (f"step {step}", timed("style", visual, frames[reference, "full"][step], reference, step))
                        for step in keyframes(made[reference])
                    ]
                    pages = [
                        timed(
                            "compose",
                            lambda a=above, s=shown: sheet([("REFERENCE", storyboard(a)), ("QUERY", storyboard(s))]),
                        )
                    ]
                case _ if row["representation"] == "split":
                    pages = [timed("compose", captioned, *frame) for frame in shown]
                case _:
                    pages = [timed("compose", storyboard, shown)]
            for page in pages:
                timed("encode", encode, page)
    return len(done), spent


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--profile", default="base")
    arguments.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = arguments.parse_args()
    walls: dict[int, float] = {}
    cpus: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for processes in sorted({1, options.processes}):
            stores = f"{folder}/{processes}"
            wall, before = time.perf_counter(), children()
            spent, refs = ours(stores, options.profile, processes, clock=time.perf_counter)
            walls[processes], cpus[processes] = time.perf_counter() - wall, children() - before
            name = "1 worker process" if processes == 1 else f"{processes} worker processes"
            print(f"ours, {name:<20} {walls[processes]:7.2f} s wall  {cpus[processes]:7.2f} s CPU")
            for stage, seconds in spent.items():
                print(f"  {stage:<24} {seconds:7.2f} s  {100 * seconds / walls[processes]:3.0f} %")
        print(f"  peak of a worker         {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:7.0f} MB")
        wall = time.perf_counter()
        pictures, by_kind = plain(stores, options.profile, refs)
        plain_wall, plain_cpu = time.perf_counter() - wall, sum(by_kind.values())
    print(f"plain loop                 {plain_wall:7.2f} s wall  {plain_cpu:7.2f} s CPU  {pictures} unique pictures")
    for kind, seconds in sorted(by_kind.items(), key=lambda entry: -entry[1]):
        print(f"  {kind:<24} {seconds:7.2f} s  {100 * seconds / plain_cpu:3.0f} %")
    for processes, wall in walls.items():
        print(
            f"plain / ours, {processes} worker{'s' * (processes > 1)}: {plain_wall / wall:.1f}x by wall time, "
            f"{plain_cpu / cpus[processes]:.1f}x by CPU time"
        )
    if options.processes > 1:
        print(f"{options.processes} workers are {walls[1] / walls[options.processes]:.2f}x as fast as one")


def children() -> float:
    """CPU seconds of the worker processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
