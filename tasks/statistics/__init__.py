"""Statistics that several stages share: what a metric is, its parts by group, clustered intervals, paired tests."""

from tasks.statistics.metric import Metric, by_name

__all__ = ["Metric", "by_name"]
