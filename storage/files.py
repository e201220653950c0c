"""Where bytes lie: a local folder or an object store, behind the six verbs that the store needs.

Locally a write goes to a temporary name in the same folder, is synced and renamed, so that a reader never sees a half.
An object store makes an object visible only when its upload is complete, which gives the same promise.

A folder that has to appear as a whole is written under a temporary name beside its own (`draft_of`) and published: locally
by one rename, which the system refuses where something is there already; on an object store object by object, the one that
counts (`last`) at the end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import uuid
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

    def leftovers(self, folder: str) -> list[str]:
        """Temporaries directly inside `folder`, by path: what writers that died have left."""
        raise NotImplementedError

    def list(self, folder: str) -> list[str]:
        """Names directly inside `folder`, sorted, without temporaries; empty where there is no such folder."""
        raise NotImplementedError

    def delete(self, path: str) -> None:
        """Remove a file or a whole folder; nothing happens where there is none."""
        raise NotImplementedError

    def publish(self, draft: str, folder: str, last: str) -> bool:
        """The folder `draft` becomes `folder`; its file `last` is what makes a folder count. False, and nothing has
        changed, where `folder` is there already."""
        raise NotImplementedError

    def url(self, path: str) -> str:
        """What another program opens it by."""
        return f"{self.location.rstrip('/')}/{path}"


_TEMPORARY = ".tmp-"


def draft_of(folder: str) -> str:
    """A name beside `folder` that nobody else has and `list` does not show."""
    parent, _, name = folder.rpartition("/")
    return f"{parent}/{_TEMPORARY}{uuid.uuid4().hex}-{name}"


class LocalFiles(Files):
    def __init__(self, root: str | Path):
        self.root = Path(root).expanduser().resolve()
        self.location = str(self.root)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def write(self, path: str, data: bytes | memoryview) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / f"{_TEMPORARY}{uuid.uuid4().hex[:12]}"
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
        _sync(target.parent)

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()

    def leftovers(self, folder: str) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in (self.root / folder).glob(f"{_TEMPORARY}*"))

    def list(self, folder: str) -> list[str]:
        try:
            names = os.listdir(self.root / folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in names if not name.startswith(_TEMPORARY))

    def publish(self, draft: str, folder: str, last: str) -> bool:
        try:
            os.rename(self.root / draft, self.root / folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise
        _sync((self.root / folder).parent)
        return True

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

    def leftovers(self, folder: str) -> list[str]:
        return [f"{folder}/{name}" for name in self._names(folder) if name.startswith(_TEMPORARY)]

    def _names(self, folder: str) -> list[str]:
        selector = pyarrow.fs.FileSelector(self._path(folder), allow_not_found=True)
        return sorted(info.base_name for info in self.fs.get_file_info(selector))

    def list(self, folder: str) -> list[str]:
        return [name for name in self._names(folder) if not name.startswith(_TEMPORARY)]

    def publish(self, draft: str, folder: str, last: str) -> bool:
        """Nothing here says "only where there is none": two that publish within the same moment may both be told True, and
        the folder is the one's or the other's."""
        if self.exists(f"{folder}/{last}"):
            return False
        for name in [*(name for name in self.list(draft) if name != last), last]:
            self.fs.move(self._path(f"{draft}/{name}"), self._path(f"{folder}/{name}"))
        self.delete(draft)
        return True

    def delete(self, path: str) -> None:
        info = self.fs.get_file_info(self._path(path))
        if info.type == pyarrow.fs.FileType.Directory:
            self.fs.delete_dir(self._path(path))
        elif info.type == pyarrow.fs.FileType.File:
            self.fs.delete_file(self._path(path))


def _sync(folder: Path) -> None:
    """What was renamed in a folder survives a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_files(location: str | Path) -> Files:
    """A local folder, or whatever an URI with a scheme names."""
    text = str(location)
    return ObjectFiles(text) if re.match(r"^[a-z][a-z0-9+.-]+://", text) else LocalFiles(text)
