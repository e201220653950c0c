"""An exam in a form that others can load: JSON lines, Parquet, or Parquet with a Croissant description.

Every form holds two files: `items` is what a model may see, its pictures embedded; `answers` is the audit's side, joined
by `uid`. A data card and the licence of the data go along.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage import Artifact, digest
from storage.tables import SCHEMAS
from tasks.errors import BadInput

FORMATS = ("jsonl", "parquet", "croissant")
ROW_GROUP_BYTES = 32 * 2**20  # of pictures; readers hold a row group whole
_PICTURE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
_ITEM_COLUMNS = ("uid", "task", "prompt", "answer_format", "max_tokens")


def export(release: Artifact, answers: Artifact, folder: Path, form: str) -> dict[str, Any]:
    """Write `folder`; what was written, with row counts. BadInput where the folder holds something already."""
    if form not in FORMATS:
        raise BadInput(f"no export format {form!r}; there are {', '.join(FORMATS)}")
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    suffix = "jsonl" if form == "jsonl" else "parquet"
    files = {"items": folder / f"items.{suffix}", "answers": folder / f"answers.{suffix}"}
    write = _jsonl if form == "jsonl" else _parquet
    counts = {
        "items": write(files["items"], items_schema(), _items(release)),
        "answers": write(files["answers"], SCHEMAS["answers"], iter([answers.arrow("answers")])),
    }
    (folder / "LICENSE").write_text(_APACHE)
    (folder / "README.md").write_text(_card(release, answers, form, counts))
    if form == "croissant":
        (folder / "croissant.json").write_text(json.dumps(croissant(release, files), indent=1) + "\n")
    return {"folder": str(folder), "format": form, "rows": counts, "exam": release.key}


def items_schema() -> pa.Schema:
    """`items` with pictures in place of ids. The metadata tells the `datasets` library that they are pictures."""
    fields = [SCHEMAS["items"].field(name) for name in _ITEM_COLUMNS]
    kinds = {name: {"dtype": "int32" if name == "max_tokens" else "string", "_type": "Value"} for name in _ITEM_COLUMNS}
    features = {"info": {"features": kinds | {"images": {"feature": {"_type": "Image"}, "_type": "List"}}}}
    return pa.schema([*fields, pa.field("images", pa.list_(_PICTURE))], {"huggingface": json.dumps(features)})


def _items(release: Artifact) -> Iterator[pa.Table]:
    """Items in release order, in pieces of at most ROW_GROUP_BYTES of pictures."""
    images = release.arrow("images")
    png = dict(zip(images["image_id"].to_pylist(), images["png"], strict=True))
    rows: list[dict[str, Any]] = []
    size = 0
    for item in release.arrow("items").to_pylist():
        pictures = [png[name].as_py() for name in item["image_ids"]]
        weight = sum(map(len, pictures))
        if rows and size + weight > ROW_GROUP_BYTES:
            yield pa.Table.from_pylist(rows, schema=items_schema())
            rows, size = [], 0
        # The path is the picture's place in the item and says nothing else of it.
        embedded = [{"bytes": data, "path": f"{number}.png"} for number, data in enumerate(pictures, 1)]
        rows.append({name: item[name] for name in _ITEM_COLUMNS} | {"images": embedded})
        size += weight
    if rows:
        yield pa.Table.from_pylist(rows, schema=items_schema())


def _parquet(path: Path, schema: pa.Schema, pieces: Iterator[pa.Table]) -> int:
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for piece in pieces:
            writer.write_table(piece, row_group_size=max(len(piece), 1))
            count += len(piece)
    return count


def _jsonl(path: Path, schema: pa.Schema, pieces: Iterator[pa.Table]) -> int:
    """One JSON object a line; a picture is a data URL, as hosted models take it."""
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        for piece in pieces:
            for row in piece.to_pylist():
                if "images" in schema.names:
                    row["images"] = [_data_url(picture["bytes"]) for picture in row["images"]]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    return count


def _data_url(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


# --- Croissant -------------------------------------------------------------------------------------------------------

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(release: Artifact, files: dict[str, Path]) -> dict[str, Any]:
    """The Croissant 1.0 description of exported Parquet files, derived from their Arrow schemas."""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"worldaudit-{release.key[:12]}",
        "description": "Items that ask a vision-language model about trajectories of exactly known worlds.",
        "license": "https://www.apache.org/licenses/LICENSE-2.0",
        "version": "1.0.0",
        "datePublished": release.manifest["ended"][:10],
        "citeAs": f"worldaudit exam {release.key}",
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path.name,
                "name": path.name,
                "contentUrl": path.name,
                "encodingFormat": "application/x-parquet",
                "sha256": digest(path.read_bytes()),
            }
            for path in files.values()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name,
                "name": name,
                "key": {"@id": f"{name}/uid"},
                "field": [_field(name, path.name, field) for field in pq.read_schema(path)],
            }
            for name, path in files.items()
        ],
    }


def _field(record_set: str, file: str, field: pa.Field) -> dict[str, Any]:
    source: dict[str, Any] = {"fileObject": {"@id": file}, "extract": {"column": field.name}}
    kind = field.type
    described: dict[str, Any] = {"@type": "cr:Field", "@id": f"{record_set}/{field.name}", "name": field.name}
    if pa.types.is_list(kind):
        described["repeated"] = True
        kind = kind.value_type
    if pa.types.is_struct(kind):
        source["transform"] = {"jsonPath": "bytes"}
        data_type = "sc:ImageObject"
    else:
        data_type = "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"
    return described | {"dataType": data_type, "source": source}


# --- what goes along --------------------------------------------------------------------------------------------------


def _card(release: Artifact, answers: Artifact, form: str, counts: dict[str, int]) -> str:
    rows = answers.read("answers")
    worlds = ", ".join(sorted(rows["world"].unique().to_list()))
    envs = ", ".join(sorted(rows["env"].unique().to_list()))
    tasks = "\n".join(f"| {task} | {n:,} |" for task, n in rows.group_by("task").len().sort("task").iter_rows())
    loading = {
        "jsonl": "Each line is one JSON object; `images` holds data URLs in the order in which they are shown.",
        "parquet": '`datasets.load_dataset("parquet", data_files="items.parquet")` decodes the pictures.',
        "croissant": "`croissant.json` describes both files; any Croissant reader loads them.",
    }[form]
    return f"""---
license: apache-2.0
task_categories: [visual-question-answering]
---
# Worldaudit exam {release.key[:12]}

Items that ask a vision-language model about trajectories of exactly known worlds ({worlds}: {envs}).
Generated by code version {release.manifest["commit"] or "unknown"}; the exam's key is
`{release.key}`: equal keys mean equal items and pictures.

- `items`: {counts["items"]:,} rows, what a model may see: uid, task, prompt, pictures, answer format, token budget.
- `answers`: {counts["answers"]:,} rows, for the audit only: gold answer, variant, probe, group. Join by `uid`; never show it to a
  model that is examined.

| task | rows |
| --- | --- |
{tasks}

{loading}

Rows with `companion_of` are variations of another item (other representation, shuffled or masked action) and count for
comparisons only. The unit of uncertainty is the trajectory group (`group_id`): resample groups, not rows.

Licence of the data: Apache-2.0 (see LICENSE).
"""


_APACHE = """Copyright the Worldaudit authors

Licensed under the Apache License, Version 2.0 (the "License"); you may not use this data except in compliance with the
License. You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, the data is distributed under the License on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
governing permissions and limitations under the License.
"""
