import json
import zipfile

import pytest

from storage import Store, digest
from tasks.errors import BadInput
from tasks.inference.importing import (
    IMPORTED,
    INDEX_ANSWERS,
    INDEX_RELEASE,
    import_config,
    import_counts,
    index_config,
    read_answers,
    read_index,
)
from tasks.stage import Ref, produce

INDEX = [
    {"uid": "one", "env": "doorkey", "group_id": "g1", "variant": "full", "framing": "neu", "gold": "Success"},
    {"uid": "two", "env": "doorkey", "group_id": "g1", "variant": "cf", "framing": "neu", "gold": "Fail"},
]


def lines(path, rows):
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n", encoding="utf-8"
    )
    return path


@pytest.fixture
def exam(tmp_path):
    return register(str(tmp_path / "store"), lines(tmp_path / "index.jsonl", INDEX))


def register(location, path):
    """The store, and the release and answers of an index as artifacts."""
    config = index_config(path)
    release = produce(location, INDEX_RELEASE, "all", config, {}).ref
    answers = produce(location, INDEX_ANSWERS, "all", config, {"release": release}).ref
    store = Store(location)
    return store, store.get(release.stage, release.key), store.get(answers.stage, answers.key)


def config_for(release, files, judge, **options):
    """The configuration of an import for the items of a release."""
    return import_config(release.read("items")["uid"].to_list(), release.key[:12], files, judge, **options)


def imported(store, release, config):
    """The artifact of an import."""
    ref = produce(store.location, IMPORTED, config["judge"], config, {"release": Ref("release", release.key)}).ref
    return store.get(ref.stage, ref.key)


def test_plain_lines_with_the_usual_field_names(tmp_path):
    rows = [
        {"uid": "a", "text": "Fail"},
        {"uid": "b", "raw": "Success", "finish_reason": "length"},
        {"uid": "c", "response": None, "status": "refused"},
        {"uid": "d", "output": {"verdict": "fail"}, "replicate": 1},
    ]
    found = read_answers(lines(tmp_path / "x.jsonl", rows))
    assert [(row["uid"], row["text"], row["status"], row["replicate"]) for row in found] == [
        ("a", "Fail", "ok", 0),
        ("b", "Success", "truncated", 0),
        ("c", None, "refused", 0),
        ("d", '{"verdict": "fail"}', "ok", 1),
    ]
    assert read_answers(lines(tmp_path / "y.jsonl", [{"uid": "a", "said": "No"}]), "said")[0]["text"] == "No"


def test_openai_batch_output(tmp_path):
    def body(content, finish="stop", **message):
        choice = {"message": {"content": content, **message}, "finish_reason": finish}
        return {
            "status_code": 200,
            "body": {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
        }

    rows = [
        {"custom_id": "a", "response": body("Fail"), "error": None},
        {"custom_id": "b", "response": body(None, "length", reasoning="so SUCCESS"), "error": None},
        {"custom_id": "c", "response": {"status_code": 429, "body": {"error": "slow down"}}},
        {"custom_id": "d", "response": None, "error": {"code": "batch_expired"}},
        {"custom_id": "e", "response": body(None, refusal="I cannot")},
    ]
    found = read_answers(lines(tmp_path / "batch.jsonl", rows))
    assert [(row["uid"], row["text"], row["status"]) for row in found] == [
        ("a", "Fail", "ok"),
        ("b", None, "truncated"),
        ("c", None, "api_error"),
        ("d", None, "api_error"),
        ("e", None, "refused"),
    ]
    assert found[0]["input_tokens"] == 9 and found[1]["reasoning"] == "so SUCCESS" and "slow down" in found[2]["error"]


SAMPLES = [
    {"id": "a", "epoch": 1, "output": {"choices": [{"message": {"content": "Fail"}, "stop_reason": "stop"}]}},
    {
        "id": "a",
        "epoch": 2,
        "output": {
            "choices": [
                {
                    "message": {
                        "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Success"}]
                    },
                    "stop_reason": "max_tokens",
                }
            ]
        },
    },
    {"id": 7, "epoch": 1, "error": {"message": "boom"}, "output": {"choices": []}},
]


@pytest.mark.parametrize("kind", ["json", "eval"])
def test_inspect_logs(tmp_path, kind):
    path = tmp_path / f"log.{kind}"
    if kind == "json":
        path.write_text(json.dumps({"version": 2, "samples": SAMPLES}, indent=1))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", "{}")
            for number, sample in enumerate(SAMPLES):
                archive.writestr(f"samples/{number}.json", json.dumps(sample))
    found = read_answers(path)
    assert [(row["uid"], row["replicate"], row["text"], row["status"], row["reasoning"]) for row in found] == [
        ("a", 0, "Fail", "ok", None),
        ("a", 1, "Success", "truncated", "hm"),
        ("7", 0, None, "api_error", None),
    ]


def test_bytes_that_are_not_utf8_keep_the_rest_of_the_answer(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"uid": "one", "text": "Fail \xff\xfe"}\n{"uid": "two", "text": "\\ud800 No"}\n')
    found = read_answers(path)
    assert found[0]["text"] == "Fail \ufffd\ufffd" and found[1]["text"] == "? No"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 1 is not JSON"),
        ("[1]", "line 1 is not an object"),
        ({"uid": "a"}, "line 1 needs uid and text; it has uid"),
        ({"text": "Fail"}, "line 1 needs uid and text"),
        ({"uid": "a", "text": "x", "status": "fine"}, "status 'fine' is none of"),
        ({"uid": "a", "text": "x", "replicate": "first"}, "replicate 'first'"),
    ],
)
def test_bad_lines_are_named(tmp_path, row, message):
    with pytest.raises(BadInput, match=message):
        read_answers(lines(tmp_path / "x.jsonl", [row]))


def test_empty_and_absent_files(tmp_path):
    with pytest.raises(BadInput, match="holds no answers"):
        read_answers(lines(tmp_path / "x.jsonl", []))
    with pytest.raises(BadInput, match="cannot read"):
        read_answers(tmp_path / "nowhere.jsonl")
    (tmp_path / "z.eval").write_bytes(b"PK\x03\x04rubbish")
    with pytest.raises(BadInput, match="inspect_ai"):
        read_answers(tmp_path / "z.eval")


def test_a_foreign_index_becomes_an_exam(exam):
    _, release, answers = exam
    assert release.read("items")["answer_format"].to_list() == ["success_fail"] * 2
    rows = answers.read("answers")
    assert rows["gold"].to_list() == ["success", "fail"] and rows["visual"].to_list() == ["clean"] * 2
    assert answers.manifest["inputs"] == {"release": release.key}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": ""}, "row 1 has no gold"),
        ({"gold": "perhaps"}, "give task"),
        ({"gold": "perhaps", "task": "D"}, "is no verdict"),
        ({"uid": "two"}, "row 2: uid 'two' occurs twice"),
    ],
)
def test_bad_indexes_are_named(tmp_path, change, message):
    with pytest.raises(BadInput, match=message):
        read_index(lines(tmp_path / "index.jsonl", [{**INDEX[0], **change}, INDEX[1]]))


def test_an_index_without_presentations_gets_the_canonical_ones(tmp_path):
    rows = read_index(lines(tmp_path / "index.jsonl", [
        {"uid": "c", "env": "doorkey", "group_id": "g1", "gold": "No"},
        {"uid": "d", "env": "doorkey", "group_id": "g1", "gold": 1},
        {"uid": "a", "task": "A", "env": "doorkey", "group_id": "g1", "gold": "B"},
        {"uid": "e", "task": "E", "env": "doorkey", "group_id": "g1", "gold": "dropped", "condition": "status"},
    ]))  # fmt: skip
    told = [
        tuple(row[name] for name in ("task", "answer_format", "gold", "variant", "visual", "condition")) for row in rows
    ]
    assert told == [
        ("C", "yes_no", "no", "cf", "clean", None),
        ("D", "success_fail", "success", "full", "clean", None),
        ("A", "letter", "B", None, None, "true"),
        ("E", "label", "dropped", None, None, "status"),
    ]


def test_what_was_not_answered_stays_planned(exam, tmp_path):
    store, release, _ = exam
    path = lines(tmp_path / "x.jsonl", [{"uid": "one", "text": "Success"}])
    config = config_for(release, [path], "j")
    artifact = imported(store, release, config)
    assert import_counts(artifact, config) == {"answered": 1, "pending": 1, "unknown": 0}
    rows = artifact.read("responses")
    assert dict(rows.select("uid", "status").iter_rows()) == {"one": "ok", "two": "pending"}
    assert rows["judge"].unique().to_list() == ["j"] and rows["server"].unique().to_list() == ["imported from x.jsonl"]
    assert imported(store, release, config_for(release, [path], "j")).key == artifact.key


def test_unknown_and_repeated_uids(exam, tmp_path):
    _, release, _ = exam
    row = {"uid": "one", "text": "Success"}
    path = tmp_path / "x.jsonl"
    with pytest.raises(BadInput, match="occur twice, the first is 'one'"):
        config_for(release, [lines(path, [row, row])], "j")
    with pytest.raises(BadInput, match=r"1 of 2 uids are not in exam .* 'three'"):
        config_for(release, [lines(path, [row, {**row, "uid": "three"}])], "j")
    assert config_for(release, [path], "j", skip_unknown=True)["unknown"] == 1
    with pytest.raises(BadInput, match="no uid is in exam"):
        config_for(release, [lines(path, [{**row, "uid": "three"}])], "j", skip_unknown=True)


def test_several_files_are_one_judges_answers(exam, tmp_path):
    store, release, _ = exam
    files = [
        lines(tmp_path / "a.jsonl", [{"uid": "one", "said": "Success"}]),
        lines(tmp_path / "b.jsonl", [{"uid": "two", "said": "Fail"}]),
    ]
    config = config_for(release, files, "j", text_field="said")
    artifact = imported(store, release, config)
    assert artifact.read("responses")["text"].to_list() == ["Success", "Fail"]
    assert import_counts(artifact, config)["answered"] == 2
    with pytest.raises(BadInput, match="occur twice"):
        config_for(release, [files[0], files[0]], "j", text_field="said")


def test_where_the_files_lie_is_no_part_of_the_key(exam, tmp_path):
    _, release, _ = exam
    keys = set()
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        path = lines(tmp_path / folder / "x.jsonl", [{"uid": "one", "text": "Success"}])
        keys.add(IMPORTED.key(config_for(release, [path], "j"), {"release": Ref("release", release.key)}))
    assert len(keys) == 1


def test_a_file_that_is_gone_or_was_changed_is_named(exam, tmp_path):
    store, release, _ = exam
    path = lines(tmp_path / "x.jsonl", [{"uid": "one", "text": "Success"}])
    config = config_for(release, [path], "j")
    lines(path, [{"uid": "one", "text": "Fail"}])
    with pytest.raises(BadInput, match=r"x\.jsonl has changed since it was named"):
        imported(store, release, config)
    path.unlink()
    with pytest.raises(BadInput, match=r"cannot read .*x\.jsonl"):
        imported(store, release, config)
    index = lines(tmp_path / "other.jsonl", INDEX[:1])
    named = index_config(index)
    lines(index, INDEX)
    with pytest.raises(BadInput, match=r"other\.jsonl has changed"):
        produce(store.location, INDEX_RELEASE, "all", named, {})


def test_imports_have_the_keys_and_rows_that_they_always_had(tmp_path):
    """Computed before imports were stages; stores hold them."""
    usual = {"env": "doorkey", "group_id": "g1"}
    index = lines(tmp_path / "index.jsonl", [
        *INDEX,
        {"uid": "a", "task": "A", **usual, "gold": "B"},
        {"uid": "c", **usual, "gold": "no"},
        {"uid": "b", "task": "B", **usual, "gold": "{}"},
        {"uid": "e", "task": "E", **usual, "gold": "key_red", "condition": "status"},
        {"uid": "d", **usual, "gold": 1},
    ])  # fmt: skip
    store, release, answers = register(str(tmp_path / "store"), index)
    assert release.key == "c9bafb378330ce5a417213cf370eb51fe0afe7665f0fe0a8dd00718a62abcdcb"
    assert answers.key == "fe1d83155d373b0950c894f0d542cefa91051b5f8cbdc5171232a87ab6e4721d"
    rows = [{"uid": "one", "text": "Success"}, {"uid": "two", "text": "Fail"}, {"uid": "three", "text": "Fail"}]
    config = config_for(release, [lines(tmp_path / "x.jsonl", rows)], "j", skip_unknown=True)
    artifact = imported(store, release, config)
    assert artifact.key == "76c2f78d9f2f0a6a2c2db4978f214861191147f98d8398590b63d64332db27cd"
    tables = release.read("items"), answers.read("answers"), artifact.read("responses")
    assert [digest(json.dumps(table.to_dicts()))[:16] for table in tables] == [
        "c171fd10c78526ad",
        "dc2532b14e1c8e2b",
        "c9ef6b331786ffa9",
    ]
