"""The report of a run: one page that works offline, and the paper's tables and figures for whatever judges a run has."""

from tasks.reports.html import write_report

__all__ = ["write_report"]
