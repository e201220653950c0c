"""Raw answers of models: fences, chatter, LaTeX, cut-off objects, refusals of what is no trace."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.verification.decode import MAX_CHARS, control_characters, decode

ANSWER = {"transition": {"equation": "a=F/m"}, "answer": {"value": "yes"}}


def test_plain_and_fenced():
    text = json.dumps(ANSWER)
    assert decode(text).trace == ANSWER
    assert decode(f"```json\n{text}\n```").repairs == ("fence removed",)
    assert decode(f"Here you are {{sic}}:\n```json\n{text}\n```\nDone.").trace == ANSWER
    assert decode(f"The trace is {text}, I think.").trace == ANSWER


def test_backticks_inside_a_string_are_kept():
    value = {**ANSWER, "derivation": "as in ```a = F/m``` above"}
    assert decode(json.dumps(value)).trace == value


def test_latex_is_repaired_before_it_turns_into_control_characters():
    decoded = decode(
        r'{"transition": {"equation":"a=\frac{F}{m}, \mu_k N, \theta, \nu, \beta"},"answer":{"value":"yes"}}'
    )
    assert decoded.trace["transition"]["equation"] == r"a=\frac{F}{m}, \mu_k N, \theta, \nu, \beta"
    assert decoded.repairs == ("backslashes of LaTeX doubled",)
    assert control_characters(decoded.trace) == []
    assert control_characters(json.loads(r'{"equation":"a=\frac{F}{m}"}')) == ["/equation"]


def test_real_escapes_stay():
    assert decode(r'{"answer":{"value":"a\nb \"c\" \\frac \u00b2"}}').trace["answer"]["value"] == 'a\nb "c" \\frac ²'


def test_cut_off():
    decoded = decode('{"answer":{"value":"yes","unit":null},"derivation":"the block sli')
    assert decoded.status == "truncated"
    assert decoded.trace == {"answer": {"value": "yes", "unit": None}}
    assert decode('{"answer').status == "none"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"answer": {"value": NaN}}', "NaN"),
        ('{"answer": 1, "answer": 2}', "occurs twice"),
        ("[1, 2]", "not an object"),
        ("I cannot answer that.", "no JSON"),
        ("", "no JSON"),
        ("x" * (MAX_CHARS + 1), "characters"),
    ],
)
def test_refused(text, reason):
    decoded = decode(text)
    assert decoded.trace is None
    assert decoded.status == "none"
    assert reason in decoded.reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.sampled_from(["answer", "state_0", "derivation"]), JSON, min_size=1), st.booleans())
def test_valid_json_comes_back(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    decoded = decode(text)
    if (
        decoded.repairs
    ):  # a backslash that JSON knows, but that begins a LaTeX command: escaped text such as "\\f" + "rac"
        assert "\\" in text
    else:
        assert decoded.trace == value


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_never_raises(text):
    decode(text)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400))
def test_every_prefix_of_an_answer_is_read_or_refused(length):
    text = json.dumps({**ANSWER, "state_0": {"objects": [{"name": "block"}], "variables": {"mass": 3}}})
    decoded = decode(text[:length])
    assert decoded.status == ("ok" if length >= len(text) else decoded.status)
    assert decoded.status != "ok" or length >= len(text)
