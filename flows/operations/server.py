"""The Prefect server that one command talks to.

A server that the user's environment, profile or `prefect.toml` names is used as it is. Otherwise the command starts one
server process of its own, on an SQLite file in a folder of its own, and ends it with itself:

    with server() as prefect_server:   # returns at once; the server comes up on the other core
        ...import, open the store, plan...
        prefect_server.wait()
        minigrid(...)

What makes it quick and quiet: this process opens the listening socket and hands it over, so nobody polls for a port and
early requests simply wait; the client never imports Prefect's server code; the database is migrated once per Prefect
version (`python -m flows.operations.server prepare`, which `make` calls while it sets up); no UI, triggers, telemetry or second copy
of each event; what the server logs goes to `server.log` beside its database.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from tasks.errors import StageFailed

STARTUP_SECONDS = 240  # a first start on a busy two-core machine has taken 46

QUIET_CLIENT = {
    "DO_NOT_TRACK": "1",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # the command reports failures itself, once
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
}
OWN_CLIENT = {
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_API_REQUEST_TIMEOUT": str(STARTUP_SECONDS),  # the first requests wait for the server to come up
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",  # never a second server behind our back
    "WORLDAUDIT_OWN_SERVER": "1",  # a server without deployments
}
OWN_SERVER = {
    "DO_NOT_TRACK": "1",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
    "PREFECT_UI_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    "PREFECT_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",  # it would import every Prefect integration
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "null",  # no page in a browser; by default every one may ask and read
}
HOST = "127.0.0.1"


def configured_server(environ: Mapping[str, str] = os.environ, folder: Path | None = None) -> str | None:
    """The API URL that the user's environment, `prefect.toml`, `pyproject.toml` or active profile names; None where
    there is none. Reads what Prefect would read, without the two seconds that importing Prefect takes."""
    if url := environ.get("PREFECT_API_URL"):
        return url
    folder = folder or Path.cwd()
    project = _toml(folder / "prefect.toml") or _toml(folder / "pyproject.toml").get("tool", {}).get("prefect", {})
    if url := project.get("api", {}).get("url"):
        return str(url)
    home = Path(environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    profiles = _toml(Path(environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml").expanduser())
    active = environ.get("PREFECT_PROFILE") or profiles.get("active")
    settings = profiles.get("profiles", {}).get(active, {})
    if active == "local" and not settings:  # one of the profiles that Prefect brings along
        return "http://127.0.0.1:4200/api"
    url = settings.get("PREFECT_API_URL")
    return None if url is None else str(url)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def own_home() -> Path:
    """A writable folder for servers of our own: WORLDAUDIT_PREFECT_HOME, or the user's cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    home = Path(os.environ.get("WORLDAUDIT_PREFECT_HOME") or cache / "worldaudit" / "prefect")
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        if os.access(home, os.W_OK):
            return home.resolve()
    return Path(tempfile.mkdtemp(prefix="worldaudit-prefect-"))


def _claim(home: Path) -> tuple[Path, IO[bytes]]:
    """The first subfolder that no running server holds, locked. Two commands at once get a database each: SQLite
    answers two servers on one file with "database is locked"."""
    import fcntl

    number = 0
    while True:
        folder = home / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "wb")  # noqa: SIM115  (held as long as the server lives)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            number += 1
        else:
            return folder, lock


class OwnServer:
    """One server process, alive until `stop` or until this process ends, however it ends.

    It answers this process and its children alone: it listens on this machine, knows no host name but that address, which a
    page that is served under another name would need, and wants the password that only they have.
    """

    def __init__(self) -> None:
        self.folder, self._lock = _claim(own_home())
        self.password = os.environ.get("PREFECT_API_AUTH_STRING") or f"worldaudit:{secrets.token_urlsafe()}"
        listener = socket.create_server((HOST, 0))
        self.url = f"http://{HOST}:{listener.getsockname()[1]}/api"
        self.log = self.folder / "server.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "flows.operations.server", "serve", str(listener.fileno())],
                stdin=subprocess.PIPE,  # its end tells the server that this process is gone
                stdout=log,
                stderr=log,
                pass_fds=(listener.fileno(), self._lock.fileno()),
                env={
                    **os.environ,
                    **OWN_SERVER,
                    "PREFECT_SERVER_API_AUTH_STRING": self.password,
                    "PREFECT_HOME": str(self.folder),
                    "PREFECT_PROFILES_PATH": os.devnull,
                },
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C is for the command, which still has to say how it ended
            )
        listener.close()  # from here on a dead server refuses connections instead of letting them wait

    def wait(self) -> None:
        """Until it answers. StageFailed with the end of its log where it does not."""
        import http.client

        port = int(self.url.split(":")[2].split("/")[0])
        deadline = time.monotonic() + STARTUP_SECONDS
        connection = http.client.HTTPConnection(HOST, port, timeout=STARTUP_SECONDS)
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            connection.request("GET", "/api/health")
            if connection.getresponse().status == 200:
                return
        waited = "in time" if time.monotonic() >= deadline else f"(exit code {self.process.poll()})"
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-5:])
        raise StageFailed(
            f"the Prefect server did not come up {waited}; its log is {self.log}:\n{tail}\n"
            "--no-prefect runs without one; PREFECT_API_URL names another"
        )

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with contextlib.suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        self._lock.close()


class NamedServer:
    """A server that somebody else runs."""

    def __init__(self, url: str):
        self.url = url

    def wait(self) -> None:
        """StageFailed where it does not answer."""
        import http.client
        import urllib.parse

        parts = urllib.parse.urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        try:
            with contextlib.closing(kind(parts.hostname or "", parts.port, timeout=30)) as connection:
                connection.request("GET", parts.path.rstrip("/") + "/health")
                connection.getresponse()
        except OSError as error:
            raise StageFailed(
                f"the Prefect server {self.url} does not answer ({error}); start it, unset PREFECT_API_URL or switch "
                "the profile, or use --no-prefect"
            ) from error

    def stop(self) -> None:
        pass


@contextlib.contextmanager
def server() -> Iterator[OwnServer | NamedServer]:
    """The server for this command, coming up. Call before anything imports prefect: its settings are read once, at
    import. Puts the client's settings into the environment (workers and child processes see them) and takes them out
    again; never writes to a profile."""
    quiet = {} if os.environ.get("WORLDAUDIT_DEBUG") else QUIET_CLIENT
    named = configured_server()
    running: OwnServer | NamedServer = NamedServer(named) if named else OwnServer()
    ours: dict[str, str] = {}
    if isinstance(running, OwnServer):
        ours = {**OWN_CLIENT, "PREFECT_API_URL": running.url, "PREFECT_API_AUTH_STRING": running.password}
        if not os.environ.keys() & {"PREFECT_HOME", "PREFECT_PROFILE"}:
            ours["PREFECT_HOME"] = str(running.folder)
    added = {name: value for name, value in {**quiet, **ours}.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield running
    finally:
        for name in added:
            os.environ.pop(name, None)
        running.stop()


# --- the server's own process ----------------------------------------------------------------------------------------


def serve(listener: socket.socket | None) -> None:
    """Serve Prefect's API on `listener` until told to stop or until the parent is gone. Without one: migrate only."""
    import gc
    import importlib.metadata
    import signal
    import threading

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    if listener:
        threading.Thread(target=end_with_parent, daemon=True).start()
    database = Path(os.environ["PREFECT_HOME"]) / "prefect.db"
    migrated = database.with_name(f"migrated-{importlib.metadata.version('prefect')}")
    os.environ["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = f"sqlite+aiosqlite:///{database}"
    os.environ["PREFECT_SERVER_DATABASE_MIGRATE_ON_START"] = "false"
    gc.disable()  # a tenth of the import time
    import uvicorn
    from prefect.server.api.server import create_app
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    if not (database.exists() and migrated.exists()):
        import asyncio

        from prefect.server.database import provide_database_interface

        asyncio.run(provide_database_interface().create_db())
        migrated.touch()
    if listener:
        app = TrustedHostMiddleware(create_app(ephemeral=True, final=True), allowed_hosts=[HOST])
        gc.enable()
        gc.freeze()
        config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=2)
        uvicorn.Server(config).run(sockets=[listener])


def prepare() -> None:
    """Migrate the first database now, so that no run has to."""
    folder, lock = _claim(own_home())
    with lock:
        os.environ.update({**OWN_SERVER, "PREFECT_HOME": str(folder), "PREFECT_PROFILES_PATH": os.devnull})
        serve(None)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(socket.socket(fileno=int(sys.argv[2])))
    elif sys.argv[1:] == ["prepare"]:
        prepare()
    else:
        sys.exit("usage: python -m flows.operations.server prepare")
