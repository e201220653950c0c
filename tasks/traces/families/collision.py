"""Two bodies on a straight frictionless track collide.

Parameters: two masses, two velocities (positive to the right); conditions: elastic or perfectly inelastic, and the side
on which the first stands. Derived: final velocities, total momentum, kinetic energy. Outcome: where the first moves
afterwards. Counterfactual: the second mass, the first velocity.
"""

from tasks.traces.family import BODIES, Family, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    elastic = s["kind"] == "elastic"
    both = "({m1}·{v1} + {m2}·{v2})/({m1} + {m2})"
    return {
        "momentum": "{m1}·{v1} + {m2}·{v2}",
        "energy": "({m1}·{v1}² + {m2}·{v2}²)/2",
        "energy1": "({m1}·{v1}² + {m2}·{v2}²)/2" if elastic else "({m1}·{v1} + {m2}·{v2})²/(2·({m1} + {m2}))",
        "v1f": "(({m1} - {m2})·{v1} + 2·{m2}·{v2})/({m1} + {m2})" if elastic else both,
        "v2f": "(({m2} - {m1})·{v2} + 2·{m1}·{v1})/({m1} + {m2})" if elastic else both,
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.ground("track")
    first = 2.4 if s["side"] == "left" else 6.6
    after = p.moment == "after"
    if after:
        # after the impact the bodies part, or stay together
        gap = 1.7 if s["kind"] == "elastic" else 1.5
        first = 5 - gap / 2 - 0.75 if s["side"] == "left" else 5 + gap / 2 - 0.75
    second = (
        (first + (1.5 if s["kind"] != "elastic" else 2.4) * (1 if s["side"] == "left" else -1)) if after else 9 - first
    )
    for role, x, key in (("a", first, "v1f" if after else "v1"), ("b", second, "v2f" if after else "v2")):
        p.box(role, x, 1, 1.5, 1.1)
        p.arrow(x + 0.75, 2.5 if role == "a" else 3.3, 1.2 if s[key] > 0 else -1.2, 0, p.value(key))
    p.show("m1", "m2", "v1", "v2")
    p.note(f"{s['kind']} collision, positive to the right")


FAMILY = Family(
    name="collision",
    roles={"a": BODIES, "b": BODIES},
    recognize={"a": r"\bA\b|_?a$|1|first|left", "b": r"\bB\b|_?b$|2|second|right"},
    quantities={
        "m1": Quantity("mass", "m1", "kg", ("kg", "g"), 0.5, 9.5, "a", ("mass_1", "m_a", "mass_a", "m1")),
        "m2": Quantity("mass", "m2", "kg", ("kg", "g"), 0.5, 9.5, "b", ("mass_2", "m_b", "mass_b", "m2")),
        "v1": Quantity(
            "initial velocity", "v1", "m/s", ("m/s", "km/h"), -9.5, 9.5, "a", ("v1_initial", "v1i", "v_a", "va_initial")
        ),
        "v2": Quantity(
            "initial velocity", "v2", "m/s", ("m/s", "km/h"), -9.5, 9.5, "b", ("v2_initial", "v2i", "v_b", "vb_initial")
        ),
        "momentum": Quantity("total momentum", "p", "kg·m/s", ("kg·m/s",), aliases=("p_total", "momentum")),
        "energy": Quantity("initial kinetic energy", "E", "J", ("J",), aliases=("ke_initial",)),
        "v1f": Quantity(
            "final velocity",
            "u1",
            "m/s",
            ("m/s", "km/h"),
            owner="a",
            aliases=("v1_final", "v1'", "va_final", "v_final", "vf"),
        ),
        "v2f": Quantity(
            "final velocity",
            "u2",
            "m/s",
            ("m/s", "km/h"),
            owner="b",
            aliases=("v2_final", "v2'", "vb_final", "v_final", "vf"),
        ),
        "energy1": Quantity("final kinetic energy", "E'", "J", ("J",), aliases=("ke_final",)),
    },
    conditions={"kind": ("elastic", "perfectly inelastic"), "side": ("left", "right")},
    formulas={
        "momentum": lambda m1, v1, m2, v2: m1 * v1 + m2 * v2,
        "energy": lambda m1, v1, m2, v2: (m1 * v1 * v1 + m2 * v2 * v2) / 2,
        "common": lambda momentum, m1, m2: momentum / (m1 + m2),
        "v1f": lambda kind, common, v1: 2 * common - v1 if kind == "elastic" else common if "inelastic" in kind else "",
        "v2f": lambda kind, common, v2: 2 * common - v2 if kind == "elastic" else common if "inelastic" in kind else "",
        "energy1": lambda m1, v1f, m2, v2f: (m1 * v1f * v1f + m2 * v2f * v2f) / 2,
        "way": lambda v1f: "right" if v1f > 0 else "left",
        "speed1f": lambda v1f: abs(v1f),
    },
    equations=_equations,
    relations=lambda s: ((f"{s['side']}_of", "a", "b"),) if s.get("side") else (),
    forces=lambda s: (),
    rules=(
        "conservation of momentum on a frictionless track",
        "the total momentum before equals the total momentum after",
    ),
    rule_words=r"momentum",
    setting="A {a} of mass {m1} moves on a straight track with an initial velocity of {v1}, and a {b} of mass {m2} with an "
    "initial velocity of {v2}; positive is to the right. The {a} is to the {side} of the {b}. Their collision is {kind}.",
    effect="After the collision the {a} moves to the {way} with a final velocity of {v1f}",
    subject="a",
    headline="v1f",
    outcome=Outcome(
        "way",
        "Which way does the {a} move after the collision?",
        {"right": r"\bright(ward)?s?\b", "left": r"\bleft(ward)?s?\b"},
    ),
    targets=("v1f", "v2f", "momentum", "energy"),
    interventions=("m2", "v1"),
    assumptions=(
        "the track is frictionless",
        "the motion is one-dimensional",
        "no external force acts during the impact",
    ),
    accept=lambda s: (
        (s["v1"] - s["v2"]) * (1 if s["side"] == "left" else -1) > 1
        and abs(s["v1"]) > 1
        and abs(s["v2"]) > 1
        and abs(s["v1f"]) > 0.15 * (abs(s["v1"]) + abs(s["v2"]))
        and abs(s["v2f"]) > 0.15 * (abs(s["v1"]) + abs(s["v2"]))
        and abs(s["v1f"] / s["v1"] - 1) > 0.15
        and abs(s["momentum"]) > 0.25 * (abs(s["m1"] * s["v1"]) + abs(s["m2"] * s["v2"]))
        and abs(s["m1"] / s["m2"] - 1) > 0.15
        and abs(s["v1"] / s["v2"] - 1) > 0.15
    ),
    draw=_draw,
    laws=frozenset(("momentum", "energy", "dynamics", "kinematics")),
    shared_outcome=lambda s: s.get("kind") == "perfectly inelastic",  # which leaves both with one velocity
    event="collision|impact",
    contrary={
        "kind": {
            "perfectly inelastic": r"no kinetic energy is lost|kinetic energy is (?:also )?conserved|(?<!in)\belastic\b|bounce (?:off|apart)",
            "elastic": r"inelastic|stick together|move on (?:together|as one)|kinetic energy is (?:partly |partially )?lost",
        }
    },
    change=("v1", "v1f"),
)
