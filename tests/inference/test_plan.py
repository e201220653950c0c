"""What a run would cost, known without a request."""

from __future__ import annotations

import pytest

from storage import Store
from tasks.errors import StageFailed
from tasks.inference import embedded, parse_judge
from tasks.inference.plan import plan

from .release import infer, judge, make_release
from .scripted_server import Fail, Say, ScriptedServer


def test_what_is_answered_already_is_not_priced(store):
    """UX2: 100 items, 40 answered: 60 calls, and 0 requests for knowing so."""
    release = make_release(store, 100, images=2)
    prices = {"input": 2.0, "output": 10.0}
    spent = Fail(429, {"error": {"code": "insufficient_quota", "message": "empty"}})
    with ScriptedServer(lambda seen: Say("Yes") if seen.number < 40 else spent) as server:
        spec = judge(server.url, prices=prices, limits={"concurrency": 1})
        with pytest.raises(StageFailed):
            infer(store, release, spec)
        before = len(server.seen)
        told = plan(Store(store).get("release", release.key), spec, "g")
        assert len(server.seen) == before
    assert (told.planned, told.cached, told.calls, told.images) == (100, 40, 60, 120)
    assert told.output_tokens == 60 * 64
    assert told.cost == pytest.approx((told.input_tokens * 2.0 + told.output_tokens * 10.0) / 1e6)
    assert told.problem is None
    assert "60 calls of 100 planned, 40 answered before; 120 images" in str(told)


def test_an_estimate_needs_no_key_and_says_that_one_is_missing(store, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    release = Store(store).get("release", make_release(store, 5).key)
    told = plan(release, parse_judge("g", {"api": "openai", "model": "m", "replicates": 3}), "g")
    assert told.calls == 15 and told.cost is None
    assert "OPENAI_API_KEY" in (told.problem or "") and "would not start" in str(told)


def test_a_limit_that_would_be_passed_is_told(store):
    release = Store(store).get("release", make_release(store, 5, images=3).key)
    told = plan(release, judge(limits={"max_images": 2}), "g")
    assert "has 3 pictures and m takes 2" in (told.problem or "")
    assert told.largest_images == 3


def test_local_judges_cost_nothing(store):
    release = make_release(store, 5)
    artifact = Store(store).get("release", release.key)
    assert plan(artifact, embedded("coin"), "coin").as_dict()["calls"] == 5
    infer(store, release, embedded("coin"), name="coin")
    told = plan(artifact, embedded("coin"), "coin")
    assert (told.calls, told.cached, told.input_tokens, told.output_tokens, told.cost) == (0, 5, 0, 0, None)
