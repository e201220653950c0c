"""Where bytes lie: a local folder or an object store, behind the five verbs that the store needs.

Locally a write goes to a temporary name in the same folder, is synced and renamed, so that a reader never sees a half.
An object store makes an object visible only when its upload is complete, which gives the same promise.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import pyarrow.fs


class Files:
    """Bytes under a root. Paths are relative, with `/`."""

    location: str

    def read(self, path: str) -> bytes:
        """The whole file; FileNotFoundError where there is none."""
        raise NotImplementedError

    def write(self, path: str, data: bytes | memoryview) -> None:
        """All of `data` at `path`, or nothing."""
        raise NotImplementedError

    def exists(self, path: str) -> bool:
        raise NotImplementedError

    def list(self, folder: str) -> list[str]:
        """Names directly inside `folder`, sorted, without temporaries; empty where there is no such folder."""
        raise NotImplementedError

    def delete(self, path: str) -> None:
        """Remove a file or a whole folder; nothing happens where there is none."""
        raise NotImplementedError

    def url(self, path: str) -> str:
        """What another program opens it by."""
        return f"{self.location.rstrip('/')}/{path}"


_TEMPORARY = re.compile(r"^\.tmp-")


class LocalFiles(Files):
    def __init__(self, root: str | Path):
        self.root = Path(root).expanduser().resolve()
        self.location = str(self.root)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def write(self, path: str, data: bytes | memoryview) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / f".tmp-{os.getpid()}-{target.name}"
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()

    def list(self, folder: str) -> list[str]:
        try:
            names = os.listdir(self.root / folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in names if not _TEMPORARY.match(name))

    def delete(self, path: str) -> None:
        import shutil

        target = self.root / path
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)


class ObjectFiles(Files):
    """Any filesystem that Arrow knows by URI, S3 among them (credentials and endpoint from the environment)."""

    def __init__(self, uri: str):
        self.location = uri.rstrip("/")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if uri.startswith("s3://") and endpoint:
            scheme, _, host = endpoint.rpartition("://")
            self.fs: pyarrow.fs.FileSystem = pyarrow.fs.S3FileSystem(
                endpoint_override=host, scheme=scheme or "https", region=os.environ.get("AWS_REGION", "us-east-1")
            )
            self.base = uri.removeprefix("s3://").rstrip("/")
        else:
            self.fs, base = pyarrow.fs.FileSystem.from_uri(uri)
            self.base = base.rstrip("/")

    def _path(self, path: str) -> str:
        return f"{self.base}/{path}".rstrip("/")

    def read(self, path: str) -> bytes:
        with self.fs.open_input_stream(self._path(path)) as stream:
            data: bytes = stream.read()
            return data

    def write(self, path: str, data: bytes | memoryview) -> None:
        with self.fs.open_output_stream(self._path(path)) as stream:
            stream.write(data)

    def exists(self, path: str) -> bool:
        return bool(self.fs.get_file_info(self._path(path)).type != pyarrow.fs.FileType.NotFound)

    def list(self, folder: str) -> list[str]:
        selector = pyarrow.fs.FileSelector(self._path(folder), allow_not_found=True)
        return sorted(info.base_name for info in self.fs.get_file_info(selector))

    def delete(self, path: str) -> None:
        info = self.fs.get_file_info(self._path(path))
        if info.type == pyarrow.fs.FileType.Directory:
            self.fs.delete_dir(self._path(path))
        elif info.type == pyarrow.fs.FileType.File:
            self.fs.delete_file(self._path(path))


def open_files(location: str | Path) -> Files:
    """A local folder, or whatever an URI with a scheme names."""
    text = str(location)
    return ObjectFiles(text) if re.match(r"^[a-z][a-z0-9+.-]+://", text) else LocalFiles(text)
