"""Families of metrics, one file each, found by being here.

An installed package offers a family of its own by an entry point of the group `worldaudit.metrics`: a MetricFamily.
"""

from __future__ import annotations

from collections.abc import Iterable

from tasks.questions import question_of_task
from tasks.registry import Registry
from tasks.scoring.family import MetricFamily
from tasks.statistics.metric import Metric

FAMILIES: Registry[MetricFamily] = Registry("metric family", "tasks.scoring.families", "FAMILY", "worldaudit.metrics")


def families_of(task: str) -> list[MetricFamily]:
    """The families that read an exam task, in order. BadInput where the task is asked as no kind of question."""
    question = question_of_task(task).name
    return [family for family in _in_order() if family.reads(question)]


def metrics_of(families: Iterable[MetricFamily]) -> list[Metric]:
    return [metric for family in families for metric in family.metrics]


def headline_metrics(task: str | None = None) -> tuple[str, ...]:
    """The metrics of an exam task in which judges and runs are compared, in order; of all tasks where none is named."""
    families = _in_order() if task is None else families_of(task)
    return tuple(
        metric.name
        for family in families
        for metric in sorted(_compared(family), key=lambda metric: metric.compared or 0)
    )


def metrics_at_a_glance(task: str) -> tuple[str, ...]:
    """The metrics of an exam task that one looks at first, in order."""
    return tuple(
        metric.name
        for family in families_of(task)
        for metric in sorted(family.metrics, key=lambda metric: metric.glance or 0)
        if metric.at_a_glance(task)
    )


def compared_families(task: str) -> list[MetricFamily]:
    """The families that have a headline metric of an exam task."""
    return [family for family in families_of(task) if _compared(family)]


def _compared(family: MetricFamily) -> list[Metric]:
    return [metric for metric in family.metrics if metric.compared is not None]


def _in_order() -> list[MetricFamily]:
    return sorted(FAMILIES.values(), key=lambda family: (family.order, family.name))
