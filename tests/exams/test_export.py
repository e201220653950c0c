"""Exports load elsewhere: with pyarrow, with plain JSON, with mlcroissant."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from storage import digest
from tasks.errors import BadInput
from tasks.exams import export as module
from tasks.exams.export import export, items_schema


@pytest.fixture(scope="module")
def exam(smoke):
    return smoke.artifact("release"), smoke.artifact("answers")


def _images(exam) -> dict[str, bytes]:
    table = exam[0].arrow("images")
    return dict(zip(table["image_id"].to_pylist(), table["png"].to_pylist(), strict=True))


def test_parquet_embeds_the_stored_bytes_in_bounded_row_groups(exam, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "ROW_GROUP_BYTES", 200_000)
    made = export(*exam, tmp_path / "out", "parquet")
    file = pq.ParquetFile(tmp_path / "out" / "items.parquet")
    assert file.schema_arrow.equals(items_schema())
    assert file.num_row_groups > 5
    png = _images(exam)
    items = exam[0].arrow("items").to_pylist()
    rows = file.read().to_pylist()
    assert made["rows"]["items"] == len(rows) == len(items)
    for row, item in zip(rows, items, strict=True):
        assert row["uid"] == item["uid"]
        assert [picture["bytes"] for picture in row["images"]] == [png[name] for name in item["image_ids"]]
    for group in range(file.num_row_groups):
        pictures = file.read_row_group(group).column("images").to_pylist()
        size = sum(len(picture["bytes"]) for row in pictures for picture in row)
        assert size <= 200_000 or len(pictures) == 1


def test_nothing_on_the_models_side_tells_gold_or_variant(exam, tmp_path: Path) -> None:
    export(*exam, tmp_path / "out", "parquet")
    items = pq.read_table(tmp_path / "out" / "items.parquet")
    assert set(items.column_names) == {"uid", "task", "prompt", "answer_format", "max_tokens", "images"}
    paths = {picture["path"] for row in items["images"].to_pylist() for picture in row}
    assert all(path.removesuffix(".png").isdigit() for path in paths)


def test_json_lines_decode_without_the_store(exam, tmp_path: Path) -> None:
    export(*exam, tmp_path / "out", "jsonl")
    lines = (tmp_path / "out" / "items.jsonl").read_text().splitlines()
    row = json.loads(lines[0])
    head, _, data = row["images"][0].partition(",")
    assert head == "data:image/png;base64"
    Image.open(io.BytesIO(base64.b64decode(data))).verify()
    answers = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()]
    assert {answer["uid"] for answer in answers} == {json.loads(line)["uid"] for line in lines}


def test_croissant_agrees_with_the_files_and_loads(exam, tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    export(*exam, tmp_path / "out", "croissant")
    described = json.loads((tmp_path / "out" / "croissant.json").read_text())
    for file in described["distribution"]:
        assert file["sha256"] == digest((tmp_path / "out" / file["contentUrl"]).read_bytes())
    for records in described["recordSet"]:
        schema = pq.read_schema(tmp_path / "out" / f"{records['name']}.parquet")
        assert [field["name"] for field in records["field"]] == schema.names
        for field in records["field"]:
            kind = schema.field(field["name"]).type
            assert field.get("repeated", False) == pa.types.is_list(kind)
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "out" / "croissant.json"))
    record = next(iter(dataset.records("items")))
    first = exam[0].arrow("items").slice(0, 1).to_pylist()[0]
    assert record["items/uid"].decode() == first["uid"]
    assert len(record["items/images"]) == len(first["image_ids"])
    answer = next(iter(dataset.records("answers")))
    assert answer["answers/gold"]


def test_the_card_counts_what_is_there_and_the_licence_goes_along(exam, tmp_path: Path) -> None:
    made = export(*exam, tmp_path / "out", "parquet")
    card = (tmp_path / "out" / "README.md").read_text()
    assert f"{made['rows']['items']:,} rows" in card
    assert exam[0].key in card
    assert "Apache License, Version 2.0" in (tmp_path / "out" / "LICENSE").read_text()


def test_a_folder_that_holds_something_is_left_alone(exam, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        export(*exam, tmp_path, "parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
