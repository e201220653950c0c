"""What a judge is shown: order, numbers, bytes, and a digest that covers all of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import Store, digest
from tasks.errors import StageFailed
from tasks.inference.message import Pictures, Png, Text, build, outline, request_digest
from tasks.stage import Ref

from .release import infer, judge, make_release, picture, png
from .scripted_server import Say, ScriptedServer, mark


def release_of(location: str, items: list[tuple[str, list[bytes]]]):
    writer = Store(location).writer("release", digest(str(items)))
    pictures = {data: picture(data) for _, images in items for data in images}
    writer.add("images", pictures.values())
    writer.add(
        "items",
        [
            {
                "uid": f"C.test.{number}",
                "task": "C",
                "prompt": prompt,
                "image_ids": [pictures[data]["image_id"] for data in images],
                "answer_format": "yes_no",
                "max_tokens": 8,
            }
            for number, (prompt, images) in enumerate(items)
        ],
    )
    return writer.commit(1, {}, {})


def test_several_pictures_are_numbered_each_right_before_it(store):
    frames = [png(np.full((8, 8, 3), color)) for color in ([255, 0, 0], [0, 255, 0], [0, 0, 255])]
    release = release_of(store, [("Which?", frames)])
    with Pictures(release) as pictures:
        message = build("Which?", release.read("items")["image_ids"][0].to_list(), pictures)
    assert [part.text if isinstance(part, Text) else part.data for part in message.parts] == [
        "Image 1:",
        frames[0],
        "Image 2:",
        frames[1],
        "Image 3:",
        frames[2],
        "Which?",
    ]


def test_one_picture_needs_no_number():
    assert outline("Q", ["a"]) == [("png", "a"), ("text", "Q")]
    assert outline("Q", []) == [("text", "Q")]


@given(
    st.lists(st.binary(min_size=1, max_size=4), min_size=1, max_size=4),
    st.text(max_size=5),
    st.integers(0, 3),
    st.integers(0, 7),
)
def test_a_flipped_bit_or_a_swap_changes_the_digest(images, prompt, which, bit):
    def key(pictures):
        return request_digest({"t": 0}, [(k, c if k == "text" else digest(c)) for k, c in outline(prompt, pictures)])

    which %= len(images)
    flipped = [*images]
    flipped[which] = bytes([images[which][0] ^ (1 << bit)]) + images[which][1:]
    assert key(images) != key(flipped)
    swapped = images[::-1]
    assert (key(images) == key(swapped)) == (images == swapped)
    assert key(images) != request_digest(
        {"t": 1}, [(k, c if k == "text" else digest(c)) for k, c in outline(prompt, images)]
    )


def test_one_tile_apart_is_another_request_and_another_answer(store):
    """IC1: equal words, two mazes that differ in a tile; the order of frames counts as well."""
    one = np.zeros((56, 56, 3))
    two = one.copy()
    two[8:16, 8:16] = 255
    a, b = png(one), png(two)
    release = release_of(
        store, [("Same words", [a]), ("Same words", [b]), ("Same words", [a, b]), ("Same words", [b, a])]
    )
    with ScriptedServer(lambda seen: Say(seen.mark)) as server:
        rows = infer(store, Ref("release", release.key), judge(server.url))
    assert rows["request_sha256"].n_unique() == 4
    assert rows["text"].n_unique() == 4


def test_stored_bytes_travel_unchanged(store):
    """IC9: the PNG that is stored is the PNG that arrives, not a recompressed one."""
    release = make_release(store, 6, images=2)
    rows = Store(store).get("release", release.key)
    stored = set(rows.read("images")["png_sha256"])
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        infer(store, release, judge(server.url))
    arrived = {digest(image) for seen in server.asked for image in seen.images}
    assert arrived == stored
    assert all(seen.kinds == ["text", "image", "text", "image", "text"] for seen in server.asked)
    assert all(seen.text.startswith("Image 1:\nImage 2:\n") for seen in server.asked)


def test_every_item_gets_its_own_answer(store):
    release = make_release(store, 60, images=2)
    with ScriptedServer(lambda seen: Say(seen.mark)) as server:
        rows = infer(store, release, judge(server.url))
    artifact = Store(store).get("release", release.key)
    data = dict(artifact.read("images").select("image_id", "png").iter_rows())
    answers = dict(rows.select("uid", "text").iter_rows())
    for uid, prompt, image_ids in artifact.read("items").select("uid", "prompt", "image_ids").iter_rows():
        words = "\n".join(content for kind, content in outline(prompt, image_ids) if kind == "text")
        assert answers[uid] == mark([data[i] for i in image_ids], words)


def test_a_release_with_altered_bytes_is_refused(store):
    writer = Store(store).writer("release", "f" * 64)
    entry = picture(png(np.zeros((4, 4, 3))))
    writer.add("images", [entry | {"png_sha256": "0" * 64}])
    release = writer.commit(1, {}, {})
    with pytest.raises(StageFailed, match=r"image .* generate again"):
        Pictures(release)


def test_pictures_by_id(store):
    release = Store(store).get("release", make_release(store, 3).key)
    table = release.read("images")
    with Pictures(release) as pictures:
        for image_id, data, sha in table.select("image_id", "png", "png_sha256").iter_rows():
            assert pictures.png(image_id) == Png(data, sha)
        with pytest.raises(StageFailed, match="not in the release"):
            pictures.png("nothing")
