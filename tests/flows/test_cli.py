"""The command: exit codes, messages, JSON, bad input, and the chain on a tiny exam."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest

from flows.commands.cli import cli
from flows.record import artifact_of, computed
from storage import Store
from tests.flows.command import RUN, TINY, Done, worldaudit
from tests.inference.scripted_server import Fail, ScriptedServer

# --- help, usage, bad input ------------------------------------------------------------------------------------------


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from flows.commands.cli import run_command; run_command(['--help']);"
        "heavy = {'polars', 'pyarrow', 'prefect', 'pydantic', 'numpy', 'minigrid'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_every_command_of_the_contract_is_there() -> None:
    out = worldaudit("--help").out
    for name in ("run", "generate", "infer", "score", "report", "rerun", "runs", "show", "compare", "import-responses"):
        assert f"\n  {name} " in out
    for name in ("export", "traces", "store", "audit", "doctor"):
        assert f"\n  {name} " in out


def _parameters(command: click.Command, name: str = "worldaudit") -> Iterator[tuple[str, click.Parameter]]:
    """Every parameter of a command and of all commands below it, by what one types."""
    for parameter in command.params:
        yield f"{name} {parameter.opts[0]}", parameter
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for child in command.list_commands(ctx):
            yield from _parameters(command.get_command(ctx, child), f"{name} {child}")


def test_every_number_has_a_range_and_nan_is_in_none() -> None:
    numbers = {
        name: parameter.type
        for name, parameter in _parameters(cli)
        if isinstance(parameter.type, (click.types.IntParamType, click.types.FloatParamType))
    }
    assert {"worldaudit compare --max-gap", "worldaudit power first", "worldaudit runs --limit"} < numbers.keys()
    for name, kind in numbers.items():
        assert isinstance(kind, (click.IntRange, click.FloatRange)) and None not in (kind.min, kind.max), name
        for value in ("nan", "inf", "-inf", "1e999", "-1", "9" * 30):
            with pytest.raises(click.BadParameter):
                print(name, kind.convert(value, None, None))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["power", "0.5", "0.50000001"], "more than 100,000 groups"),
        (["power", "nan", "0.5"], "nan is not a number"),
        (["import-responses", TINY, "--judge", "coin"], "'coin' is the name of an embedded judge"),
        (["import-responses", TINY, "--judge", ""], "a judge's name is letters, digits"),
        (["import-responses", TINY, "--judge", "<b>x</b>"], "a judge's name is letters, digits"),
        (["rnu"], "did you mean 'run'"),
        (["run", "minigird"], "did you mean 'minigrid'"),
        (["run", "minigrid", "--profile", "bsae"], "did you mean 'base'"),
        (["run", "minigrid", "--profile", TINY, "--judge", "tile-raeder"], "did you mean 'tile-reader'"),
        (["run", "minigrid", "--config", "nowhere.toml"], "nowhere.toml"),
        (["infer", "0123456789", "--judge", "coin"], "worldaudit generate minigrid"),
        (["infer", "latest"], "--judge"),
        (["score", "0123456789"], "no exam '0123456789'"),
        (["show", "nothing"], "worldaudit run minigrid"),
        (["rerun", "latest", "--from", "socring"], "run with a step 'socring'"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    store = [] if arguments[0] == "power" else ["--store", str(tmp_path / "store")]
    done = worldaudit(*arguments, *store)
    assert done.code == 2, done
    assert says in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert not (tmp_path / "store" / "runs").exists() or not list((tmp_path / "store" / "runs").iterdir())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[run]\nprocesess = 2\n", "unknown key 'run.procesess' (did you mean 'processes'?)"),
        ("[run]\nprocesses = 'two'\n", "'run.processes'"),
        ("[runs]\nseed = 2\n", "unknown key 'runs' (did you mean 'run'?)"),
        ("[run\n", "is not valid TOML"),
        ('[judges.mine]\napi = "openai"\nmodle = "x"\n', "did you mean 'model'"),
    ],
)
def test_a_wrong_configuration_names_file_key_and_the_nearest_key(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(text)
    done = worldaudit(*RUN[:4], "--judge", "mine", "--config", str(path), "--store", str(tmp_path / "store"))
    assert done.code == 2, done
    assert says in done.err
    assert "Traceback" not in done.err


def test_an_environment_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(Path(TINY).read_text().replace("[shards.keycorridor]", "[shards.keycoridor]"))
    done = worldaudit("generate", "minigrid", "--profile", str(profile), "--store", str(tmp_path / "store"))
    assert done.code == 2, done
    assert "did you mean 'keycorridor'" in done.err


def test_a_judge_without_its_key_is_named_before_any_work(tmp_path: Path) -> None:
    config = tmp_path / "audit.toml"
    config.write_text('[judges.mine]\napi = "openai"\nmodel = "m"\napi_key_env = "MY_OWN_KEY"\n')
    done = worldaudit(*RUN[:4], "--judge", "mine", "--config", str(config), "--store", str(tmp_path / "store"))
    assert done.code == 2, done
    assert "MY_OWN_KEY" in done.err
    assert "mine" in done.err
    assert not (tmp_path / "store" / "artifacts").exists()
    done = worldaudit(
        *RUN[:4], "--judge", "mine", "--config", str(config), "--store", str(tmp_path / "store"), "--dry-run"
    )
    assert done.code == 0, done.err  # what would be sent is said without one


def test_a_store_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = worldaudit(*RUN, "--store", str(tmp_path / "file" / "store"))
    assert done.code == 2, done
    assert "--store" in done.err
    assert "Traceback" not in done.err


def test_an_error_is_one_json_object_with_json(tmp_path: Path) -> None:
    done = worldaudit("show", "nothing", "--json", "--store", str(tmp_path / "store"))
    assert done.code == 2
    assert done.json["exit_code"] == 2
    assert "nothing" in done.json["error"]


# --- the chain -------------------------------------------------------------------------------------------------------


def test_a_finished_run_is_shown(finished: Path) -> None:
    done = worldaudit("show", "--json", "--store", str(finished))
    assert done.code == 0, done.err
    shown = done.json
    assert shown["state"] == "complete"
    assert shown["items"]["all"] == 3 + 4 + 54 + 12
    assert shown["gates"]["failures"] == 0
    flags = {(row["judge"], row["flag"]) for row in shown["metrics"]}
    assert ("always-success", "success_biased") in flags
    text = worldaudit("show", "--store", str(finished)).out
    assert "report: " in text
    assert Path(shown["report"]).exists()


def test_a_second_run_recomputes_nothing_and_says_so(store: Path) -> None:
    done = worldaudit(*RUN, "--store", str(store))
    assert done.code == 0, done.err
    assert "nothing was recomputed" in done.out
    assert computed(Store(store).read_run("latest")) == []


def test_rerun_from_scoring_touches_scoring_and_later_only(store: Path) -> None:
    done = worldaudit("rerun", "latest", "--from", "scoring", "--processes", "0", "--store", str(store))
    assert done.code == 0, done.err
    assert computed(Store(store).read_run("latest")) == ["scoring[all]"]


def test_a_step_that_a_run_does_not_have_is_named_with_those_it_has(store: Path) -> None:
    run = Store(store).read_run("latest")["id"]
    done = worldaudit("rerun", run, "--from", "nosuch", "--store", str(store))
    assert done.code == 2 and f"run {run} has no step 'nosuch'; it has rollouts, " in done.err
    done = worldaudit("rerun", "latest", "--from", "nosuch", "--store", str(store))
    assert done.code == 2 and "there is no run with a step 'nosuch' in" in done.err


def test_judges_without_a_run_are_of_the_newest_run_that_has_them(store: Path, tmp_path: Path) -> None:
    """A comparison, a shortcut audit and an import come after the run that has both judges."""
    audited = Store(store).read_run("latest")["id"]
    exam = Store(store).read_run("latest")["exam"]
    answers = tmp_path / "answers.jsonl"
    uid = Store(store).get("release", exam).read("items")["uid"][0]
    answers.write_text(json.dumps({"uid": uid, "text": "A"}) + "\n")
    for command in (
        ["import-responses", str(answers), "--judge", "elsewhere", "--resamples", "100"],
        ["audit", "exam", "latest", "--processes", "0"],
    ):
        done = worldaudit(*command, "--store", str(store))
        assert done.code == 0, done.err
    done = worldaudit("compare", "always-success", "coin", "--resamples", "100", "--json", "--store", str(store))
    assert done.code == 0, done.err
    (comparison,) = done.json["comparisons"]
    assert (comparison["first"], comparison["second"]) == (f"{audited}:always-success", f"{audited}:coin")
    listed = worldaudit("runs", "--kind", "shortcuts", "--json", "--store", str(store)).json["runs"]
    assert [run["kind"] for run in listed] == ["shortcuts"]
    assert worldaudit("runs", "--kind", "import", "--store", str(store)).code == 2


def test_rerun_of_one_judge_leaves_the_other_alone(store: Path) -> None:
    arguments = ["rerun", "latest", "--from", "inference", "--judge", "coin", "--processes", "0"]
    done = worldaudit(*arguments, "--store", str(store))
    assert done.code == 0, done.err
    assert computed(Store(store).read_run("latest")) == ["inference[coin]", "parsing[coin]", "scoring[all]"]


def test_score_and_parse_ask_nobody(store: Path, tmp_path: Path) -> None:
    """UX5: parsing and metrics again, with the judge gone and the network shut."""
    blocked = tmp_path / "sitecustomize.py"
    blocked.write_text(
        "import socket\n"
        "def refuse(*a, **k): raise RuntimeError('the network was used')\n"
        "socket.socket.connect = refuse\nsocket.create_connection = refuse\n"
    )
    exam = Store(store).read_run("latest")["exam"][:12]
    store_options = ["--processes", "0", "--store", str(store), "--json"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "flows.commands.cli",
            "score",
            exam,
            "--refresh",
            "parsing",
            "--no-prefect",
            *store_options,
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"},
    )
    assert done.returncode == 0, done.stderr
    record = Store(store).read_run("latest")
    assert {"parsing[coin]", "parsing[always-success]"} <= set(computed(record))
    assert not [name for name in computed(record) if name.startswith("inference")]


@pytest.mark.parametrize("harm", ["delete", "truncate"])
def test_responses_that_are_gone_or_cut_are_made_again(store: Path, harm: str) -> None:
    """OC6 and SE4: neither a crash nor a stale hit; exactly that artifact comes back."""
    key = artifact_of(Store(store).read_run("latest"), "inference")["coin"]
    part = next((store / "artifacts" / "inference" / key).glob("part-responses-*.parquet"))
    if harm == "delete":
        part.unlink()
    else:
        part.write_bytes(part.read_bytes()[:-20])
    assert worldaudit("store", "verify", "--store", str(store)).code == 1
    done = worldaudit(*RUN, "--store", str(store))
    assert done.code == 0, done.err
    assert computed(Store(store).read_run("latest")) == ["inference[coin]"]
    assert worldaudit("store", "verify", "--store", str(store)).code == 0


def test_relative_paths_hold_from_where_the_command_was_given(store: Path, tmp_path: Path) -> None:
    done = worldaudit("runs", "--json", "--store", "store", cwd=tmp_path)
    assert [run["state"] for run in done.json["runs"]] == ["complete"]
    assert worldaudit("runs", "--json", cwd=tmp_path, WORLDAUDIT_STORE="./store").json == done.json


def test_generate_makes_the_exam_alone_and_infer_and_score_go_on_from_it(store: Path) -> None:
    """The later stages by themselves give what the chain gives."""
    before = Store(store).read_run("latest")
    made = worldaudit(
        "generate", "minigrid", "--profile", TINY, "--json", "--processes", "0", "--store", str(store)
    ).json
    assert made["exam"] == before["exam"]
    assert made["items"]["all"] == 73
    asked = worldaudit("infer", made["exam"][:10], "--judge", "coin", "--processes", "0", "--store", str(store))
    assert asked.code == 0, asked.err
    assert computed(Store(store).read_run("latest")) == []
    scored = worldaudit("score", made["exam"][:10], "--processes", "0", "--store", str(store))
    assert scored.code == 0, scored.err
    record = Store(store).read_run("latest")
    assert artifact_of(record, "scoring") == artifact_of(before, "scoring")


def test_a_judge_whose_server_is_down_fails_alone(store: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    config = tmp_path / "audit.toml"
    config.write_text(
        f'[judges.gone]\napi = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
        "limits = { retries = 1, backoff_s = 0.01, deadline_s = 5 }\n"
    )
    arguments = [*RUN, "--judge", "gone", "--config", str(config), "--store", str(store)]
    done = worldaudit(*arguments)
    assert done.code in (1, 2), done
    assert "gone" in done.err
    assert str(port) in done.err
    assert "Traceback" not in done.err
    record = Store(store).read_run("latest")
    assert record["state"] in ("failed", "incomplete")
    assert record["mend"]
    assert worldaudit("store", "verify", "--store", str(store)).code == 0


def test_a_dry_run_computes_nothing(store: Path, tmp_path: Path) -> None:
    before = sorted(path for path in store.rglob("*"))
    done = worldaudit(*RUN, "--judge", "last-frame", "--dry-run", "--json", "--store", str(store))
    assert done.code == 0, done.err
    plan = {entry["stage"]: entry for entry in done.json["plan"]}
    assert plan["exams"]["compute"] == []
    assert plan["inference"] == {"stage": "inference", "reuse": ["always-success", "coin"], "compute": ["last-frame"]}
    assert (
        done.json["judges"]["last-frame"]["calls"]
        == Store(store).get("release", Store(store).read_run("latest")["exam"]).manifest["rows"]["items"]
    )
    assert sorted(path for path in store.rglob("*")) == before
    fresh = worldaudit(*RUN, "--dry-run", "--store", str(tmp_path / "new"))
    assert fresh.code == 0, fresh.err
    assert not (tmp_path / "new").exists()


def test_gc_drops_what_no_run_uses_and_nothing_else(store: Path) -> None:
    assert worldaudit("store", "gc", "--json", "--store", str(store)).json["artifacts"] == []
    done = worldaudit(*RUN, "--judge", "last-frame", "--store", str(store))
    assert done.code == 0, done.err
    newest = Store(store).read_run("latest")["id"]
    shutil.rmtree(store / "runs" / newest)
    listed = worldaudit("store", "gc", "--dry-run", "--json", "--store", str(store)).json
    dropped = worldaudit("store", "gc", "--json", "--store", str(store)).json
    assert listed["artifacts"] == dropped["artifacts"]
    assert sorted(name.partition("/")[0] for name in dropped["artifacts"]) == ["inference", "parsing", "scoring"]
    again = worldaudit(*RUN, "--store", str(store))
    assert "nothing was recomputed" in again.out


def test_doctor_says_what_works(tmp_path: Path) -> None:
    done = worldaudit("doctor", "--json", "--store", str(tmp_path / "store"))
    assert done.code == 0, done
    assert done.json["minigrid"]["works"]
    assert {"habitat", "vllm", "miniworld"} <= set(done.json)


def test_doctor_asks_the_interpreter_that_has_habitat(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 0.3.3\n")
    python.chmod(0o755)
    for named, expected in ((python, (True, f"habitat-sim 0.3.3 in {python}")), (tmp_path / "none", (False, None))):
        done = worldaudit("doctor", "--json", "--store", str(tmp_path / "store"), WORLDAUDIT_HABITAT_PYTHON=str(named))
        works, detail = done.json["habitat"]["works"], done.json["habitat"]["detail"]
        assert (done.code, works) == (0, expected[0])
        assert detail == expected[1] or (str(named) in detail and "WORLDAUDIT_HABITAT_PYTHON" in detail)
    silent = worldaudit("doctor", "--json", "--store", str(tmp_path / "store"), WORLDAUDIT_HABITAT_PYTHON="/bin/true")
    assert silent.json["habitat"] == {"works": False, "detail": "/bin/true: it is no Python that has habitat_sim"}


@pytest.mark.slow
@pytest.mark.xdist_group("prefect")
def test_with_prefect_the_same_keys_and_a_quiet_terminal(store: Path, tmp_path: Path) -> None:
    before = Store(store).read_run("latest")
    environ = {"WORLDAUDIT_PREFECT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    done = worldaudit(*RUN[:-2], "--refresh", "scoring", "--store", str(store), prefect=True, **environ)
    assert done.code == 0, done.err
    record = Store(store).read_run("latest")
    assert record["artifacts"] == before["artifacts"]
    assert computed(record) == ["scoring[all]"]
    assert len(done.err.splitlines()) == 10, done.err  # a line a stage
    assert not (tmp_path / ".prefect").exists()


def test_numbers_of_a_judge_that_was_stopped_say_so(store: Path, tmp_path: Path) -> None:
    """OC1: metrics alone of an unfinished judge are over the planned items, with the rest pending."""
    config = tmp_path / "audit.toml"
    config.write_text(
        '[judges.stops]\napi = "python"\nentry_point = "tests.flows.test_cli:StopsAfterTwenty"\n'
        "limits = { breaker = 2 }\n"
    )
    arguments = ["--judge", "stops", "--config", str(config), "--store", str(store), "--processes", "0"]
    stopped = worldaudit("infer", "latest", *arguments)
    assert stopped.code == 1, stopped
    assert "To mend it: " in stopped.err
    exam = Store(store).read_run("latest")["exam"]
    scored = worldaudit("score", exam, *arguments, "--json")
    assert scored.code == 0, scored.err
    record = Store(store).read_run("latest")
    rows = Store(store).get("scoring", artifact_of(record, "scoring")["all"]).read("metrics")
    shares = rows.filter((rows["metric"] == "share_pending") & (rows["slice"] == "all"))
    assert shares["value"].max() > 0.5
    planned = Store(store).get("release", exam).manifest["rows"]["items"]
    responses = Store(store).get("inference", artifact_of(record, "inference")["stops"]).read("responses")
    assert len(responses) == planned
    assert responses.filter(responses["status"] == "ok").height == 20


class StopsAfterTwenty:
    """A judge that answers twenty questions and then fails."""

    def __init__(self) -> None:
        self.asked = 0

    def answer(self, message: object) -> str:
        self.asked += 1
        if self.asked > 20:
            raise RuntimeError("out of order")
        return "A"


def test_placement_without_a_server_is_bad_input(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "audit.toml"
    config.write_text('[run.placement]\ninference = "shards/inference"\n')
    done = worldaudit(*RUN, "--config", str(config), "--store", str(store), PREFECT_HOME=str(tmp_path))
    assert done.code == 2, done
    assert "PREFECT_API_URL" in done.err


def test_a_refresh_asks_its_judges_again_and_nobody_else(store: Path, tmp_path: Path) -> None:
    from flows.operations.launch import execute
    from flows.operations.rerun import asked_again
    from flows.request import Request

    config = {"run": {"processes": 0}, "judges": {"counts": {"api": "python", "entry_point": f"{__name__}:Counts"}}}
    asked_of = {"world": "minigrid", "profile": TINY, "seed": 7}
    request = Request(
        store=str(store),
        command="refresh",
        chain="audit",
        parameters=asked_of | {"judges": ("counts", "coin")},
        configuration=config,
    )
    with mock.patch.dict(os.environ, {"COUNTS_LOG": str(tmp_path / "log")}):
        execute(request)
        asked = len((tmp_path / "log").read_text())
        execute(request)
        assert len((tmp_path / "log").read_text()) == asked  # found in the store
        before = artifact_of(Store(store).read_run("latest"), "inference")["counts"]
        record = execute(asked_again(dataclasses.replace(request, parameters=asked_of | {"judges": ("counts",)})))
        assert len((tmp_path / "log").read_text()) == 2 * asked
    assert computed(record) == ["inference[counts]", "parsing[counts]", "scoring[all]"]
    assert artifact_of(record, "inference")["counts"] != before  # every asking has its own key
    assert Store(store).find("inference", before)


class Counts:
    """A judge that leaves a mark for each question."""

    def answer(self, message: object) -> str:
        with open(os.environ["COUNTS_LOG"], "a") as log:
            log.write(".")
        return "A"


def test_an_interrupted_run_says_so_and_goes_on_where_it_was(store: Path, tmp_path: Path) -> None:
    config = tmp_path / "audit.toml"
    config.write_text(f'[judges.rude]\napi = "python"\nentry_point = "{__name__}:interrupt"\n')
    arguments = [*RUN[:4], "--judge", "coin", "--judge", "rude", "--processes", "0", "--config", str(config)]
    done = worldaudit(*arguments, "--store", str(store), cwd=tmp_path)
    assert done.code == 130, done
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    record = Store(store).read_run("latest")
    assert (record["state"], record["error"]) == ("failed", "interrupted")
    again = worldaudit(*RUN, "--store", str(store))
    assert "nothing was recomputed" in again.out


def _asked(name: str, store: Path, tmp_path: Path, *options: str, **how: Any) -> Done:
    """`infer` with a judge that is a function of this module."""
    config = tmp_path / "audit.toml"
    config.write_text(f'[judges.{name}]\napi = "python"\nentry_point = "{__name__}:{name}"\n')
    return worldaudit(
        "infer", "latest", "--judge", name, "--config", str(config), "--store", str(store), *options, **how
    )


@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_a_judge_prints_does_not_go_to_stdout(store: Path, tmp_path: Path, processes: str) -> None:
    done = _asked("prints", store, tmp_path, "--json", "--processes", processes, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.json["state"] == "complete"
    for way in ("printed", "written", "of a process"):
        assert f"a remark, {way}" in done.err


def prints(message: object) -> str:
    """A judge that talks, in every way there is."""
    print("a remark, printed", flush=True)
    os.write(1, b"a remark, written\n")
    subprocess.run(["echo", "a remark, of a process"], check=True)
    return "A"


def test_a_judge_that_calls_exit_does_not_end_the_run_as_if_it_were_complete(store: Path, tmp_path: Path) -> None:
    done = _asked("leaves", store, tmp_path, "--processes", "0", cwd=tmp_path)
    assert done.code == 1, done
    assert "sys.exit(0)" in done.err
    assert Store(store).read_run("latest")["state"] == "failed"


def leaves(message: object) -> str:
    sys.exit(0)


@pytest.mark.parametrize("debug", [{}, {"WORLDAUDIT_DEBUG": "1"}])
def test_what_a_server_says_commands_no_terminal(store: Path, tmp_path: Path, debug: dict[str, str]) -> None:
    config = tmp_path / "audit.toml"
    with ScriptedServer(lambda seen: Fail(400, {"error": {"message": "\x1b]0;title\x07 no\x9b2J"}})) as server:
        config.write_text(f'[judges.rude]\napi = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n')
        given = ("--judge", "rude", "--config", str(config), "--store", str(store), "--processes", "0")
        done = worldaudit("infer", "latest", *given, **debug)
    assert done.code == 1 or done.code == 2, done
    assert r"\x1b]0;title\x07 no\x9b2J" in done.err
    assert not set(done.err) & {"\x1b", "\x07", "\x9b"}
    assert ("Traceback" in done.err) == bool(debug)
    shown = worldaudit("show", "latest", "--store", str(store))
    assert r"\x1b]0;title" in shown.out and not set(shown.out) & {"\x1b", "\x07", "\x9b"}


def interrupt(message: object, pressed: list[bool] = []) -> str:  # noqa: B006
    """A judge while whom the user presses Ctrl-C, once."""
    if not pressed:
        pressed.append(True)
        os.kill(os.getpid(), signal.SIGINT)
    return "A"


def test_a_rerun_refuses_another_configuration(store: Path, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("")
    done = worldaudit(
        "rerun", "latest", "--from", "scoring", "--config", str(tmp_path / "other.toml"), "--store", str(store)
    )
    assert done.code == 2 and "--config" in done.err and "configuration of RUN" in done.err


def test_a_table_of_a_run_has_each_row_once(store: Path) -> None:
    import worldaudit as api

    opened = api.open_store(str(store))
    for table, key in (("items", "uid"), ("answers", "uid"), ("groups", "group_id")):
        rows = api.table(opened, "latest", table)
        assert len(rows) == rows[key].n_unique() > 0, table
    assert set(api.table(opened, "latest", "responses")["judge"]) == {"always-success", "coin"}
