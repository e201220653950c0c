"""Gates on items: each rejects what was broken on purpose."""

import copy
import dataclasses

import numpy as np

from tasks.exams.item_gates import d3_isolation, decidable, leak_free
from tasks.pictures.png import Picture


@dataclasses.dataclass
class FakeItem:
    uid: str = "C.doorkey.s000001.full.orig.clean.neu.composite"
    task: str = "C"
    prompt: str = "Was the goal reached?"
    pictures: tuple = ()
    group_id: str = "doorkey_s000001"
    gold: str = "yes"
    variant: str = "full"
    condition: str | None = None
    columns: tuple = ("uid", "task", "prompt", "image_ids", "answer_format", "max_tokens")

    @property
    def image_ids(self):
        return [picture.image_id for picture in self.pictures]

    def item(self):
        return dict.fromkeys(self.columns)


WHITE = Picture(np.full((8, 8, 3), 255, dtype=np.uint8))
BLACK = Picture(np.zeros((8, 8, 3), dtype=np.uint8))


def renamed(picture, image_id=None, png=None):
    changed = copy.copy(picture)
    changed.image_id, changed.png = image_id or picture.image_id, png or picture.png
    return changed


def test_d3_prompts_and_rows_that_say_too_much():
    assert d3_isolation([FakeItem()]) is None
    assert "other columns" in d3_isolation([FakeItem(columns=("uid", "gold"))])
    for prompt in ("This is the counterfactual.", "seed 3", "at (np.int64(3), 4)", "s000001", "doorkey_s000001"):
        assert d3_isolation([FakeItem(prompt=prompt)]) is not None


def test_leak_free_metadata_names_sizes_and_counts():
    full, cf = (
        FakeItem(pictures=(WHITE,)),
        FakeItem(uid=FakeItem.uid.replace("full", "cf"), variant="cf", pictures=(BLACK,)),
    )
    assert leak_free([full, cf]) is None
    texted = renamed(WHITE, png=WHITE.png[:-12] + b"\0\0\0\2tEXtcf\0\0\0\0" + WHITE.png[-12:])
    assert "tEXt" in leak_free([dataclasses.replace(full, pictures=(texted,))])
    assert "named" in leak_free([dataclasses.replace(full, pictures=(renamed(WHITE, image_id="cf_3"),))])
    wide = Picture(np.zeros((8, 9, 3), dtype=np.uint8))
    assert "size" in leak_free([full, dataclasses.replace(cf, pictures=(wide,))])
    assert "number" in leak_free([full, dataclasses.replace(cf, pictures=(BLACK, BLACK))])
    cut = renamed(WHITE, png=WHITE.png[:-5])
    assert "cut off" in leak_free([dataclasses.replace(full, pictures=(cut,))])
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("RGBA", (8, 8), (255, 0, 0, 0)).save(file, "PNG")
    assert "opaque" in leak_free([dataclasses.replace(full, pictures=(renamed(WHITE, png=file.getvalue()),))])


def test_decidable_same_evidence_other_gold():
    full = FakeItem(pictures=(WHITE,))
    twin = FakeItem(uid="C.doorkey.s000002.cf.orig.clean.neu.composite", pictures=(WHITE,), gold="no")
    assert decidable([full, twin], {}) is not None
    seen: dict = {}
    assert decidable([full], seen) is None
    assert decidable([twin], seen) is not None
    assert decidable([dataclasses.replace(twin, pictures=(BLACK,))], seen) is None
