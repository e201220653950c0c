"""What the page's script reads: items, answers and metrics in a compact form, and the pictures that fit.

Texts are kept once in a list of strings and named by number. Pictures stand apart, each in an element of its own, so
that the page is there before they are read; which of them fit a budget of bytes is decided here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.reports import words
from tasks.reports.material import Material

PICTURE_BYTES = 40 * 2**20  # of PNG; base64 makes them a third larger
ANSWER_BYTES, REASONING_BYTES = 14 * 2**20, 6 * 2**20  # over all judges
LONGEST = (20_000, 8_000, 4_000, 2_000, 1_000, 600, 300)  # characters shown of one text: the most that keeps within it


class Strings:
    """Distinct texts by number; -1 stands for none."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._place: dict[str, int] = {}

    def of(self, text: str | None) -> int:
        if text is None:
            return -1
        if text not in self._place:
            self._place[text] = len(self.texts)
            self.texts.append(text)
        return self._place[text]

    def column(self, values: pl.Series) -> list[int]:
        return [self.of(value) for value in values]


def shortened(text: str | None, longest: int) -> str | None:
    """`text`, or its beginning and end with a note of what lies between."""
    if text is None or len(text) <= longest:
        return text
    head = longest * 2 // 3
    tail = longest - head
    left_out = len(text) - longest
    return f"{text[:head]}\n\n[… {left_out:,} of {len(text):,} characters are not shown here …]\n\n{text[-tail:]}"


def longest_shown(texts: pl.Series, budget: int) -> int:
    """How many characters of a text can be shown so that all distinct `texts` together stay within `budget` bytes."""
    distinct = texts.drop_nulls().unique()
    sizes = pl.DataFrame({"bytes": distinct.str.len_bytes(), "characters": distinct.str.len_chars()})
    for longest in LONGEST:
        kept = sizes.select(
            pl.col("bytes") * pl.min_horizontal(pl.col("characters"), longest) / pl.col("characters").clip(1)
        )
        if (kept.to_series().sum() or 0) <= budget:
            return longest
    return LONGEST[-1]


@dataclass(frozen=True)
class Pictures:
    """Every picture of the exam in order: (image_id, width, height, bytes of PNG), and which of them are embedded."""

    rows: list[tuple[str, int, int, int]]
    embedded: set[str]

    @property
    def left_out(self) -> int:
        return len(self.rows) - len(self.embedded)


def choose_pictures(material: Material, budget: int = PICTURE_BYTES) -> Pictures:
    """The pictures of as many items as fit: first what some judge got wrong or left unread, in turn from every judge and
    task, then the others in an order that is random and always the same."""
    images = pl.concat(
        [
            pl.DataFrame(pl.from_arrow(batch.select(["image_id", "width", "height", "png"]))).with_columns(
                pl.col("png").bin.size()
            )
            for batch in material.images
        ]
        or [pl.DataFrame(schema={"image_id": pl.String, "width": pl.Int32, "height": pl.Int32, "png": pl.UInt32})]
    )
    rows = images.rows()
    size_of = {image_id: size for image_id, _, _, size in rows}
    if sum(size_of.values()) <= budget:
        return Pictures(rows, set(size_of))
    wrong = (
        material.scores.filter(~pl.col("correct").fill_null(False))
        .join(material.items.select("uid", "task"), on="uid")
        .with_columns(turn=pl.int_range(pl.len()).over("judge", "task"))
        .group_by("uid")
        .agg(pl.col("turn").min())
    )
    turns = dict(wrong.iter_rows())
    after = len(material.items)
    ordered = sorted(
        material.items.select("uid", "image_ids").iter_rows(),
        key=lambda item: (turns.get(item[0], after), hashlib.sha256(item[0].encode()).digest()),
    )
    embedded: set[str] = set()
    for _, image_ids in ordered:
        fresh = set(image_ids) - embedded
        if (cost := sum(size_of[image_id] for image_id in fresh)) <= budget:
            embedded |= fresh
            budget -= cost
    return Pictures(rows, embedded)


def payload(material: Material, pictures: Pictures) -> dict[str, Any]:
    """The page's data; every list of a column runs in the order of `items`."""
    strings = Strings()
    items = material.items.join(material.answers.drop("task"), on="uid", how="left", maintain_order="left")
    place = {image_id: number for number, (image_id, *_) in enumerate(pictures.rows)}
    number = {uid: index for index, uid in enumerate(items["uid"])}
    presentation = [
        " · ".join(part for part in parts if part and part != "none")
        for parts in items.select("temporal", "visual", "framing").iter_rows()
    ]
    columns = {
        name: strings.column(items[name])
        for name in ("task", "env", "group_id", "variant", "representation", "condition", "prompt", "gold")
    }
    return {
        "strings": strings.texts,
        "items": {
            "uid": items["uid"].to_list(),
            **columns,
            "reference": strings.column(items["reference_group_id"]),
            "presentation": strings.column(pl.Series(presentation)),
            "companion": [number.get(uid, -1) if uid else -1 for uid in items["companion_of"]],
            "pictures": [[place[name] for name in ids if name in place] for ids in items["image_ids"]],
            "steps": items["steps"].to_list(),
            "options": items["options"].to_list(),
        },
        "pictures": [
            [width, height, size, int(image_id in pictures.embedded)] for image_id, width, height, size in pictures.rows
        ],
        "seats": list(_seats(material, items, strings)),
        "metrics": _metrics(material, strings),
        "comparisons": _comparisons(material, strings),
    }


def _seats(material: Material, items: pl.DataFrame, strings: Strings) -> Iterator[dict[str, Any]]:
    """The answers of every judge and replicate in the order of `items`."""
    keys = ["uid", "judge", "replicate"]
    rows = material.responses.join(material.parsed, on=keys, how="left").join(
        material.scores.select(*keys, pl.col("status").alias("ended"), "score", "correct", "failure", "components"),
        on=keys,
        how="left",
    )
    order = {judge: place for place, judge in enumerate(material.judges)}
    named = sorted(rows.select("judge", "replicate").unique().rows(), key=lambda seat: (order[seat[0]], seat[1]))
    several = {judge for judge, replicate in named if replicate > 0}
    longest = {
        "text": longest_shown(material.responses["text"], ANSWER_BYTES),
        "reasoning": longest_shown(material.responses["reasoning"], REASONING_BYTES),
    }
    for judge, replicate in named:
        mine = rows.filter((pl.col("judge") == judge) & (pl.col("replicate") == replicate))
        mine = items.select("uid").join(mine, on="uid", how="left", maintain_order="left")
        mine = mine.with_columns(
            shown=pl.col("ended").fill_null(pl.col("status")).fill_null("pending"),
            correct=pl.col("correct").cast(pl.Int8).fill_null(-1),
        )
        texts = {name: [shortened(text, most) for text in mine[name]] for name, most in longest.items()}
        yield {
            "judge": judge,
            "replicate": replicate,
            "label": f"{judge} #{replicate + 1}" if judge in several else judge,
            "correct": mine["correct"].to_list(),
            "score": [None if score is None else round(score, 4) for score in mine["score"]],
            **{name: [strings.of(text) for text in column] for name, column in texts.items()},
            **{
                name: strings.column(mine[source])
                for name, source in {
                    "status": "shown",
                    "value": "value",
                    "mode": "parse_mode",
                    "recovery": "recovery",
                    "reason": "reason",
                    "failure": "failure",
                    "components": "components",
                    "finish": "finish_reason",
                    "error": "error",
                }.items()
            },
            "latency": [None if value is None else round(value) for value in mine["latency_ms"]],
            "tokens": mine["output_tokens"].to_list(),
        }


def _ordered(material: Material, rows: pl.DataFrame) -> pl.DataFrame:
    """By task, then judges in the run's order and what is pooled over them last."""
    place = {judge: number for number, judge in enumerate(material.judges)}
    rank = pl.col("judge").replace_strict(place, default=len(place), return_dtype=pl.Int64)
    return rows.sort("task", rank, "representation", "metric", "slice", maintain_order=True)


def _metrics(material: Material, strings: Strings) -> dict[str, Any]:
    rows = _ordered(material, material.metrics)
    texts = ("judge", "task", "representation", "slice", "metric", "protocol", "ci_method", "flag", "reason")
    numbers = ("value", "ci_low", "ci_high", "bound_low", "bound_high", "boot_low", "boot_high", "env_low", "env_high")
    return {
        **{name: strings.column(rows[name]) for name in texts},
        **{name: rows[name].round(5).to_list() for name in numbers},
        **{name: rows[name].to_list() for name in ("n_planned", "n_ok", "n_groups", "n_envs")},
        "family": [strings.of(words.family_of(name)) for name in rows["metric"]],
    }


def _comparisons(material: Material, strings: Strings) -> dict[str, Any]:
    rows = _ordered(material, material.comparisons)
    texts = ("family", "judge", "against", "task", "representation", "slice", "metric", "ci_method", "test", "reason")
    numbers = ("difference", "ci_low", "ci_high", "p_value", "p_holm")
    return {
        **{name: strings.column(rows[name]) for name in texts},
        **{name: rows[name].round(5).to_list() for name in numbers},
        **{name: rows[name].to_list() for name in ("n_pairs", "n_groups", "only_first", "only_second")},
    }
