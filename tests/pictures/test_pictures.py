"""Pictures: PNG round trips, identity, styles that keep the state readable, pages put together right."""

import hashlib
import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp
from PIL import Image

from tasks.pictures import styles
from tasks.pictures.pixels import differing
from tasks.pictures.png import BadPicture, Picture, chunks, decode, encode, image_id
from tasks.pictures.storyboard import CAPTION, COLUMNS, GAP, captioned, lettering, panel, sheet, storyboard

PIXELS = hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12).map(lambda s: (*s, 3)))


@given(PIXELS)
@settings(max_examples=50, deadline=None)
def test_what_is_encoded_is_decoded_by_us_and_by_pillow(pixels):
    png = encode(pixels)
    assert np.array_equal(decode(png), pixels)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png))), pixels)
    assert [name for name, _ in chunks(png)] == [b"IHDR", b"IDAT", b"IEND"]


def test_a_png_of_someone_elses_is_decoded_too():
    pixels = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    assert np.array_equal(decode(file.getvalue()), pixels)


def test_identity_is_of_the_pixels_and_their_shape():
    flat, tall = np.zeros((2, 6, 3), dtype=np.uint8), np.zeros((6, 2, 3), dtype=np.uint8)
    assert image_id(flat) != image_id(tall)
    assert image_id(flat) == hashlib.sha256(struct.pack(">II", 6, 2) + bytes(36)).hexdigest()
    assert image_id(flat.transpose(1, 0, 2).copy().transpose(1, 0, 2)) == image_id(flat)
    row = Picture(flat).row()
    assert row["png_sha256"] == hashlib.sha256(row["png"]).hexdigest() and (row["width"], row["height"]) == (6, 2)


def test_a_picture_is_encoded_when_its_bytes_are_asked_for():
    pixels = np.random.default_rng(0).integers(0, 256, (50, 40, 3), dtype=np.uint8)
    picture = Picture(pixels)
    assert (picture.image_id, picture.height, picture.width) == (image_id(pixels), 50, 40)
    assert picture.png is picture.png == encode(pixels)
    with pytest.raises(BadPicture, match="float64"):
        _ = Picture(pixels.astype(float)).png


def test_bad_pictures():
    with pytest.raises(BadPicture, match="float64"):
        encode(np.zeros((2, 2, 3)))
    with pytest.raises(BadPicture, match="signature"):
        chunks(b"GIF89a")
    with pytest.raises(BadPicture, match="cut off"):
        chunks(encode(np.zeros((2, 2, 3), dtype=np.uint8))[:-4])


def test_noise_is_mild_repeatable_and_the_same_for_matched_variants():
    frame = np.full((224, 224, 3), 120, dtype=np.uint8)
    noisy = styles.noisy(frame, "doorkey_s000001", 4)
    assert np.array_equal(noisy, styles.noisy(frame, "doorkey_s000001", 4))
    assert not np.array_equal(noisy, styles.noisy(frame, "doorkey_s000001", 5))
    changed = (noisy != frame).any(axis=2)
    assert 0.01 < changed.mean() <= styles.NOISY_SHARE
    assert abs(noisy.astype(int) - 120).max() <= 2 * styles.NOISE
    other = frame.copy()
    other[:32] = 60
    assert np.array_equal((styles.noisy(other, "doorkey_s000001", 4) != other).any(axis=2)[64:], changed[64:])


def test_style_is_one_to_one_on_the_colors_of_tiles():
    levels = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    styled = styles.style(levels, "g", 0)
    assert not np.array_equal(styled, levels)
    assert (np.diff(styled.reshape(-1, 3).astype(int), axis=0) >= 0).all()
    assert len(np.unique(styled[..., 0])) > 200


def test_a_storyboard_reads_left_to_right_top_to_bottom():
    frames = [(f"step {n}", np.full((20, 30, 3), n, dtype=np.uint8)) for n in range(6)]
    page = storyboard(frames)
    assert page.shape == (GAP + 2 * (CAPTION + 20 + GAP), GAP + COLUMNS * (30 + GAP), 3)
    for n in range(6):
        row, column = divmod(n, COLUMNS)
        top, left = GAP + row * (CAPTION + 20 + GAP) + CAPTION, GAP + column * (30 + GAP)
        assert (page[top : top + 20, left : left + 30] == n).all()
    assert (page[GAP + 1 : GAP + CAPTION, GAP : GAP + 30] == 0).any()  # its caption is written


def test_pages_of_other_kinds():
    frame = np.full((224, 224, 3), 9, dtype=np.uint8)
    alone = captioned("step 3", frame)
    assert alone.shape == (248, 224, 3) and (alone[24:] == 9).all()
    letters = lettering("step 3")
    assert letters.shape == (22, 72) and np.array_equal(alone[1:23, :72, 0] == 0, letters)
    two = sheet([("REFERENCE", storyboard([("step 0", frame)])), ("QUERY", storyboard([("step 0", frame)] * 5))])
    assert two.shape[1] == GAP + COLUMNS * (224 + GAP)
    four = panel(("NOW", frame), [(letter, frame) for letter in "ABCD"])
    assert four.shape[0] == GAP + 2 * (CAPTION + 224 + GAP)


def test_png_encoding_is_what_pillow_reads():
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    picture = Image.open(io.BytesIO(encode(pixels)))
    assert picture.mode == "RGB" and not picture.info
    assert np.array_equal(np.asarray(picture), pixels)
    assert json.dumps(Picture(pixels).row() | {"png": ""})


def test_pixels_differ_in_any_channel_by_so_many_levels():
    a = np.full((2, 3, 3), 100, dtype=np.uint8)
    b = a.copy()
    b[0, 0, 2], b[1, 1, 0], b[1, 2, 1] = 101, 76, 124
    assert differing(a, b).tolist() == [[True, False, False], [False, True, True]]
    assert differing(a, b, by=24).tolist() == [[False, False, False], [False, True, True]]
    assert not differing(a, b, by=25).any()
