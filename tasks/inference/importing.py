"""Answers that were collected elsewhere, as responses of one judge; and foreign exams, given by an index.

Three formats are told apart by what a line or file holds:

    JSONL          {"uid", "text"} a line; `raw`, `response`, `output` or `content` instead of `text` are understood, and
                   `status`, `finish_reason`, `reasoning`, `replicate` are kept where they are there
    OpenAI batch   {"custom_id", "response": {"status_code", "body": a chat completion}, "error"} a line
    inspect_ai     a log, `.json` or `.eval`: the id of a sample is the uid, its epoch the replicate

What an exam asks and no answer covers stays `pending`: it is planned, and no number forgets it.

    IMPORTED                        config: import_config(...)   inputs {"release"}   writes responses
    INDEX_RELEASE, INDEX_ANSWERS    config: index_config(...)    inputs {}, {"release"}   write items, answers

Making a configuration reads and checks the files; the stages read them again and refuse those that have changed.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from storage import Artifact, digest
from storage.store import ArtifactWriter
from storage.tables import SCHEMAS
from tasks.errors import BadInput
from tasks.questions import QUESTIONS, exam_tasks, question_of_task
from tasks.stage import Config, Inputs, Stage

VERSION = 1
TEXT_FIELDS = ("text", "raw", "response", "output", "content", "raw_tail")
STATUSES = ("ok", "truncated", "refused", "api_error", "pending")
FINISHED = {  # finish and stop reasons -> status
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos", "STOP"), "ok"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "MAX_TOKENS"), "truncated"),
    **dict.fromkeys(("content_filter", "refusal", "SAFETY"), "refused"),
}
NEEDED = ("uid", "env", "group_id", "gold")
ABSENT = "not among the imported answers"

Row = dict[str, Any]


# --- reading -----------------------------------------------------------------------------------------------------------


def read_answers(path: Path, text_field: str | None = None) -> list[Row]:
    """Responses in `path`, as rows of the table `responses` without `judge`. BadInput names file, line and mend."""
    data = _bytes(path)
    if data[:4] == b"PK\x03\x04":
        rows = list(_inspect_archive(path, data))
    elif (whole := _json(data)) is not None and isinstance(whole, dict) and "samples" in whole:
        rows = list(_inspect_samples(path.name, whole["samples"] or []))
    else:
        rows = list(_lines(path.name, data, text_field))
    if not rows:
        raise BadInput(f"{path.name} holds no answers")
    return rows


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _lines(name: str, data: bytes, text_field: str | None) -> Iterator[Row]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:  # bytes that are not UTF-8 become U+FFFD: the rest of the answer is still an answer
            value = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{name}, line {number} is not JSON ({error}); each line must be one object") from error
        if not isinstance(value, dict):
            raise BadInput(f"{name}, line {number} is not an object with uid and text")
        yield _batch_line(name, number, value) if "custom_id" in value else _plain_line(name, number, value, text_field)


def _plain_line(name: str, number: int, value: Row, text_field: str | None) -> Row:
    field = text_field or next((field for field in TEXT_FIELDS if field in value), None)
    if field is None or field not in value or not isinstance(value.get("uid"), str):
        raise BadInput(
            f"{name}, line {number} needs uid and {field or 'text'}; it has {', '.join(map(str, value)) or 'nothing'}"
        )
    text = value[field]
    if text is not None and not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False)
    finish = value.get("finish_reason")
    status = value.get("status") or FINISHED.get(str(finish), "ok")
    if status not in STATUSES:
        raise BadInput(f"{name}, line {number}: status {status!r} is none of {', '.join(STATUSES)}")
    replicate = value.get("replicate", 0)
    if not isinstance(replicate, int) or isinstance(replicate, bool):
        raise BadInput(f"{name}, line {number}: replicate {replicate!r} is not a whole number")
    return _row(value["uid"], text, status, replicate, finish, value.get("reasoning"), value.get("error"), None)


def _batch_line(name: str, number: int, value: Row) -> Row:
    response, error = value.get("response") or {}, value.get("error")
    body = response.get("body") or {}
    if error or response.get("status_code", 200) != 200 or not body.get("choices"):
        said = json.dumps(error or body.get("error") or response or "no response", ensure_ascii=False)
        return _row(value["custom_id"], None, "api_error", 0, None, None, said[:500], None)
    choice = body["choices"][0]
    message = choice.get("message") or {}
    text, finish = message.get("content"), choice.get("finish_reason")
    status = "refused" if message.get("refusal") else FINISHED.get(str(finish), "ok")
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    return _row(value["custom_id"], _flat(text), status, 0, finish, reasoning, None, body.get("usage"))


def _inspect_archive(path: Path, data: bytes) -> Iterator[Row]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = sorted(n for n in archive.namelist() if n.startswith("samples/") and n.endswith(".json"))
            samples = [json.loads(archive.read(name)) for name in names]
    except (zipfile.BadZipFile, ValueError) as error:
        raise BadInput(f"{path.name} is not an inspect_ai log ({error})") from error
    yield from _inspect_samples(path.name, samples)


def _inspect_samples(name: str, samples: Iterable[Row]) -> Iterator[Row]:
    for number, sample in enumerate(samples, start=1):
        if "id" not in sample:
            raise BadInput(f"{name}: sample {number} has no id")
        output = sample.get("output") or {}
        error, choices = sample.get("error"), output.get("choices") or []
        replicate = int(sample.get("epoch") or 1) - 1
        if error or output.get("error") or not choices:
            said = json.dumps(error or output.get("error") or "no choices", ensure_ascii=False)[:500]
            yield _row(str(sample["id"]), None, "api_error", replicate, None, None, said, None)
            continue
        message, stop = choices[0].get("message") or {}, choices[0].get("stop_reason")
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        reasoning = "\n".join(part.get("reasoning") or "" for part in parts if part.get("type") == "reasoning") or None
        status = FINISHED.get(str(stop), "ok")
        yield _row(str(sample["id"]), _flat(content), status, replicate, stop, reasoning, None, output.get("usage"))


def _flat(content: Any) -> str | None:
    if isinstance(content, list):
        return "".join(
            part.get("text") or "" for part in content if isinstance(part, dict) and part.get("type") == "text"
        )
    return content if content is None or isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _row(
    uid: str,
    text: str | None,
    status: str,
    replicate: int,
    finish: Any,
    reasoning: Any,
    error: Any,
    usage: Mapping[str, Any] | None,
) -> Row:
    usage = usage or {}
    tokens_in, tokens_out = (
        next((usage[key] for key in keys if isinstance(usage.get(key), int)), None)
        for keys in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    clean = None if text is None else text.encode("utf-8", "replace").decode()  # lone surrogates are no text
    return {
        "uid": uid,
        "replicate": replicate,
        "status": status,
        "text": clean,
        "reasoning": reasoning if isinstance(reasoning, str) else None,
        "finish_reason": None if finish is None else str(finish),
        "error": None if error is None else str(error)[:500],
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
    }


# --- a foreign exam ----------------------------------------------------------------------------------------------------


def read_index(path: Path) -> list[Row]:
    """Rows of `answers` (and `answer_format`) of a foreign exam: JSONL, CSV or Parquet with at least uid, env, group_id and
    gold; variant and presentation default to full, orig, clean, neu. BadInput names what is missing, wrong or repeated."""
    try:
        if path.suffix == ".parquet":
            raw = pl.read_parquet(path).to_dicts()
        elif path.suffix == ".csv":
            raw = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
        else:
            raw = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise BadInput(f"cannot read the index {path.name}: {error}") from error
    rows, seen = [], set()
    for number, value in enumerate(raw, start=1):
        missing = [name for name in NEEDED if not value.get(name)]
        if missing:
            raise BadInput(f"{path.name}, row {number} has no {', '.join(missing)}")
        if value["uid"] in seen:
            raise BadInput(f"{path.name}, row {number}: uid {value['uid']!r} occurs twice")
        seen.add(value["uid"])
        rows.append(_index_row(path.name, number, value))
    if not rows:
        raise BadInput(f"the index {path.name} is empty")
    return rows


def _index_row(name: str, number: int, value: Row) -> Row:
    stated = str(value["gold"]).strip()
    guesses = (question.task_of_gold(stated) for question in QUESTIONS.values())
    task = str(value.get("task") or next(filter(None, guesses), ""))
    if task not in exam_tasks():
        raise BadInput(f"{name}, row {number}: give task (one of {', '.join(exam_tasks())}) for gold {stated!r}")
    question = question_of_task(task)
    try:
        gold = question.gold(task, stated)
    except BadInput as error:
        raise BadInput(f"{name}, row {number}: {error}") from None
    row = dict.fromkeys(SCHEMAS["answers"].names)
    for column in row:
        kept = value.get(column)
        if column not in ("steps", "options"):
            row[column] = None if kept in (None, "") else str(kept)
    row |= {"task": task, "gold": gold, "world": row["world"] or "foreign", "env_id": row["env_id"] or row["env"]}
    row |= {column: row[column] or usual for column, usual in question.defaults(task, gold).items()}
    return {**row, "answer_format": value.get("answer_format") or question.exam_tasks[task]}


def index_config(path: Path) -> Config:
    """The configuration of INDEX_RELEASE and INDEX_ANSWERS for an index. BadInput as read_index."""
    rows = read_index(path)
    files = [_stated(path)]
    return {"imported": path.name, "sha256": digest(json.dumps(rows, sort_keys=True)), "files": files}


def _index_release(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """The items of a foreign exam, without prompts or pictures, which an index does not give."""
    (path,) = _unchanged(config)
    items = (
        {name: row[name] for name in ("uid", "task", "answer_format")}
        | {"prompt": "", "image_ids": [], "max_tokens": 0}
        for row in read_index(path)
    )
    writer.add("items", items)


def _index_answers(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    (path,) = _unchanged(config)
    writer.add("answers", ({k: v for k, v in row.items() if k != "answer_format"} for row in read_index(path)))


def _index_keyed(config: Config) -> Config:
    return {name: config[name] for name in ("imported", "sha256")}


INDEX_RELEASE = Stage("release", VERSION, _index_release, _index_keyed)
INDEX_ANSWERS = Stage("answers", VERSION, _index_answers, _index_keyed)  # inputs {"release": INDEX_RELEASE's}


# --- files that a configuration names ----------------------------------------------------------------------------------


def _stated(path: Path) -> Config:
    """A file as a configuration names it: where it lies and what is in it."""
    return {"path": str(path.resolve()), "sha256": digest(_bytes(path))}


def _unchanged(config: Config) -> list[Path]:
    """The files of a configuration. BadInput names one that is gone, or not what it was when it was named."""
    paths = [Path(file["path"]) for file in config["files"]]
    for path, file in zip(paths, config["files"], strict=True):
        if digest(_bytes(path)) != file["sha256"]:
            raise BadInput(f"{path} has changed since it was named; import it again")
    return paths


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


# --- the import --------------------------------------------------------------------------------------------------------


def import_config(
    uids: Sequence[str],
    exam: str,
    files: Sequence[Path],
    judge: str,
    text_field: str | None = None,
    skip_unknown: bool = False,
) -> Config:
    """The configuration of IMPORTED for answers in `files` to an exam that has the items `uids` and is called `exam`. The
    files are read and checked here, so that what is wrong with them is said before anything is computed.

    BadInput for what cannot be read, for a uid that occurs twice, and for uids that the exam does not have unless
    `skip_unknown`.
    """
    frame = _read(files, text_field)
    source = ", ".join(path.name for path in files)
    known = _known(frame, pl.DataFrame({"uid": uids}, schema={"uid": pl.String}), exam, source, skip_unknown)
    return {
        "judge": judge,
        "imported": source,
        "sha256": digest(known.write_json()),
        "files": [_stated(path) for path in files],
        "text_field": text_field,
        "skip_unknown": skip_unknown,
        "unknown": len(frame) - len(known),
    }


def _imported_keyed(config: Config) -> Config:
    """The judge's name and, by their digest, the answers to items of the exam; not where the files lie."""
    return {name: config[name] for name in ("judge", "imported", "sha256")}


def _import(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """One row a planned (uid, replicate): what was imported, the rest `pending`."""
    release, source = inputs["release"], config["imported"]
    planned = release.read("items").select("uid")
    read = _read(_unchanged(config), config["text_field"])
    known = _known(read, planned, release.key[:12], source, config["skip_unknown"])
    if digest(known.write_json()) != config["sha256"]:
        raise BadInput(
            f"{source}: the answers to exam {release.key[:12]} are not those that were named; import them again"
        )
    seats = planned.join(known.select("replicate").unique().sort("replicate"), how="cross")
    absent = seats.join(known, on=["uid", "replicate"], how="anti")
    missing = absent.with_columns(status=pl.lit("pending"), error=pl.lit(ABSENT))
    every = pl.concat([known, missing], how="diagonal").sort("uid", "replicate")
    writer.add("responses", every.with_columns(judge=pl.lit(config["judge"]), server=pl.lit(f"imported from {source}")))


IMPORTED = Stage("inference", VERSION, _import, _imported_keyed)  # inputs {"release": the exam that was answered}


def import_counts(artifact: Artifact, config: Config) -> dict[str, int]:
    """Of an artifact of IMPORTED: planned answers that were imported (`answered`) and that were not (`pending`), and answers
    that were left out because the exam does not ask for them (`unknown`)."""
    absent = artifact.read("responses").select((pl.col("error") == ABSENT).fill_null(False).sum()).item()
    return {
        "answered": artifact.manifest["rows"]["responses"] - absent,
        "pending": absent,
        "unknown": config["unknown"],
    }


def _read(files: Sequence[Path], text_field: str | None) -> pl.DataFrame:
    rows = [row for path in files for row in read_answers(path, text_field)]
    return pl.DataFrame(rows, schema=_IMPORTED, orient="row")


def _known(frame: pl.DataFrame, planned: pl.DataFrame, exam: str, source: str, skip_unknown: bool) -> pl.DataFrame:
    """The answers to items of the exam. BadInput: see import_config."""
    twice = frame.group_by("uid", "replicate", maintain_order=True).len().filter(pl.col("len") > 1)
    if len(twice):
        raise BadInput(
            f"{source}: {len(twice)} answers occur twice, the first is {twice['uid'][0]!r}; keep one of each"
        )
    unknown = frame.join(planned, on="uid", how="anti")
    if len(unknown) and not skip_unknown:
        raise BadInput(
            f"{source}: {len(unknown)} of {len(frame)} uids are not in exam {exam}, the first is "
            f"{unknown['uid'][0]!r}; name the exam that was answered, or give --skip-unknown"
        )
    if len(unknown) == len(frame):
        raise BadInput(f"{source}: no uid is in exam {exam}")
    return frame.join(planned, on="uid", how="semi")


_IMPORTED = {
    "uid": pl.String,
    "replicate": pl.Int32,
    "status": pl.String,
    "text": pl.String,
    "reasoning": pl.String,
    "finish_reason": pl.String,
    "error": pl.String,
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
}
