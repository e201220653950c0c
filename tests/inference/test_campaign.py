"""A campaign of faults against a scripted server: nothing lost, nothing doubled, nothing misnamed.

Every item draws its own fate, and the fate says how its row must end. The run is also stopped and resumed on the way.
`python -m pytest tests/inference/test_campaign.py -s` prints the figures.
"""

from __future__ import annotations

import random
import threading
from collections import Counter

import polars as pl
import pytest

from storage import Store
from tasks.errors import WorldauditError
from tasks.inference.message import outline

from .release import infer, judge, make_release
from .scripted_server import Action, Fail, Raw, Reset, Say, ScriptedServer, Seen, Slow, mark

ITEMS = {"openai": 1600, "anthropic": 300, "gemini": 300}
PASSING = ["429", "429 with Retry-After", "500", "503", "reset", "half a body", "garbage", "no choices", "empty body"]
FINAL = {
    "fine": "ok",
    "late": "ok",
    "slow body": "ok",
    "truncated": "truncated",
    "thought only": "truncated",
    "open tag": "truncated",
    "refusal": "refused",
    "filtered": "refused",
    "bad request": "api_error",
    "always 500": "api_error",
    "always garbage": "api_error",
}
WEIGHTS = {
    "fine": 60,
    "late": 8,
    "slow body": 5,
    "truncated": 5,
    "thought only": 3,
    "open tag": 3,
    "refusal": 3,
    "filtered": 3,
}


def fates(items: pl.DataFrame, pictures: dict[str, bytes], seed: int) -> dict[str, tuple[str, str, list[str]]]:
    """mark -> (uid, how it ends, what befalls it before)."""
    draw = random.Random(seed)
    names = [*WEIGHTS, "bad request", "always 500", "always garbage"]
    weights = [*WEIGHTS.values(), 8, 6, 6]
    found = {}
    for uid, prompt, image_ids in items.select("uid", "prompt", "image_ids").iter_rows():
        words = "\n".join(content for kind, content in outline(prompt, image_ids) if kind == "text")
        before = [draw.choice(PASSING) for _ in range(draw.choice((0, 0, 0, 1, 1, 2, 3)))]
        end = draw.choices(names, weights)[0]
        if FINAL[end] == "api_error" and not uid.startswith("C"):
            end = "fine"  # the largest item is asked first, and a run begins only if that is answered; C's are small
        found[mark([pictures[image_id] for image_id in image_ids], words)] = (uid, end, before)
    return found


def act(name: str, seen: Seen, uid: str, draw: random.Random) -> Action:
    storm = name.startswith("429")
    return {
        "fine": Say(f"Yes {uid}"),
        "late": Say(f"Yes {uid}", delay=draw.random() * 0.2),  # answers overtake each other
        "slow body": Slow(Say(f"Yes {uid}"), 0.1),
        "truncated": Say(f"Yes {uid} because the ag", "length"),
        "thought only": Say(None, "length", reasoning=f"SUCCESS {uid}"),
        "open tag": Say(f"<think>SUCCESS {uid}"),
        "refusal": Say(None, refusal=f"I will not {uid}"),
        "filtered": Fail(400, {"error": {"code": "content_filter", "message": "filtered"}}),
        "bad request": Fail(400, {"error": {"message": "cannot decode image"}}),
        "always 500": Fail(500),
        "always garbage": Raw(b"<html>bad gateway</html>"),
        "500": Fail(500),
        "503": Fail(503, "upstream"),
        "reset": Reset(),
        "half a body": Reset(half=True),
        "garbage": Raw(b"\xff\xfe not json"),
        "no choices": Raw(b'{"choices": []}'),
        "empty body": Raw(b""),
    }.get(name) or Fail(429, None, {"Retry-After": "0.05"} if storm and "After" in name else {})


@pytest.mark.slow
@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini"])
def test_nothing_is_lost_doubled_or_misnamed(store, api, capsys):
    release = make_release(store, ITEMS[api], size=4, seed=5)
    artifact = Store(store).get("release", release.key)
    pictures = dict(artifact.read("images").select("image_id", "png").iter_rows())
    plan = fates(artifact.read("items"), pictures, seed=11)
    tries: Counter[str] = Counter()
    lock = threading.Lock()
    draw = random.Random(3)
    stops = [ITEMS[api] // 4, ITEMS[api] // 2]

    def script(seen: Seen) -> Action:
        if "word OK" in seen.text:
            return Say("OK")
        uid, end, before = plan[seen.mark]
        with lock:
            tries[seen.mark] += 1
            number = tries[seen.mark]
        if stops and len(server.seen) > stops[0]:  # the key is revoked; the operator comes and runs it again
            stops.pop(0)
            return Fail(401, {"error": {"message": "revoked"}})
        return act(before[number - 1] if number <= len(before) else end, seen, uid, draw)

    # Each API has its own words for the same things; those that the scripted server cannot say in one are left out.
    if api != "openai":
        plan = {
            key: (uid, "fine" if end in ("refusal", "open tag") else end, before)
            for key, (uid, end, before) in plan.items()
        }
    limits = {"concurrency": 32, "retries": 5, "backoff_s": 0.002, "max_failed": 0.1, "timeout_s": 10, "breaker": 12}
    runs = 0
    with ScriptedServer(script, keep_images=False) as server:
        while True:
            runs += 1
            try:
                rows = infer(store, release, judge(server.url, api=api, limits=limits))
                break
            except WorldauditError as error:
                assert "revoked" in str(error) and runs < 5
    assert runs == 3

    items = artifact.read("items")
    assert rows["uid"].to_list() == items["uid"].to_list()  # none lost, none doubled, in the order of the release
    expected = {uid: FINAL[end] for uid, end, _ in plan.values()}
    wrong = [row for row in rows.iter_rows(named=True) if row["status"] != expected[row["uid"]]]
    assert not wrong, wrong[:3]
    spoken = rows.filter(pl.col("status") == "ok")
    crossed = spoken.filter(pl.col("text") != "Yes " + pl.col("uid"))
    assert crossed.is_empty()  # everyone has its own answer
    thoughts = rows.filter(pl.col("reasoning").is_not_null())
    assert thoughts["status"].unique().to_list() in (["truncated"], [])
    assert rows.filter(status="api_error")["text"].null_count() == len(rows.filter(status="api_error"))
    assert len(server.seen) >= 1.25 * ITEMS[api]
    with capsys.disabled():
        counts = dict(rows["status"].value_counts(sort=True).iter_rows())
        print(
            f"\n{api}: {len(server.seen)} requests for {ITEMS[api]} items in {runs} runs: 0 lost, 0 doubled, 0 wrong; {counts}"
        )
