"""What is in a store, in the words of the command line: exams, responses, summaries of runs, what a run would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from flows.run import Run
from storage import Store
from tasks.errors import BadInput
from tasks.stage import Ref, Runner, Shards, Stage, lookup

if TYPE_CHECKING:
    from tasks.config import Configuration

Given = dict[str, dict[str, str]]


def manifests(store: Store, stage: str) -> dict[str, dict[str, Any]]:
    """Every manifest of a stage by key; artifacts without one do not exist."""
    found = {}
    for key in store.files.list(f"artifacts/{stage}"):
        try:
            found[key] = store.read_json(f"artifacts/{stage}/{key}/manifest.json")
        except (FileNotFoundError, ValueError):
            continue
    return found


def exam_given(location: str, exam: str) -> Given:
    """The release and answers that EXAM names: the first letters of an exam's key, a run's id, or `latest`.

    BadInput names the exams that there are.
    """
    store = Store(location)
    releases = manifests(store, "release")
    matches = [key for key in releases if key.startswith(exam)] if len(exam) >= 4 else []
    if not matches and (exam == "latest" or any(run.startswith(exam) for run in store.runs())):
        key = store.read_run(exam).get("exam")
        matches = [key] if key in releases else []
    if len(matches) != 1:
        newest = sorted(releases, key=lambda key: releases[key]["ended"])[-5:]
        known = ", ".join(key[:12] for key in newest) or "none yet: `worldaudit generate minigrid` makes one"
        what = f"{len(matches)} exams begin with" if matches else "no exam"
        raise BadInput(f"{what} {exam!r} in {store.location}; the newest are: {known}")
    answers = {
        key: manifest
        for key, manifest in manifests(store, "answers").items()
        if manifest["inputs"].get("release") == matches[0]
    }
    if not answers:
        raise BadInput(f"exam {matches[0][:12]} in {store.location} has no answers; generate it again")
    newest_answers = max(answers, key=lambda key: answers[key]["ended"])
    return {"release": {"all": matches[0]}, "answers": {"all": newest_answers}}


def responses_to(
    location: str, release: str, judges: Iterable[str] = (), configuration: Configuration | None = None
) -> dict[str, str]:
    """judge -> key of its responses to a release: the newest finished ones. BadInput where a judge has none.

    A judge that is named and has not finished is taken as far as it has come, the rest `pending`, so that numbers of an
    unfinished judge say so.
    """
    store = Store(location)
    found: dict[str, tuple[bool, str, str]] = {}
    for key, manifest in manifests(store, "inference").items():
        if manifest["inputs"].get("release") == release:
            name, finished = manifest["config"]["judge"], "snapshot" not in manifest["config"]
            found[name] = max(found.get(name, (False, "", "")), (finished, manifest["ended"], key))
    wanted = list(judges) or sorted(found)
    keys = {name: found[name][2] for name in wanted if name in found and (found[name][0] or not judges)}
    for name in wanted:
        if name not in keys and (so_far := _so_far(store, release, name, configuration)):
            keys[name] = so_far
    missing = [name for name in wanted if name not in keys]
    if missing or not wanted:
        who = ", ".join(missing) or "no judge"
        raise BadInput(
            f"{who} has answered nothing of exam {release[:12]}; `worldaudit infer {release[:12]} --judge NAME` asks "
            "one, import-responses brings answers from elsewhere"
        )
    return {name: keys[name] for name in wanted}


def _so_far(store: Store, release: str, judge: str, configuration: Configuration | None) -> str | None:
    """The key of what an unfinished judge has answered; None where it has answered nothing."""
    from tasks.config import Configuration
    from tasks.inference import INFERENCE, journal_state, parse_judge, resolve, stage_config

    tables = (configuration or Configuration()).judges
    spec = resolve([judge], {name: parse_judge(name, table) for name, table in tables.items()})[judge]
    config = stage_config(judge, spec, journal_state(store, release, spec))
    inputs = {"release": Ref("release", release)}
    ref = Runner(store.location, processes=0).one(INFERENCE, config, inputs, shard=judge)
    answered = ~pl.col("status").is_in(["pending", "api_error"])
    return ref.key if len(store.get(ref.stage, ref.key).read("responses").filter(answered)) else None


def counts_by_task(store: Store, answers: str) -> dict[str, int]:
    """Base items by task; companion rows (Task A's other conditions, C's split pictures) apart, as `A companions`."""
    rows = store.get("answers", answers).read("answers")
    base = pl.col("companion_of").is_null()
    counts: dict[str, int] = {}
    for task, n in rows.filter(base).group_by("task").len().sort("task").iter_rows():
        counts[task] = n
    counts["all"] = sum(counts.values())
    for task, n in rows.filter(~base).group_by("task").len().sort("task").iter_rows():
        counts[f"{task} companions"] = n
    return counts


def artifact_of(run: Mapping[str, Any], stage: str) -> dict[str, str]:
    """shard -> key of a stage's artifacts in a run's record."""
    prefix = f"{stage}["
    return {name[len(prefix) : -1]: key for name, key in run["artifacts"].items() if name.startswith(prefix)}


# --- what a run did --------------------------------------------------------------------------------------------------


def summary(store: Store, run: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """A run for --json, and as text: stages, counts, gates, headline metrics, where the report is."""
    value: dict[str, Any] = {
        "run": run["id"],
        "state": run["state"],
        "exam": run.get("exam"),
        "seconds": run["seconds"],
        "stages": [
            {key: entry[key] for key in ("name", "state", "seconds", "rows", "mend")} for entry in run["stages"]
        ],
        "computed": computed(run),
        "artifacts": run["artifacts"],
        "cost": run.get("cost", {}),
        "error": run.get("error"),
        "mend": run.get("mend"),
    }
    lines = [f"run {run['id']}: {run['state']}" + (f" in {run['seconds']:.1f} s" if run["seconds"] else "")]
    lines += [f"  {run['command']}", ""]
    lines += [_stage_line(entry) for entry in run["stages"]]
    if not value["computed"] and run["state"] == "complete":
        lines += ["", "nothing was recomputed: every stage was found in the store"]
    if answers := artifact_of(run, "answers").get("all"):
        value["items"] = counts_by_task(store, answers)
        items = value["items"]
        tasks = ", ".join(f"{task} {n:,}" for task, n in items.items() if task != "all")
        lines += ["", f"items: {items['all']:,} ({tasks})"]
    if gates := artifact_of(run, "gates"):
        value["gates"] = gate_counts(store, gates)
        text = "{accepted} groups accepted, {failures} gate failures among them; {rejected} candidates rejected"
        lines += [f"gates: {text.format(**value['gates'])}"]
    if metrics := artifact_of(run, "scoring").get("all"):
        value["metrics"] = headline(store, metrics, run["world"])
        lines += ["", *metric_table(value["metrics"])]
    if run.get("cost"):
        lines += [
            "",
            *(f"cost of {judge}: {cost['amount']:.4f} {cost['currency']}" for judge, cost in run["cost"].items()),
        ]
    if any(entry["name"] == "reports" and entry["state"] == "done" for entry in run["stages"]):
        value["report"] = store.files.url(f"runs/{run['id']}/report.html")
        lines += ["", f"report: {value['report']}"]
    if run.get("error"):
        lines += ["", f"error: {run['error']}", f"to mend it: {run['mend']}"]
    return value, "\n".join(lines)


def computed(run: Mapping[str, Any]) -> list[str]:
    """Names of the shards that were computed rather than found; the report, which is written each time, is not counted."""
    return [
        f"{entry['name']}[{name}]"
        for entry in run["stages"]
        if entry["name"] != "reports"
        for name, shard in entry["shards"].items()
        if shard["state"] == "done"
    ]


def _stage_line(entry: Mapping[str, Any]) -> str:
    shards = entry["shards"].values()
    states = {state: sum(shard["state"] == state for shard in shards) for state in ("done", "reused", "failed")}
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n)
    seconds = f"{entry['seconds']:7.1f} s" if entry["seconds"] is not None else " " * 9
    rows = ", ".join(f"{n:,} {table}" for table, n in entry["rows"].items())
    line = f"  {entry['name']:<10} {entry['state']:<8} {seconds}  {counts}{'; ' if counts and rows else ''}{rows}"
    return line.rstrip() + (f"\n{'':13}to mend it: {entry['mend']}" if entry["mend"] else "")


def gate_counts(store: Store, gates: Mapping[str, str]) -> dict[str, int]:
    """Accepted and rejected groups, and failed gate results among the accepted ones (0, or the exam is wrong)."""
    accepted = rejected = failures = 0
    for key in gates.values():
        artifact = store.get("gates", key)
        groups = artifact.read("groups")
        ids = groups.filter(pl.col("accepted"))["group_id"]
        results = artifact.read("gate_results").filter(pl.col("group_id").is_in(ids.implode()))
        accepted += len(ids)
        rejected += len(groups) - len(ids)
        failures += results.filter(~pl.col("passed")).height
    return {"accepted": accepted, "rejected": rejected, "failures": failures}


HEADLINE = {
    "A": ("Acc_A1", "delta_shuffle", "delta_mask"),
    "B": ("B_MeanScore", "B_Acc"),
    "C": ("JAcc_neu", "Acc_full", "Acc_nocue", "Acc_cf", "IDR_raw", "p_active", "VCC_rep"),
    "D": ("JAcc_neu", "IDR_raw"),
    "E": ("E_Acc",),
}


def headline(store: Store, metrics: str, world: str) -> list[dict[str, Any]]:
    """The metrics that one looks at first: a judge, task and metric a row, over all items of the main representation."""
    rows = store.get("scoring", metrics).read("metrics")
    rows = rows.filter(
        (pl.col("slice") == "all")
        & (pl.col("world") == world)
        & (pl.col("protocol") == "all")
        & (pl.col("judge") != "(all judges)")
        & (pl.col("representation").is_null() | (pl.col("representation") != "split"))
    )
    order = pl.DataFrame(
        [(task, metric, n) for task, names in HEADLINE.items() for n, metric in enumerate(names)],
        schema=["task", "metric", "place"],
        orient="row",
    )
    return rows.join(order, on=["task", "metric"]).sort("judge", "task", "place").drop("place").to_dicts()


def metric_table(rows: list[dict[str, Any]]) -> list[str]:
    """Text lines: a judge a block; flags where there are any."""
    lines = []
    for judge in dict.fromkeys(row["judge"] for row in rows):
        own = [row for row in rows if row["judge"] == judge]
        flags = sorted({row["flag"] for row in own if row["flag"]})
        lines.append(f"{judge}" + (f"  [{', '.join(flags)}]" if flags else ""))
        for task in dict.fromkeys(row["task"] for row in own):
            values = []
            for row in own:
                if row["task"] == task:
                    shown = "n/a" if row["value"] is None else f"{row['value']:.3f}"
                    values.append(f"{row['metric']} {shown}")
            lines.append(f"  {task}: {', '.join(values)}")
    return lines


# --- what a run would do ---------------------------------------------------------------------------------------------


def dry_run(run: Run, steps: list[tuple[Stage, Shards]]) -> dict[str, Any]:
    """Which shards are in the store, which would be computed, and what judges would be asked; sends nothing."""
    plan, lines = [], [f"{run.request.command} would:"]
    for stage, shards in steps:
        refreshed = [name for name in shards if run.runner.refreshes(stage, name)]
        found = [
            name
            for name, (config, inputs) in shards.items()
            if name not in refreshed and lookup(run.store.location, stage, name, config, inputs)
        ]
        todo = [name for name in shards if name not in found]
        plan.append({"stage": stage.name, "reuse": found, "compute": todo})
        lines.append(
            f"  {stage.name:<10} reuse {len(found)}, compute {len(todo)}" + (f": {', '.join(todo)}" if todo else "")
        )
    asked = _asked(run, plan)
    lines += [f"  {ask or f'{judge}: calls are counted once the exam is generated'}" for judge, ask in asked.items()]
    judges = {judge: ask.as_dict() if ask else None for judge, ask in asked.items()}
    return {"plan": plan, "judges": judges, "text": "\n".join(lines)}


def _asked(run: Run, plan: list[dict[str, Any]]) -> dict[str, Any]:
    """judge -> what it would be sent and what that costs; only planned where the exam is in the store."""
    from tasks.inference import JudgeSpec
    from tasks.inference.plan import plan as plan_judge

    asked: dict[str, Any] = {}
    for stage, shards in run.steps:
        if stage.name != "inference":
            continue
        todo = next(entry["compute"] for entry in plan if entry["stage"] == "inference")
        for name in todo:
            config, inputs = shards[name]
            release = run.store.find("release", inputs["release"].key)
            if release is None:
                asked[name] = None
            else:
                asked[name] = plan_judge(release, JudgeSpec.model_validate(config["spec"]), name)
    return asked
