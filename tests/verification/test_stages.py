"""A file of traces as stages of a run: its lines are kept, the rest is recomputed from them alone."""

from __future__ import annotations

import json

import pytest

from flows.runner import Runner
from storage import Store
from tasks.errors import BadInput
from tasks.stage import produce
from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.record import render
from tasks.traces.stages import TRACES, configs
from tasks.verification.stages import SUBMISSIONS, VERIFY, submission_config


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.jsonl"
    lines = [json.dumps(render(bank.trace(FAMILIES[name], 0)), ensure_ascii=False) for name in ("lever", "optics")]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([lines[0], "", lines[1], "not json\u2028"]).encode() + b"\n\xff{}\n")
    return path


def verified(store, file, inputs=None, question=True):
    kept = produce(store, SUBMISSIONS, "all", submission_config(file), {})
    made = produce(
        store, VERIFY, "all", {"judge": "model", "question": question}, {"submissions": kept.ref, **(inputs or {})}
    )
    return kept, made, Store(store).get(VERIFY.name, made.ref.key)


def test_lines_become_verdicts_checks_metrics_and_problems(tmp_path, file):
    store = str(tmp_path / "store")
    kept, _, artifact = verified(store, file)
    lines = Store(store).get(SUBMISSIONS.name, kept.ref.key).read("submissions")
    assert lines["number"].to_list() == [1, 3, 4, 5]
    assert json.loads(lines["line"][0])["scenario_family"] == "lever"
    assert lines["line"][3] == r"\xff{}"
    assert artifact.read("verdicts")["z_ans"].to_list() == ["valid", "valid"]
    assert set(artifact.read("verdicts")["setting"]) == {"trace"}
    assert artifact.read("checks").height > 20
    problems = artifact.read("problems").rows()
    assert [number for number, _ in problems] == [4, 5]
    assert all(text.startswith("not JSON") for _, text in problems)
    metrics = artifact.read("metrics")
    assert set(metrics["judge"]) == {"model"}
    assert metrics.filter((metrics["metric"] == "StateAcc") & (metrics["slice"] == "all"))["value"].to_list() == [1.0]


def test_gold_states_of_a_bank_are_used(tmp_path, file):
    store = str(tmp_path / "store")
    with Runner(store, processes=0) as runner:
        shards = {name: (config, {}) for name, config in configs(17, 2026, 1)[TRACES.name].items()}
        made = runner.map(TRACES, shards)
    _, _, artifact = verified(store, file, {f"traces.{name}": ref for name, ref in made.items()})
    assert set(artifact.read("verdicts")["setting"]) == {"gold"}
    assert artifact.read("verdicts")["correct"].to_list() == [True, True]


def test_a_rerun_needs_no_file_and_a_changed_one_is_named(tmp_path, file):
    store = str(tmp_path / "store")
    config = submission_config(file)
    kept, made, _ = verified(store, file)
    moved = file.rename(tmp_path / "elsewhere.jsonl")
    again = produce(store, SUBMISSIONS, "all", config, {})
    assert (again.ref, again.reused) == (kept.ref, True)
    refreshed = produce(
        store, VERIFY, "all", {"judge": "model", "question": True}, {"submissions": again.ref}, refresh=True
    )
    assert refreshed.ref == made.ref
    with pytest.raises(BadInput, match=r"model\.jsonl: No such file"):
        produce(str(tmp_path / "other"), SUBMISSIONS, "all", config, {})
    file.write_bytes(moved.read_bytes() + b"{}\n")
    with pytest.raises(BadInput, match=r"model\.jsonl has changed"):
        produce(str(tmp_path / "other"), SUBMISSIONS, "all", config, {})
    with pytest.raises(BadInput, match="No such file"):
        submission_config(tmp_path / "none.jsonl")


def test_where_the_file_lies_is_not_part_of_the_key(file):
    config = submission_config(file)
    assert SUBMISSIONS.key(config, {}) == SUBMISSIONS.key({**config, "path": "elsewhere"}, {})
    assert SUBMISSIONS.key(config, {}) != SUBMISSIONS.key({**config, "sha256": "0"}, {})
    assert config["name"] == "model"


def test_a_file_without_a_readable_line_has_no_numbers(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("not json\n")
    _, _, artifact = verified(str(tmp_path / "store"), path)
    assert artifact.read("verdicts").height == artifact.read("metrics").height == 0
    assert artifact.read("problems").height == 1
