"""The child process of a world: what arrives arrives exactly, and whatever ends one side is said and survived."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tasks.errors import StageFailed
from tasks.printable import printable
from tasks.worlds import process as module
from tasks.worlds._child.server import _end_with_pipe
from tasks.worlds._child.wire import Closed, TooLate, Wire, encode
from tasks.worlds.base import Rejected, World
from tasks.worlds.process import ChildProcess

FOLDER = Path(__file__).with_name("toy_child")
TOY = World("toy", "Toy", __name__, (), (), check=list)
ENGINE = {"simulator": "engine:Counter", "env_id": "Toy-v0"}
PARENT = """
import sys, time
from tests.worlds.test_process import toy
child = toy()
print(*child("about")[:1], flush=True)
child("wait", float(sys.argv[1]))
"""
DEAF_PARENT = """
import signal
from tests.worlds.test_process import toy
signal.signal(signal.SIGINT, lambda *_: None)
child = toy()
print(child("about")[0], flush=True)
input()
print(child("about")[0], flush=True)
"""


class Toy(ChildProcess):
    def __call__(self, method, *arguments, role="main", **engine):
        return self.call(ENGINE | engine, role, method, *arguments)


def toy(**options):
    return Toy(TOY, FOLDER, "WORLDAUDIT_TOY_PYTHON", **options)


@pytest.fixture
def child():
    process = toy()
    yield process
    process.close()


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def soon(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def python39():
    """An interpreter of Python 3.9 with numpy; None where there is none."""
    named = [os.environ.get("WORLDAUDIT_TEST_PYTHON39"), shutil.which("python3.9")]
    for python in [*named, *map(str, Path.home().glob(".pyenv/versions/3.9.*/bin/python"))]:
        asks = "import sys, numpy; assert sys.version_info[:2] == (3, 9)"
        if python and subprocess.run([python, "-c", asks], capture_output=True).returncode == 0:
            return python
    return None


# --- what is sent -----------------------------------------------------------------------------------------------------


def pipe_to_itself():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    return Wire(reading, writing)


def same(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, float):
        return isinstance(b, float) and np.float64(a).tobytes() == np.float64(b).tobytes()
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


arrays = hnp.arrays(
    st.one_of(hnp.scalar_dtypes(), hnp.unicode_string_dtypes(min_len=1)), hnp.array_shapes(min_dims=0, min_side=0)
)
numbers = st.floats(allow_nan=False) | st.sampled_from([float("nan"), float("inf"), -0.0]) | st.integers()
leaves = st.none() | st.booleans() | numbers | st.text() | st.binary() | arrays
messages = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@settings(max_examples=150, deadline=None)
@given(messages)
def test_whatever_can_be_sent_arrives_as_it_was(message):
    wire = pipe_to_itself()
    try:
        for _ in range(2):  # the second one finds the wire clean
            wire.send(encode(message), time.monotonic() + 5)
            assert same(message, wire.receive(time.monotonic() + 5))
    finally:
        wire.close()


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([None]), np.zeros(2, dtype=[("a", "f4")]), 1j])
def test_what_cannot_be_sent_is_refused_before_anything_is_sent(child, value):
    with pytest.raises(TypeError, match="cannot be sent between processes"):
        child("echo", value)
    assert child("echo", 1) == [1]


def test_a_pipe_that_is_full_or_hung_up_is_said():
    wire = pipe_to_itself()
    with pytest.raises(TooLate):
        wire.send(encode(np.zeros(1 << 22, dtype=np.uint8)), time.monotonic() + 0.05)
    wire.close()
    reading, writing = os.pipe()
    os.close(writing)
    with pytest.raises(Closed):
        Wire(reading, os.dup(reading)).receive(time.monotonic() + 1)


def test_arrays_of_many_types_come_exactly(child):
    made = child("arrays")
    assert made["float64"].tobytes() == np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324]).tobytes()
    assert [frame.tolist() for frame in made["frames"]] == [[[[v] * 3] * 3] * 4 for v in range(3)]
    assert made["strided"].tolist() == np.arange(24).reshape(4, 6)[::2, ::-2].tolist()
    assert made["big-endian"].dtype == ">u2" and made["big-endian"].tolist() == [1, 2]
    assert made["none"].shape == (0, 3) and made["none"].dtype == np.float32
    assert made["scalar"].shape == () and made["scalar"] == 7
    assert made["flags"].dtype == bool and made["text"].tolist() == ["a", "bcd"] and made["complex"][0] == 1 + 2j
    assert made["numbers"] == [0.1, 0.5, 3, True]
    made["strided"][0, 0] = 1  # one may write to what came
    large = np.random.default_rng(0).integers(0, 256, (40, 192, 256, 3), dtype=np.uint8)
    (back,) = child("echo", large)
    assert np.array_equal(back, large)
    strided = large[::7, ::5, :, 0]
    assert child("described", strided) == ["|u1", list(strided.shape), strided.tobytes()]


# --- calls ------------------------------------------------------------------------------------------------------------


def test_an_engine_a_configuration_and_role(child):
    assert [child("add"), child("add"), child("add", role="fresh"), child("add", env_id="Toy-v1")] == [1, 2, 1, 1]
    assert child("add") == 3 and child("about", speed=2)[2:] == ["toy", ["speed"]]


def test_a_simulator_by_its_file_with_what_lies_beside_it(child, tmp_path):
    (tmp_path / "ten.py").write_text("TEN = 10\n")
    (tmp_path / "from_ten.py").write_text(
        "from ten import TEN\nfrom toy_child.engine import Counter\nclass FromTen(Counter):\n    start = TEN\n"
    )
    assert child("add", simulator=f"{tmp_path}/from_ten.py:FromTen") == 11
    with pytest.raises(StageFailed, match=r"Toy-v0: AttributeError: .*no attribute 'FromNine'"):
        child("add", simulator=f"{tmp_path}/from_ten.py:FromNine")


def test_errors_keep_their_kind_and_text(child):
    text = 'no "room"\n\0 für den Würfel \udc80'
    with pytest.raises(Rejected) as rejected:
        child("fails", "Rejected", text)
    assert str(rejected.value) == text
    with pytest.raises(StageFailed) as failed:
        child("fails", "ValueError", text)
    assert str(failed.value) == f"Toy-v0: ValueError: {printable(text)}"
    with pytest.raises(StageFailed, match="TypeError: object cannot be sent between processes"):
        child("unsendable")
    assert child("add") == 1


def test_what_the_child_prints_disturbs_nothing(child, capfd):
    assert child("say", "a line on stdout\n") is None and child("echo", 1) == [1]
    assert capfd.readouterr() == ("", "")


def test_two_threads_do_not_get_each_others_answers(child):
    def ask(name):
        for number in range(100):
            assert child("echo", [name, number]) == [[name, number]]
        done.append(name)

    done = []
    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == ["a", "b"]


def test_the_thread_that_started_the_child_may_end(child):
    """Linux tells a child that its parent is gone when the thread that started it is."""
    thread = threading.Thread(target=child, args=("about",))
    thread.start()
    thread.join()
    pid = child.pid
    time.sleep(0.2)
    assert child("about")[0] == pid


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_child_that_is_killed_in_the_middle_is_said_in_a_line_and_replaced(child):
    pid = child("about")[0]
    threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(StageFailed) as said:
        child("wait", 30)
    assert str(said.value).startswith("Toy (Toy-v0): its process was killed by SIGKILL; it said nothing.")
    assert "\n" not in str(said.value)
    assert child("about")[0] != pid


def test_a_child_that_dies_between_calls_is_replaced(child):
    pid = child("about")[0]
    os.kill(pid, signal.SIGKILL)
    soon(lambda: not alive(pid))
    soon(lambda: child._running.process.poll() is not None)
    assert child("add") == 1


def test_what_a_dying_child_said_last_is_told(child):
    with pytest.raises(StageFailed, match=r"killed by SIGABRT; it said last: the last thing that was said"):
        child("abort")
    with pytest.raises(StageFailed, match="ended with code 3"):
        child("leave")


def test_a_child_that_hangs_is_ended():
    child = toy(patience=1.0)
    pid = child("about")[0]
    with pytest.raises(StageFailed, match=r"Toy \(Toy-v0\): no answer in 1 seconds"):
        child("wait", 30)
    soon(lambda: not alive(pid))
    assert child("add") == 1
    child.close()


def test_an_interrupt_in_the_middle_leaves_no_answer_behind(child):
    child("add")
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        child("wait", 30)
    assert child("echo", "mine") == ["mine"]


def test_ctrl_c_at_the_parents_terminal_is_not_for_the_child():
    parent = subprocess.Popen(
        [sys.executable, "-c", DEAF_PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pid = parent.stdout.readline()
    os.killpg(parent.pid, signal.SIGINT)
    assert parent.communicate("go on\n", timeout=20)[0] == pid  # the same one


@pytest.mark.parametrize("busy", [0.0, 30.0])
def test_no_child_outlives_a_parent_that_is_killed(busy):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(busy)], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    assert alive(pid)
    if busy:
        parent.kill()
    assert parent.wait(timeout=10) == (-9 if busy else 0)
    soon(lambda: not alive(pid))


def test_where_there_is_no_linux_the_end_of_the_pipe_ends_the_child():
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writing)
        with contextlib.suppress(BaseException):
            _end_with_pipe(reading)
        os._exit(1)
    time.sleep(0.1)
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    os.close(writing)
    assert os.waitpid(pid, 0) == (pid, 0)


def test_a_forked_process_has_a_child_of_its_own(child):
    pid = child("about")[0]
    reading, writing = os.pipe()
    forked = os.fork()
    if forked == 0:
        with contextlib.suppress(BaseException):
            assert child.pid is None
            os.write(writing, f"{child('about')[0]} {child('add')}".encode())
            child.close()
        os._exit(0)
    os.waitpid(forked, 0)
    os.close(writing)
    theirs, count = map(int, os.read(reading, 100).split())
    assert theirs != pid and count == 1 and child("about")[0] == pid
    assert [child("add"), child("add")] == [1, 2]


# --- interpreters -----------------------------------------------------------------------------------------------------


def test_another_version_of_the_protocol_is_said(monkeypatch):
    monkeypatch.setattr(module, "PROTOCOL", 2)
    child = toy()
    said = r"Toy: its process \(.*python.*, Python 3\.\d+\.\d+\) speaks version 1 of the protocol, this is version 2"
    for _ in range(2):
        with pytest.raises(StageFailed, match=said):
            child("about")
    assert child.pid is None


def test_an_interpreter_that_is_none_is_said_with_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("WORLDAUDIT_TOY_PYTHON", "/nowhere/python")
    with pytest.raises(StageFailed, match=r"Toy: /nowhere/python cannot be started: .*; see WORLDAUDIT_TOY_PYTHON"):
        toy()("about")
    (tmp_path / "python").write_text("#!/bin/sh\necho no module named numpy\nexit 4\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setenv("WORLDAUDIT_TOY_PYTHON", str(tmp_path / "python"))
    with pytest.raises(StageFailed, match="ended with code 4; it said last: no module named numpy"):
        toy()("about")


def test_the_child_may_be_of_python_3_9(monkeypatch):
    python = python39()
    if python is None:
        pytest.skip("no Python 3.9 with numpy here (WORLDAUDIT_TEST_PYTHON39 names one)")
    monkeypatch.setenv("WORLDAUDIT_TOY_PYTHON", python)
    child = toy()
    try:
        assert child("about")[1] == [3, 9] and child.python.startswith("3.9.")
        assert child("arrays")["float64"].tobytes() == np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324]).tobytes()
        with pytest.raises(StageFailed, match="Toy-v0: ValueError: no"):
            child("fails", "ValueError", "no")
    finally:
        child.close()


@pytest.mark.parametrize("folder", ["tasks/worlds/_child", "tasks/worlds/miniworld/child"])
def test_code_for_the_child_imports_nothing_of_this_project(folder):
    root = Path(__file__).parents[2]
    for path in (root / folder).glob("*.py"):
        assert "import tasks" not in path.read_text() and "from tasks" not in path.read_text(), path
    if python := python39():
        compiles = "import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path).read())"
        subprocess.run([python, "-c", compiles, *map(str, (root / folder).glob("*.py"))], check=True)
