"""Values as the lines that a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def shown(value: float | None, places: int = 3) -> str:
    return "n/a" if value is None else f"{value:.{places}f}"


def summary_text(value: Mapping[str, Any]) -> str:
    """What `flows.summary.summary` says."""
    lines = [f"run {value['run']}: {value['state']}" + (f" in {value['seconds']:.1f} s" if value["seconds"] else "")]
    lines += [f"  {value['command']}", ""]
    width = max((len(entry["name"]) for entry in value["stages"]), default=0)
    lines += [_step_line(entry, width) for entry in value["stages"]]
    if not value["computed"] and value["state"] == "complete":
        lines += ["", "nothing was recomputed: every step was found in the store"]
    if "items" in value:
        items = value["items"]
        tasks = ", ".join(f"{task} {n:,}" for task, n in items.items() if task != "all")
        lines += ["", f"items: {items['all']:,} ({tasks})"]
    if "gates" in value:
        text = "{accepted} groups accepted, {failures} gate failures among them; {rejected} candidates rejected"
        lines += [f"gates: {text.format(**value['gates'])}"]
    if "metrics" in value:
        lines += ["", *metric_table(value["metrics"])]
    if value["cost"]:
        costs = value["cost"].items()
        lines += ["", *(f"cost of {judge}: {cost['amount']:.4f} {cost['currency']}" for judge, cost in costs)]
    if "report" in value:
        lines += ["", f"report: {value['report']}"]
    if value["error"]:
        lines += ["", f"error: {value['error']}", f"to mend it: {value['mend']}"]
    return "\n".join(lines)


def _step_line(entry: Mapping[str, Any], width: int) -> str:
    counts = ", ".join(f"{n} {state}" for state, n in entry["shards"].items())
    seconds = f"{entry['seconds']:7.1f} s" if entry["seconds"] is not None else " " * 9
    rows = ", ".join(f"{n:,} {table}" for table, n in entry["rows"].items())
    line = f"  {entry['name']:<{width}} {entry['state']:<8} {seconds}  {counts}{'; ' if counts and rows else ''}{rows}"
    return line.rstrip() + (f"\n{'':{width + 3}}to mend it: {entry['mend']}" if entry["mend"] else "")


def metric_table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A judge a block, a task a line; flags where there are any."""
    lines = []
    for judge in dict.fromkeys(row["judge"] for row in rows):
        own = [row for row in rows if row["judge"] == judge]
        flags = sorted({row["flag"] for row in own if row["flag"]})
        lines.append(f"{judge}" + (f"  [{', '.join(flags)}]" if flags else ""))
        for task in dict.fromkeys(row["task"] for row in own):
            values = [f"{row['metric']} {shown(row['value'])}" for row in own if row["task"] == task]
            lines.append(f"  {task}: {', '.join(values)}")
    return lines


def dry_run_text(value: Mapping[str, Any]) -> str:
    """What `flows.summary.dry_run` says."""
    lines = [f"{value['command']} would:"]
    width = max((len(entry["stage"]) for entry in value["plan"]), default=0)
    for entry in value["plan"]:
        todo = entry["compute"]
        names = f": {', '.join(todo)}" if todo else ""
        lines.append(f"  {entry['stage']:<{width}} reuse {len(entry['reuse'])}, compute {len(todo)}{names}")
    for judge, plan in value["judges"].items():
        lines.append(f"  {plan or f'{judge}: calls are counted once the exam is generated'}")
    return "\n".join(lines)


def runs_text(records: Sequence[Mapping[str, Any]]) -> str:
    """A run a line, as `worldaudit runs` lists them."""
    lines = []
    for record in records:
        seconds = f"{record['seconds']:8.1f} s" if record["seconds"] is not None else " " * 10
        at = f" at {record['stage']}" if record["state"] != "complete" and record["stage"] else ""
        line = f"{record['id']}  {record['kind']:<10}  {record['state'] + at:<22} {seconds}  {record['command']}"
        lines.append(line + (f"\n{'':27}to mend it: {record['mend']}" if record["mend"] else ""))
    return "\n".join(lines)
