"""A body that slides on a rough incline, up or down it.

Parameters: mass, slope angle, friction coefficient, initial speed, elapsed time; condition: which way it slides.
Friction opposes the sliding, so the same slope speeds a body up or slows it down. Derived: weight, normal and friction
force, acceleration, final speed, distance. Counterfactual: mass (changes forces, never the acceleration), angle, mu.
"""

from math import cos, hypot, radians, sin, tan

from tasks.traces.family import BODIES, GRAVITY, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _along(motion: str, g: float, angle: float, mu: float) -> float:
    """Acceleration along the motion, m/s²: gravity's share and friction's, which always opposes."""
    pull = g * sin(radians(angle))
    return (pull if motion == "down" else -pull) - mu * g * cos(radians(angle))


def _equations(s: Solved) -> dict[str, str]:
    gravity, friction = "{g}·sin({angle}°)", "{mu}·{g}·cos({angle}°)"
    slows = s["trend"] == "slows down"
    if s["motion"] == "up":
        acceleration = f"{gravity} + {friction}"
    else:
        acceleration = f"{friction} - {gravity}" if slows else f"{gravity} - {friction}"
    sign = "-" if slows else "+"
    return {
        "weight": "{mass}·{g}",
        "normal": "{mass}·{g}·cos({angle}°)",
        "friction": "{mu}·{mass}·{g}·cos({angle}°)",
        "acceleration": acceleration,
        "v1": f"{{v0}} {sign} {{acceleration}}·{{t}}",
        "distance": f"{{v0}}·{{t}} {sign} {{acceleration}}·{{t}}²/2",
    }


def _draw(p: Panel) -> None:
    slope = _draw_incline(p)
    _draw_body(p, *slope)
    p.show("angle", "mass", "mu", "v0", "t", "g")


def _draw_incline(p: Panel) -> tuple[float, float, float]:
    """(left end, horizontal length, height) of the incline, which stays within the panel."""
    run = 7.6
    rise = p.tall(run * tan(radians(p.state["angle"])))
    if rise > 4.9:
        run, rise = run * 4.9 / rise, 4.9
    left = 5 - run / 2
    p.polygon([(left, 0.9), (left + run, 0.9), (left, 0.9 + rise)], "#eef0f3", 1.6, 1)
    p.label(left + run - 1.25, 1.15, p.text("angle").value, size=9)
    p.label(left + run / 4, 0.6, p.names["support"], size=9)
    return left, run, rise


def _draw_body(p: Panel, left: float, run: float, rise: float) -> None:
    """The body on the incline, and an arrow along its motion."""
    down = p.state["motion"] == "down"
    share = 0.45 if p.moment != "after" else 0.7 if down else 0.25
    length = hypot(run, rise)
    (ax, ay), (ux, uy) = (run / length, -rise / length), (rise / length, run / length)  # along the slope, and off it
    x, y = left + run * share, 0.9 + rise * (1 - share)
    feet = [(x - ax * 0.6, y - ay * 0.6), (x + ax * 0.6, y + ay * 0.6)]
    p.polygon([*feet, *((fx + ux * 0.8, fy + uy * 0.8) for fx, fy in reversed(feet))], layer=4)
    p.label(x + ux * 0.4, y + uy * 0.4, p.names["body"])
    wx, wy = (ax, ay) if down else (-ax, -ay)
    x, y = x + ux * 1.25 - wx * 0.6, y + uy * 1.25 - wy * 0.6
    p.arrow(x, y, wx * 1.3, wy * 1.3, "")
    p.label(
        x + wx * 0.65 + 0.25,
        y + wy * 0.65 + 0.4,
        p.value("v1" if p.moment == "after" else "v0"),
        color=p.accent,
        ha="left",
    )


FAMILY = Family(
    name="inclined_plane",
    roles={"body": BODIES, "support": ("incline", "ramp", "slope")},
    recognize={"support": r"incline|ramp|slope|plane|surface", "body": r"block|box|crate|object|mass|body|cart"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.5, 9.5, "body", ("m",)),
        "angle": Quantity("slope angle", "θ", "°", ("°",), 15, 55, "support", ("incline_angle", "angle", "theta")),
        "mu": Quantity("friction coefficient", "μ", "", ("",), 0.1, 0.9, "support", ("mu", "mu_k", "friction")),
        "v0": Quantity("initial speed", "v0", "m/s", ("m/s", "km/h"), 2, 9, "body", ("v_initial", "speed")),
        "t": Quantity("elapsed time", "t", "s", ("s", "ms"), 0.2, 0.9, "", ("time", "dt")),
        "g": GRAVITY,
        "weight": Quantity("weight", "W", "N", ("N",), owner="body", aliases=("gravity", "f_grav")),
        "normal": Quantity("normal force", "N", "N", ("N",), owner="body"),
        "friction": Quantity("friction force", "f", "N", ("N",), owner="body", aliases=("friction_force",)),
        "acceleration": Quantity(
            "acceleration", "a", "m/s²", ("m/s²",), owner="body", aliases=("a", "a_net"), either_sign=True
        ),
        "v1": Quantity("final speed", "v", "m/s", ("m/s", "km/h"), owner="body", aliases=("v_final",)),
        "distance": Quantity("distance covered", "d", "m", ("m", "cm"), owner="body", aliases=("d",)),
    },
    conditions={"motion": ("down", "up")},
    defaults={"motion": "down"},
    formulas={
        "weight": lambda mass, g: mass * g,
        "normal": lambda weight, angle: weight * cos(radians(angle)),
        "friction": lambda mu, normal: mu * normal,
        "along": _along,
        "acceleration": lambda along: abs(along),
        "trend": lambda along: "speeds up" if along > 0 else "slows down",
        "v1": lambda v0, along, t: v0 + along * t,
        "distance": lambda v0, along, t: v0 * t + along * t * t / 2,
    },
    equations=_equations,
    relations=lambda s: (("on", "body", "support"),),
    forces=lambda s: (
        ForceSpec("gravity", "body", "down", "weight"),
        ForceSpec("normal", "body", "perpendicular to the incline", "normal"),
        ForceSpec("friction", "body", f"{'up' if s.get('motion') == 'down' else 'down'} the incline", "friction", True),
    ),
    rules=("Newton's second law along the incline", "net force along the slope equals mass times acceleration"),
    rule_words=r"newton|second law|net force|component|friction|along the (slope|incline)",
    setting="A {body} of mass {mass} slides {motion} a rough {support} with a slope angle of {angle}. Its initial speed is "
    "{v0}, the friction coefficient is {mu}, and the elapsed time is {t}.",
    effect="The {body} {trend} with an acceleration of {acceleration}",
    subject="body",
    headline="acceleration",
    outcome=Outcome(
        "trend",
        "Does the {body} speed up or slow down?",
        {
            "speeds up": r"speed(s|ing)? up|gains? speed|faster|accelerates? down|gets? quicker",
            "slows down": r"slow(s|ing)?( down)?\b|loses? speed|decelerat|slower|brakes",
        },
    ),
    targets=("normal", "friction", "acceleration", "v1", "distance"),
    interventions=("mass", "mu", "v0"),
    assumptions=("the incline is rigid and fixed", "air resistance is negligible", "friction is kinetic throughout"),
    accept=lambda s: s["v1"] > 0.2 * s["v0"] and s["acceleration"] > 0.6 and abs(s["v1"] / s["v0"] - 1) > 0.15,
    draw=_draw,
    laws=frozenset(("friction", "dynamics", "kinematics", "energy", "inclines")),
    causes=("friction",),
    smooth=False,
    positive=("v1",),
    synonyms={
        "coefficient_of_friction": "friction_coefficient",
        "incline_angle": "slope_angle",
        "angle_of_incline": "slope_angle",
        "angle_of_the_slope": "slope_angle",
    },
    change=("v0", "v1"),
)
