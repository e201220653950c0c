"""A probe moves from one depth to another in a liquid at rest.

Parameters: density, both depths, atmospheric pressure. Derived: gauge pressures, their difference, absolute pressure.
Outcome: whether the pressure rises. Counterfactual: density, the second depth, atmospheric pressure (gauge pressure
does not feel it).
"""

from tasks.traces.family import GRAVITY, Family, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    more, less = ("{depth1}", "{depth0}") if s["trend"] == "rises" else ("{depth0}", "{depth1}")
    return {
        "p0": "{rho}·{g}·{depth0}",
        "p1": "{rho}·{g}·{depth1}",
        "dp": f"{{rho}}·{{g}}·({more} - {less})",
        "p_abs": "{p_atm} + {rho}·{g}·{depth1}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.liquid(1, 9, 0.6, 5.2, "liquid")
    deep = max(s["depth0"], s["depth1"])
    now = s["depth1"] if p.moment == "after" else s["depth0"]
    y = 5.2 - 3.9 * now / deep
    p.ball("body", 4.2, y)
    p.measure(6, 5.2, y, p.value("depth1" if p.moment == "after" else "depth0"))
    p.show("rho", "depth0", "depth1", "p_atm", "g")


FAMILY = Family(
    name="fluid",
    roles={"body": ("probe", "sensor", "diver", "camera"), "liquid": ("liquid", "solution", "mixture", "blend")},
    recognize={
        "liquid": r"fluid|water|oil|brine|mercury|liquid|solution|mixture|blend",
        "body": r"probe|sensor|gauge|diver|object|point",
    },
    quantities={
        "rho": Quantity(
            "density", "ρ", "kg/m³", ("kg/m³", "g/cm³"), 720, 1260, "liquid", ("rho", "density", "rho_fluid")
        ),
        "depth0": Quantity("first depth", "h0", "m", ("m", "cm"), 1.5, 38, "body", ("depth_initial",)),
        "depth1": Quantity("second depth", "h1", "m", ("m", "cm"), 1.5, 38, "body", ("depth", "h", "depth_final")),
        "p_atm": Quantity("atmospheric pressure", "pa", "Pa", ("Pa", "kPa"), 95000, 104000, "", ("p_atm", "patm")),
        "g": GRAVITY,
        "p0": Quantity("initial gauge pressure", "p0", "Pa", ("Pa", "kPa"), owner="body"),
        "p1": Quantity(
            "gauge pressure", "p1", "Pa", ("Pa", "kPa"), owner="body", aliases=("p_gauge", "gauge_pressure")
        ),
        "dp": Quantity(
            "pressure difference between both depths", "Δp", "Pa", ("Pa", "kPa"), owner="body", either_sign=True
        ),
        "p_abs": Quantity(
            "absolute pressure",
            "pt",
            "Pa",
            ("Pa", "kPa"),
            owner="body",
            aliases=("p_abs", "p", "absolute_pressure", "p_total"),
        ),
    },
    conditions={},
    formulas={
        "p0": lambda rho, g, depth0: rho * g * depth0,
        "p1": lambda rho, g, depth1: rho * g * depth1,
        "dp": lambda p0, p1: abs(p1 - p0),
        "p_abs": lambda p_atm, p1: p_atm + p1,
        "trend": lambda depth0, depth1: "rises" if depth1 > depth0 else "falls" if depth1 < depth0 else "",
    },
    equations=_equations,
    relations=lambda s: (("in", "body", "liquid"),),
    forces=lambda s: (),
    rules=("hydrostatic pressure grows with depth", "gauge pressure equals density times g times depth"),
    rule_words=r"hydrostatic|pressure",
    setting="A {body} in a {liquid} with a density of {rho} is moved from a first depth of {depth0} to a second depth of {depth1}. The "
    "atmospheric pressure is {p_atm}.",
    effect="The pressure on the {body} {trend} to a gauge pressure of {p1}",
    subject="body",
    headline="p1",
    outcome=Outcome(
        "trend",
        "Does the pressure on the {body} rise or fall?",
        {
            "rises": r"\bris(es?|ing)\b|\bincreas|\bgrows?\b|\bup\b|higher",
            "falls": r"\bfall(s|ing)?\b|\bdecreas|\bdrops?\b|lower",
        },
    ),
    targets=("p0", "p1", "dp", "p_abs"),
    interventions=("rho", "depth1", "p_atm"),
    assumptions=("the liquid is at rest", "the liquid is incompressible"),
    accept=lambda s: abs(s["depth0"] / s["depth1"] - 1) > 0.2,
    draw=_draw,
    laws=frozenset(("hydrostatics", "flow", "buoyancy", "dynamics")),
    two_moments=("depth0", "depth1"),
    change=("p0", "p1"),
    initial=("p0",),
)
