"""Where a store lies, as users name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.location import store_location
from tasks.errors import BadInput


@pytest.mark.parametrize(
    ("named", "lies"),
    [
        (None, "here/worldaudit-store"),
        ("./~t", "here/~t"),
        ("~nobody-of-that-name/s", "here/~nobody-of-that-name/s"),
        ("~", "home"),
        ("~/s", "home/s"),
        ("../s", "s"),
    ],
)
def test_a_folder_is_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None, lies: str):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert store_location(named) == str(tmp_path / lies)


def test_an_uri_stays_as_it_is():
    assert store_location("s3://bucket/~a") == "s3://bucket/~a"


def test_what_can_be_no_folder_is_named():
    with pytest.raises(BadInput, match="names no folder"):
        store_location("a\0b")
