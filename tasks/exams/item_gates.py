"""D3, leak-free and decidable: gates on the exam items of a group (paper 1, Table 8; the latter two go beyond it)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from storage import SCHEMAS, digest
from tasks.pictures.png import BadPicture, Picture, chunks

# Words of the audit that no prompt may contain, and remains of numpy that must not leak into text.
_AUDIT_WORDS = re.compile(r"\b(nocue|no-cue|cf|counterfactual|gold|label is (yes|no)|reward|seed|np\.|array\()", re.I)
ABLATED = ("shuffle", "mask")  # conditions of items that withhold what decides them; their gold is their base item's
_PICTURE_NAME = re.compile(r"[0-9a-f]{64}")


class Item(Protocol):
    """What the gates read of an exam item; `tasks.exams.gridworld.records.Draft` is one."""

    @property
    def uid(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def pictures(self) -> Sequence[Picture]: ...
    @property
    def group_id(self) -> str: ...
    @property
    def gold(self) -> str: ...
    @property
    def variant(self) -> str | None: ...
    @property
    def condition(self) -> str | None: ...
    @property
    def image_ids(self) -> list[str]: ...
    def item(self) -> dict[str, Any]: ...


def d3_isolation(items: Sequence[Item]) -> str | None:
    """D3: what a model gets is a prompt and pictures; the prompt names no group, variant, label, seed or state."""
    for item in items:
        if set(item.item()) != set(SCHEMAS["items"].names):
            return f"{item.uid}: the model-facing row has other columns than the table `items`"
        if found := _AUDIT_WORDS.search(item.prompt):
            return f"{item.uid}: the prompt says {found.group(0)!r}"
        if item.group_id in item.prompt or item.group_id.rpartition("_")[2] in item.prompt or item.uid in item.prompt:
            return f"{item.uid}: the prompt names its group"
    return None


def leak_free(items: Sequence[Item]) -> str | None:
    """No PNG carries anything but pixels, pictures are named by their pixels, and items that differ in their variant
    alone have the same prompt, equally many pictures, and pictures of the same sizes."""
    matched: dict[str, list[Item]] = defaultdict(list)
    checked: set[str] = set()
    for item in items:
        for picture in item.pictures:
            if picture.image_id in checked:
                continue
            checked.add(picture.image_id)
            try:
                names = [name for name, _ in chunks(picture.png)]
            except BadPicture as error:
                return f"{item.uid}: {error}"
            if not _PICTURE_NAME.fullmatch(picture.image_id):
                return f"{item.uid}: a picture is named {picture.image_id!r}, not by a digest of its pixels"
            if set(names) - {b"IHDR", b"IDAT", b"IEND"}:
                return f"{item.uid}: a picture carries {b', '.join(names).decode('latin1')}"
            if picture.png[24:29] != b"\x08\x02\x00\x00\x00":
                return f"{item.uid}: a picture is not opaque 8-bit RGB"
        if item.variant:
            matched[item.uid.replace(f".{item.variant}.", ".*.")].append(item)
    for twins in matched.values():
        shapes = {(twin.prompt, tuple((p.width, p.height) for p in twin.pictures)) for twin in twins}
        if len(shapes) > 1:
            return f"{twins[0].uid}: its variants differ in prompt or in the number or size of pictures"
    return None


def decidable(items: Sequence[Item], seen: dict[str, tuple[str, str]]) -> str | None:
    """No two items with different gold share prompt and pictures. `seen` maps what earlier items showed to their
    (gold, uid), and grows by these items where they pass."""
    mine: dict[str, tuple[str, str]] = {}
    for item in items:
        if _ablated(item):  # its action is not the one that led to its gold
            continue
        shown = shown_digest(item.prompt, item.image_ids)
        gold, other = seen.get(shown) or mine.setdefault(shown, (item.gold, item.uid))
        if gold != item.gold:
            return f"{item.uid} shows what {other} shows and has another gold answer"
    seen.update(mine)
    return None


def _ablated(item: Item) -> bool:
    return item.condition in ABLATED


def shown_digest(prompt: str, image_ids: Sequence[str]) -> str:
    return digest("\0".join([prompt, *image_ids]))


def examine_items(items: Sequence[Item], seen: dict[str, tuple[str, str]]) -> Mapping[str, str | None]:
    """Gate -> what is wrong (None where nothing is), for the items of one group and one task."""
    return {"D3": d3_isolation(items), "leak_free": leak_free(items), "decidable": decidable(items, seen)}
