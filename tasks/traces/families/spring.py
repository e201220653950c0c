"""A body on a smooth floor, fastened to a wall by a spring and released from rest.

Parameters: mass, stiffness, first and later displacement; conditions: the side of the wall, stretched or compressed.
Derived: spring force and acceleration at release, stored energy first and later, speed later. Outcome: where it
accelerates. Counterfactual: mass, stiffness, first displacement.
"""

from math import pi, sqrt

from tasks.traces.family import BODIES, OPPOSITES, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    return {
        "force": "{k}·{x0}",
        "acceleration": "{k}·{x0}/{mass}",
        "e0": "{k}·{x0}²/2",
        "e1": "{k}·{x1}²/2",
        "v1": "sqrt({k}·({x0}² - {x1}²)/{mass})",
        "period": "2·π·sqrt({mass}/{k})",
    }


def _draw(p: Panel) -> None:
    s = p.state
    left = s["wall_side"] == "left"
    p.ground()
    p.wall(0.6 if left else 9.4, "wall")
    now = s["x1"] if p.moment == "after" else s["x0"]
    away = 1.6 * now / s["x0"] * (1 if s["spring_state"] == "stretched" else -1)
    x = 5 + away if left else 5 - away
    _draw_spring(p, 0.6 if left else 9.4, x - 0.7 if left else x + 0.7, 1.7)
    p.box("body", x - 0.7, 1, 1.4, 1.3)
    p.line([(5, 0.9), (5, 3.5)], dashed=True)
    p.label(5, 3.75, "relaxed position")
    p.span(5, x, 2.8, p.value("x1" if p.moment == "after" else "x0"))
    p.show("mass", "k", "x0", "x1")
    p.note(f"the {p.names['spring']} is {s['spring_state']}")


def _draw_spring(p: Panel, start: float, end: float, y: float) -> None:
    """A zigzag of 24 steps with straight ends."""
    swing = (0 if not 0.05 < i / 24 < 0.95 else 0.28 if i % 2 else -0.28 for i in range(25))
    p.curve([(start + (end - start) * (i / 24), y + dy) for i, dy in enumerate(swing)])


FAMILY = Family(
    name="spring",
    roles={"body": BODIES, "spring": ("spring", "coil spring"), "wall": ("wall", "post")},
    recognize={"spring": r"spring", "wall": r"wall|post", "body": r"block|mass|cart|body|object|box"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.5, 9.5, "body", ("m",)),
        "k": Quantity("stiffness", "k", "N/m", ("N/m",), 110, 950, "spring", ("k", "spring_constant", "k_n_per_m")),
        "x0": Quantity("initial displacement", "x0", "m", ("m", "cm"), 0.1, 0.5, "body", ("displacement", "x")),
        "x1": Quantity("later displacement", "x1", "m", ("m", "cm"), 0.05, 0.4, "body", ("x_later",)),
        "force": Quantity(
            "spring force at release", "F", "N", ("N",), owner="body", aliases=("spring_force", "f", "spring")
        ),
        "acceleration": Quantity("acceleration at release", "a", "m/s²", ("m/s²",), owner="body", aliases=("a",)),
        "e0": Quantity(
            "initial stored energy", "E0", "J", ("J",), owner="spring", aliases=("spring_pe", "pe", "energy")
        ),
        "e1": Quantity("stored energy", "E1", "J", ("J",), owner="spring"),
        "v1": Quantity("speed at the later displacement", "v", "m/s", ("m/s", "km/h"), owner="body"),
        "period": Quantity("period", "T", "s", ("s",), owner="", aliases=("t",)),
    },
    conditions={"wall_side": ("left", "right"), "spring_state": ("compressed", "stretched")},
    formulas={
        "force": lambda k, x0: k * x0,
        "acceleration": lambda force, mass: force / mass,
        "e0": lambda k, x0: k * x0 * x0 / 2,
        "e1": lambda k, x1: k * x1 * x1 / 2,
        "v1": lambda e0, e1, mass: sqrt(2 * (e0 - e1) / mass),
        "period": lambda mass, k: 2 * pi * sqrt(mass / k),
        "way": lambda wall_side, spring_state: wall_side if spring_state == "stretched" else OPPOSITES[wall_side],
    },
    equations=_equations,
    relations=lambda s: (
        ("attached_to", "spring", "body"),
        ("attached_to", "spring", "wall"),
        *(((f"{s['wall_side']}_of", "wall", "body"),) if s.get("wall_side") else ()),
    ),
    forces=lambda s: (ForceSpec("spring force", "body", str(s.get("way", "")), "force", True),),
    rules=("Hooke's law and energy conservation", "the spring force is proportional to the displacement"),
    rule_words=r"hooke|spring|elastic",
    setting="A {body} of mass {mass} on a smooth floor is fastened by a {spring} with a stiffness of {k} to a {wall}; the {wall} is "
    "to the {wall_side} of the {body}. The {spring} is {spring_state} by an initial displacement of {x0} and released from rest. "
    "The later displacement is {x1}.",
    effect="The {body} accelerates to the {way} with an acceleration at release of {acceleration}",
    subject="body",
    headline="acceleration",
    outcome=Outcome(
        "way",
        "Which way does the {body} accelerate at release?",
        {"right": r"\bright(ward)?s?\b", "left": r"\bleft(ward)?s?\b"},
    ),
    targets=("force", "acceleration", "e0", "e1", "v1"),
    interventions=("mass", "k", "x0"),
    assumptions=("the spring is ideal and massless", "the floor is frictionless", "air resistance is negligible"),
    accept=lambda s: s["x1"] < 0.8 * s["x0"],
    draw=_draw,
    laws=frozenset(("elasticity", "energy", "dynamics", "kinematics", "oscillations")),
    causes=("spring force",),
    positive=("v1",),
    two_moments=("x0", "x1"),
    synonyms={"spring_constant": "stiffness"},
    change=("e0", "e1"),
    initial=("e0",),
)
