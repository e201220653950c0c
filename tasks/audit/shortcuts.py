"""Small classifiers on what needs no seeing, cross-validated by trajectory group.

Each shortcut predicts the answer from one kind of feature: a label that is frequent, the pictures' sizes, how many there are,
how bright they are, a coarse view of the last one alone, or the words of the prompt. An exam without leaks leaves all but
the last picture at chance: there, a trajectory's end may legitimately be seen.

Scores are balanced accuracies (every label weighs the same), so chance is 1 / (number of labels) whatever the balance of
labels. A shortcut is flagged where its interval, at 95% over all shortcuts of the audit together, lies above chance.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from PIL import Image
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from storage import Artifact
from tasks.audit.record import Shortcut
from tasks.questions import question_of_task
from tasks.questions.scene import SCENE_WEIGHTS, score_scene
from tasks.statistics.bootstrap import Sums
from tasks.statistics.intervals import rate_interval

FOLDS = 5
THUMB = 8  # pixels a side of the coarse view
FEATURES = ("majority", "picture size", "picture count", "brightness", "prompt", "last picture")
ENDING = "the end of a trajectory may show its outcome; the judge `last-frame` measures the same"


def shortcuts_of(release: Artifact, answers: pl.DataFrame, seed: int = 0) -> list[Shortcut]:
    """Every shortcut of an exam, from its artifact `release` (items, images) and the table `answers`. A task is left out
    where it has one label only or fewer than FOLDS groups."""
    kinds = {task: question_of_task(task).name for task in answers["task"].unique()}
    rows = answers.join(release.read("items").select("uid", "prompt", "image_ids"), on="uid").with_columns(
        question=pl.col("task").replace_strict(kinds, return_dtype=pl.String),
        representation=pl.col("representation").fill_null(""),
    )
    scenes = rows.filter(pl.col("question") == "scene")
    rows = rows.filter(pl.col("question") != "scene").with_columns(subject=_subject())
    rows = rows.filter((pl.col("question") != "letter") | pl.col("companion_of").is_null())
    views = _views(release, set(rows["image_ids"].explode().drop_nulls()))
    made = []
    for (subject, representation), some in rows.group_by("subject", "representation", maintain_order=True):
        if some["gold"].n_unique() > 1 and some["group_id"].n_unique() >= FOLDS:
            made += [_measure(str(subject), str(representation), name, some, views, seed) for name in FEATURES]
    level = 1 - 0.05 / max(len(made), 1)
    for (task,), some in scenes.group_by("task", maintain_order=True):
        if some["group_id"].n_unique() >= FOLDS:
            made.append(_constant_scene(str(task), some, seed))
    return [one.at(level) for one in made]


def _subject() -> pl.Expr:
    """Task E asks two questions with their own labels; they are audited apart."""
    identity = pl.col("condition").str.starts_with("identity")
    query = pl.when(identity).then(pl.lit(" identity")).otherwise(pl.lit(" status"))
    return pl.when(pl.col("question") == "label").then(pl.concat_str("task", query)).otherwise("task")


@dataclass(frozen=True)
class _View:
    size: tuple[int, int]
    brightness: np.ndarray  # mean and sd a channel
    coarse: np.ndarray  # THUMB x THUMB x 3, in [0, 1]


def _views(release: Artifact, wanted: set[str]) -> dict[str, _View]:
    found = {}
    for batch in release.batches("images"):
        for image_id, png in zip(batch["image_id"].to_pylist(), batch["png"].to_pylist(), strict=True):
            if image_id not in wanted:
                continue
            picture = Image.open(io.BytesIO(png)).convert("RGB")
            small = picture.reduce(max(1, min(picture.size) // 56))
            pixels = np.asarray(small, float) / 255
            brightness = np.concatenate([pixels.mean((0, 1)), pixels.std((0, 1))])
            coarse = np.asarray(small.resize((THUMB, THUMB), Image.Resampling.BOX), float) / 255
            found[image_id] = _View(picture.size, brightness, coarse)
    return found


def _features(name: str, rows: pl.DataFrame, views: Mapping[str, _View]) -> np.ndarray | list[str]:
    if name == "prompt":
        return rows["prompt"].to_list()
    if name == "majority":
        return np.zeros((len(rows), 1))
    shown = [[views[image] for image in images if image in views] for images in rows["image_ids"]]
    build: dict[str, Callable[[list[_View]], Any]] = {
        "picture size": lambda some: [sum(v.size[0] for v in some), sum(v.size[1] for v in some)],
        "picture count": lambda some: [len(some)],
        "brightness": lambda some: np.mean([v.brightness for v in some], axis=0) if some else np.zeros(6),
        "last picture": lambda some: some[-1].coarse.ravel() if some else np.zeros(THUMB * THUMB * 3),
    }
    made = np.array([build[name](some) for some in shown], float)
    if name == "picture count":
        steps = rows["steps"].list.len().fill_null(0).to_numpy().astype(float)[:, None]
        made = np.hstack([made, steps])
    return made


@dataclass(frozen=True)
class _Measured:
    """A shortcut without its interval; `note` is what to say where it is flagged."""

    shortcut: Shortcut
    sums: Sums
    note: str | None = None

    def at(self, level: float) -> Shortcut:
        low, high, _ = rate_interval(self.sums, level)
        flagged = bool(
            low[0] > self.shortcut.chance + 1e-9
        )  # a rate that is the chance level but for rounding is not above
        note = self.note if flagged else None
        return replace(self.shortcut, low=float(low[0]), high=float(high[0]), flagged=flagged, note=note)


def _measure(
    subject: str, representation: str, name: str, rows: pl.DataFrame, views: Mapping[str, _View], seed: int
) -> _Measured:
    gold, groups = rows["gold"].to_numpy(), rows["group_id"].to_numpy()
    features = _features(name, rows, views)
    predicted = np.empty(len(gold), dtype=object)
    folds = GroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(np.zeros(len(gold)), gold, groups):
        predicted[test] = _predict(name, features, gold, train, test)
    labels, inverse, counts = np.unique(gold, return_inverse=True, return_counts=True)
    weight = (1 / (len(labels) * counts))[inverse]
    _, cluster = np.unique(groups, return_inverse=True)
    num = np.bincount(cluster, weight * (predicted == gold)).astype(float)
    den = np.bincount(cluster, weight).astype(float)
    scale = len(num)  # a ratio of sums: any scale will do, one near 1 a group keeps the numbers readable
    sums = Sums(num[:, None] * scale, den[:, None] * scale)
    score = float(num.sum() / den.sum())
    chance = 1 / len(labels)
    ending = name == "last picture" and rows["question"][0] == "verdict"
    return _Measured(
        Shortcut(subject, representation, name, len(labels), len(gold), len(num), score, score, score, chance, False),
        sums,
        ENDING if ending else None,
    )


def _constant_scene(task: str, rows: pl.DataFrame, seed: int) -> _Measured:
    """What one and the same scene earns: the commonest value of each component, no objects. There is no chance
    level to beat, so it is reported and never flagged: a B_MeanScore is to be read against it."""
    golds = [json.loads(gold) for gold in rows["gold"]]
    groups = rows["group_id"].to_numpy()
    earned = np.zeros(len(golds))
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=seed).split(earned, groups=groups):
        seen = [golds[index] for index in train]
        agent = {part: _commonest([gold["agent"][part] for gold in seen]) for part in ("pos", "dir", "carrying")}
        scene = {"agent": agent, "front_cell": _commonest([gold["front_cell"] for gold in seen]), "objects": []}
        for index in test:
            parts = score_scene(golds[index], scene)
            earned[index] = sum(SCENE_WEIGHTS[name] * part for name, part in parts.items())
    _, cluster = np.unique(groups, return_inverse=True)
    num, den = np.bincount(cluster, earned).astype(float), np.bincount(cluster).astype(float)
    score = float(earned.mean())
    found = Shortcut(task, "", "constant scene", 0, len(golds), len(num), score, score, score, 1.0, False)
    return _Measured(found, Sums(num[:, None], den[:, None]))


def _commonest(values: list[Any]) -> Any:
    spelled = [json.dumps(value, sort_keys=True) for value in values]
    return json.loads(max(sorted(set(spelled)), key=spelled.count))


def _predict(name: str, features: Any, gold: np.ndarray, train: np.ndarray, test: np.ndarray) -> Any:
    seen = gold[train]
    labels, counts = np.unique(seen, return_counts=True)
    if name == "majority" or len(labels) == 1:
        return labels[np.argmax(counts)]
    learner = LogisticRegression(class_weight="balanced", max_iter=2000, C=1.0)
    if name == "prompt":
        model = make_pipeline(CountVectorizer(ngram_range=(1, 2), min_df=2), MaxAbsScaler(), learner)
        try:
            return model.fit([features[i] for i in train], seen).predict([features[i] for i in test])
        except ValueError:  # no word occurs twice
            return labels[np.argmax(counts)]
    return make_pipeline(MaxAbsScaler(), learner).fit(features[train], seen).predict(features[test])
