"""The human-audit kit: sample, sheets, import, agreement, decision rules."""

from __future__ import annotations

import csv
import json

import polars as pl
import pytest

from tasks.errors import BadInput
from tasks.traces import bank, pairs
from tasks.traces.record import render
from tasks.traces.stages import pair_row, trace_row
from tasks.verification import human as kit
from tasks.verification.rows import verdict_row
from tasks.verification.verdict import gold_of
from tasks.verification.verifier import verify


@pytest.fixture(scope="module")
def material():
    records = list(bank.generate(51))
    made = list(pairs.generate(records, 8))
    traces = pl.DataFrame([trace_row(r, render(r), "train") for r in records], infer_schema_length=None)
    table = pl.DataFrame([pair_row(p) for p in made], infer_schema_length=None)
    found = [verdict_row(p.pair_id, "gold", verify(p.rendered, gold_of(p.chosen))) for p in made]
    found += [verdict_row(r.trace_id, "gold", verify(render(r), gold_of(r))) for r in records]
    verdicts = pl.DataFrame(found, infer_schema_length=None)
    return (
        kit.sample(traces, table, verdicts, size=120, checks=20),
        {p.pair_id: p.label for p in made},
        verdicts,
        traces,
        table,
    )


def fill(items, labels, path, flip=()):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, kit.COLUMNS)
        writer.writeheader()
        for item in items:
            label = labels.get(item["subject_id"], "")
            if item["item"] in flip:
                label = "" if label else "state"
            said = "incorrect" if label else "correct"
            writer.writerow(
                {"item": item["item"], **dict.fromkeys(kit.PARTS, "correct"), "state_0": said, "labels": label}
            )
    return path


def key_of(items):
    return {i["item"]: {k: i[k] for k in ("subject_id", "trace_id", "gold_check")} for i in items}


def test_the_sample(material):
    items, labels, *_ = material
    assert len(items) == 120
    assert sum(item["gold_check"] for item in items) == 20
    assert len({item["subject_id"] for item in items}) == 120
    found = [labels[i["subject_id"]] for i in items if not i["gold_check"]]
    assert min(found.count(label) for label in kit.RARE) >= 100 / 12 * 1.2
    with pytest.raises(BadInput, match="items need"):
        kit.sample(material[3].head(5), material[4], material[2], size=120, checks=20)


def test_sheets_hide_the_verifier_and_the_perturbation(material, tmp_path):
    items = material[0]
    kit.write_kit(tmp_path / "kit", items, {items[0]["trace_id"]: [("scene", b"png")]})
    sheet = (tmp_path / "kit" / "sheet.csv").read_text()
    for secret in (items[0]["subject_id"], "perturbation", "gold_check", "z_state"):
        assert secret not in sheet
    assert (tmp_path / "kit" / "pictures" / "item-001-scene.png").read_bytes() == b"png"
    assert json.loads((tmp_path / "kit-key.json").read_text())["item-001"]["subject_id"] == items[0]["subject_id"]


def test_two_annotators(material, tmp_path):
    items, labels, verdicts, *_ = material
    key = key_of(items)
    rows = {row["trace_id"]: row for row in verdicts.iter_rows(named=True)}
    one = kit.read_sheet(fill(items, labels, tmp_path / "a.csv"), key)
    same = kit.validate(one, one, key, rows)
    assert same["settled"] == 120
    assert {row["use"] for row in same["labels"]} == {"primary"}
    assert all(row["kappa"] == pytest.approx(1.0) and row["f1"] > 0.9 for row in same["labels"])
    flip = [i["item"] for i in items if not i["gold_check"]][:25]
    two = kit.read_sheet(fill(items, labels, tmp_path / "b.csv", flip), key)
    apart = kit.validate(one, two, key, rows)
    assert apart["left_out"] == 25
    assert kit.validate(one, two, key, rows, {item: one[item] for item in flip})["left_out"] == 0
    assert min(r["kappa"] for r in apart["labels"]) < 0.9


def test_an_annotator_who_fails_the_gold_checks_does_not_count(material, tmp_path):
    items, labels, verdicts, *_ = material
    key = key_of(items)
    checks = [i["item"] for i in items if i["gold_check"]]
    bad = kit.read_sheet(fill(items, labels, tmp_path / "bad.csv", checks[:5]), key)
    good = kit.read_sheet(fill(items, labels, tmp_path / "good.csv"), key)
    with pytest.raises(BadInput, match=r"annotator 2 has 75%"):
        kit.validate(good, bad, key, {row["trace_id"]: row for row in verdicts.iter_rows(named=True)})


@pytest.mark.parametrize(
    ("f1", "kappa", "use"),
    [(0.7, 0.65, "primary"), (0.9, 0.6, "with caveats"), (0.69, 0.9, "with caveats"), (0.5, None, "with caveats"), (0.49, 0.9, "qualitative only"), (None, None, "qualitative only")],
)  # fmt: skip
def test_decision_rules(f1, kappa, use):
    assert kit.decision(f1, kappa) == use


def test_kappa():
    assert kit.kappa([True, True, False, False], [True, False, False, False]) == pytest.approx(0.5)
    assert kit.kappa([True, False], [True, False]) == 1
    assert kit.kappa([False, False], [False, False]) is None


def test_bad_sheets_name_row_and_column(material, tmp_path):
    items, labels, *_ = material
    key = key_of(items)
    path = fill(items, labels, tmp_path / "s.csv")
    text = path.read_text().replace("correct", "fine", 1)
    path.write_text(text)
    with pytest.raises(BadInput, match=r"row 2, column state_0: 'fine'|row 2, column"):
        kit.read_sheet(path, key)
    path.write_text("item,state_0\n")
    with pytest.raises(BadInput, match="120 items are missing"):
        kit.read_sheet(path, key)
    with pytest.raises(BadInput, match="No such file"):
        kit.read_sheet(tmp_path / "none.csv", key)
