"""The kinds of questions that there are, and what each says of its own answers."""

import json
from collections import Counter

import polars as pl
import pytest

from storage import digest
from tasks.errors import BadInput
from tasks.questions import (
    QUESTIONS,
    constraint_of,
    exam_tasks,
    outcomes_of,
    question_of_format,
    question_of_task,
)

ANSWERS = {
    "letter": ["B"],
    "yes_no": ["Yes", "No"],
    "success_fail": ["Success", "Fail"],
    "label": ['{"answer": "key_red"}', '{"answer": "dropped"}'],
    "scene": ['{"agent":{"pos":[3,6],"dir":"up","carrying":null},"front_cell":{"type":"door","color":"red","state":1},'
    '"objects":[]}'],
}  # fmt: skip


def rows(task, pairs):
    return pl.DataFrame([{"task": task, "gold": gold, "value": value, "options": None} for gold, value in pairs])


def test_every_format_and_every_task_belongs_to_exactly_one_kind():
    formats = Counter(name for question in QUESTIONS.values() for name in question.formats)
    tasks = Counter(task for question in QUESTIONS.values() for task in question.exam_tasks)
    assert set(formats) == set(ANSWERS) and set(formats.values()) == {1}
    assert sorted(tasks) == exam_tasks() and exam_tasks()[:5] == list("ABCDE") and set(tasks.values()) == {1}
    for name, question in QUESTIONS.items():
        assert question.name == name
        assert set(question.exam_tasks.values()) <= set(question.formats)


def test_what_there_is_not_is_refused_by_name():
    with pytest.raises(BadInput, match=r"answer format 'haiku' is unknown; there are .*letter.*yes_no"):
        question_of_format("haiku")
    with pytest.raises(BadInput, match="exam task 'Z' is asked as no kind of question; there are A, B, C, D, E"):
        question_of_task("Z")


def test_two_kinds_cannot_claim_one_format(monkeypatch):
    monkeypatch.setitem(QUESTIONS._registered, "other", question_of_format("yes_no"))
    with pytest.raises(BadInput, match="'yes_no' is claimed by the kinds of question verdict and verdict"):
        question_of_format("yes_no")


@pytest.mark.parametrize("answer_format", ANSWERS)
def test_what_the_contract_allows_is_read_and_is_right(answer_format):
    question, constraint = question_of_format(answer_format), constraint_of(answer_format)
    for text in ANSWERS[answer_format]:
        assert constraint.obeyed_by(text)
        read = question.parse(text, answer_format, "strict", ())
        assert read.mode == "strict" and read.value is not None
        graded = question.grade(rows(next(iter(question.exam_tasks)), [(read.value, read.value)]))
        assert graded["score"].to_list() == [1.0] and graded["correct"].to_list() == [True]
    assert not constraint.obeyed_by("perhaps")


# The SHA-256 of what is sent to a server: part of every request's digest, so that it may not change.
SENT = {
    "letter": "a8dbe7e3ddebb4f1dc405f8cac033dc7d2d20194f6a46f0e6cf8017d70205dad",
    "yes_no": "5e68e57e3b3e08d4d17bbddfb74335f6318d38c2549f245df37fcdece749c159",
    "success_fail": "abd1cb3735b65b37e81edb47deced3710e66f6acd56b5bd1107516945c0467c6",
    "label": "10bc66e5ef77105751eb115f90d97a8bdbd60f2cb7c98f90e64f2336b1c2b34e",
    "scene": "a6be89944ae98ed60bf2dbf4d10b3ec4d7695d559d986d153cceb508ebc15760",
    '{"choice": ["x", "y"]}': "aa9aa31a2272c07ede2e9f155c6fd22ebe91f9d30436fa9cdd1f5ef41814b4fb",
    '{"json_schema": {"type": "object"}}': "00d9e1f3accb612aca46f9fc1439a645a0515ab401bf31ac1dd6aeeacb8e61b5",
}


@pytest.mark.parametrize("answer_format", SENT)
def test_what_is_sent_of_a_contract_stays_as_it_is(answer_format):
    assert digest(json.dumps(constraint_of(answer_format).as_json())) == SENT[answer_format]


@pytest.mark.parametrize("answer_format", ["text", "[]", '{"choice": 3}', "7"])
def test_a_format_that_says_nothing_constrains_nothing(answer_format):
    assert constraint_of(answer_format) is None and outcomes_of(answer_format) is None


@pytest.mark.parametrize(
    ("answer_format", "rated"),
    [
        ("yes_no", True),
        ("success_fail", True),
        ('{"choice": ["Yes", "No"]}', True),
        ('{"choice": ["Yes", "Maybe"]}', False),
        ("letter", False),
        ("scene", False),
    ],
)
def test_the_probability_of_success_means_something_for_verdicts_alone(answer_format, rated):
    assert bool(outcomes_of(answer_format)) is rated


def test_grades_of_verdicts_and_how_a_wrong_one_is_wrong():
    question = question_of_task("D")
    graded = question.grade(rows("D", [("fail", "success"), ("success", "fail"), ("fail", "fail")]))
    assert graded["correct"].to_list() == [False, False, True] and graded["score"].to_list() == [0.0, 0.0, 1.0]
    told = graded.with_columns(wrong=question.wrong, **question.columns)
    assert told["wrong"].to_list()[:2] == ["false_success", "false_fail"]
    assert told["yes"].to_list() == [True, False, False]
    assert graded.schema["components"] == pl.String and graded["components"].null_count() == 3


def test_a_wrong_letter_says_what_it_chose():
    answers = pl.DataFrame({"value": ["A", "D", "B"], "options": [["turned left", "stayed"], ["stayed"], None]})
    wrong = answers.with_columns(wrong=question_of_task("A").wrong)["wrong"].to_list()
    assert wrong == ["chose turned left", "chose another candidate", "chose another candidate"]
    unknown = pl.DataFrame({"value": ["A"], "options": [None]}).with_columns(wrong=question_of_task("A").wrong)
    assert unknown["wrong"].to_list() == ["chose another candidate"]


def test_a_scene_is_right_from_its_threshold_on():
    gold = {
        "agent": {"pos": [3, 6], "dir": "up", "carrying": None},
        "front_cell": {"type": "wall", "color": None, "state": None},
        "objects": [{"type": "key", "color": "red", "state": None, "pos": [n, 0]} for n in range(4)],
    }
    three = {**gold, "objects": gold["objects"][:3]}  # Jaccard 3/4: the score is 0.6 + 0.4 * 0.75 = 0.9
    two = {**gold, "objects": gold["objects"][:2]}
    said = [(json.dumps(gold), json.dumps(stated)) for stated in (gold, three, two)]
    graded = question_of_task("B").grade(rows("B", said))
    assert graded["score"].to_list() == pytest.approx([1.0, 0.9, 0.8])
    assert graded["correct"].to_list() == [True, True, False]
    assert json.loads(graded["components"][1]) == {"position": 1.0, "carrying": 1.0, "front_cell": 1.0, "objects": 0.75}
    none = pl.DataFrame(schema={"task": pl.String, "gold": pl.String, "value": pl.String})
    assert question_of_task("B").grade(none).schema["score"] == pl.Float64


def test_gold_of_a_foreign_exam_in_the_spelling_of_the_task():
    verdict = question_of_task("C")
    assert [verdict.gold("C", stated) for stated in ("Success", "0", "no")] == ["yes", "no", "no"]
    assert [verdict.gold("D", stated) for stated in ("yes", "failure", "1")] == ["success", "fail", "success"]
    assert [verdict.task_of_gold(stated) for stated in ("yes", "Fail", "B")] == ["C", "D", None]
    with pytest.raises(BadInput, match="gold 'perhaps' is no verdict"):
        verdict.gold("D", "perhaps")
