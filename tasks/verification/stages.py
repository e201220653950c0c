"""The stages that verify a file of traces: its lines into the store, then verdicts, checks, metrics and problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import polars as pl

from storage import digest
from storage.store import ArtifactWriter
from storage.tables import conform
from tasks.errors import BadInput
from tasks.stage import Config, Inputs, Stage
from tasks.verification.metrics import metric_rows
from tasks.verification.rows import gold_from_row
from tasks.verification.submissions import Known, Verified, verify_lines


def submission_config(path: Path, name: str | None = None) -> Config:
    """The configuration of SUBMISSIONS for a file as it is now; `name` says whose traces they are (the file's stem by
    default). BadInput where the file cannot be read."""
    return {"path": str(path), "sha256": digest(_bytes(path)), "name": name or path.stem}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None


def write_submissions(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """config: path, sha256, name. The lines of the file as they are, so that what follows needs the file no more. Bytes that
    are no UTF-8 are written out as `\\xff`, which no JSON holds. BadInput where the file is gone or has changed."""
    path = Path(config["path"])
    data = _bytes(path)
    if (now := digest(data)) != config["sha256"]:
        raise BadInput(f"{path} has changed since the run began: its SHA-256 is {now}, not {config['sha256']}")
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="backslashreplace")
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    rows = [{"number": number, "line": line} for number, line in enumerate(lines, start=1) if line.strip()]
    writer.add("submissions", rows)


def _without_path(config: Config) -> Config:
    """Where the file lies does not decide what is in it."""
    return {key: value for key, value in config.items() if key != "path"}


def write_verification(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: submissions; traces.*, the families of a bank, where its gold states are to be used. config: judge (whose
    traces they are), question (whether their text is evidence)."""
    lines = inputs["submissions"].read("submissions").sort("number").select("number", "line").iter_rows()
    verified = verify_lines(lines, _known(inputs), config["question"])
    writer.add("verdicts", verified.verdicts)
    writer.add("checks", verified.checks)
    writer.add("metrics", _metrics(verified, config["judge"]))
    writer.add("problems", [problem._asdict() for problem in verified.problems])


def _known(inputs: Inputs) -> Known:
    """Gold states and traces of a bank by trace id."""
    banks = [artifact.read("traces") for artifact in inputs.all("traces").values()]
    rows = (row for bank in banks for row in bank.iter_rows(named=True))
    return {row["trace_id"]: (gold_from_row(row), orjson.loads(row["trace"])) for row in rows}


def _metrics(verified: Verified, judge: str) -> list[dict[str, Any]]:
    """Rows of `metrics` for each setting; traces of one question are resampled together."""
    if not verified.verdicts:
        return []
    table = pl.DataFrame(conform("verdicts", verified.verdicts)).with_columns(cluster=pl.Series(verified.clusters))
    rows: list[dict[str, Any]] = []
    for (setting,), part in sorted(table.group_by("setting", maintain_order=True), key=lambda group: str(group[0])):
        rows += metric_rows(part.drop("cluster"), judge, str(setting), part["cluster"].to_list())
    return rows


SUBMISSIONS = Stage("trace-submissions", 1, write_submissions, _without_path)
VERIFY = Stage("trace-verify", 4, write_verification)
