"""Which Prefect server is used, and what becomes of one of our own."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from flows.operations.server import _claim, configured_server


def test_the_environment_goes_first(tmp_path: Path) -> None:
    environ = {"PREFECT_API_URL": "http://there/api", "PREFECT_HOME": str(tmp_path)}
    assert configured_server(environ, tmp_path) == "http://there/api"


def test_the_active_profile_names_a_server(tmp_path: Path) -> None:
    (tmp_path / "profiles.toml").write_text(
        'active = "lab"\n[profiles.lab]\nPREFECT_API_URL = "http://lab/api"\n[profiles.other]\n'
    )
    environ = {"PREFECT_HOME": str(tmp_path)}
    assert configured_server(environ, tmp_path) == "http://lab/api"
    assert configured_server(environ | {"PREFECT_PROFILE": "other"}, tmp_path) is None


def test_prefect_toml_of_the_folder_names_a_server(tmp_path: Path) -> None:
    (tmp_path / "prefect.toml").write_text('[api]\nurl = "http://team/api"\n')
    assert configured_server({"PREFECT_HOME": str(tmp_path)}, tmp_path) == "http://team/api"


def test_nothing_is_named_on_a_fresh_machine(tmp_path: Path) -> None:
    assert configured_server({"PREFECT_HOME": str(tmp_path)}, tmp_path) is None


def test_two_commands_at_once_get_a_database_each(tmp_path: Path) -> None:
    first, lock = _claim(tmp_path)
    second, other = _claim(tmp_path)
    assert first != second
    lock.close()
    third, again = _claim(tmp_path)
    assert third == first
    other.close()
    again.close()


SCRIPT = """
import os, sys, time
from flows.operations.server import server
with server() as running:
    running.wait()
    print(running.process.pid, flush=True)
    {then}
"""


def _start(tmp_path: Path, then: str) -> subprocess.Popen[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT")}
    environ |= {"WORLDAUDIT_PREFECT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT.format(then=then))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    )


def _gone(pid: int) -> bool:
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_the_server_ends_with_its_command_even_when_that_is_killed(tmp_path: Path) -> None:
    process = _start(tmp_path, "time.sleep(600)")
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()
    assert _gone(pid)
    second = _start(tmp_path, "pass")  # the folder is free again, its database is used again
    out, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    assert err == ""
    assert _gone(int(out))
    assert not (tmp_path / "home" / "1").exists()
    assert not (tmp_path / ".prefect").exists()


def _answers(url: str, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
    request = urllib.request.Request(
        f"{url}/flows/filter", data=b"{}", headers={"Content-Type": "text/plain"} | headers
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, dict(response.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)


@pytest.mark.slow
def test_the_server_answers_its_command_and_no_page_of_a_browser(tmp_path: Path) -> None:
    process = _start(tmp_path, "print(running.url, running.password, flush=True); time.sleep(600)")
    process.stdout.readline()
    url, password = process.stdout.readline().split()
    try:
        ours = {"Authorization": f"Basic {base64.b64encode(password.encode()).decode()}"}
        assert _answers(url, ours)[0] == 200
        assert _answers(url, {})[0] == 401
        for guess in ("worldaudit:", "admin:pass"):
            assert _answers(url, {"Authorization": f"Basic {base64.b64encode(guess.encode()).decode()}"})[0] == 401
        for host in ("evil.example", "localhost.evil.example:4200"):
            assert _answers(url, ours | {"Host": host})[0] == 400
        status, headers = _answers(url, {"Origin": "https://evil.example"})
        assert status == 401
        assert "access-control-allow-origin" not in {name.lower() for name in headers}
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_server_that_cannot_start_is_a_clear_message(tmp_path: Path) -> None:
    (tmp_path / "home" / "0" / "prefect.db").mkdir(parents=True)  # a folder where the database should be
    process = _start(tmp_path, "pass")
    _, err = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "the Prefect server did not come up" in err
    assert "--no-prefect" in err
