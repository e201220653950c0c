"""The DuckDB views: read by DuckDB itself."""

from __future__ import annotations

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


def test_a_quote_in_a_command_breaks_nothing(tmp_path: Path) -> None:
    made = toy.start(tmp_path)
    made.record.value["command"] = "worldaudit run 'it''s'"
    with made.runner:
        made.execute()
    assert _query(catalog_sql(Store(tmp_path)), "SELECT command FROM runs") == [("worldaudit run 'it''s'",)]
