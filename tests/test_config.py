"""The configuration file: what is accepted, and how a fault is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.config import Configuration, load, parse
from tasks.errors import BadInput


def test_an_empty_file_is_the_default() -> None:
    assert parse({}, "x") == Configuration()


def test_the_example_of_the_module_is_valid(tmp_path: Path) -> None:
    import textwrap

    import tasks.config

    example = textwrap.dedent(tasks.config.__doc__.split("\n\n", 1)[1].rsplit("\n\n", 1)[0])
    (tmp_path / "a.toml").write_text(example)
    read = load(tmp_path / "a.toml")
    assert read.run.placement == {"inference": "shards/inference"}
    assert list(read.judges) == ["gpt-4o"]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"run": {"sede": 1}}, "unknown key 'run.sede' (did you mean 'seed'?)"),
        ({"run": {"dask": {"worker": 1}}}, "unknown key 'run.dask.worker' (did you mean 'workers'?)"),
        ({"run": {"seed": -1}}, "'run.seed': Input should be greater than or equal to 0"),
        ({"run": {"runner": "threads"}}, "'run.runner': Input should be 'process' or 'dask'"),
        ({"judge": {}}, "unknown key 'judge' (did you mean 'judges'?)"),
        ({"run": {"seed": 1.5}, "x": 1}, "'run.seed'"),
    ],
)
def test_a_fault_names_the_source_the_key_and_the_nearest_key(document: dict, says: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(document, "audit.toml")
    assert str(error.value).startswith("audit.toml: ")
    assert says in str(error.value)


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(BadInput) as error:
        parse({"run": {"sede": 1, "processes": -1}}, "audit.toml")
    assert "sede" in str(error.value)
    assert "processes" in str(error.value)


@pytest.mark.parametrize("value", ["nan", "-inf", "inf", "1e999"])
def test_no_number_of_a_file_is_lost_on_its_way(tmp_path: Path, value: str) -> None:
    """As JSON nan would be null: a budget of nan, none at all."""
    (tmp_path / "a.toml").write_text(f"[judges.mine]\ntags = [1.0, 2]\nlimits = {{ budget = {value} }}\n")
    with pytest.raises(BadInput, match=r"a\.toml: 'judges.mine.limits.budget': -?(nan|inf) is not a number"):
        load(tmp_path / "a.toml")


@pytest.mark.parametrize("content", [b"[run\n", b"\xff\xfe"])
def test_what_is_not_toml_is_bad_input(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(BadInput, match=r"a\.toml"):
        load(tmp_path / "a.toml")
    with pytest.raises(BadInput, match="No such file"):
        load(tmp_path / "b.toml")
