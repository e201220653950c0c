import json
import zipfile

import pytest

from storage import Store
from tasks.errors import BadInput
from tasks.inference.importing import import_answers, read_answers, read_index, register_index

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
    store = Store(tmp_path / "store")
    release, answers = register_index(store, read_index(lines(tmp_path / "index.jsonl", INDEX)), "index.jsonl")
    return store, release, answers


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


def test_what_was_not_answered_stays_planned(exam):
    store, release, _ = exam
    rows = [{"uid": "one", "replicate": 0, "status": "ok", "text": "Success"}]
    artifact, counts = import_answers(store, release, rows, "j", "x.jsonl")
    assert counts == {"answered": 1, "pending": 1, "unknown": 0}
    assert dict(artifact.read("responses").select("uid", "status").iter_rows()) == {"one": "ok", "two": "pending"}
    again, _ = import_answers(store, release, rows, "j", "x.jsonl")
    assert again.key == artifact.key


def test_unknown_and_repeated_uids(exam):
    store, release, _ = exam
    row = {"uid": "one", "replicate": 0, "status": "ok", "text": "Success"}
    with pytest.raises(BadInput, match="occur twice, the first is 'one'"):
        import_answers(store, release, [row, row], "j", "x.jsonl")
    with pytest.raises(BadInput, match=r"1 of 2 uids are not in exam .* 'three'"):
        import_answers(store, release, [row, {**row, "uid": "three"}], "j", "x.jsonl")
    _, counts = import_answers(store, release, [row, {**row, "uid": "three"}], "j", "x.jsonl", skip_unknown=True)
    assert counts["unknown"] == 1
    with pytest.raises(BadInput, match="no uid is in exam"):
        import_answers(store, release, [{**row, "uid": "three"}], "j", "x.jsonl", skip_unknown=True)
