import pytest
from hypothesis import settings

settings.register_profile("inference", deadline=None)  # a busy machine is no failure
settings.load_profile("inference")


@pytest.fixture
def store(tmp_path) -> str:
    return str(tmp_path / "store")
