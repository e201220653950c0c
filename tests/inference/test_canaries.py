"""The canaries: a server that mixes up pictures is caught, one that does not is left alone."""

from __future__ import annotations

import io
import random

import numpy as np
from PIL import Image

from storage import Store
from tasks.inference import INFERENCE, stage_config
from tasks.stage import produce

from .release import judge, make_release
from .scripted_server import Say, ScriptedServer, Seen


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)))


def see(images: list[bytes], text: str) -> str:
    """A model that sees: the color of image 2, or of the bright square."""
    if "color of image 2" in text or "color is image 2" in text:
        return ["red", "green", "blue"][int(pixels(images[1])[0, 0].argmax())]
    if "bright square" in text:
        return "blue" if pixels(images[0])[100, 135, 2] else "yellow"
    return "Yes"


def canaries(store: str, answer, concurrency: int = 64) -> tuple[dict, ScriptedServer]:
    release = make_release(store, 4)
    with ScriptedServer(answer) as server:
        spec = judge(server.url, canaries=["order", "twins"], limits={"concurrency": concurrency})
        outcome = produce(store, INFERENCE, "g", stage_config("g", spec), {"release": release})
    rows = Store(store).get("inference", outcome.ref.key).read("canaries")
    return {row["canary"]: row for row in rows.iter_rows(named=True)}, server


def test_a_server_that_keeps_pictures_apart_passes(store, capfd):
    found, server = canaries(store, lambda seen: Say(see(seen.images, seen.text), delay=0.005))
    assert found["order"]["passed"] and found["twins"]["passed"]
    assert (found["order"]["asked"], found["twins"]["asked"]) == (3, 200)
    assert server.most_in_flight > 32
    assert "WARNING" not in capfd.readouterr().err


def test_pictures_in_another_order_are_caught(store, capfd):
    """IC4."""
    found, _ = canaries(store, lambda seen: Say(see(seen.images[::-1][1:] + seen.images[:1], seen.text)))
    assert found["order"]["passed"] is False
    assert "canary order: WARNING, FAILED: the second frame's color: " in capfd.readouterr().err


def test_answers_of_another_picture_under_load_are_caught(store, capfd):
    """IC2: right alone, mixed up with another request's picture when many are in flight."""
    last: list[bytes] = []
    draw = random.Random(1)

    def script(seen: Seen) -> Say:
        images = seen.images
        if server_in_flight() > 8 and last and draw.random() < 0.2:
            images = last[-1:]
        if len(seen.images) == 1:
            last[:] = seen.images
        return Say(see(images if len(seen.images) == 1 else seen.images, seen.text), delay=0.01)

    release = make_release(store, 4)
    with ScriptedServer(script) as server:
        server_in_flight = lambda: server.in_flight  # noqa: E731
        spec = judge(server.url, canaries=["order", "twins"], limits={"concurrency": 64})
        outcome = produce(store, INFERENCE, "g", stage_config("g", spec), {"release": release})
    rows = {
        row["canary"]: row
        for row in Store(store).get("inference", outcome.ref.key).read("canaries").iter_rows(named=True)
    }
    assert rows["order"]["passed"] is True and rows["twins"]["passed"] is False
    assert rows["twins"]["agreed"] < 200 and "as the other twin" in rows["twins"]["detail"]
    assert "canary twins: WARNING, FAILED" in capfd.readouterr().err


def test_a_blind_or_moody_server_lets_the_twins_tell_nothing(store, tmp_path):
    blind, _ = canaries(store, lambda seen: Say("yellow"))
    assert blind["twins"]["passed"] is None and "same answer alone" in blind["twins"]["detail"]
    moody, _ = canaries(str(tmp_path / "other"), lambda seen: Say(str(seen.number)))
    assert moody["twins"]["passed"] is None and "vary even alone" in moody["twins"]["detail"]
