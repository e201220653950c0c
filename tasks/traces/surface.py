"""How far the bare text gives a rejected trace away: a character n-gram classifier, trained on half of the traces.

Physics is not in character n-grams; what the classifier finds is style, marker words or number formats that the
perturbations left. AUC 0.5 is a coin.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Surface:
    """`auc` over all test texts; `pairwise`: how often the chosen of a pair scores above its rejected (ties count half);
    `by_perturbation`: AUC of that perturbation's rejected traces against the chosen ones of the same test half."""

    auc: float
    pairwise: float
    by_perturbation: dict[str, float]
    n_train: int
    n_test: int


def text_of(trace: Mapping[str, Any]) -> str:
    """What a reader of the trace sees; ids are left out."""
    return json.dumps({key: value for key, value in trace.items() if key != "id"}, ensure_ascii=False)


def surface_auc(
    chosen: Mapping[str, Mapping[str, Any]],
    rejected: Sequence[tuple[str, str, Mapping[str, Any]]],
    seed: int = 0,
    ngram: tuple[int, int] = (2, 5),
) -> Surface:
    """`chosen` maps trace ids to traces; `rejected` holds (trace id, perturbation, trace).

    Features are TF-IDF weights of character n-grams, the classifier is logistic regression with balanced classes.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    ids = sorted(chosen)
    random.Random(seed).shuffle(ids)
    half = set(ids[: len(ids) // 2])
    texts = {trace_id: text_of(trace) for trace_id, trace in chosen.items()}
    told = [(trace_id, name, text_of(trace)) for trace_id, name, trace in rejected]
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=ngram, min_df=3, sublinear_tf=True)
    train = [(texts[i], 1) for i in ids if i in half] + [(text, 0) for i, _, text in told if i in half]
    model = LogisticRegression(C=10.0, class_weight="balanced", solver="liblinear")
    model.fit(vectorizer.fit_transform([text for text, _ in train]), [label for _, label in train])
    tested = [i for i in ids if i not in half]
    good = dict(zip(tested, model.decision_function(vectorizer.transform([texts[i] for i in tested])), strict=True))
    bad_rows = [row for row in told if row[0] not in half]
    bad = model.decision_function(vectorizer.transform([text for _, _, text in bad_rows]))
    wins = [(good[i] > score) + 0.5 * (good[i] == score) for (i, _, _), score in zip(bad_rows, bad, strict=True)]
    by_perturbation = {}
    for name in sorted({name for _, name, _ in bad_rows}):
        scores = [score for (_, other, _), score in zip(bad_rows, bad, strict=True) if other == name]
        by_perturbation[name] = float(roc_auc_score([1] * len(good) + [0] * len(scores), [*good.values(), *scores]))
    return Surface(
        auc=float(roc_auc_score([1] * len(good) + [0] * len(bad), [*good.values(), *bad])),
        pairwise=float(sum(wins) / len(wins)),
        by_perturbation=by_perturbation,
        n_train=len(train),
        n_test=len(good) + len(bad_rows),
    )
