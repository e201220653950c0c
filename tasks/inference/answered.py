"""What a judge has answered of a release so far, read from its journal."""

from __future__ import annotations

from storage import Store, canonical_json, digest
from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Job
from tasks.inference.exam import journal_key
from tasks.inference.journal import Journal, Row


def journal_of(store: Store, release_key: str, spec: JudgeSpec, asking: str | None = None) -> Journal:
    """Where a judge's answers to a release are kept, apart for each asking."""
    return Journal(store, journal_key(spec, release_key, asking))


def answered_and_failed(journal: Journal) -> tuple[dict[Job, Row], set[Job]]:
    """The answered questions with their rows, and those whose last try ended api_error.

    The first answer counts: a second one, from two writers that could not see each other, never replaces it.
    """
    answered: dict[Job, Row] = {}
    failed: dict[Job, Row] = {}
    for row in journal.rows():
        key = (row["uid"], row["replicate"], row["request_sha256"])
        if row["status"] == "api_error":
            failed[key] = row
        else:
            answered.setdefault(key, row)
    return answered, set(failed) - set(answered)


def journal_state(store: Store, release_key: str, spec: JudgeSpec, asking: str | None = None) -> str:
    """A digest of what a judge has answered so far, for a snapshot's key."""
    answered, failed = answered_and_failed(journal_of(store, release_key, spec, asking))
    return digest(canonical_json([sorted(map(list, answered)), sorted(map(list, failed))]))[:16]
