"""Grades, metrics, comparisons and failure modes: answers and what was read of them -> numbers.

graded.py        every planned item with what its answer is worth      families/     metrics, one file a family
metrics.py       all metrics of an exam                                comparisons.py, compare.py   differences
modes.py         failure modes, as rules over metrics                  stage.py      the stages
"""

from tasks.scoring.compare import COMPARISON, Comparison
from tasks.scoring.families import headline_metrics, metrics_at_a_glance
from tasks.scoring.graded import grade
from tasks.scoring.metrics import measure
from tasks.scoring.stage import SCORING, assess, graded_from

__all__ = [
    "COMPARISON",
    "SCORING",
    "Comparison",
    "assess",
    "grade",
    "graded_from",
    "headline_metrics",
    "measure",
    "metrics_at_a_glance",
]
