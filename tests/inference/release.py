"""A small release for tests: items of all five tasks over random pictures, put into a store as an artifact."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
from PIL import Image

from storage import Store, digest
from tasks.inference import INFERENCE, JudgeSpec, parse_judge, stage_config
from tasks.stage import Ref, produce

PROMPTS = {
    "A": ("letter", 'Action: "forward". Answer with ONLY one letter: A, B, C, or D.'),
    "B": ("scene", 'Describe this observation as JSON with "agent", "front_cell" and "objects".'),
    "C": ("yes_no", "Did the agent reach the green goal? Answer with ONLY: Yes or No."),
    "D": ("success_fail", "Does the query complete the task too? Answer with ONLY: Success or Fail."),
    "E": ("label", 'What was picked up first? Answer using JSON only: {"answer":"<label>"}'),
}


def png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def picture(data: bytes) -> dict:
    size = Image.open(io.BytesIO(data)).size
    return {"image_id": digest(data), "width": size[0], "height": size[1], "png": data, "png_sha256": digest(data)}


def make_release(
    location: str,
    count: int = 20,
    images: int = 1,
    size: int = 16,
    tasks: str = "ABCDE",
    seed: int = 0,
    name: str = "r",
) -> Ref:
    """`count` items, each with `images` pictures of its own."""
    draw = np.random.default_rng(seed)
    store = Store(location)
    writer = store.writer("release", digest(f"{name} {count} {images} {size} {tasks} {seed}"))
    items, shown = [], []
    for number in range(count):
        task = tasks[number % len(tasks)]
        pictures = [picture(png(draw.integers(0, 256, (size, size, 3)))) for _ in range(images)]
        answer_format, prompt = PROMPTS[task]
        shown += pictures
        items.append(
            {
                "uid": f"{task}.test.s{number:06d}",
                "task": task,
                "prompt": prompt,
                "image_ids": [entry["image_id"] for entry in pictures],
                "answer_format": answer_format,
                "max_tokens": 64,
            }
        )
    writer.add("images", shown)
    writer.add("items", items)
    writer.commit(1, {"name": name}, {})
    return Ref("release", writer.key)


def infer(
    location: str, release: Ref, spec: JudgeSpec, name: str = "g", refresh: bool = False, **asking: str
) -> pl.DataFrame:
    """The stage in this process; its table. `asking`: `asking` and `retried` of its configuration."""
    outcome = produce(location, INFERENCE, name, stage_config(name, spec, **asking), {"release": release}, refresh)
    return Store(location).get("inference", outcome.ref.key).read("responses")


def judge(url: str = "http://127.0.0.1:9/v1", **table) -> JudgeSpec:
    """A judge with limits for tests: short waits, few retries."""
    limits = {"backoff_s": 0.01, "timeout_s": 5, "deadline_s": 20} | table.pop("limits", {})
    return parse_judge("g", {"api": "openai", "model": "m", "base_url": url, "limits": limits} | table)
