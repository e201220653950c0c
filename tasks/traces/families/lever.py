"""Two bodies hang from a beam on either side of its fulcrum.

Parameters: two masses and their arms; condition: the side on which the first hangs. Derived: weights, torques, the net
torque, the force at the second arm that would balance. Outcome: the side that goes down. Counterfactual: mass, arm.
"""

from tasks.traces.family import BODIES, GRAVITY, OPPOSITES, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    first, second = "{m1}·{g}·{d1}", "{m2}·{g}·{d2}"
    stronger = (first, second) if s["torque1"] > s["torque2"] else (second, first)
    return {
        "weight1": "{m1}·{g}",
        "weight2": "{m2}·{g}",
        "torque1": first,
        "torque2": second,
        "net": f"{stronger[0]} - {stronger[1]}",
        "balance": "{m1}·{g}·{d1}/{d2}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.fulcrum(5, 1.2, 1.6, "fulcrum")
    p.line([(1.2, 2.8), (8.8, 2.8)], thick=True)
    p.label(7.9, 3.15, p.names["beam"])
    longest = max(s["d1"], s["d2"])
    for role, key in (("a", "d1"), ("b", "d2")):
        on_left = (s["side"] == "left") == (role == "a")
        x = 5 + (-1 if on_left else 1) * (1.2 + 1.9 * s[key] / longest)
        p.line([(x, 2.8), (x, 2.2)])
        p.box(role, x - 0.7, 1.3, 1.4, 0.9)
        p.span(5, x, 3.6, p.value(key))
    p.show("m1", "m2", "d1", "d2", "g")


FAMILY = Family(
    name="lever",
    roles={"a": BODIES, "b": BODIES, "beam": ("beam", "plank", "lever"), "fulcrum": ("fulcrum", "pivot", "wedge")},
    recognize={
        "fulcrum": r"fulcrum|pivot|wedge",
        "beam": r"lever|beam|plank|bar",
        "a": r"load|1|\bA\b",
        "b": r"effort|2|\bB\b",
    },
    quantities={
        "m1": Quantity("mass", "m1", "kg", ("kg", "g"), 0.5, 9.5, "a", ("mass_1", "m1")),
        "d1": Quantity("arm", "d1", "m", ("m", "cm"), 0.2, 1.9, "a", ("d1", "load_arm", "r1")),
        "m2": Quantity("mass", "m2", "kg", ("kg", "g"), 0.5, 9.5, "b", ("mass_2", "m2")),
        "d2": Quantity("arm", "d2", "m", ("m", "cm"), 0.2, 1.9, "b", ("d2", "effort_arm", "r2")),
        "g": GRAVITY,
        "weight1": Quantity(
            "weight", "W1", "N", ("N",), owner="a", aliases=("f1", "load", "load_weight", "force", "f_load")
        ),
        "weight2": Quantity("weight", "W2", "N", ("N",), owner="b"),
        "torque1": Quantity("torque", "M1", "N·m", ("N·m",), owner="a"),
        "torque2": Quantity("torque", "M2", "N·m", ("N·m",), owner="b"),
        "net": Quantity("net torque", "M", "N·m", ("N·m",), owner="beam", either_sign=True),
        "balance": Quantity(
            "balancing force at the second arm", "F2", "N", ("N",), aliases=("f2", "effort", "f_effort", "effort_force")
        ),
    },
    conditions={"side": ("left", "right")},
    formulas={
        "weight1": lambda m1, g: m1 * g,
        "weight2": lambda m2, g: m2 * g,
        "torque1": lambda weight1, d1: weight1 * d1,
        "torque2": lambda weight2, d2: weight2 * d2,
        "net": lambda torque1, torque2: abs(torque1 - torque2),
        "tip": lambda side, torque1, torque2: side if torque1 > torque2 else OPPOSITES[side],
        "balance": lambda torque1, d2: torque1 / d2,
    },
    equations=_equations,
    relations=lambda s: (
        ("on", "beam", "fulcrum"),
        *(
            ((f"{s['side']}_of", "a", "fulcrum"), (f"{OPPOSITES[str(s['side'])]}_of", "b", "fulcrum"))
            if s.get("side")
            else ()
        ),
    ),
    forces=lambda s: (
        ForceSpec("gravity", "a", "down", "weight1"),
        ForceSpec("gravity", "b", "down", "weight2"),
    ),
    rules=("compare the torques about the fulcrum", "torque equals force times arm"),
    rule_words=r"torque|moment|lever",
    setting="On a {beam} that rests on a {fulcrum}, a {a} of mass {m1} hangs with an arm of {d1} to the {side} of the {fulcrum}, "
    "and a {b} of mass {m2} hangs with an arm of {d2} on the other side.",
    effect="The {beam} tips to the {tip} under a net torque of {net}",
    subject="beam",
    headline="net",
    outcome=Outcome(
        "tip",
        "To which side does the {beam} tip?",
        {"right": r"\bright(ward|-hand)?s?\b", "left": r"\bleft(ward|-hand)?s?\b"},
    ),
    targets=("torque1", "torque2", "net", "balance"),
    interventions=("m1", "d2"),
    assumptions=("the beam is rigid and massless", "the fulcrum is frictionless", "the beam starts level"),
    accept=lambda s: (
        abs(s["torque1"] / s["torque2"] - 1) > 0.25
        and 0.25 < s["torque1"] / s["torque2"] < 4
        and abs(s["m1"] / s["m2"] - 1) > 0.15
        and abs(s["d1"] / s["d2"] - 1) > 0.15
    ),
    draw=_draw,
    laws=frozenset(("torque", "dynamics", "rotation")),
    causes=("tension",),
)
