"""Groups in an order whose every beginning is balanced over difficulty."""

import random

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tasks.variants.balance import balanced_order, difficulty, strata


def _table(actions):
    return pl.DataFrame(
        {
            "group_id": [f"g{number}" for number in range(len(actions))],
            "variant": ["full"] * len(actions),
            "actions": actions,
            "events": [[{"step": 1, "name": "pass door"}] * (len(a) // 5) for a in actions],
        }
    )


def test_difficulty_counts_steps_turns_and_doors():
    measured = difficulty(_table([["left", "forward", "turn_right", "pickup", "forward"]]))
    assert measured.rows() == [("g0", 5, 2, 1)]


@given(st.integers(3, 40), st.integers(0, 100))
def test_every_beginning_is_balanced(count, seed):
    draw = random.Random(seed)
    table = _table([[draw.choice(["left", "forward"]) for _ in range(draw.randint(1, 30))] for _ in range(count)])
    order = balanced_order(table)
    assert sorted(order) == sorted(table["group_id"])
    stratum = dict(strata(difficulty(table))["group_id", "stratum"].rows())
    for length in range(1, count // 3 * 3 + 1):
        of_each = [sum(stratum[name] == third for name in order[:length]) for third in range(3)]
        assert max(of_each) - min(of_each) <= 1
    assert max(stratum.values()) == 2
