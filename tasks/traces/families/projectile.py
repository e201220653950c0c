"""A small body thrown over flat ground, seen at one moment of its flight.

Parameters: mass, launch speed, launch angle, elapsed time; condition: the side it is thrown to. Derived: velocity
components at launch and now, position, peak height, flight time, range. Outcome: whether it still rises.
Counterfactual: mass (changes nothing about the flight), launch speed, angle.
"""

from math import cos, radians, sin

from tasks.traces.family import GRAVITY, SMALL_BODIES, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    rise = "{v0}·sin({angle}°)"
    return {
        "weight": "{mass}·{g}",
        "vx": "{v0}·cos({angle}°)",
        "vy0": rise,
        "vy1": f"{rise} - {{g}}·{{t}}" if s["phase"] == "rising" else f"{{g}}·{{t}} - {rise}",
        "x": "{v0}·cos({angle}°)·{t}",
        "y": f"{rise}·{{t}} - {{g}}·{{t}}²/2",
        "peak": "({v0}·sin({angle}°))²/(2·{g})",
        "peak_time": "{v0}·sin({angle}°)/{g}",
        "flight": "2·{v0}·sin({angle}°)/{g}",
        "range": "{v0}²·sin(2·{angle}°)/{g}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.ground()
    way = 1 if s["side"] == "right" else -1
    start = 5 - 3.6 * way
    top = 4.6 * min(s["peak"] / s["range"] * 1.6, 1)
    path = [(start + way * 7.2 * u, 1 + 4 * top * u * (1 - u)) for u in (i / 40 for i in range(41))]
    p.line(path, dashed=True)
    share = 0.02 if p.moment == "before" else min(s["t"] / s["flight"], 1)
    x, y = start + way * 7.2 * share, 1 + 4 * top * share * (1 - share)
    p.ball("body", x, y)
    slope = top * 4 * (1 - 2 * share) / 7.2
    norm = (1 + slope * slope) ** 0.5
    p.arrow(x, y, way * 1.1 / norm, 1.1 * slope / norm, "")
    p.show("v0", "angle", "t", "mass", "g")
    p.note(f"thrown to the {s['side']}")


FAMILY = Family(
    name="projectile",
    roles={"body": SMALL_BODIES, "ground": ("ground", "field", "floor")},
    recognize={"ground": r"ground|floor|field", "body": r"projectile|ball|object|stone|body|block"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.1, 0.95, "body", ("m",)),
        "v0": Quantity("launch speed", "v0", "m/s", ("m/s", "km/h"), 8, 38, "body", ("v_0", "initial_speed", "speed")),
        "angle": Quantity("launch angle", "θ", "°", ("°",), 22, 72, "body", ("launch_angle", "theta", "angle")),
        "t": Quantity("elapsed time", "t", "s", ("s", "ms"), 0.3, 5, "", ("time",)),
        "g": GRAVITY,
        "weight": Quantity("weight", "W", "N", ("N",), owner="body", aliases=("gravity",)),
        "vx": Quantity("horizontal velocity", "vx", "m/s", ("m/s", "km/h"), owner="body", aliases=("v0x",)),
        "vy0": Quantity("initial vertical speed", "vy0", "m/s", ("m/s", "km/h"), owner="body", aliases=("v0y",)),
        "vy1": Quantity("vertical speed", "vy", "m/s", ("m/s", "km/h"), owner="body", either_sign=True),
        "x": Quantity("horizontal distance", "x", "m", ("m", "cm"), owner="body"),
        "y": Quantity("height above the ground", "y", "m", ("m", "cm"), owner="body"),
        "peak": Quantity("maximum height", "H", "m", ("m",), owner="body", aliases=("h_max", "max_height", "h_peak")),
        "peak_time": Quantity("time to the peak", "tp", "s", ("s",), owner="body", aliases=("t_peak",)),
        "flight": Quantity("flight time", "T", "s", ("s",), owner="body", aliases=("t_flight", "time_of_flight")),
        "range": Quantity("range", "R", "m", ("m",), owner="body", aliases=("range", "r")),
    },
    conditions={"side": ("left", "right")},
    formulas={
        "weight": lambda mass, g: mass * g,
        "vx": lambda v0, angle: v0 * cos(radians(angle)),
        "vy0": lambda v0, angle: v0 * sin(radians(angle)),
        "vy": lambda vy0, g, t: vy0 - g * t,
        "phase": lambda vy: "rising" if vy > 0 else "falling",
        "vy1": lambda vy: abs(vy),
        "x": lambda vx, t: vx * t,
        "y": lambda vy0, t, g: vy0 * t - g * t * t / 2,
        "peak": lambda vy0, g: vy0 * vy0 / (2 * g),
        "peak_time": lambda vy0, g: vy0 / g,
        "flight": lambda vy0, g: 2 * vy0 / g,
        "range": lambda vx, flight: vx * flight,
    },
    equations=_equations,
    relations=lambda s: (("above", "body", "ground"),),
    forces=lambda s: (ForceSpec("gravity", "body", "down", "weight"),),
    rules=("constant gravitational acceleration with uniform horizontal motion", "projectile kinematics"),
    rule_words=r"kinematic|gravitational acceleration|projectile|constant acceleration|parabol",
    setting="A {body} of mass {mass} is thrown to the {side} from the {ground} with a launch speed of {v0} at a launch angle "
    "of {angle}; the elapsed time is {t}.",
    effect="The {body} is {phase} with a vertical speed of {vy1}",
    subject="body",
    headline="vy1",
    outcome=Outcome(
        "phase",
        "Is the {body} rising or falling at that moment?",
        {
            "rising": r"\brising|\brises?\b|going up|climb|upward",
            "falling": r"\bfall(s|ing)?\b|descend|dropping|downward",
        },
    ),
    targets=("vx", "x", "y", "vy1", "peak", "range"),
    interventions=("mass", "v0"),
    assumptions=("air resistance is negligible", "the ground is flat", "the launch is at ground level"),
    accept=lambda s: s["y"] > 0.08 * s["peak"] and s["vy1"] > 0.2 * s["vy0"] and abs(s["vy1"] / s["vy0"] - 1) > 0.15,
    draw=_draw,
    laws=frozenset(("falling", "kinematics", "dynamics", "energy", "flight")),
    causes=(),
    positive=("y",),
    change=("vy0", "vy1"),
    initial=("vy0",),
)
