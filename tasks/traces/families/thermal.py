"""A sample takes up or gives off heat without a change of phase.

Parameters: mass, specific heat, initial temperature, heat; condition: heated or cooled. Derived: temperature change,
final temperature, heat capacity. Outcome: warms or cools. Counterfactual: mass, specific heat, heat.
"""

from tasks.traces.family import Family, Outcome, Panel, Quantity, Solved, State

# (lowest, highest) temperature in °C at which the named substance keeps its phase at ordinary pressure
PHASES = {
    "ice": (-273.15, 0.0),
    "water": (0.0, 100.0),
    "aluminum": (-273.15, 660.3),
    "copper": (-273.15, 1084.6),
    "iron": (-273.15, 1538.0),
    "gold": (-273.15, 1064.2),
    "lead": (-273.15, 327.5),
}


def _implausible(state: State, words: str) -> tuple[str, str] | None:
    """A phase that cannot exist at a temperature of the state: ice above 0 °C, say."""
    for name, (low, high) in PHASES.items():
        if name in words:
            for key in ("T0", "T1"):
                kelvin = state.get(key)
                if not isinstance(kelvin, float | int):
                    continue
                value = kelvin - 273.15
                if not low - 0.01 <= value <= high + 0.01:
                    complaint = f"{name} at {value:g} °C is outside its phase ({low:g} to {high:g} °C)"
                    return complaint, "phase of the substance"
    return None


def _equations(s: Solved) -> dict[str, str]:
    sign = "+" if s["flow"] == "heated" else "-"
    return {
        "capacity": "{mass}·{c}",
        "dT": "{Q}/({mass}·{c})",
        "T1": f"{{T0}} {sign} {{Q}}/({{mass}}·{{c}})",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.box("source", 2, 1.8, 1.6, 1.6)
    p.box("body", 3.6, 1.8, 2.8, 2.2)
    after = p.moment == "after"
    p.label(5.4, 4.3, p.value("T1" if after else "T0"))
    if not after:
        way = 1 if s["flow"] == "heated" else -1
        p.arrow(3.6 - 0.7 * way, 4.9, 1.4 * way, 0, p.value("Q"))
    p.show("mass", "c", "T0", "Q")
    p.note(f"the sample is {s['flow']}")


FAMILY = Family(
    name="thermal",
    roles={
        "body": ("brass bar", "steel rod", "clay brick", "glass plate", "stone slab"),
        "source": ("bath", "plate", "stove"),
    },
    recognize={
        "source": r"bath|stove|heater|hot ?plate",
        "body": r"ice|gold|copper|alumin|iron|lead|water|sample|block|rod|bar|brick|slab",
    },
    quantities={
        "mass": Quantity("mass", "m", "kg", ("kg", "g"), 0.4, 4.5, "body", ("m",)),
        "c": Quantity(
            "specific heat", "c", "J/(kg·K)", ("J/(kg·K)", "kJ/(kg·K)"), 380, 920, "body", ("c", "specific_heat")
        ),
        "T0": Quantity("initial temperature", "T0", "K", ("°C", "K"), 303, 368, "body", ("t_initial", "t0", "ti")),
        "Q": Quantity("heat", "Q", "J", ("J", "kJ"), 6000, 95000, "source", ("q", "heat"), either_sign=True),
        "capacity": Quantity("heat capacity", "C", "J/K", ("J/K", "kJ/K"), owner="body"),
        "dT": Quantity(
            "temperature change",
            "ΔT",
            "K",
            ("K",),
            owner="body",
            aliases=("dt", "delta_t"),
            difference=True,
            either_sign=True,
        ),
        "T1": Quantity("final temperature", "T1", "K", ("°C", "K"), owner="body", aliases=("t_final", "t1", "tf")),
    },
    conditions={"flow": ("heated", "cooled")},
    formulas={
        "flow": lambda T0, T1: "heated" if T1 > T0 else "cooled" if T1 < T0 else "",
        "capacity": lambda mass, c: mass * c,
        "dT": (lambda Q, capacity: Q / capacity, lambda T0, T1: abs(T1 - T0)),
        "Q": lambda capacity, dT: capacity * dT,
        "T1": lambda flow, T0, dT: T0 + dT if flow == "heated" else T0 - dT,
        "trend": lambda flow: "warms" if flow == "heated" else "cools",
    },
    equations=_equations,
    relations=lambda s: (("touching", "body", "source"),),
    forces=lambda s: (),
    rules=("heat equals mass times specific heat times temperature change", "calorimetry without a change of phase"),
    rule_words=r"heat|calorimet|mc|thermal",
    setting="A {body} of mass {mass} with a specific heat of {c} and an initial temperature of {T0} touches a {source} and is {flow} "
    "by a heat of {Q}.",
    effect="The {body} {trend} to a final temperature of {T1}",
    subject="body",
    headline="T1",
    outcome=Outcome(
        "trend",
        "Does the {body} warm or cool?",
        {
            "warms": r"\bwarm|\bheats? up|hotter|\bris(es?|ing)\b|absorbed",
            "cools": r"\bcool(s|ing)?\b|colder|\bfall(s|ing)?\b|\bdrops?\b",
        },
    ),
    targets=("capacity", "dT", "T1"),
    interventions=("mass", "Q", "c"),
    assumptions=("no heat is lost to the surroundings", "there is no change of phase"),
    accept=lambda s: 12 < s["dT"] < 90 and s["T1"] > 275,
    draw=_draw,
    laws=frozenset(("heat", "energy")),
    change=("T0", "T1"),
    implausible=_implausible,
)
