"""A second resistor is added to a battery that feeds one, in series or in parallel.

Parameters: voltage, two resistances; condition: the wiring. Derived: current first and after, total resistance, power.
Outcome: whether the battery's current rises. Counterfactual: voltage, second resistance.
"""

from tasks.traces.family import Family, Outcome, Panel, Quantity, Solved

DEVICES = ("lamp", "heater", "resistor", "toaster", "fan", "kettle")


def _equations(s: Solved) -> dict[str, str]:
    total = "({R1} + {R2})" if s["wiring"] == "series" else "({R1}·{R2}/({R1} + {R2}))"
    return {
        "i0": "{V}/{R1}",
        "rt": total[1:-1],
        "i1": f"{{V}}/{total}",
        "power": f"{{V}}²/{total}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    _draw_battery(p, 1.2, 3)
    p.line([(1.2, 3.4), (1.2, 5), (8, 5), (8, 1), (1.2, 1), (1.2, 2.6)])
    series = s["wiring"] == "series"
    open_still = p.moment == "before"
    if series:
        _draw_resistor(p, "a", 3.6, 5, "h")
        _draw_resistor(p, "b", 6.1, 5, "h")
        if open_still:
            p.line([(5.2, 5), (5.2, 5.75), (7.05, 5.75), (7.05, 5)], dashed=True)
            p.label(6.1, 6.0, "bridged at first")
    else:
        _draw_resistor(p, "a", 8, 3, "v")
        p.line([(5, 5), (5, 3.6)], dashed=open_still)
        p.line([(5, 2.4), (5, 1)], dashed=open_still)
        _draw_resistor(p, "b", 5, 3, "v")
        if open_still:
            p.label(4.0, 4.4, "open at first")
    p.show("V", "R1", "R2")
    p.note(f"{p.names['b']} is added in {s['wiring']}")


def _draw_battery(p: Panel, x: float, y: float) -> None:
    p.curve([(x - 0.45, y + 0.4), (x + 0.45, y + 0.4)], 1.6, 2)
    p.curve([(x - 0.22, y - 0.4), (x + 0.22, y - 0.4)], 4, 2)
    p.label(x + 0.55, y, p.names["battery"], ha="left")


def _draw_resistor(p: Panel, role: str, x: float, y: float, way: str) -> None:
    """A resistor with its name and value; `way` is h(orizontal) or v(ertical)."""
    width, height = (1.3, 0.5) if way == "h" else (0.42, 1.2)
    left, low = x - width / 2, y - height / 2
    corners = [(left, low), (left + width, low), (left + width, low + height), (left, low + height)]
    p.polygon(corners, "white", 1.6, 4)
    text = f"{p.names[role]}, {p.value('R1' if role == 'a' else 'R2')}"
    if way == "h":
        p.label(x, y - 0.55 if role == "a" else y - 0.95, text, size=9)
    elif x < 6:
        p.label(x + 0.3, y, text, size=9, ha="left")
    else:
        p.label(x + 0.2, y + 1.0, text, size=9)


FAMILY = Family(
    name="circuit",
    roles={"battery": ("battery", "power supply"), "a": DEVICES, "b": DEVICES},
    recognize={"battery": r"batter|supply|source|cell", "a": r"R_?1|\bA\b|first", "b": r"R_?2|\bB\b|second"},
    quantities={
        "V": Quantity("voltage", "U", "V", ("V", "mV"), 3, 24, "battery", ("v_source", "v", "voltage", "emf")),
        "R1": Quantity("resistance", "R1", "Ω", ("Ω", "kΩ"), 12, 180, "a", ("r1", "resistance_1", "r_1")),
        "R2": Quantity("resistance", "R2", "Ω", ("Ω", "kΩ"), 12, 180, "b", ("r2", "resistance_2", "r_2")),
        "i0": Quantity("initial total current", "I0", "A", ("A", "mA"), owner="battery"),
        "rt": Quantity("total resistance", "R", "Ω", ("Ω", "kΩ"), owner="", aliases=("r_total", "r_eq", "req")),
        "i1": Quantity("total current", "I1", "A", ("A", "mA"), owner="battery", aliases=("i_total", "i", "current")),
        "power": Quantity("total power", "P", "W", ("W",), owner="battery", aliases=("p_total",)),
    },
    conditions={"wiring": ("series", "parallel")},
    formulas={
        "i0": lambda V, R1: V / R1,
        "rt": lambda wiring, R1, R2: (
            R1 + R2 if wiring == "series" else R1 * R2 / (R1 + R2) if wiring == "parallel" else ""
        ),
        "i1": lambda V, rt: V / rt,
        "power": lambda V, i1: V * i1,
        "trend": lambda wiring: "falls" if wiring == "series" else "rises" if wiring == "parallel" else "",
    },
    equations=_equations,
    relations=lambda s: (("connected_to", "battery", "a"), ("connected_to", "a", "b")),
    forces=lambda s: (),
    rules=("Ohm's law for the total resistance", "the total current equals the voltage over the total resistance"),
    rule_words=r"ohm|kirchhoff|resistance|voltage",
    setting="A {battery} with a voltage of {V} feeds a {a} with a resistance of {R1}. Then a {b} with a resistance of {R2} is added "
    "in {wiring}.",
    effect="The current from the {battery} {trend} to a total current of {i1}",
    subject="battery",
    headline="i1",
    outcome=Outcome(
        "trend",
        "Does the current from the {battery} rise or fall?",
        {
            "rises": r"\bris(es?|ing)\b|\bincreas|\bgrows?\b|higher",
            "falls": r"\bfall(s|ing)?\b|\bdecreas|\bdrops?\b|lower",
        },
    ),
    targets=("i0", "rt", "i1", "power"),
    interventions=("V", "R2"),
    assumptions=("the battery is ideal", "the wires have no resistance", "the resistances are constant"),
    accept=lambda s: abs(s["R1"] / s["R2"] - 1) > 0.15 and 0.2 < s["R1"] / s["R2"] < 5,
    draw=_draw,
    laws=frozenset(("currents",)),
    change=("i0", "i1"),
    contrary={
        "wiring": {"parallel": r"\bin series\b", "series": r"\b(?:in|connected) parallel\b|\bparallel to\b"},
    },
    initial=("i0",),
)
