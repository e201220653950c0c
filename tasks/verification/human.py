"""The human audit kit: a stratified sample, sheets for annotators, and what their labels say of the verifier.

Protocol and decision rules are those of paper 2's appendix on the human audit: 400 traces, stratified by family and by the
verifier's label with rare labels oversampled, 50 valid gold traces inside as attention checks; two annotators who do not
see the verifier's output; an annotator's labels count from 80 % right on the gold checks; F1 >= 0.70 with kappa >= 0.65 is
primary evidence, F1 >= 0.50 is reported with caveats, less is qualitative only.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from tasks.errors import BadInput
from tasks.traces.perturbations import LABELS

SAMPLE, GOLD_CHECKS, PASS_MARK = 400, 50, 0.8
RARE = ("temporal", "intervention", "unit_scale")
PARTS = ("state_0", "transition", "state_1", "answer_trace")
JUDGMENTS = ("correct", "incorrect", "ambiguous")
COLUMNS = ("item", "question", "gold_answer", "trace", "pictures", *PARTS, "labels", "remark")


def sample(
    traces: pl.DataFrame,
    pairs: pl.DataFrame,
    verdicts: pl.DataFrame,
    size: int = SAMPLE,
    checks: int = GOLD_CHECKS,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """`size` items: `checks` chosen traces and the rest rejected ones, spread over the labels that the verifier found (rare
    ones twice as often) and over families. Each item has a number, the trace, and what the key keeps: the subject's id,
    whether it is a gold check. BadInput where the bank is too small."""
    rng = random.Random(f"human/{seed}")
    if traces.height < checks or pairs.height < size - checks:
        raise BadInput(
            f"the bank has {traces.height} traces and {pairs.height} pairs; {size} items need {checks} and {size - checks}"
        )
    first_label = dict(
        verdicts.filter(pl.col("setting") == "gold").select("trace_id", pl.col("labels").list.first()).iter_rows()
    )
    strata: dict[str, dict[str, list[str]]] = {}
    for pair_id, family in pairs.select("pair_id", "family").sort("pair_id").iter_rows():
        strata.setdefault(str(first_label.get(pair_id)), {}).setdefault(family, []).append(pair_id)
    for families in strata.values():
        for members in families.values():
            rng.shuffle(members)
    turn = [label for label in sorted(strata) for _ in range(2 if label in RARE else 1)]
    chosen: list[str] = []
    while len(chosen) < size - checks:
        for label in turn:
            families = {name: members for name, members in strata[label].items() if members}
            if families and len(chosen) < size - checks:
                fewest = min(sorted(families), key=lambda name: (sum(c.startswith(name + "_") for c in chosen), name))
                chosen.append(families[fewest].pop())
    rejected = {row["pair_id"]: row for row in pairs.filter(pl.col("pair_id").is_in(chosen)).iter_rows(named=True)}
    golds = {row["trace_id"]: row for row in traces.iter_rows(named=True)}
    subjects = [(pair_id, rejected[pair_id]["trace_id"], rejected[pair_id]["rejected"], False) for pair_id in chosen]
    subjects += [(i, i, golds[i]["trace"], True) for i in rng.sample(sorted(golds), checks)]
    rng.shuffle(subjects)
    return [
        {
            "item": f"item-{number:03d}",
            "subject_id": subject_id,
            "trace_id": trace_id,
            "gold_check": is_check,
            "question": golds[trace_id]["question"],
            "gold_answer": golds[trace_id]["answer"],
            "trace": orjson.loads(text),
        }
        for number, (subject_id, trace_id, text, is_check) in enumerate(subjects, start=1)
    ]


def write_kit(
    folder: Path, items: Sequence[Mapping[str, Any]], pictures: Mapping[str, Sequence[tuple[str, bytes]]]
) -> None:
    """`sheet.csv`, the pictures and GUIDE.md for annotators; `key.json`, which they must not see, beside the folder.
    `pictures` maps trace ids to (moment, PNG)."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    with open(folder / "sheet.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for item in items:
            names = []
            for moment, png in pictures.get(item["trace_id"], ()):
                names.append(f"{item['item']}-{moment}.png")
                (folder / "pictures" / names[-1]).write_bytes(png)
            shown = {key: value for key, value in item["trace"].items() if key not in ("id", "metadata", "question")}
            text = json.dumps(shown, ensure_ascii=False, indent=1)
            writer.writerow([item["item"], item["question"], item["gold_answer"], text, " ".join(names), *[""] * 6])
    (folder / "GUIDE.md").write_text(_GUIDE, encoding="utf-8")
    key = {i["item"]: {k: i[k] for k in ("subject_id", "trace_id", "gold_check")} for i in items}
    (folder.parent / f"{folder.name}-key.json").write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")


_GUIDE = f"""# How to judge a trace

For each line of `sheet.csv` look at the picture, the question and the trace. Work alone; no more than two hours at a time.

1. Fill in {", ".join(f"`{part}`" for part in PARTS)} with `correct`, `incorrect` or `ambiguous`: is the initial state what the
   question and the picture say, does the change follow from it, is the resulting state right, does the answer agree with
   the trace?
2. Where a part is incorrect, name in `labels` what is wrong, separated by spaces: {", ".join(f"`{label}`" for label in LABELS)}.
   - object: the wrong thing is followed, or two are mixed up; state: the initial state is misstated; relation: contact,
     support or order; force: missing, reversed, too strong or weak, on the wrong body; transition: the change does not
     follow; intervention: the effect of an action; temporal: before and after; unit_scale: magnitude, unit or sign;
     faithfulness: the answer contradicts the trace.
3. Three-digit rounding is no error. Where friction, elasticity or a sign convention is left open, say `ambiguous`.
"""


def read_sheet(path: Path, items: Iterable[str]) -> dict[str, dict[str, Any]]:
    """An annotator's sheet: item -> parts and labels. BadInput names line and column."""
    known, judged = set(items), dict[str, dict[str, Any]]()
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path}: {error}") from None
    for line, row in enumerate(rows, start=2):
        item = (row.get("item") or "").strip()
        if item not in known:
            raise BadInput(f"{path}, row {line}, column item: {item!r} is not in the key")
        if item in judged:
            raise BadInput(f"{path}, row {line}, column item: {item!r} occurs twice")
        parts = {}
        for part in PARTS:
            said = (row.get(part) or "").strip().lower()
            if said not in JUDGMENTS:
                raise BadInput(f"{path}, row {line}, column {part}: {said!r}; write {', '.join(JUDGMENTS)}")
            parts[part] = said
        labels = (row.get("labels") or "").replace(",", " ").replace("/", "_").lower().split()
        for label in labels:
            if label not in LABELS:
                raise BadInput(f"{path}, row {line}, column labels: {label!r}; there are {', '.join(LABELS)}")
        judged[item] = {**parts, "labels": frozenset(labels)}
    if missing := sorted(known - set(judged)):
        raise BadInput(f"{path}: {len(missing)} items are missing, the first is {missing[0]}")
    return judged


def kappa(one: Sequence[bool], other: Sequence[bool]) -> float | None:
    """Cohen's kappa of two binary raters; None where both never vary, since chance agreement is then whole."""
    n = len(one)
    if not n:
        return None
    agree = sum(a == b for a, b in zip(one, other, strict=True)) / n
    p, q = sum(one) / n, sum(other) / n
    chance = p * q + (1 - p) * (1 - q)
    return None if chance >= 1 else (agree - chance) / (1 - chance)


def gold_check_accuracy(sheet: Mapping[str, Mapping[str, Any]], key: Mapping[str, Mapping[str, Any]]) -> float:
    """The share of gold checks that an annotator called correct in every part, without a label."""
    checks = [item for item, known in key.items() if known["gold_check"]]
    right = [all(sheet[i][p] == "correct" for p in PARTS) and not sheet[i]["labels"] for i in checks]
    return sum(right) / len(right) if right else 1.0


def decision(f1: float | None, agreement: float | None) -> str:
    """primary, with caveats, or qualitative only."""
    if f1 is None or f1 < 0.5:
        return "qualitative only"
    return "primary" if f1 >= 0.7 and agreement is not None and agreement >= 0.65 else "with caveats"


def validate(
    first: Mapping[str, Mapping[str, Any]],
    second: Mapping[str, Mapping[str, Any]],
    key: Mapping[str, Mapping[str, Any]],
    verdicts: Mapping[str, Mapping[str, Any]],
    resolved: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The verifier against two annotators. `verdicts` maps subject ids to rows of `verdicts`; `resolved` holds what a
    discussion settled, for items on which the two disagree. What stays open, or is called ambiguous, is left out and counted.

    BadInput where an annotator fails the gold checks.
    """
    for number, sheet in enumerate((first, second), start=1):
        accuracy = gold_check_accuracy(sheet, key)
        if accuracy < PASS_MARK:
            raise BadInput(
                f"annotator {number} has {accuracy:.0%} of the gold checks right; labels count from {PASS_MARK:.0%}"
            )
    resolved = resolved or {}
    truth: dict[str, frozenset[str]] = {}
    left_out = 0
    for item in key:
        one, two = first[item], second[item]
        if item in resolved:
            one = two = resolved[item]
        settled = one["labels"] == two["labels"] and "ambiguous" not in {s[p] for s in (one, two) for p in PARTS}
        if settled:
            truth[item] = one["labels"]
        else:
            left_out += 1
    rows = []
    for label in LABELS:
        human = [label in labels for labels in truth.values()]
        flagged = [label in verdicts[key[item]["subject_id"]]["labels"] for item in truth]
        hits = sum(a and b for a, b in zip(human, flagged, strict=True))
        precision = hits / sum(flagged) if sum(flagged) else None
        recall = hits / sum(human) if sum(human) else None
        f1 = 2 * hits / (sum(flagged) + sum(human)) if sum(flagged) + sum(human) else None
        agreement = kappa([label in first[i]["labels"] for i in key], [label in second[i]["labels"] for i in key])
        open_ = [verdicts[key[i]["subject_id"]] for i in truth]
        abstained = sum("abstain" in (v["z_state"], v["z_trans"], v["z_ans"], v["z_faith"]) for v in open_)
        rows.append(
            {
                "label": label,
                "n": len(truth),
                "n_human": sum(human),
                "n_verifier": sum(flagged),
                "precision": precision,
                "recall": recall,
                "f1": f1,
                "kappa": agreement,
                "abstention": abstained / len(truth) if truth else None,
                "use": decision(f1, agreement),
            }
        )
    return {"items": len(key), "settled": len(truth), "left_out": left_out, "labels": rows}
