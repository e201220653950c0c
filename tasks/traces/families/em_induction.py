"""A flat coil in a magnetic field that changes steadily.

Parameters: turns, area, field before and after, duration, resistance; condition: the field points into or out of the
page. Derived: flux before and after, induced voltage, current. Outcome: the sense of the current (Lenz).
Counterfactual: turns, duration, resistance.
"""

from math import cos, radians

from tasks.traces.family import OPPOSITES, Family, Outcome, Panel, Quantity, Solved


def _sense(field: str, B0: float, B1: float) -> str:
    """Lenz: the current's own field opposes the change. A growing field into the page drives it counterclockwise."""
    sense = "counterclockwise" if B1 > B0 else "clockwise"
    return sense if field == "into" else OPPOSITES[sense]


def _equations(s: Solved) -> dict[str, str]:
    more, less = ("{B1}", "{B0}") if s["B1"] > s["B0"] else ("{B0}", "{B1}")
    return {
        "flux0": "{B0}·{A}",
        "flux1": "{B1}·{A}",
        "emf": f"{{N}}·{{A}}·({more} - {less})/{{dt}}",
        "current": f"{{N}}·{{A}}·({more} - {less})/({{dt}}·{{R}})",
    }


def _draw(p: Panel) -> None:
    s = p.state
    end_on = ("x", 7) if s["field"] == "into" else (".", 8)  # a field line: a cross into the page, a dot out of it
    for i in range(7):
        for j in range(4):
            p.mark(1.4 + 1.2 * i, 1.4 + 1.1 * j, *end_on)
    p.circle(5, 3.05, 1.55)
    p.label(5, 4.95, p.names["coil"])
    p.label(8.6, 5.3, p.value("B1" if p.moment == "after" else "B0"))
    p.show("N", "A", "B0", "B1", "dt", "R")
    p.note(f"the field points {s['field']} the page" if s["field"] == "into" else "the field points out of the page")


FAMILY = Family(
    name="em_induction",
    roles={"coil": ("coil", "loop", "winding"), "magnet": ("magnet", "electromagnet", "solenoid")},
    recognize={"coil": r"coil|loop|winding", "magnet": r"magnet|field|solenoid"},
    quantities={
        "N": Quantity("number of turns", "n", "", ("",), 11, 98, "coil", ("n_turns", "turns", "n"), whole=True),
        "A": Quantity("area", "A", "m²", ("m²", "cm²"), 0.01, 0.095, "coil", ("a", "area")),
        "B0": Quantity("initial magnetic field", "B0", "T", ("T", "mT"), 0.1, 0.95, "magnet", ("b0", "b_initial")),
        "B1": Quantity("final magnetic field", "B1", "T", ("T", "mT"), 0.1, 0.95, "magnet", ("b1", "b_final")),
        "dt": Quantity("duration", "Δt", "s", ("s", "ms"), 0.05, 0.9, "", ("dt", "delta_t", "t")),
        "R": Quantity("resistance", "R", "Ω", ("Ω",), 1.2, 9.5, "coil", ("r",)),
        "flux0": Quantity(
            "initial magnetic flux", "Φ0", "Wb", ("Wb", "mWb"), owner="coil", aliases=("phi_i", "phi_initial")
        ),
        "flux1": Quantity("magnetic flux", "Φ1", "Wb", ("Wb", "mWb"), owner="coil", aliases=("phi_f", "phi_final")),
        "emf": Quantity(
            "induced voltage", "U", "V", ("V", "mV"), owner="coil", aliases=("emf", "induced_emf"), either_sign=True
        ),
        "current": Quantity("induced current", "I", "A", ("A", "mA"), owner="coil", aliases=("i",), either_sign=True),
        "B": Quantity("magnetic field", "B", "T", ("T", "mT"), owner="magnet", aliases=("b", "magnitude")),
        "theta0": Quantity("initial angle", "θ0", "°", ("°",), owner="coil", aliases=("theta_initial",)),
        "theta1": Quantity("final angle", "θ1", "°", ("°",), owner="coil", aliases=("theta_final",)),
        "dflux": Quantity(
            "change of flux", "ΔΦ", "Wb", ("Wb",), owner="coil", aliases=("d_phi", "delta_phi"), either_sign=True
        ),
    },
    conditions={"field": ("into", "out of")},
    formulas={
        "flux0": (lambda B0, A: B0 * A, lambda B, A, theta0: B * A * cos(radians(theta0))),
        "flux1": (lambda B1, A: B1 * A, lambda B, A, theta1: B * A * cos(radians(theta1))),
        "dflux": lambda flux0, flux1: flux1 - flux0,
        "emf": lambda N, dflux, dt: N * abs(dflux) / dt,
        "current": lambda emf, R: emf / R,
        "sense": _sense,
    },
    equations=_equations,
    relations=lambda s: (("in", "coil", "magnet"),),
    forces=lambda s: (),
    rules=("Faraday's law with Lenz's rule", "the induced voltage equals the turns times the rate of change of flux"),
    rule_words=r"faraday|lenz|flux|induc",
    setting="A flat {coil} with a number of turns of {N}, an area of {A} and a resistance of {R} lies in the field of a {magnet}, which "
    "points {field} the page. Within a duration of {dt} the field goes from an initial magnetic field of {B0} to a final magnetic "
    "field of {B1}.",
    effect="The current in the {coil} runs {sense} as an induced current of {current}",
    subject="coil",
    headline="current",
    outcome=Outcome(
        "sense",
        "In which sense does the current in the {coil} run?",
        {
            "clockwise": r"(?<!counter)(?<!anti)(?<!counter-)(?<!anti-)\bclockwise",
            "counterclockwise": r"(counter|anti)-?clockwise",
        },
    ),
    targets=("flux0", "flux1", "emf", "current"),
    interventions=("N", "dt", "R"),
    assumptions=("the field is uniform over the coil", "the coil is perpendicular to the field"),
    accept=lambda s: abs(s["B1"] / s["B0"] - 1) > 0.25,
    draw=_draw,
    laws=frozenset(("induction", "currents")),
    two_moments=("B0", "B1"),
    change=("flux0", "flux1"),
    initial=("flux0",),
)
