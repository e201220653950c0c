"""`worldaudit traces`: one JSON object on stdout, problems on stderr, exit codes."""

from __future__ import annotations

import json

import pytest

from flows.commands.cli import run_command
from storage import Store
from tasks.traces import bank
from tasks.traces.families import FAMILIES
from tasks.traces.record import render


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return str(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def small(store):
    assert (
        run_command(
            [
                "traces",
                "generate",
                "--store",
                store,
                "--traces",
                "17",
                "--pairs",
                "2",
                "--no-pictures",
                "--processes",
                "0",
                "--json",
            ]
        )
        == 0
    )
    return store


def out(capsys):
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_generate_again_reuses(small, capsys):
    arguments = [
        "traces",
        "generate",
        "--store",
        small,
        "--traces",
        "17",
        "--pairs",
        "2",
        "--no-pictures",
        "--processes",
        "0",
    ]
    capsys.readouterr()
    assert run_command([*arguments, "--json"]) == 0
    value, err = out(capsys)
    assert value["rows"] == {"traces": 17, "diagnostics": 0, "pairs": 34}
    assert "reused" in err
    assert run_command([*arguments, "--dry-run", "--json"]) == 0
    plan = {step["stage"]: step for step in out(capsys)[0]["plan"]}
    assert (plan["trace-pairs"]["compute"], len(plan["trace-pairs"]["reuse"])) == ([], 17)


def test_verify(small, tmp_path, capsys):
    traces = [render(bank.trace(family, 0)) for family in FAMILIES.values()]
    traces[0]["answer"]["value"] = 1e6 if isinstance(traces[0]["answer"]["value"], int | float) else "never"
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(map(json.dumps, traces)))
    assert (
        run_command(
            [
                "traces",
                "verify",
                str(file),
                "--bank",
                "latest",
                "--store",
                small,
                "--json",
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 0
    )
    value, err = out(capsys)
    assert (value["traces"], value["problems"]) == (17, [])
    metrics = {m["metric"]: m for m in value["metrics"] if m["slice"] == "all"}
    assert metrics["StateAcc"]["value"] == 1
    assert 0 < metrics["AnswerAcc"]["value"] < 1
    assert metrics["AnswerAcc"]["ci_low"] < metrics["AnswerAcc"]["value"]
    assert len((tmp_path / "out" / "verdicts.jsonl").read_text().splitlines()) == 17
    with open(file, "a") as handle:
        handle.write("\nnot json\n")
    assert run_command(["traces", "verify", str(file), "--store", small, "--json"]) == 2
    value, err = out(capsys)
    assert value["traces"] == 17
    assert "line 18: not JSON" in err


def test_audit_and_human_kit(small, tmp_path, capsys):
    how = ["--store", small, "--traces", "34", "--pairs", "16", "--processes", "0", "--no-surface"]
    assert run_command(["traces", "audit", *how, "--human", str(tmp_path / "kit"), "--sample", "64", "--json"]) == 0
    value, _ = out(capsys)
    rates = {(m["representation"], m["slice"], m["metric"]): m["value"] for m in value["metrics"]}
    assert rates["gold", "all", "FalsePositive"] == 0
    assert rates["gold", "pool=seen", "Detection"] > 0.95
    assert value["traces_per_second"] > 0
    assert (tmp_path / "kit" / "sheet.csv").exists()
    assert run_command(["traces", "audit", *how, "--labels", "a.csv"]) == 2
    assert "give --labels twice" in capsys.readouterr().err


def test_export(small, tmp_path, capsys):
    """After an audit as well: `latest` is the latest bank."""
    audit = ["traces", "audit", "--traces", "17", "--pairs", "16", "--processes", "0", "--no-surface", "--store", small]
    assert run_command(audit) == 0
    capsys.readouterr()
    assert run_command(["traces", "export", "latest", str(tmp_path / "release"), "--store", small, "--json"]) == 0
    value, _ = out(capsys)
    banks = [record["id"] for record in Store(small).records() if record["kind"] == "bank"]
    assert value["bank"] == banks[0]
    assert {
        "trace_schema.json",
        "trace_examples_seed.jsonl",
        "preference_pairs_seed.jsonl",
        "splits.json",
        "generation_stats.json",
        "README.md",
    } <= set(value["files"])
    assert (tmp_path / "release" / "trl" / "train.jsonl").exists()
    assert run_command(["traces", "export", "nothing", str(tmp_path), "--store", small]) == 2
    assert "worldaudit traces generate" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["generate", "--traces", "0"], ["generate", "--pairs", "99"], ["verify", "no-such-file.jsonl"]]
)
def test_bad_usage(arguments, store, capsys):
    assert run_command(["traces", *arguments, "--store", store]) == 2
    assert capsys.readouterr().err
