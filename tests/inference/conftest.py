import pytest
from hypothesis import settings

settings.register_profile("inference", deadline=None)  # a busy machine is no failure
settings.load_profile("inference")


@pytest.fixture
def store(tmp_path) -> str:
    return str(tmp_path / "store")


@pytest.fixture
def s3(monkeypatch):
    """An S3 of our own."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("ACCESS_KEY_ID", "test"),
        ("SECRET_ACCESS_KEY", "test"),
        ("ENDPOINT_URL", f"http://{host}:{port}"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="audit")
    yield "s3://audit/store"
    server.stop()
