"""Stages `release` and `answers`: what a model may see of an exam, and what only the audit may, gathered from its shards.

A shard is whatever stage made items, in the role `exams.<shard>`. The key of `release` is the exam's key.
"""

from __future__ import annotations

from storage.store import ArtifactWriter
from tasks.errors import StageFailed
from tasks.exams.item_gates import ABLATED, shown_digest
from tasks.stage import Config, Inputs, Stage


def release(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """What a model may see, of all shards: `items` and `images`, and nothing else."""
    written: set[str] = set()
    for shard in inputs.all("exams").values():
        writer.add("items", shard.arrow("items"))
        for batch in shard.batches("images"):
            fresh = [name not in written for name in batch["image_id"].to_pylist()]
            writer.add("images", batch.filter(fresh))
            written.update(batch["image_id"].to_pylist())


def answers(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """What only the audit may see, of all shards. Raises StageFailed where two shards' items show the same and have
    different gold answers."""
    seen: dict[str, tuple[str, str]] = {}
    for shard in inputs.all("exams").values():
        table = shard.arrow("answers")
        gold = dict(zip(table["uid"].to_pylist(), table["gold"].to_pylist(), strict=True))
        condition = dict(zip(table["uid"].to_pylist(), table["condition"].to_pylist(), strict=True))
        for uid, prompt, image_ids in shard.read("items").select("uid", "prompt", "image_ids").iter_rows():
            if condition[uid] in ABLATED:
                continue
            first = seen.setdefault(shown_digest(prompt, image_ids), (gold[uid], uid))
            if first[0] != gold[uid]:
                raise StageFailed(f"{uid} shows what {first[1]} shows and has another gold answer")
        writer.add("answers", table)


RELEASE = Stage("release", 1, release)
ANSWERS = Stage("answers", 1, answers)
