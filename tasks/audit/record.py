"""What an audit found: as rows of the table `shortcuts`, as text, for --json."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from storage import Artifact
from tasks.audit.actions import LIMIT, ActionNeed


@dataclass(frozen=True)
class Shortcut:
    """`score` is a balanced accuracy with its interval; `flagged` where the interval lies above `chance`. `labels` is 0 for
    the constant scene, whose score is a mean score."""

    task: str
    representation: str
    feature: str
    labels: int
    items: int
    groups: int
    score: float
    low: float
    high: float
    chance: float
    flagged: bool
    note: str | None = None


@dataclass(frozen=True)
class Reached:
    """What a judge that has sat the exam reached on one task: `score`, its accuracy over all `items` (what was not read counts
    as wrong) with its interval over `groups`. `reason` says why there is no number."""

    items: int
    groups: int
    score: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def as_text(self) -> str:
        return f"n/a ({self.reason})" if self.score is None else f"{self.score:.3f}"


@dataclass(frozen=True)
class Audit:
    """The audit of one exam, named by the key of its release. `action`: whether Task A needs its action; None where the exam
    cannot tell. `judges`: by judge and task, what was reached by those that have sat it."""

    exam: str
    shortcuts: list[Shortcut]
    action: ActionNeed | None
    judges: dict[str, dict[str, Reached]] = field(default_factory=dict)

    @classmethod
    def read(cls, artifact: Artifact) -> Audit:
        """From an artifact of the stage `shortcuts`."""
        rows = artifact.read("shortcuts").to_dicts()
        judges: dict[str, dict[str, Reached]] = {}
        for row in rows:
            if row["kind"] == "judge":
                values = {name: row[name] for name in ("items", "groups", "score", "low", "high")}
                judges.setdefault(row["feature"], {})[row["task"]] = Reached(**values, reason=row["note"])
        found = [
            Shortcut(**{name: value for name, value in row.items() if name != "kind"})
            for row in rows
            if row["kind"] == "shortcut"
        ]
        action = _action_from([row for row in rows if row["kind"] == "action"])
        return cls(artifact.manifest["inputs"]["release"], found, action, judges)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table `shortcuts`, of which `read` makes the audit again."""
        for shortcut in self.shortcuts:
            yield {"kind": "shortcut", **asdict(shortcut)}
        if self.action:
            yield from _action_rows(self.action)
        for judge, tasks in self.judges.items():
            for task, reached in tasks.items():
                values = asdict(reached)
                note = values.pop("reason")
                yield {"kind": "judge", "task": task, "representation": "", "feature": judge, **values, "note": note}

    def as_dict(self) -> dict[str, Any]:
        action = None if self.action is None else {**asdict(self.action), "too_easy": self.action.too_easy}
        return {
            "exam": self.exam,
            "shortcuts": [asdict(shortcut) for shortcut in self.shortcuts],
            "action": action,
            "judges": {
                judge: {task: reached.score for task, reached in tasks.items()} for judge, tasks in self.judges.items()
            },
            "missing": {
                judge: missing
                for judge, tasks in self.judges.items()
                if (missing := {task: reached.reason for task, reached in tasks.items() if reached.reason})
            },
            "flagged": [
                f"{s.task} {s.representation} {s.feature}".replace("  ", " ") for s in self.shortcuts if s.flagged
            ],
        }

    def as_text(self) -> str:
        lines = [f"exam {self.exam[:12]}: balanced accuracy of shortcuts, cross-validated by group", ""]
        lines.append(f"  {'task':<12}{'':<11}{'feature':<15}{'score':>6}  {'interval':<16}{'chance':>6}")
        for one in self.shortcuts:
            interval = f"[{one.low:.3f}, {one.high:.3f}]"
            mark = ("  BEATS CHANCE" + (f": {one.note}" if one.note else "")) if one.flagged else ""
            chance = f"{one.chance:>6.3f}" if one.labels else f"{'':6}  (mean score of Task {one.task})"
            lines.append(
                f"  {one.task:<12}{one.representation:<11}{one.feature:<15}{one.score:>6.3f}  {interval:<16}{chance}{mark}"
            )
        if self.action:
            lines += ["", self.action.as_text()]
        if self.judges:
            lines += ["", "judges that have sat this exam (accuracy over all items):"]
            for name, tasks in self.judges.items():
                scores = ", ".join(f"{task} {reached.as_text()}" for task, reached in tasks.items())
                lines.append(f"  {name:<16}{scores}")
        return "\n".join(lines)


def _action_rows(need: ActionNeed) -> Iterator[dict[str, Any]]:
    common = {"kind": "action", "task": "A", "representation": "", "items": need.items}
    yield {**common, "feature": "told", "score": need.told, "flagged": need.told > LIMIT}
    yield {**common, "feature": "ceiling", "score": need.ceiling}
    habit = need.habit
    note = "the options do not name their outcomes" if habit is None else None
    yield {**common, "feature": "habit", "score": habit, "flagged": (habit or 0.0) > LIMIT, "note": note}
    for candidates, items in need.plausible.items():
        feature = f"{candidates} can follow"
        yield {**common, "feature": feature, "labels": candidates, "items": items, "score": items / need.items}


def _action_from(rows: list[dict[str, Any]]) -> ActionNeed | None:
    if not rows:
        return None
    by_feature = {row["feature"]: row for row in rows}
    return ActionNeed(
        by_feature["told"]["items"],
        by_feature["told"]["score"],
        by_feature["ceiling"]["score"],
        {row["labels"]: row["items"] for row in rows if row["labels"] is not None},
        by_feature["habit"]["score"],
    )
