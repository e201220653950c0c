import pytest


@pytest.fixture
def store(tmp_path) -> str:
    return str(tmp_path / "store")
