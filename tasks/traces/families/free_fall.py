"""A small body thrown straight up or straight down from a height.

Parameters: mass, initial height and speed, elapsed time; condition: up or down. Derived: final speed, final height,
distance, fall time, impact speed. Outcome: whether it speeds up. Counterfactual: mass, initial height, initial speed.
"""

from math import sqrt

from tasks.traces.family import GRAVITY, SMALL_BODIES, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    sign, other = ("+", "-") if s["throw"] == "down" else ("-", "+")
    return {
        "weight": "{mass}·{g}",
        "v1": f"{{v0}} {sign} {{g}}·{{t}}",
        "distance": f"{{v0}}·{{t}} {sign} {{g}}·{{t}}²/2",
        "h1": f"{{h0}} {other} {{distance}}",
        "impact": "sqrt({v0}² + 2·{g}·{h0})",
        "fall": f"({{impact}} {other} {{v0}})/{{g}}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.ground()
    share = 0 if p.moment == "before" else (s["h1"] / s["h0"] - 1)
    y = 3.9 + max(-2.4, min(1.2, 3 * share))
    p.ball("body", 4, y)
    p.arrow(4, y, 0, 0.9 if s["throw"] == "up" else -0.9, p.value("v1" if p.moment == "after" else "v0"))
    p.measure(2.4, 1, y, p.value("h1" if p.moment == "after" else "h0"))
    p.show("h0", "v0", "t", "mass", "g")
    p.note(f"thrown straight {s['throw']}")


FAMILY = Family(
    name="free_fall",
    roles={"body": SMALL_BODIES, "ground": ("ground", "floor", "pavement")},
    recognize={"ground": r"ground|floor|pavement|earth", "body": r"object|ball|stone|body|block"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.1, 0.95, "body", ("m",)),
        "h0": Quantity("initial height", "h0", "m", ("m", "cm"), 12, 95, "body", ("height", "h", "initial_height")),
        "v0": Quantity("initial speed", "v0", "m/s", ("m/s", "km/h"), 3, 19, "body", ("v_initial", "initial_velocity")),
        "t": Quantity("elapsed time", "t", "s", ("s", "ms"), 0.25, 1.6, "", ("time",)),
        "g": GRAVITY,
        "weight": Quantity("weight", "W", "N", ("N",), owner="body", aliases=("gravity",)),
        "v1": Quantity("final speed", "v", "m/s", ("m/s", "km/h"), owner="body", aliases=("v_at_t", "v_final")),
        "distance": Quantity("distance travelled", "d", "m", ("m", "cm"), owner="body", aliases=("d",)),
        "h1": Quantity("final height", "h", "m", ("m", "cm"), owner="body", aliases=("h_final",)),
        "impact": Quantity("impact speed", "vi", "m/s", ("m/s", "km/h"), owner="body", aliases=("v_final", "v_impact")),
        "fall": Quantity("time until impact", "T", "s", ("s",), owner="body", aliases=("t_fall", "fall_time")),
    },
    conditions={"throw": ("up", "down")},
    formulas={
        "throw": lambda v0: "down" if v0 == 0 else "",  # dropped from rest
        "weight": lambda mass, g: mass * g,
        "gain": lambda throw, g, t: g * t if throw == "down" else -g * t,
        "v1": lambda v0, gain: v0 + gain,
        "tempo": lambda gain: "speeds up" if gain > 0 else "slows down",
        "distance": lambda v0, t, gain: v0 * t + gain * t / 2,
        "h1": lambda throw, h0, distance: h0 - distance if throw == "down" else h0 + distance,
        "impact": lambda v0, g, h0: sqrt(v0 * v0 + 2 * g * h0),
        "fall": lambda throw, impact, v0, g: (impact - v0 if throw == "down" else impact + v0) / g,
    },
    equations=_equations,
    relations=lambda s: (("above", "body", "ground"),),
    forces=lambda s: (ForceSpec("gravity", "body", "down", "weight"),),
    rules=("constant gravitational acceleration in free fall", "free fall kinematics near the ground"),
    rule_words=r"free fall|gravitational acceleration|kinematic|constant acceleration",
    setting="A {body} of mass {mass} is thrown straight {throw} from an initial height of {h0} above the {ground} with an "
    "initial speed of {v0}; the elapsed time is {t}.",
    effect="The {body} {tempo} and reaches a final speed of {v1}",
    subject="body",
    headline="v1",
    outcome=Outcome(
        "tempo",
        "Is the {body} speeding up or slowing down during that time?",
        {
            "speeds up": r"speed(s|ing)? up|gains? speed|faster|accelerates",
            "slows down": r"slow(s|ing)?( down)?\b|loses? speed|decelerat",
        },
    ),
    targets=("v1", "distance", "h1", "impact", "fall"),
    interventions=("mass", "v0", "h0"),
    assumptions=("air resistance is negligible", "gravity is uniform", "the throw is exactly vertical"),
    accept=lambda s: (
        s["v1"] > 0.2 * s["v0"]
        and s["h1"] > 0.15 * s["h0"]
        and abs(s["v1"] / s["v0"] - 1) > 0.15
        and s["distance"] > 0.3 * s["v0"] * s["t"]
    ),
    draw=_draw,
    laws=frozenset(("falling", "kinematics", "dynamics", "energy")),
    causes=(),
    positive=("v1", "h1"),
    change=("v0", "v1"),
)
