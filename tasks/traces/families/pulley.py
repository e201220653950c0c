"""Two bodies hang from one string over an ideal pulley (Atwood's machine).

Parameters: two masses, the speed at which they already move in the sense of the heavier one, elapsed time; condition: the
side on which the first hangs. Derived: weights, acceleration, tension, final speed. Outcome: where the first goes.
Counterfactual: either mass.
"""

from tasks.traces.family import AWAY_FROM_CENTER, BODIES, GRAVITY, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    more, less = ("{m1}", "{m2}") if s["way"] == "down" else ("{m2}", "{m1}")
    return {
        "weight1": "{m1}·{g}",
        "weight2": "{m2}·{g}",
        "acceleration": f"({more} - {less})·{{g}}/({{m1}} + {{m2}})",
        "tension": "2·{m1}·{m2}·{g}/({m1} + {m2})",
        "v1": "{v0} + {acceleration}·{t}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.circle(5, 5.2, 0.6, filled=True)
    p.label(5, 6.15, p.names["pulley"])
    first, second = (3.5, 5.6) if s["side"] == "left" else (5.6, 3.5)
    move = 0.7 if p.moment == "after" else 0.0
    down = s["way"] == "down"
    for role, x, sinks in (("a", first, down), ("b", second, not down)):
        y = 2.4 - move if sinks else 2.4 + move
        p.line([(4.4 if x < 5 else 5.6, 5.2), (4.4 if x < 5 else 5.6, y + 0.9)])
        p.box(role, x if x > 5 else 3.5, y, 1.4, 0.9)
        p.arrow(2.9 if x < 5 else 7.5, y + 0.45, 0, -0.7 if sinks else 0.7, "")
    p.show("m1", "m2", "v0", "t", "g")


FAMILY = Family(
    name="pulley",
    roles={"a": BODIES, "b": BODIES, "pulley": ("pulley", "wheel")},
    recognize={"pulley": r"pulley|wheel", "a": r"1|\bA\b|_a$|left|first", "b": r"2|\bB\b|_b$|right|second"},
    quantities={
        "m1": Quantity("mass", "m1", "kg", ("kg", "g"), 0.5, 9.5, "a", ("mass_1", "m_a", "m1")),
        "m2": Quantity("mass", "m2", "kg", ("kg", "g"), 0.5, 9.5, "b", ("mass_2", "m_b", "m2")),
        "v0": Quantity("initial speed", "v0", "m/s", ("m/s", "km/h"), 0.5, 4, "a", ("v_initial",)),
        "t": Quantity("elapsed time", "t", "s", ("s", "ms"), 0.25, 0.95, "", ("time",)),
        "g": GRAVITY,
        "weight1": Quantity("weight", "W1", "N", ("N",), owner="a"),
        "weight2": Quantity("weight", "W2", "N", ("N",), owner="b"),
        "acceleration": Quantity("acceleration", "a", "m/s²", ("m/s²",), owner="a", aliases=("a",), either_sign=True),
        "tension": Quantity("tension in the string", "T", "N", ("N",), owner="", aliases=("tension", "t_string")),
        "v1": Quantity("final speed", "v", "m/s", ("m/s", "km/h"), owner="a", aliases=("v_final",)),
    },
    conditions={"side": ("left", "right")},
    formulas={
        "weight1": lambda m1, g: m1 * g,
        "weight2": lambda m2, g: m2 * g,
        "acceleration": lambda m1, m2, g: abs(m1 - m2) * g / (m1 + m2),
        "way": lambda m1, m2: "down" if m1 > m2 else "up" if m2 > m1 else "",
        "tension": lambda m1, m2, g: 2 * m1 * m2 * g / (m1 + m2),
        "v1": lambda v0, acceleration, t: v0 + acceleration * t,
    },
    equations=_equations,
    relations=lambda s: (
        ("attached_to", "a", "pulley"),
        ("attached_to", "b", "pulley"),
        *(((f"{s['side']}_of", "a", "b"),) if s.get("side") else ()),
    ),
    forces=lambda s: (
        ForceSpec("gravity", "a", "down", "weight1"),
        ForceSpec("gravity", "b", "down", "weight2"),
        ForceSpec("tension", "a", "up", "tension", contrary=AWAY_FROM_CENTER),
        ForceSpec("tension", "b", "up", "tension", contrary=AWAY_FROM_CENTER),
    ),
    rules=(
        "Newton's second law for both bodies on one string",
        "the difference of the weights accelerates both masses",
    ),
    rule_words=r"newton|second law|atwood|difference of the weights",
    setting="A {a} of mass {m1} and a {b} of mass {m2} hang from one string over an ideal {pulley}, the {a} to the {side} of the "
    "{b}. The heavier one is already descending with an initial speed of {v0}; the elapsed time is {t}.",
    effect="The {a} moves {way} with an acceleration of {acceleration}",
    subject="a",
    headline="acceleration",
    outcome=Outcome(
        "way",
        "Does the {a} move up or down?",
        {"up": r"\bup(ward)?s?\b|\bris(es|ing)\b|ascend", "down": r"\bdown(ward)?s?\b|descend|\bsinks?\b|\bfalls?\b"},
    ),
    targets=("acceleration", "tension", "v1"),
    interventions=("m1", "m2"),
    assumptions=("the pulley is massless and frictionless", "the string is massless and inextensible"),
    accept=lambda s: abs(s["m1"] / s["m2"] - 1) > 0.2,
    draw=_draw,
    laws=frozenset(("dynamics", "kinematics", "energy", "pulleys")),
    causes=("tension",),
    second_outcome=lambda s: {"up": "down", "down": "up"}.get(str(s.get("way"))),
    change=("v0", "v1"),
)
