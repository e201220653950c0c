"""The DuckDB views: read by DuckDB itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storage import SCHEMAS, Store
from storage.catalog import catalog_sql, write_catalog
from tests.flows import toy

duckdb = pytest.importorskip("duckdb")


def _query(sql: str, question: str) -> list[tuple]:
    connection = duckdb.connect()
    connection.execute(sql)
    return connection.execute(question).fetchall()


def test_an_empty_store_has_every_view_with_its_columns(tmp_path: Path) -> None:
    sql = catalog_sql(Store(tmp_path))
    for table, schema in SCHEMAS.items():
        columns = [row[0] for row in _query(sql, f"DESCRIBE {table}")]
        assert columns == ["run", *schema.names]
        assert _query(sql, f"SELECT count(*) FROM {table}") == [(0,)]
    assert _query(sql, "SELECT count(*) FROM runs") == [(0,)]


def test_views_show_each_run_once_and_its_last_word_on_a_row(tmp_path: Path) -> None:
    """Both toy stages write `groups`: the rows of the later one, which accepts them, stand."""
    first, second = toy.run(tmp_path, n=3), toy.run(tmp_path, n=2)
    sql = (tmp_path / "catalog.sql").read_text()
    counts = _query(sql, "SELECT run, count(*), bool_and(accepted) FROM groups GROUP BY run ORDER BY run")
    assert counts == [(first["id"], 9, True), (second["id"], 6, True)]
    assert _query(sql, "SELECT id, seed FROM runs ORDER BY id") == [(first["id"], 7), (second["id"], 7)]


def test_failed_runs_and_strays_are_in_no_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = toy.run(tmp_path)
    monkeypatch.setenv("TOY_FAIL", "b")
    with pytest.raises(Exception, match="no luck"):
        toy.run(tmp_path, n=4)
    stray = tmp_path / "artifacts" / "accept" / "stray"
    stray.mkdir()
    (stray / "part-groups-00000.parquet").write_bytes(b"half")
    sql = write_catalog(Store(tmp_path))
    assert _query(sql, "SELECT DISTINCT run FROM groups") == [(done["id"],)]


def test_many_runs_of_one_kind_leave_the_others_their_views(tmp_path: Path) -> None:
    kept = toy.run(tmp_path)["id"]
    store = Store(tmp_path)
    for number in range(25):
        store.write_run(
            {"id": f"20991130T000000.{number:03d}Z-aaaa", "kind": "compare", "state": "complete", "artifacts": {}}
        )
    sql = catalog_sql(store)
    assert _query(sql, "SELECT DISTINCT run FROM groups") == [(kept,)]
    assert _query(sql, "SELECT kind, count(*) FROM runs GROUP BY kind ORDER BY kind") == [("compare", 20), ("toy", 1)]


def test_a_quote_in_a_command_breaks_nothing(tmp_path: Path) -> None:
    made = toy.start(tmp_path)
    made.record.value["command"] = "worldaudit run 'it''s'"
    with made.runner:
        made.execute()
    assert _query(catalog_sql(Store(tmp_path)), "SELECT command FROM runs") == [("worldaudit run 'it''s'",)]


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x85", "\u2028"])
def test_what_stands_in_a_comment_cannot_leave_it(tmp_path: Path, end: str) -> None:
    """A store's path, a run's folder and a command may hold a line break, and SQL behind it."""
    attack = f"x{end}CREATE TABLE broken_out AS SELECT 1; --"
    folder = tmp_path / attack
    made = toy.start(folder)
    made.record.value |= {"command": attack, "id": f"29990101{end}CREATE TABLE broken_out AS SELECT 1; --"}
    with made.runner:
        made.execute()
    sql = (folder / "catalog.sql").read_bytes().decode()
    assert _query(sql, "SELECT count(*) FROM groups") == [(9,)]
    assert _query(sql, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'broken_out'") == [(0,)]


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[]", "{}", '{"id": "elsewhere"}', '{"artifacts": {"a": "../../x"}}']
)
def test_one_damaged_record_leaves_the_others_their_views(tmp_path: Path, text: str) -> None:
    done = toy.run(tmp_path)
    folder = tmp_path / "runs" / "29990101T000000.000Z-dead"
    folder.mkdir()
    (folder / "run.json").write_text(
        text.replace("{", '{"id": "' + folder.name + '", ', 1) if "artifacts" in text else text
    )
    again = toy.run(tmp_path)  # a run that ends writes the catalog
    sql = (tmp_path / "catalog.sql").read_text()
    assert _query(sql, "SELECT id FROM runs ORDER BY id") == [(done["id"],), (again["id"],)]
    assert [run for run, record in Store(tmp_path).examined_runs() if record is None] == [folder.name]


@pytest.mark.parametrize(
    "change",
    [
        {"parts": None},
        {"parts": [{"name": "../../../outside.parquet", "table": "groups", "bytes": 1, "sha256": "x"}]},
        {"parts": [{"name": "part-groups-00000.parquet", "table": 7, "bytes": 1, "sha256": "x"}]},
        {"parts": [{"name": "part-other-00000.parquet", "table": "no table", "bytes": 1, "sha256": "x"}]},
        {"inputs": None},
        {"key": "other"},
    ],
)
def test_a_strange_manifest_is_in_no_view(tmp_path: Path, change: dict) -> None:
    run = toy.run(tmp_path)
    path = tmp_path / "artifacts" / "accept" / run["artifacts"]["accept[all]"] / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    sql = catalog_sql(Store(tmp_path))
    assert "outside" not in sql
    assert _query(sql, "SELECT count(*), count(accepted) FROM groups") == [(9, 0)]  # the rows of the earlier stage
