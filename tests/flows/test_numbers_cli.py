import json

import pytest

from flows.commands.cli import run_command
from flows.record import records
from storage import Store
from tests.scoring.helpers import INDEX, VERDICT, read_csv

WORDS = {"success": "Success", "fail": "Fail", None: "I cannot tell"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The public exam as an index, and two judges' verdicts as JSONL."""
    folder = tmp_path_factory.mktemp("published")
    table = read_csv("taskd_verdicts.csv")
    index = folder / "index.jsonl"
    index.write_text("\n".join(json.dumps({name: row[name] for name in INDEX}) for row in table))
    for judge in ("gpt-4o", "qwen3-8b"):
        rows = ({"uid": row["uid"], "raw": WORDS[VERDICT[row[judge][0]]]} for row in table)
        (folder / f"{judge}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def call(capsys, *arguments):
    code = run_command(["--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)


def test_import_scores_a_foreign_exam_and_compare_tells_judges_apart(files, tmp_path, capsys):
    store = tmp_path / "store"
    made = {}
    for judge in ("gpt-4o", "qwen3-8b"):
        code, made[judge] = call(
            capsys, "--store", store, "import-responses", files / f"{judge}.jsonl", "--index", files / "index.jsonl",
            "--judge", judge, "--resamples", 500,
        )  # fmt: skip
        assert code == 0
    values = {row["metric"]: row for row in made["gpt-4o"]["metrics"]}
    assert values["IDR_raw"]["value"] == 0.5 and values["JCR_framing"]["value"] == 0
    assert made["gpt-4o"]["exam"] == made["qwen3-8b"]["exam"] and made["gpt-4o"]["answered"] == 144

    runs = {judge: made[judge]["run"] for judge in made}
    code, found = call(
        capsys,
        "--store",
        store,
        "compare",
        f"{runs['gpt-4o']}:gpt-4o",
        f"{runs['qwen3-8b']}:qwen3-8b",
        "--fail-if-drop",
        "D.IDR_raw=0.01",
        "--resamples",
        500,
    )
    assert code == 1 and found["regressed"]
    (comparison,) = found["comparisons"]
    assert comparison["gates"][0]["verdict"] == "fell" and comparison["gates"][0]["difference"] == -0.5
    assert comparison["second"].endswith(":qwen3-8b")
    code, found = call(capsys, "--store", store, "compare", "latest:qwen3-8b", "latest:qwen3-8b", "--resamples", 100)
    assert code == 0 and found["comparisons"][0]["changed"] == []
    code, found = call(capsys, "--store", store, "compare", "qwen3-8b", "qwen3-8b", "--resamples", 100)
    assert code == 0 and len(found["comparisons"]) == 1
    kinds = [record["kind"] for record in records(Store(store))]  # everything is a run
    assert sorted(kinds) == ["compare", "compare", "compare", "import-responses", "import-responses"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "gpt-4o", "nobody"], "neither a run nor a judge"),
        (["compare", "a", "b", "--fail-if-drop", "IDR_raw"], "METRIC=DROP"),
        (["import-responses", "{answers}", "--judge", "x"], "none yet"),
    ],
)
def test_bad_usage_is_one_message_and_exit_code_2(files, tmp_path, capsys, arguments, message):
    filled = [part.replace("{answers}", str(files / "gpt-4o.jsonl")) for part in arguments]
    assert run_command(["--store", str(tmp_path / "store"), *filled]) == 2
    assert message in capsys.readouterr().err
