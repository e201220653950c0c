"""A pendulum released from rest on one side, seen later on its first swing, before it reaches the lowest point.

Parameters: mass, length, release angle, present angle; condition: the side of release. Derived: heights, speed, period,
tension. Outcome: which way the bob moves. Counterfactual: mass (changes no motion), length, release angle.
"""

from math import cos, pi, radians, sqrt

from tasks.traces.family import (
    AWAY_FROM_CENTER,
    GRAVITY,
    OPPOSITES,
    SMALL_BODIES,
    Family,
    ForceSpec,
    Outcome,
    Panel,
    Quantity,
    Solved,
)


def _equations(s: Solved) -> dict[str, str]:
    return {
        "weight": "{mass}·{g}",
        "h0": "{length}·(1 - cos({angle0}°))",
        "h1": "{length}·(1 - cos({angle1}°))",
        "v1": "sqrt(2·{g}·{length}·(cos({angle1}°) - cos({angle0}°)))",
        "period": "2·π·sqrt({length}/{g})",
        "tension": "{mass}·{g}·(3·cos({angle1}°) - 2·cos({angle0}°))",
    }


def _draw(p: Panel) -> None:
    from math import sin

    s = p.state
    p.ceiling("support")
    angle = radians(s["angle1"] if p.moment == "after" else s["angle0"])
    way = -1 if s["side"] == "left" else 1
    p.line([(5, 6), (5, 1.6)], dashed=True)
    x, y = 5 + way * 4 * sin(angle), 6 - 4 * cos(angle)
    p.line([(5, 6), (x, y)])
    p.ball("body", x, y)
    p.label(5 + way * 0.9, 4.6, p.value("angle1" if p.moment == "after" else "angle0"))
    p.show("mass", "length", "angle0", "angle1", "g")
    p.note(f"released from rest on the {s['side']}")


FAMILY = Family(
    name="pendulum",
    roles={"body": SMALL_BODIES, "support": ("hook", "ceiling", "nail")},
    recognize={"support": r"pivot|hook|ceiling|nail|support", "body": r"bob|ball|mass|body|object|pendulum"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.1, 0.95, "body", ("m",)),
        "length": Quantity("string length", "L", "m", ("m", "cm"), 0.3, 2.9, "", ("l", "length")),
        "angle0": Quantity(
            "release angle", "θ0", "°", ("°",), 20, 60, "body", ("theta_max", "theta0", "amplitude", "theta")
        ),
        "angle1": Quantity("present angle", "θ1", "°", ("°",), 10, 50, "body", ("theta1",)),
        "g": GRAVITY,
        "weight": Quantity("weight", "W", "N", ("N",), owner="body", aliases=("gravity",)),
        "h0": Quantity("initial height above the lowest point", "h0", "m", ("m", "cm"), owner="body"),
        "h1": Quantity("height above the lowest point", "h1", "m", ("m", "cm"), owner="body"),
        "v1": Quantity("speed", "v", "m/s", ("m/s", "km/h"), owner="body", aliases=("speed",)),
        "period": Quantity("small-swing period", "T", "s", ("s",), owner="", aliases=("period", "t")),
        "tension": Quantity("tension in the string", "F", "N", ("N",), owner="body", aliases=("tension",)),
    },
    conditions={"side": ("left", "right")},
    formulas={
        "weight": lambda mass, g: mass * g,
        "h0": lambda length, angle0: length * (1 - cos(radians(angle0))),
        "h1": lambda length, angle1: length * (1 - cos(radians(angle1))),
        "v1": lambda g, h0, h1: sqrt(2 * g * (h0 - h1)),
        "period": lambda length, g: 2 * pi * sqrt(length / g),
        "tension": lambda weight, mass, v1, length, angle1: weight * cos(radians(angle1)) + mass * v1 * v1 / length,
        "swing": lambda side: OPPOSITES[side],
    },
    equations=_equations,
    relations=lambda s: (("attached_to", "body", "support"),),
    forces=lambda s: (
        ForceSpec("gravity", "body", "down", "weight"),
        ForceSpec("tension", "body", "along the string toward the support", "tension", contrary=AWAY_FROM_CENTER),
    ),
    rules=("mechanical energy is conserved along the swing", "height is turned into speed along the arc"),
    rule_words=r"energy|pendulum|height|period",
    setting="A {body} of mass {mass} hangs from a {support} with a string length of {length}. It is released from rest on the "
    "{side} at a release angle of {angle0}; on its first swing its present angle is {angle1} on the same side.",
    effect="The {body} swings to the {swing} with a speed of {v1}",
    subject="body",
    headline="v1",
    outcome=Outcome(
        "swing",
        "Which way is the {body} swinging at that moment?",
        {"right": r"\bright(ward)?s?\b", "left": r"\bleft(ward)?s?\b"},
    ),
    targets=("h0", "h1", "v1", "period", "tension"),
    interventions=("mass", "length"),
    assumptions=("the string is massless", "air resistance is negligible"),
    accept=lambda s: s["angle1"] < 0.8 * s["angle0"],
    draw=_draw,
    laws=frozenset(("oscillations", "swings", "energy", "dynamics", "circles", "kinematics")),
    causes=("tension",),
    positive=("v1", "h1"),
    two_moments=("angle0", "angle1"),
    change=("h0", "h1"),
    initial=("h0",),
)
