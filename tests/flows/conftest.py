"""A store with a finished run, for the tests of flows and commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.flows.command import RUN, worldaudit


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one finished run of the tiny exam. Read only."""
    store = tmp_path_factory.mktemp("finished") / "store"
    done = worldaudit(*RUN, "--store", str(store))
    assert done.code == 0, done.err
    return store


@pytest.fixture
def store(finished: Path, tmp_path: Path) -> Path:
    """A copy of it to work on."""
    return Path(shutil.copytree(finished, tmp_path / "store"))
