"""MiniWorld: plans, masks, counterfactuals and frames - each against MiniWorld itself, untouched, in another process."""

import dataclasses
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.errors import BadInput, StageFailed
from tasks.worlds import environment, environments
from tasks.worlds.base import MaskBox, Rejected
from tasks.worlds.miniworld import check
from tasks.worlds.miniworld.child.state import AGENT_RADIUS, NOWHERE
from tasks.worlds.miniworld.edits import APART
from tasks.worlds.miniworld.environment import CLEARLY, _differ
from tasks.worlds.miniworld.floor import Floor
from tasks.worlds.miniworld.oneroom import OneRoom
from tasks.worlds.miniworld.planner import gap
from tasks.worlds.miniworld.process import PROCESS, RemoteEngine, software_rendering
from tasks.worlds.process import ChildProcess

NAMES = sorted(environments("miniworld"))
MISSING = [f"{name}: {message}" for name, works, message in check() if not works]
needs_gl = pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING))

UNTOUCHED = """
import json, os, sys
out, sys.stdout = os.dup(1), sys.stderr
os.dup2(2, 1)
import pyglet
pyglet.options["headless"] = True
import gymnasium, hashlib, miniworld
env_id, seed, actions = json.load(sys.stdin)
env = gymnasium.make(env_id, disable_env_checker=True, obs_width=256, obs_height=192).unwrapped
env.params.set("cam_pitch", -20)
frames, ended = [env.reset(seed=seed)[0]], None
digests = [hashlib.sha256(frames[0].tobytes()).hexdigest()]
for action in actions:
    frame, reward, terminated, truncated, _ = env.step(env.actions[action])
    digests.append(hashlib.sha256(frame.tobytes()).hexdigest())
os.write(out, json.dumps([digests, float(reward), bool(terminated), bool(truncated)]).encode())
"""


def test_listing_needs_no_opengl():
    code = (
        "import sys; sys.modules['pyglet'] = sys.modules['miniworld'] = None\n"
        "from tasks.worlds import environments\nprint(len(environments('miniworld')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(len(NAMES)) == "10"


@pytest.fixture(scope="module")
def made():
    """(environment, seed, Full, mask, CF) of the first clean group of each environment."""
    found = {}
    for name in NAMES:
        world = environment("miniworld", name)
        for seed in itertools.count():
            try:
                full = world.rollout(seed)
                found[name] = world, seed, full, world.nocue(full), world.counterfactual(seed, full)
                break
            except Rejected:
                assert seed < 12
    return found


@needs_gl
@pytest.mark.parametrize("name", NAMES)
def test_a_group_is_what_a_fresh_simulator_does_and_draws(made, name):
    world, seed, full, mask, cf = made[name]
    assert full.success and not full.truncated and not cf.success and not cf.truncated
    assert len(full.states) == len(cf.states) == len(full.actions) + 1
    assert world.chain_in_order(full.events) is None
    assert world.why_failed(full, cf) is None and world.allowed_divergence(full, cf) is None
    for episode in (full, cf):
        witness = world._witness(seed, full.actions, episode.intervention, sampled=1)
        assert [world.encode(state) for state in episode.states] == witness.states()
        frames = list(world.frames(seed, episode))
        for step, frame in enumerate(frames):
            assert frame.shape == (192, 256, 3)
            assert witness.misread(step, frame, []) is None
            assert witness.invalid_state(world.encode(episode.states[step])) is None
            assert world.decode(json.loads(json.dumps(world.encode(episode.states[step])))) == episode.states[step]
        assert witness.misread(len(frames) - 1, np.roll(frames[-1], 1, axis=1), []) is not None
    assert 0 < len(mask) <= world.nocue_budget
    witness = world.witness(seed, full.actions, None)
    for box in mask:
        assert [box] == witness.target_boxes(box.step) and not witness.faces_target(box.step)


@needs_gl
@pytest.mark.parametrize("name", ["oneroom", "fourrooms", "putnext"])
def test_frames_and_outcome_are_those_of_untouched_miniworld(made, name):
    import hashlib

    world, seed, full, _, _ = made[name]
    request = json.dumps([world.env_id, seed, full.actions])
    ran = subprocess.run([sys.executable, "-c", UNTOUCHED], input=request, capture_output=True, text=True, check=True)
    digests, reward, terminated, truncated = json.loads(ran.stdout)
    assert digests == [hashlib.sha256(frame.tobytes()).hexdigest() for frame in world.frames(seed, full)]
    assert (reward, terminated, truncated) == (full.reward, True, False)


@needs_gl
@pytest.mark.parametrize("name", NAMES)
def test_success_and_failure_can_be_told_by_the_last_frame(made, name):
    """Report GR1: a success shows its goal at hand, a failure does not come near it."""
    world, _, full, _, cf = made[name]
    for thing in world.evidence(full.states[-1]):
        assert world.engine.visible(full.states[-1], [], thing)[0] >= CLEARLY
    goal = cf.states[-1].things[cf.states[-1].goal]
    if name == "putnext":
        assert goal.gone or gap(cf.states[-1], cf.states[-1].find("box", "red"), cf.states[-1].goal) >= APART
    else:
        assert goal.gone or cf.states[-1].distance(goal) - goal.radius - AGENT_RADIUS >= APART
    ends = [list(world.frames(0, episode))[-1] for episode in (full, cf)]
    assert _differ(*ends)


@needs_gl
def test_putnext_leaves_no_doubt_about_which_box_was_meant(made):
    world, _, full, _, _ = made["putnext"]
    assert world.unclear(full) is None
    end = full.states[-1]
    red, green = end.find("box", "red"), end.find("box", "green")
    near = dataclasses.replace(end.things[green], x=end.things[red].x + 1.4, z=end.things[red].z)
    things = (*end.things[:green], near, *end.things[green + 1 :])
    crowded = dataclasses.replace(full, states=[*full.states[:-1], dataclasses.replace(end, things=things)])
    assert world.unclear(crowded) == "the red box ends beside the green box too"


@needs_gl
def test_contradicting_successors_look_different_from_what_the_action_may_lead_to(made):
    world, seed, full, _, _ = made["pickup"]
    steps = range(0, len(full.actions), 7)
    for step, branches in world.branches(seed, full.actions, steps).items():
        taken = full.actions[step]
        assert branches[taken].state == full.states[step + 1]
        assert not world.contradicts(full.states[step], taken, branches[taken].state)
        assert not world.contradicts(full.states[step], taken, full.states[step])  # it may have been stopped
        for name, branch in branches.items():
            if world.contradicts(full.states[step], taken, branch.state):
                assert name != taken and _differ(branch.pixels, branches[taken].pixels)


@needs_gl
def test_branches_leave_the_episode_as_it_was(made):
    for name in ("putnext", "oneroom"):
        world, seed, full, _, _ = made[name]
        world.branches(seed, full.actions, range(len(full.actions)))
        again = world.execute(seed, full.actions)
        assert again.states == full.states and again.reward == full.reward


@needs_gl
def test_a_mask_hides_its_boxes_and_nothing_else(made):
    world, seed, full, mask, _ = made["hallway"]
    frame = next(itertools.islice(world.frames(seed, full), mask[0].step, None))
    hidden = world.hide(frame, mask[:1])
    box = mask[0]
    inside = np.zeros(frame.shape[:2], dtype=bool)
    inside[box.top : box.top + box.height, box.left : box.left + box.width] = True
    assert (hidden[inside] == 127).all() and np.array_equal(hidden[~inside], frame[~inside])
    without = world.engine.visible(dataclasses.replace(full.states[box.step]), [], full.states[0].goal)
    assert MaskBox(box.step, *without[1]) == box


@needs_gl
@pytest.mark.parametrize("name", NAMES)
def test_the_pixels_of_a_thing_are_those_that_change_when_it_is_far_away(made, name):
    world, _, full, _, _ = made[name]
    seen = 0
    for state in full.states[::4]:
        for index, thing in enumerate(state.things):
            if thing.kind in ("sign", "picture"):  # these lie in the floor plan
                continue
            away = dataclasses.replace(thing, x=NOWHERE[0], y=NOWHERE[1], z=NOWHERE[2])
            things = (*state.things[:index], away, *state.things[index + 1 :])
            frame, count, box = world.engine.outlined(state, [], index)
            shown, without = world.engine.show([state, dataclasses.replace(state, things=things)], [])
            changed = (shown != without).any(axis=2)
            assert np.array_equal(frame, shown) and count == changed.sum() and (box is None) == (count == 0)
            if box:
                left, top, width, height = box
                rows, columns = changed.nonzero()
                assert (left, top) == (columns.min(), rows.min())
                assert (left + width - 1, top + height - 1) == (columns.max(), rows.max())
            seen += count > 0
    assert seen


@needs_gl
def test_a_sign_is_hidden_in_every_frame_that_shows_it(made):
    world, _, full, mask, _ = made["sign"]
    masked = {box.step for box in mask}
    for step, state in enumerate(full.states):
        pixels, _ = world.engine.visible(state, [], world.cue(state))
        assert (pixels > 0) == (step in masked)


@needs_gl
def test_an_unknown_configuration_is_bad_input():
    for env_id in ("MiniWorld-Nowhere-v0", "MiniWorld-Hallway-v0?color=1"):
        with pytest.raises(BadInput, match="no MiniWorld environment 'MiniWorld-"):
            OneRoom(env_id).rollout(0)


class Dies(OneRoom):
    """An environment whose drawing kills its process."""

    simulator = "simulators.py:Dies"


class Raises(OneRoom):
    """A user's environment that raises in reset."""

    name = "raises"
    simulator = "simulators.py:Raises"


@needs_gl
def test_a_dead_child_is_said_and_replaced():
    with pytest.raises(StageFailed, match=r"MiniWorld-OneRoom-v0.: its process was killed by SIGABRT.*doctor"):
        Dies().rollout(0)
    assert OneRoom().execute(0, []).states


@needs_gl
def test_an_environment_that_raises_in_reset_says_so():
    with pytest.raises(StageFailed, match=r"raises: reset\(seed=\d+\) raised ZeroDivisionError: no room"):
        Raises().rollout(1)


@pytest.fixture
def engine_of_another_process():
    process = ChildProcess(PROCESS.world, PROCESS.folder, PROCESS.variable, software_rendering)
    yield RemoteEngine(OneRoom.simulator, OneRoom.default_id, OneRoom.name, OneRoom.mission, "main", process)
    process.close()


@needs_gl
def test_a_missing_library_is_said_with_what_mends_it(monkeypatch, tmp_path, engine_of_another_process):
    (tmp_path / "pyglet").mkdir()
    (tmp_path / "pyglet" / "__init__.py").write_text("raise ImportError('Library \"GL\" not found.')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(StageFailed, match=r'Library "GL" not found.*apt-get install libgl1'):
        engine_of_another_process.reset(0)


@needs_gl
def test_a_display_that_points_nowhere_does_not_matter(monkeypatch, engine_of_another_process):
    monkeypatch.setenv("DISPLAY", ":77")
    state, mission = engine_of_another_process.reset(3)
    (frame,) = engine_of_another_process.show([state])
    assert mission == OneRoom.mission
    (here,) = OneRoom().engine.show([state])
    assert np.array_equal(frame, here)


@needs_gl
def test_an_episode_is_not_gone_on_with_in_a_process_that_never_began_it():
    engine = OneRoom().engine
    engine.reset(0)
    PROCESS.close()
    with pytest.raises(StageFailed, match="started anew in the middle of an episode"):
        engine.step("turn_left")


@needs_gl
def test_an_engine_that_is_made_meanwhile_leaves_the_floor_plan_of_the_others(engine_of_another_process):
    """MiniWorld has one display list for all its environments, and makes each with a world of its own."""
    first = engine_of_another_process
    maze = RemoteEngine("simulator:Simulator", "MiniWorld-MazeS3-v0", "maze", "", "main", first._process)
    _, results, frames = first.replay(0, ["turn_left"], [], {0})
    maze.walls(1)
    (again,) = first.show([results[0][0]])
    assert np.array_equal(again, frames[0])


@needs_gl
def test_nothing_is_printed(capfd):
    list(OneRoom().frames(0, OneRoom().execute(0, ["turn_left"])))
    assert capfd.readouterr() == ("", "")


ROOM = np.array([[[0, 0], [8, 0]], [[8, 0], [8, 8]], [[8, 8], [0, 8]], [[0, 8], [0, 0]], [[4, 0], [4, 5]]], dtype=float)
places = st.floats(0.6, 7.4)


@settings(max_examples=60, deadline=None)
@given(places, places, places, places)
def test_a_route_keeps_its_distance_from_walls(ax, az, bx, bz):
    floor, radius = Floor(ROOM), 0.5
    start, end = (ax, az), (bx, bz)
    ends = floor.free(np.array([start, end]), radius, [])
    way = floor.route(start, end, radius, [])
    assert way is not None and way[-1] == end
    if ends.all():
        clear = [floor.straight(a, b, radius - 0.3, []) for a, b in itertools.pairwise([start, *way])]
        assert all(clear)
    blocked = floor.route(start, end, radius, [(x / 2, z / 2, 0.4) for x in range(17) for z in range(11, 16)])
    if min(ax, bx) < 3.4 and max(ax, bx) > 4.6 and az < 4 and bz < 4:
        assert blocked is None


@settings(max_examples=30, deadline=None)
@given(places, places)
def test_a_wall_hides_what_is_behind_it(az, bz):
    floor = Floor(ROOM)
    crossing = az + (bz - az) * 0.5
    assert floor.sees((2.0, az), (6.0, bz)) == (crossing > 5)
