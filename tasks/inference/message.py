"""What a judge is shown of an item: text and PNG bytes, in order, and nothing else.

Several pictures are numbered in text, each right before its picture, so that "image 3" keeps its meaning even where a
server moves pictures about. PNG bytes are the stored ones, unchanged.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from storage import Artifact, canonical_json, digest
from tasks.errors import StageFailed
from tasks.judges import Judge, Message, Png, Text


def outline(prompt: str, image_ids: Sequence[str]) -> list[tuple[str, str]]:
    """The order of a message: ("text", words) and ("png", image id). Pictures first, numbered where there are several;
    the question last."""
    parts: list[tuple[str, str]] = []
    for number, image_id in enumerate(image_ids, start=1):
        if len(image_ids) > 1:
            parts.append(("text", f"Image {number}:"))
        parts.append(("png", image_id))
    return [*parts, ("text", prompt)]


def request_digest(parameters: dict[str, Any], parts: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over every parameter, every word and, by each picture's own SHA-256, every byte of every picture.

    `parts` as `outline` gives them, with each picture's SHA-256 in place of its id.
    """
    return digest(canonical_json([parameters, list(parts)]))


class Pictures:
    """The pictures of some artifacts by image id, in a scratch file: memory stays flat, and any order of reading is quick.

    Checks each picture's bytes against the SHA-256 that its row states.
    """

    def __init__(self, *artifacts: Artifact):
        self._file = tempfile.TemporaryFile(prefix="worldaudit-pictures-")  # noqa: SIM115  (closed by __exit__)
        self._where: dict[str, tuple[int, int, str]] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        offset = 0
        for part in itertools.chain.from_iterable(artifact.batches("images") for artifact in artifacts):
            columns = [part.column(name) for name in ("image_id", "png", "png_sha256", "width", "height")]
            for image_id, png, sha256, width, height in zip(*(column.to_pylist() for column in columns), strict=True):
                if digest(png) != sha256:
                    raise StageFailed(f"image {image_id}: its bytes are not what png_sha256 says; generate again")
                self._file.write(png)
                self._where[image_id] = (offset, len(png), sha256)
                self.sizes[image_id] = (width, height)
                offset += len(png)
        self._file.flush()

    def __enter__(self) -> Pictures:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def sha256(self, image_id: str) -> str:
        return self._entry(image_id)[2]

    def bytes(self, image_id: str) -> int:
        return self._entry(image_id)[1]

    def png(self, image_id: str) -> Png:
        offset, length, sha256 = self._entry(image_id)
        self._file.seek(offset)
        return Png(self._file.read(length), sha256)

    def _entry(self, image_id: str) -> tuple[int, int, str]:
        try:
            return self._where[image_id]
        except KeyError:
            raise StageFailed(
                f"image {image_id} is named by an item and is not in the release, nor among other pictures"
            ) from None


def build(prompt: str, image_ids: Sequence[str], pictures: Pictures) -> Message:
    """The message of an item."""
    return Message(
        tuple(
            Text(content) if kind == "text" else pictures.png(content) for kind, content in outline(prompt, image_ids)
        )
    )


__all__ = ["Judge", "Message", "Pictures", "Png", "Text", "build", "outline", "request_digest"]
