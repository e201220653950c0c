"""A body held under the surface of a liquid and let go.

Parameters: both densities, volume. Derived: weight, buoyant force while submerged, net force, mass, first acceleration.
Outcome: sinks or rises. Counterfactual: volume, either density.
"""

from tasks.traces.family import GRAVITY, SMALL_BODIES, Family, ForceSpec, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    net = "({rho_body} - {rho_liquid})" if s["fate"] == "sinks" else "({rho_liquid} - {rho_body})"
    return {
        "mass": "{rho_body}·{volume}",
        "weight": "{rho_body}·{g}·{volume}",
        "buoyant": "{rho_liquid}·{g}·{volume}",
        "net": f"{net}·{{g}}·{{volume}}",
        "acceleration": f"{net}·{{g}}/{{rho_body}}",
    }


def _draw(p: Panel) -> None:
    p.liquid(1.4, 8.6, 0.6, 5, "liquid")
    p.ball("body", 5, 2.8, large=True)
    p.arrow(5, 2.8, 0, -1.5, "gravity")
    p.arrow(5, 2.8, 0, 1.5, "buoyancy")
    p.show("rho_body", "rho_liquid", "volume", "g")
    p.note("let go while fully submerged")


FAMILY = Family(
    name="buoyancy",
    roles={"body": SMALL_BODIES, "liquid": ("liquid", "solution", "mixture", "blend")},
    recognize={
        "liquid": r"fluid|water|oil|brine|liquid|solution|mixture|blend",
        "body": r"object|ball|body|block|cube|cork|stone",
    },
    quantities={
        "rho_body": Quantity(
            "density", "ρ1", "kg/m³", ("kg/m³", "g/cm³"), 450, 1900, "body", ("rho_object", "density_object", "rho_obj")
        ),
        "rho_liquid": Quantity(
            "density", "ρ2", "kg/m³", ("kg/m³", "g/cm³"), 720, 1260, "liquid", ("rho_fluid", "density_fluid")
        ),
        "volume": Quantity("volume", "V", "m³", ("L", "cm³"), 0.001, 0.0095, "body", ("v",)),
        "g": GRAVITY,
        "mass": Quantity("mass", "m", "kg", ("kg",), owner="body", aliases=("m",)),
        "weight": Quantity("weight", "W", "N", ("N",), owner="body", aliases=("gravity", "f_grav", "f_gravity")),
        "buoyant": Quantity(
            "buoyant force", "Fb", "N", ("N",), owner="body", aliases=("f_buoyancy", "f_buoy", "buoyancy", "f_b")
        ),
        "net": Quantity("net force", "Fn", "N", ("N",), owner="body", aliases=("net_force", "f_net"), either_sign=True),
        "acceleration": Quantity("initial acceleration", "a", "m/s²", ("m/s²",), owner="body", either_sign=True),
    },
    conditions={},
    formulas={
        "mass": lambda rho_body, volume: rho_body * volume,
        "weight": lambda mass, g: mass * g,
        "buoyant": lambda rho_liquid, volume, g: rho_liquid * volume * g,
        "net": lambda weight, buoyant: abs(weight - buoyant),
        "acceleration": lambda net, mass: net / mass,
        "fate": lambda rho_body, rho_liquid: (
            "sinks" if rho_body > rho_liquid else "rises" if rho_body < rho_liquid else ""
        ),
    },
    equations=_equations,
    relations=lambda s: (("in", "body", "liquid"),),
    forces=lambda s: (
        ForceSpec("gravity", "body", "down", "weight"),
        ForceSpec("buoyancy", "body", "up", "buoyant"),
    ),
    rules=("Archimedes' principle", "the buoyant force equals the weight of the displaced liquid"),
    rule_words=r"archimedes|buoyan|displaced",
    setting="A {body} with a density of {rho_body} and a volume of {volume} is let go under the surface of a {liquid} with a density of "
    "{rho_liquid}.",
    effect="The {body} {fate} under a net force of {net}",
    subject="body",
    headline="net",
    outcome=Outcome(
        "fate",
        "Does the {body} sink or rise?",
        {
            "sinks": r"\bsink(s|ing)?\b|to the bottom|descend|(mov|accelerat|head|go)(es|s|ing) down",
            "rises": r"\bris(es?|ing)\b|\bfloat(s|ing)?\b|to the surface|(mov|accelerat|head|go)(es|s|ing) up",
        },
    ),
    targets=("mass", "weight", "buoyant", "net"),
    interventions=("volume", "rho_liquid", "rho_body"),
    assumptions=("the body is fully submerged", "the liquid is at rest"),
    accept=lambda s: 0.2 < abs(s["rho_body"] / s["rho_liquid"] - 1) < 1.2,
    draw=_draw,
    laws=frozenset(("buoyancy", "hydrostatics", "dynamics")),
    causes=("buoyancy",),
)
