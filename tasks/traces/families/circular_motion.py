"""A body on a string moves in a horizontal circle, seen from above, at the moment when it passes the leftmost or the
rightmost point.

Parameters: mass, speed, radius; conditions: the point, the sense of rotation. Derived: centripetal acceleration and
force, period, angular velocity. Outcome: where the acceleration points. Counterfactual: mass, speed, radius.
"""

from math import pi

from tasks.traces.family import (
    AWAY_FROM_CENTER,
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
        "acceleration": "{v}²/{r}",
        "force": "{mass}·{v}²/{r}",
        "period": "2·π·{r}/{v}",
        "omega": "{v}/{r}",
        "energy": "{mass}·{v}²/2",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.circle(5, 3.6, 2.1)
    p.ball("center", 5, 3.6, small=True)
    way = -1 if s["point"] == "left" else 1
    p.ball("body", 5 + way * 2.1, 3.6)
    p.line([(5, 3.6), (5 + way * 2.1, 3.6)])
    up = (way == -1) == (s["turn"] == "clockwise")
    p.arrow(5 + way * 2.1, 3.6, 0, 1.2 if up else -1.2, p.value("v"))
    p.show("mass", "v", "r")
    p.note(f"seen from above, {s['turn']}, at the {s['point']}most point")


FAMILY = Family(
    name="circular_motion",
    roles={"body": SMALL_BODIES, "center": ("post", "peg", "pin")},
    recognize={"center": r"cent(er|re)|post|peg|pin|axis|pivot", "body": r"object|ball|body|mass|car|stone|puck"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.1, 0.95, "body", ("m",)),
        "v": Quantity("speed", "v", "m/s", ("m/s", "km/h"), 1, 9.5, "body", ("speed", "velocity")),
        "r": Quantity("radius", "r", "m", ("m", "cm"), 0.3, 2.9, "", ("radius",)),
        "acceleration": Quantity(
            "centripetal acceleration", "a", "m/s²", ("m/s²",), owner="body", aliases=("ac", "a_c", "a")
        ),
        "force": Quantity(
            "tension in the string", "F", "N", ("N",), owner="body", aliases=("fc", "f_c", "centripetal", "tension")
        ),
        "period": Quantity("period", "T", "s", ("s",), owner="body", aliases=("t",)),
        "omega": Quantity("angular velocity", "ω", "1/s", ("1/s",), owner="body", aliases=("omega", "w")),
        "energy": Quantity("kinetic energy", "E", "J", ("J",), owner="body", aliases=("ke",)),
    },
    conditions={"point": ("left", "right"), "turn": ("clockwise", "counterclockwise")},
    formulas={
        "acceleration": lambda v, r: v * v / r,
        "force": lambda mass, acceleration: mass * acceleration,
        "period": lambda r, v: 2 * pi * r / v,
        "omega": lambda v, r: v / r,
        "energy": lambda mass, v: mass * v * v / 2,
        "pull": lambda point: OPPOSITES[point],
    },
    equations=_equations,
    relations=lambda s: (
        ("attached_to", "body", "center"),
        *(((f"{s['point']}_of", "body", "center"),) if s.get("point") else ()),
    ),
    forces=lambda s: (
        ForceSpec("tension", "body", str(s.get("pull", "toward the center")), "force", True, contrary=AWAY_FROM_CENTER),
    ),
    rules=(
        "uniform circular motion needs a net force toward the center",
        "centripetal acceleration equals speed squared over radius",
    ),
    rule_words=r"centripetal|circular|toward the cent",
    setting="A {body} of mass {mass} tied to a {center} moves {turn} on a smooth table at a speed of {v} in a circle with a "
    "radius of {r}. Seen from above, it is at the {point}most point of the circle.",
    effect="The {body} accelerates to the {pull} with a centripetal acceleration of {acceleration}",
    subject="body",
    headline="acceleration",
    outcome=Outcome(
        "pull",
        "Which way does the acceleration of the {body} point?",
        {"right": r"\bright(ward)?s?\b", "left": r"\bleft(ward)?s?\b"},
    ),
    targets=("acceleration", "force", "period", "omega", "energy"),
    interventions=("mass", "v", "r"),
    assumptions=("the table is frictionless", "the string is massless", "the speed is constant"),
    accept=lambda s: True,
    draw=_draw,
    laws=frozenset(("circles", "dynamics", "kinematics", "energy")),
    causes=("tension",),
)
