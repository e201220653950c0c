"""MiniGrid: views, tiles, plans, variants - each against the simulator itself."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball

from tasks.errors import BadInput
from tasks.worlds import environment, environments
from tasks.worlds.base import Rejected
from tasks.worlds.minigrid import tiles
from tasks.worlds.minigrid.planner import Planner
from tasks.worlds.minigrid.rules import contradicts
from tasks.worlds.minigrid.simulator import (
    ACTIONS,
    EMPTY,
    GOAL,
    Simulator,
    cell,
    code_of,
    decode_state,
    encode_state,
    view_of,
)

NAMES = sorted(environments("minigrid"))


def test_the_eight_environments_of_the_paper_are_there():
    assert set(NAMES) >= {
        "doorkey", "keycorridor", "redbluedoors", "lavagap", "memory", "multiroom",
        "unlockpickup", "blockedunlockpickup",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_view_is_minigrids_but_for_the_agents_own_cell(name):
    simulator = Simulator(environment("minigrid", name).env_id)
    moves = random.Random(name)
    for seed in range(3):
        simulator.reset(seed)
        for _ in range(40):
            state = simulator.step(moves.choice(ACTIONS))
            grid, visible = simulator.env.gen_obs_grid()
            expected = np.array([[code_of(grid.get(i, j)) if visible[i, j] else 0 for i in range(7)] for j in range(7)])
            expected[6, 3] = state.at(state.position)
            assert np.array_equal(view_of(state).cells, expected)
            again = decode_state(encode_state(state))
            assert encode_state(again) == encode_state(state)
            if simulator.terminated:
                break


def test_shipped_tiles_are_what_minigrid_draws():
    pictures = tiles.atlas()
    for code in (EMPTY, GOAL, cell("lava"), cell("door", "yellow", 2), cell("key", "blue")):
        assert np.array_equal(pictures.tiles[pictures.row[code]], tiles.render_tile(code, highlight=True))
    assert np.array_equal(pictures.tiles[0], tiles.render_tile(EMPTY, highlight=False))


def test_a_frame_is_minigrids_own_but_for_the_agents_tile():
    world = environment("minigrid", "doorkey")
    simulator = world.simulator
    simulator.reset(4)
    for action in ("left", "forward", "right", "forward"):
        frame = tiles.draw(simulator.step(action).view)
        theirs = simulator.env.get_pov_render(32)
        theirs[192:, 96:128] = frame[192:, 96:128]
        assert np.array_equal(frame, theirs)


def test_a_thing_that_is_not_shipped_is_drawn_by_minigrid():
    code = cell("floor", "purple")
    pictures = tiles.Atlas()
    assert code not in pictures.row
    row = pictures.rows(np.array([code]))[0]
    assert np.array_equal(pictures.tiles[row], tiles.render_tile(code, highlight=True))


@pytest.mark.parametrize("name", NAMES)
def test_success_shows_in_the_last_frame(name):
    """GR1: Minigrid's view erases the cell under the agent; ours does not. Full's last frame differs from CF's."""
    world = environment("minigrid", name)
    found = 0
    for seed in range(8):
        try:
            full = world.rollout(seed)
            cf = world.counterfactual(seed, full)
        except Rejected:
            continue
        found += 1
        last_full, last_cf = tiles.draw(full.states[-1].view), tiles.draw(cf.states[-1].view)
        assert not np.array_equal(last_full, last_cf)
        own_tile = last_full[192:, 96:128]
        if world.final_event == "reach goal":
            assert not np.array_equal(own_tile, tiles.atlas().agent_tile(EMPTY, full.states[-1].carrying))
        if world.final_event.startswith("pickup"):
            assert not np.array_equal(own_tile, tiles.atlas().agent_tile(EMPTY, EMPTY))
    assert found


def test_minigrids_own_view_hides_the_goal_under_the_agent():
    """The fault that the agent's tile mends (GR1), as a reminder should Minigrid ever change."""
    simulator = Simulator("MiniGrid-Empty-5x5-v0")
    simulator.reset(0)
    start = simulator.step("left") and simulator.env.get_pov_render(32)
    simulator.reset(0)
    for action in ("forward", "forward", "right", "forward", "forward"):
        state = simulator.step(action)
    assert simulator.terminated and simulator.reward > 0
    assert np.array_equal(simulator.env.get_pov_render(32), start)
    assert state.at(state.position) == GOAL and not np.array_equal(tiles.draw(state.view), start)


@pytest.mark.parametrize("name", NAMES)
def test_plans_replay_in_minigrid_itself(name):
    """An independent route: gymnasium's own loop, MiniGrid's own reward."""
    import gymnasium

    world = environment("minigrid", name)
    registered, _, query = world.env_id.partition("?")
    env = gymnasium.make(registered, **({"size": int(query.split("=")[1])} if query else {}))
    done = 0
    for seed in range(6):
        try:
            full = world.rollout(seed)
        except Rejected:
            continue
        env.reset(seed=seed)
        for action in full.actions:
            _, reward, terminated, truncated, _ = env.step(env.unwrapped.actions[action])
        assert terminated and reward > 0 and not truncated
        assert reward == pytest.approx(full.reward)
        done += 1
    assert done


@pytest.mark.parametrize("name", NAMES)
def test_a_rollout_does_not_depend_on_what_came_before(name):
    """GR3: a seeded reset starts from nothing."""
    world, other = environment("minigrid", name), environment("minigrid", name)

    def attempt(where, seed):
        try:
            full = where.rollout(seed)
            return full.actions, encode_state(full.states[0])
        except Rejected as error:
            return str(error)

    for seed in (11, 12, 13):
        attempt(world, seed)
    assert attempt(world, 5) == attempt(other, 5)


@pytest.mark.parametrize("name", NAMES)
def test_counterfactuals_keep_the_actions_and_the_length_and_fail(name):
    world = environment("minigrid", name)
    kinds = set()
    for seed in range(12):
        try:
            full = world.rollout(seed)
            cf = world.counterfactual(seed, full)
        except Rejected:
            continue
        kinds.add(cf.intervention.name)
        assert cf.actions == full.actions and len(cf.states) == len(full.states)
        assert not cf.success and not cf.truncated
        assert encode_state(cf.states[0]) != encode_state(full.states[0])
    assert kinds == {way for way, _ in world.interventions(full)}


def test_a_layout_without_room_is_rejected_with_its_reason():
    """GR8."""
    simulator = Simulator("MiniGrid-Empty-5x5-v0")
    simulator.reset(0)
    planner = Planner(simulator)
    with pytest.raises(Rejected, match="0 things are a key"):
        planner.find("key")
    simulator.env.grid.set(2, 1, Ball("red"))
    simulator.env.grid.set(1, 2, Ball("red"))
    simulator._read_all()
    with pytest.raises(Rejected, match="no way to"):
        Planner(simulator).reach((3, 3))


@given(seed=st.integers(0, 10_000), name=st.sampled_from(NAMES), moves=st.lists(st.sampled_from(ACTIONS), max_size=25))
@settings(max_examples=60, deadline=None)
def test_what_really_follows_is_never_a_contradiction(seed, name, moves):
    simulator = _simulators.setdefault(name, Simulator(environment("minigrid", name).env_id))
    simulator.reset(seed)
    state = simulator.state
    for action in moves:
        after = simulator.step(action)
        assert not contradicts(state.view, action, after.view)
        state = after
        if simulator.terminated or simulator.truncated:
            break


_simulators: dict[str, Simulator] = {}


def test_snapshot_and_restore_come_back_to_the_same_world():
    simulator = Simulator("MiniGrid-DoorKey-8x8-v0")
    world = environment("minigrid", "doorkey")
    full = world.rollout(3)
    simulator.reset(3)
    for step, action in enumerate(full.actions):
        before = encode_state(simulator.state)
        here = simulator.snapshot()
        for other in ACTIONS:
            simulator.step(other)
            simulator.restore(here)
            assert encode_state(simulator.state) == before
        simulator.step(action)
        assert encode_state(simulator.state) == encode_state(full.states[step + 1])


def test_names_that_there_are_not():
    with pytest.raises(BadInput, match="did you mean 'doorkey'"):
        environment("minigrid", "dorkey")
    with pytest.raises(BadInput, match="unknown world 'crafter'"):
        environment("crafter", "x")
    with pytest.raises(BadInput, match="no MiniGrid environment"):
        environment("minigrid", "doorkey", "MiniGrid-DoorKey-9000-v0").rollout(1)


def test_minigrid_still_draws_doors_as_the_legend_says():
    """The legend tells locked from closed doors by their pictures."""
    pictures = {state: Grid.render_tile(tiles.thing_of(cell("door", "red", state))) for state in (0, 1, 2)}
    assert pictures[2][4, 16, 0] > 0 and pictures[1][4, 16, 0] == 0  # locked: filled; closed: dark between its frames
