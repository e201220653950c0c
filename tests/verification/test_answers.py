from __future__ import annotations

import pytest

from tasks.verification.decode import decode
from tasks.verification.verifier import verify
from tests.verification.answers import ANSWERS


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_in_the_style_of_models(name):
    text, status, found, not_found, zs = ANSWERS[name]
    decoded = decode(text)
    assert decoded.status == status
    verdict = verify(decoded.trace)
    assert set(found) <= set(verdict.labels)
    assert not set(verdict.labels) & set(not_found) if not_found else verdict.labels == ()
    assert {z: getattr(verdict, z) for z in zs} == zs


def test_what_is_open_is_said():
    verdict = verify(decode(ANSWERS["friction left open"][0]).trace)
    reasons = [check.rule for check in verdict.checks if check.status == "abstain"]
    assert any("mu not given" in reason for reason in reasons)
