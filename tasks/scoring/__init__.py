"""Metrics and statistics, one module a metric family."""

from tasks.scoring.graded import grade, score_scene
from tasks.scoring.metrics import measure
from tasks.scoring.stage import SCORING, assess, graded_from

__all__ = ["SCORING", "assess", "grade", "graded_from", "measure", "score_scene"]
