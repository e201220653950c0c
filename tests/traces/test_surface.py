"""Bare text must not tell chosen from rejected; a marker word would."""

from __future__ import annotations

import copy

import pytest

from tasks.traces import bank, pairs
from tasks.traces.record import render
from tasks.traces.surface import surface_auc


@pytest.fixture(scope="module")
def material():
    records = list(bank.generate(85))
    chosen = {record.trace_id: render(record) for record in records}
    rejected = [(p.chosen.trace_id, p.perturbation, p.rendered) for p in pairs.generate(records, 6)]
    return chosen, rejected


def test_surface_auc_is_near_a_coin(material):
    surface = surface_auc(*material, ngram=(2, 4))
    assert surface.auc < 0.65
    assert set(surface.by_perturbation) <= {name for _, name, _ in material[1]}


def test_a_marker_word_is_found(material):
    chosen, rejected = material
    marked = []
    for trace_id, name, trace in rejected:
        trace = copy.deepcopy(trace)
        trace["transition"]["effect"] += " (perturbed)"
        marked.append((trace_id, name, trace))
    assert surface_auc(chosen, marked, ngram=(2, 4)).auc > 0.95
