"""The compiled schema says what `jsonschema` says."""

from __future__ import annotations

import copy
import random

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.traces import bank
from tasks.traces.record import render
from tasks.traces.schema import LENIENT, RELEASE, problems

TRACES = [render(record) for record in bank.generate(34)]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _places(part, (*path, key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _places(part, (*path, i))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(TRACES) - 1), st.randoms(use_true_random=False), JUNK, st.booleans())
def test_compiled_and_interpreted_agree(number, rng, junk, drop):
    trace = copy.deepcopy(TRACES[number])
    path = rng.choice([place for place in _places(trace) if place])
    holder = trace
    for part in path[:-1]:
        holder = holder[part]
    if drop and isinstance(holder, dict):
        del holder[path[-1]]
    else:
        holder[path[-1]] = junk
    for strict, schema in ((True, RELEASE), (False, LENIENT)):
        assert bool(problems(trace, strict)) == (not jsonschema.Draft7Validator(schema).is_valid(trace)), path


@pytest.mark.parametrize("schema", [RELEASE, LENIENT])
def test_the_schemas_are_draft_7(schema):
    jsonschema.Draft7Validator.check_schema(schema)


def test_complaints_name_the_place():
    trace = copy.deepcopy(random.Random(1).choice(TRACES))
    trace["state_0"]["objects"][0]["name"] = 7
    assert problems(trace) == ["/state_0/objects/0/name: 7 is not of type 'string'"]
    assert problems([]) == ["/: [] is not of type 'object'"]
