"""A body on a rough floor is pushed sideways.

Parameters: mass, static and kinetic friction coefficient, push; condition: the side it is pushed to. Derived: weight,
normal force, the static limit, the friction that acts, acceleration. Outcome: whether it moves. Counterfactual: mass,
push, static coefficient.
"""

from tasks.traces.family import BODIES, GRAVITY, OPPOSITES, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    moves = s["motion"] == "starts to move"
    return {
        "weight": "{mass}·{g}",
        "normal": "{mass}·{g}",
        "limit": "{mu_s}·{mass}·{g}",
        "friction": "{mu_k}·{mass}·{g}" if moves else "{push}",
        "acceleration": "({push} - {mu_k}·{mass}·{g})/{mass}" if moves else "({push} - {push})/{mass}",
        "margin": "{push} - {mu_s}·{mass}·{g}" if moves else "{mu_s}·{mass}·{g} - {push}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.ground("support")
    p.box("body", 4, 1, 2, 1.4)
    way = 1 if s["side"] == "right" else -1
    p.arrow(5 - way * 2.6, 1.7, way * 1.4, 0, p.value("push"))
    p.show("mass", "mu_s", "mu_k", "push", "g")
    p.note(f"pushed to the {s['side']}, initially at rest")


FAMILY = Family(
    name="friction",
    roles={"body": BODIES, "support": ("floor", "table", "platform")},
    recognize={"support": r"surface|floor|table|ground|platform", "body": r"block|box|crate|object|body"},
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.8, 9.5, "body", ("m",)),
        "mu_s": Quantity("static friction coefficient", "μs", "", ("",), 0.2, 0.8, "support", ("mu_static", "μs")),
        "mu_k": Quantity("kinetic friction coefficient", "μk", "", ("",), 0.1, 0.6, "support", ("mu_kinetic", "μk")),
        "push": Quantity("pushing force", "F", "N", ("N",), 4, 90, "body", ("f_applied", "applied", "f_app", "f")),
        "g": GRAVITY,
        "weight": Quantity("weight", "W", "N", ("N",), owner="body", aliases=("gravity",)),
        "normal": Quantity("normal force", "N", "N", ("N",), owner="body", aliases=("n",)),
        "limit": Quantity(
            "static friction limit", "fmax", "N", ("N",), owner="body", aliases=("f_static_max", "fs_max", "f_s_max")
        ),
        "friction": Quantity(
            "friction force", "f", "N", ("N",), owner="body", aliases=("friction_force", "f_k", "f_friction")
        ),
        "acceleration": Quantity(
            "acceleration", "a", "m/s²", ("m/s²",), owner="body", aliases=("a",), either_sign=True
        ),
        "margin": Quantity("difference between push and static limit", "ΔF", "N", ("N",), owner="body"),
    },
    conditions={"side": ("left", "right")},
    formulas={
        "weight": lambda mass, g: mass * g,
        "normal": lambda weight: weight,
        "limit": lambda mu_s, normal: mu_s * normal,
        "motion": lambda push, limit: "starts to move" if push > limit else "stays at rest",
        "friction": lambda motion, push, mu_k, normal: mu_k * normal if motion == "starts to move" else push,
        "acceleration": lambda push, friction, mass: (push - friction) / mass,
        "margin": lambda push, limit: abs(push - limit),
    },
    equations=_equations,
    relations=lambda s: (("on", "body", "support"),),
    forces=lambda s: (
        ForceSpec("gravity", "body", "down", "weight"),
        ForceSpec("normal", "body", "up", "normal"),
        ForceSpec("push", "body", str(s.get("side", "")), "push", True),
        ForceSpec("friction", "body", OPPOSITES.get(str(s.get("side")), ""), "friction", True),
    ),
    rules=(
        "compare the push with the static friction limit",
        "Coulomb friction with a static and a kinetic coefficient",
    ),
    rule_words=r"friction",
    setting="A {body} of mass {mass} rests on a {support} with a static friction coefficient of {mu_s} and a kinetic friction "
    "coefficient of {mu_k}. It is pushed to the {side} with a pushing force of {push}.",
    effect="The {body} {motion} under a friction force of {friction}",
    subject="body",
    headline="friction",
    outcome=Outcome(
        "motion",
        "Does the {body} start to move or stay at rest?",
        {
            "starts to move": r"start(s|ing)? (to move|moving|sliding|to slide)|\bmov(es?|ing)\b|\bslides?\b|accelerates|\byes\b",
            "stays at rest": r"stay(s|ing)? at rest|at rest|stationary|remains? (at rest|still|stationary)|stays? put|\bno\b",
        },
    ),
    targets=("normal", "limit", "friction", "margin"),
    interventions=("mass", "push", "mu_s"),
    assumptions=("the floor is horizontal", "the push is horizontal and constant", "air resistance is negligible"),
    accept=lambda s: s["mu_k"] < 0.85 * s["mu_s"] and 0.15 < abs(s["push"] / s["limit"] - 1) < 0.8,
    draw=_draw,
    laws=frozenset(("friction", "dynamics", "kinematics", "energy")),
    causes=("friction",),
    smooth=False,
    synonyms={
        "coefficient_of_static_friction": "static_friction_coefficient",
        "coefficient_of_kinetic_friction": "kinetic_friction_coefficient",
    },
)
