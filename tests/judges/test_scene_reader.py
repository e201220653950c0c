"""The judge of MiniWorld's frames: what it reads off pixels that are drawn for the purpose."""

import math

import numpy as np
import pytest

from tasks.judges import Message, Png, Text, make
from tasks.judges.scene_reader import CANNOT, objective_of, shown_objective
from tasks.judges.scene_reader.things import HEIGHT, WIDTH, blobs, sign_of
from tasks.judges.scene_reader.views import STEP, TURN, expected, next_view
from tasks.pictures.png import encode
from tasks.pictures.storyboard import panel, storyboard
from tasks.worlds import WORLDS

RED, YELLOW, GREEN = (220, 0, 0), (230, 225, 0), (0, 210, 0)


def room():
    """A wall and a checkered floor."""
    frame = np.full((HEIGHT, WIDTH, 3), 100, dtype=np.uint8)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    frame[((rows // 12 + columns // 16) % 2 == 1) & (rows > 80)] = 210
    return frame


def with_box(frame, color, left, top, right, bottom):
    frame = frame.copy()
    frame[top : bottom + 1, left : right + 1] = color
    return frame


AT_HAND = with_box(room(), RED, 80, 120, 190, HEIGHT - 1)
FAR = with_box(room(), RED, 120, 70, 140, 95)
CARRIED = with_box(room(), GREEN, 90, 85, 166, 170)
BESIDE = with_box(with_box(room(), YELLOW, 95, 80, 165, 118), RED, 70, 119, 186, HEIGHT - 1)


def message(prompt, page):
    return Message((Png(encode(page), ""), Text(prompt)))


def asked(mission, *frames):
    page = storyboard([(f"step {step}", frame) for step, frame in enumerate(frames)])
    prompt = f"The goal of the task: {mission}\nWas this goal reached? Reply with one word only: Yes or No."
    return make("scene-reader").answer(message(prompt, page))


@pytest.mark.parametrize(
    ("mission", "last", "answer"),
    [
        ("walk up to the red box until it is right in front of you", AT_HAND, "Yes"),
        ("walk up to the red box until it is right in front of you", FAR, "No"),
        ("walk up to the red box until it is right in front of you", with_box(room(), GREEN, 80, 120, 190, 191), "No"),
        ("pick up the green box", CARRIED, "Yes"),
        ("pick up the green ball", CARRIED, "No"),
        ("pick up the green box", with_box(room(), GREEN, 100, 120, 160, HEIGHT - 1), "No"),
        ("put the red box down right next to the yellow box", BESIDE, "Yes"),
        ("put the red box down right next to the yellow box", AT_HAND, "No"),
        ("put the red box down right next to the yellow box", with_box(AT_HAND, YELLOW, 10, 60, 30, 80), "No"),
    ],
)
def test_verdicts(mission, last, answer):
    assert asked(mission, room(), last) == answer


def test_an_unknown_mission_or_a_page_without_frames_is_no_guess():
    assert asked("boil an egg", room(), AT_HAND) == CANNOT
    assert make("scene-reader").answer(message("Yes or No", np.full((60, 60, 3), 255, dtype=np.uint8))) == CANNOT
    assert objective_of("get to the green goal square") is None


def test_a_reference_shows_what_was_asked_for():
    for last, right, wrong in ((AT_HAND, AT_HAND, FAR), (CARRIED, CARRIED, FAR), (BESIDE, BESIDE, AT_HAND)):
        objective = shown_objective([room(), last])
        assert objective([room(), right]) and not objective([room(), wrong])
    assert shown_objective([room(), room()]) is None


def sign(letters):
    frame = room()
    frame[20:50, 60:200] = 165
    for number in range(letters):
        frame[28:42, 72 + 24 * number : 80 + 24 * number] = 20
    return frame


def test_signs_are_read_by_the_number_of_their_letters():
    assert [sign_of(sign(count)) and sign_of(sign(count))[1] for count in (2, 3, 4, 5)] == [
        None,
        "red",
        "blue",
        "green",
    ]
    assert sign_of(room()) is None
    assert sign_of(np.roll(sign(5), -100, axis=1)) is None
    assert sign_of(np.roll(sign(4), -60, axis=1)) is None  # it may be the end of GREEN
    assert sign_of(np.roll(sign(5), 58, axis=1))[1] == "green"  # cut off behind its last letter


def test_a_carried_thing_says_more_of_a_reference_than_a_poster():
    objective = shown_objective([sign(4), CARRIED])
    assert objective([room(), CARRIED]) and not objective([room(), FAR])
    assert shown_objective([sign(3), AT_HAND])([sign(3), AT_HAND])


def test_a_reference_that_shows_two_things_next_to_the_one_at_hand_allows_both():
    both = with_box(with_box(AT_HAND, YELLOW, 40, 130, 65, HEIGHT - 1), GREEN, 200, 130, 250, HEIGHT - 1)
    objective = shown_objective([room(), both])
    for color, right in ((YELLOW, True), (GREEN, True), ((0, 0, 210), False)):
        assert objective([room(), with_box(AT_HAND, color, 40, 130, 65, HEIGHT - 1)]) is right


def test_what_has_just_risen_was_asked_for_whatever_else_is_near():
    before = with_box(with_box(room(), GREEN, 90, 120, 166, 180), RED, 200, 120, 250, HEIGHT - 1)
    objective = shown_objective([room(), before, with_box(CARRIED, RED, 200, 120, 250, HEIGHT - 1)])
    assert objective([room(), CARRIED]) and not objective([room(), AT_HAND])


def test_next_to_may_leave_a_gap_that_grows_with_nearness():
    for left, answer in ((5, "No"), (30, "Yes")):  # the red box at hand begins at 80 and is 110 wide
        beside = with_box(AT_HAND, YELLOW, left, 130, left + 25, HEIGHT - 1)
        assert asked("put the red box down right next to the yellow box", room(), beside) == answer


def test_a_thing_that_is_picked_up_rises_and_one_that_is_put_down_sinks():
    held = with_box(room(), RED, 60, 68, 195, HEIGHT - 1)
    turned = with_box(room(), RED, 20, 92, 120, HEIGHT - 1)
    before = with_box(room(), RED, 64, 92, 164, HEIGHT - 1)
    assert next_view(before, "pick up the thing right in front", {"A": before, "B": turned, "C": held}) == "C"
    assert next_view(held, "put the carried thing down", {"A": held, "B": turned, "C": before}) == "C"
    assert next_view(before, "pick up the thing right in front", {"A": before, "B": turned}) == "A"


def test_blobs_are_found_with_their_bounds():
    (box,) = blobs(FAR)
    assert (box.color, box.left, box.top, box.right, box.bottom) == ("red", 120, 70, 140, 95)
    assert math.isclose(box.fill, 1.0) and not box.at_hand and not box.carried


def test_a_turn_and_its_reverse_cancel():
    there, known = expected(FAR, TURN, 0.0)
    back, again = expected(there.astype(np.uint8), -TURN, 0.0)
    inside = known & again
    inside[:, : WIDTH // 3] = inside[:, -WIDTH // 3 :] = False
    assert np.abs(back - FAR)[inside].mean() < 25


def test_the_view_that_the_action_leads_to_is_chosen():
    views = {
        "A": expected(FAR, TURN, 0.0)[0].astype(np.uint8),
        "B": expected(FAR, -TURN, 0.0)[0].astype(np.uint8),
        "C": expected(FAR, 0.0, STEP)[0].astype(np.uint8),
        "D": expected(FAR, 0.0, -STEP)[0].astype(np.uint8),
    }
    actions = {"turn left": "A", "turn right": "B", "walk one step forward": "C", "walk one step backward": "D"}
    for action, letter in actions.items():
        assert next_view(FAR, action, views) == letter
        page = panel(("NOW", FAR), list(views.items()))
        prompt = f"Action: {action}\nReply with one letter only: A, B, C or D."
        assert make("scene-reader").answer(message(prompt, page)) == letter


def test_readers_sit_only_the_exams_of_their_world():
    minigrid, miniworld = WORLDS["minigrid"].judges, WORLDS["miniworld"].judges
    assert "scene-reader" in miniworld and "tile-reader" not in miniworld
    assert "tile-reader" in minigrid and "scene-reader" not in minigrid
