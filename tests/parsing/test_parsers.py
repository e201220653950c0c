import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.errors import BadInput
from tasks.parsing import POLICIES, parse_answer
from tests.parsing.cases import LABELS, LETTERS, VERDICTS

FORMATS = ("letter", "scene", "yes_no", "success_fail", "label")


def _name(case):
    return case[0][:40].encode("unicode_escape").decode() or "empty"


def test_there_are_over_two_hundred_cases():
    assert len(VERDICTS) + len(LETTERS) + len(LABELS) >= 300


@pytest.mark.parametrize("case", VERDICTS, ids=_name)
def test_verdict(case):
    text, value = case
    read = parse_answer(text, "success_fail")
    assert read.value == value, read
    other = {"success": "yes", "fail": "no", None: None}[value]
    assert parse_answer(text, "yes_no").value == other


@pytest.mark.parametrize("case", LETTERS, ids=_name)
def test_letter(case):
    assert parse_answer(case[0], "letter").value == case[1]


@pytest.mark.parametrize("case", LABELS, ids=_name)
def test_label(case):
    assert parse_answer(case[0], "label").value == case[1]


@pytest.mark.parametrize(
    ("text", "mode", "recovery"),
    [
        ("Fail", "strict", None),
        ("**Fail**", "recovered", "markup removed"),
        ("Verdict: Fail", "recovered", "labeled"),
        ("Fail\nThe door stays shut.", "recovered", "leading"),
        ("The door stays shut.\nFail", "recovered", "trailing"),
        ("<think>x</think>Fail", "recovered", "reasoning removed"),
        ('{"verdict": "fail"}', "recovered", "JSON"),
    ],
)
def test_a_recovery_is_recorded(text, mode, recovery):
    read = parse_answer(text, "success_fail")
    assert (read.mode, read.value, read.recovery) == (mode, "fail", recovery)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("<think>Success", "reasoning_not_closed"),
        ("Success\nFail", "conflict"),
        ("Success.\n\nWait, the door is shut.", "reopened"),
        ("Success\n\nBoth reach the", "cut_off"),
        ('{"success": "false"}', "not_a_verdict"),
        ('{"verdict": "succ', "cut_off"),
        ("It looks fine.", "no_answer"),
    ],
)
def test_nothing_read_says_why(text, reason):
    read = parse_answer(text, "success_fail")
    assert (read.mode, read.value, read.reason) == ("none", None, reason)


@pytest.mark.parametrize("status", ["truncated", "refused", "api_error", "pending"])
def test_only_an_ok_response_carries_an_answer(status):
    assert parse_answer("Success", "success_fail", status=status).reason == status


def test_policies_differ_where_they_should():
    text = "Fail\n\nIt terminates prematurely without successful completion."
    assert parse_answer(text, "success_fail", "robust").value == "fail"
    assert parse_answer(text, "success_fail", "leading").value == "fail"
    assert parse_answer(text, "success_fail", "published").value == "success"  # the release's own fault
    assert parse_answer(text, "success_fail", "strict").value is None
    assert parse_answer("It ends there.\nFail", "success_fail", "leading").value is None
    assert parse_answer("A key. Answer: B", "letter", "published").value == "A"
    assert parse_answer("A key. Answer: B", "letter", "robust").value == "B"


def test_think_tags_are_configurable():
    text = "<plan>Success</plan>Fail"
    assert parse_answer(text, "success_fail").value is None
    assert parse_answer(text, "success_fail", think_tags=("plan",)).value == "fail"


@pytest.mark.parametrize(
    "filler",
    [" ", "\n", "*", "answer: ", "not ", "verdict ", "{", '"', "(A) ", "A, ", "<think> ", "is : ", " * ", "}{"],
)
@pytest.mark.parametrize("answer_format", FORMATS)
def test_a_megabyte_of_anything_is_read_in_linear_time(filler, answer_format):
    """A pattern that backtracks over the filler would run for hours."""
    text = "Answer:" + filler * (1_000_000 // len(filler)) + "x"
    assert parse_answer(text, answer_format).mode in ("none", "recovered")


def test_unknown_policy_and_format_are_bad_input():
    with pytest.raises(BadInput, match="robust"):
        parse_answer("Fail", "success_fail", "guess")
    with pytest.raises(BadInput, match="letter"):
        parse_answer("Fail", "essay")


WORDS = st.sampled_from(
    [
        "Success",
        "Fail",
        "Yes",
        "No",
        "not",
        "verdict:",
        "answer:",
        "final",
        "is",
        "the",
        "A",
        "B",
        "C",
        "D",
        "<think>",
        "</think>",
        "{",
        "}",
        '"',
        "'",
        ",",
        ".",
        "\n",
        "```",
        "answer",
        "success",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=25).map(" ".join)), st.sampled_from(FORMATS))
def test_any_text_gives_a_value_or_a_reason(text, answer_format):
    for policy in POLICIES:
        read = parse_answer(text, answer_format, policy)
        assert (read.value is None) == (read.mode == "none") == (read.reason is not None)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["Success", "Fail"]))
def test_a_final_verdict_line_decides_whatever_stands_before(text, word):
    read = parse_answer(text.replace("<", "").replace("{", "") + f"\n\nFinal verdict: {word}", "success_fail")
    assert read.value in (word.lower(), None)
    if "final" not in text.lower() and "ultimate" not in text.lower() and "overall" not in text.lower():
        assert read.value == word.lower()
