"""Responses of one judge -> the table `parsed`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from storage.store import ArtifactWriter
from tasks.errors import BadInput
from tasks.questions import THINK_TAGS, Parse, question_of_format, unreadable
from tasks.stage import Inputs, Stage

POLICIES = ("robust", "strict", "leading", "published")


def parse_answer(
    text: str | None,
    answer_format: str,
    policy: str = "robust",
    status: str = "ok",
    think_tags: tuple[str, ...] = THINK_TAGS,
) -> Parse:
    """What `text` answers. `answer_format` names a format of tasks.questions, `policy` is one of POLICIES.

    Only a response whose status is `ok` carries an answer (design, section 4). Raises BadInput for an unknown format or
    policy; no text makes it raise.
    """
    if policy not in POLICIES:
        raise BadInput(f"parsing policy {policy!r} is unknown; there are {', '.join(POLICIES)}")
    question = question_of_format(answer_format)
    if status != "ok":
        return unreadable(status)
    return question.parse(text, answer_format, policy, think_tags)


def parse_responses(
    items: pl.DataFrame, responses: pl.DataFrame, policy: str = "robust", think_tags: tuple[str, ...] = THINK_TAGS
) -> Iterator[dict[str, Any]]:
    """Rows of `parsed`, one a response. BadInput names responses to items that the exam does not have."""
    joined = responses.join(items.select("uid", "answer_format"), on="uid", how="left")
    unknown = joined.filter(pl.col("answer_format").is_null())
    if len(unknown):
        raise BadInput(
            f"{len(unknown)} responses answer items that this exam does not have, the first is {unknown['uid'][0]!r}; "
            "was another exam meant?"
        )
    # A loop, because a parser reads one text; equal answers are common and are read once.
    seen: dict[tuple[str | None, str, str], Parse] = {}
    for uid, judge, replicate, text, status, answer_format in joined.select(
        "uid", "judge", "replicate", "text", "status", "answer_format"
    ).iter_rows():
        key = (text, answer_format, status)
        if key not in seen:
            seen[key] = parse_answer(text, answer_format, policy, status, think_tags)
        read = seen[key]
        yield {
            "uid": uid,
            "judge": judge,
            "replicate": replicate,
            "parse_mode": read.mode,
            "value": read.value,
            "span": read.span,
            "recovery": read.recovery,
            "reason": read.reason,
        }


def _run(inputs: Inputs, config: dict[str, Any], writer: ArtifactWriter) -> None:
    items = inputs["release"].read("items")
    tags = tuple(config.get("think_tags", THINK_TAGS))
    writer.add(
        "parsed", parse_responses(items, inputs["responses"].read("responses"), config.get("policy", "robust"), tags)
    )


PARSING = Stage("parsing", 1, _run)
