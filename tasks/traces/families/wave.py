"""A periodic wave passes from one medium into another.

Parameters: frequency, first wavelength, second wave speed. Derived: first speed, second wavelength, period. Outcome:
whether the wavelength grows; the frequency stays. Counterfactual: frequency, second speed.
"""

from tasks.traces.family import Family, Outcome, Panel, Quantity, Solved

MEDIA = ("thin rope", "thick rope", "steel wire", "nylon line", "rubber hose", "copper wire")


def _equations(s: Solved) -> dict[str, str]:
    return {
        "v1": "{f}·{lam1}",
        "lam2": "{v2}/{f}",
        "period": "1/{f}",
        "ratio": "{v2}/({f}·{lam1})",
    }


def _draw(p: Panel) -> None:
    from math import pi, sin

    s = p.state
    ratio = s["lam2"] / s["lam1"]
    first = 1.2 if ratio > 1 else min(1.2 / ratio, 2.2)
    second = max(0.35, min(2.4, first * ratio))
    p.line([(0.8 + 4.2 * i / 200, 3.4 + 0.8 * sin(2 * pi * 4.2 * i / 200 / first)) for i in range(201)])
    turn, swing = 2 * pi * 4.2 / first, 0.8 if p.moment == "after" else 0.0
    steps = [4.2 * i / 200 for i in range(201)]
    p.line([(5 + x, 3.4 + swing * sin(turn + 2 * pi * x / second)) for x in steps], thick=True)
    p.line([(5, 1.6), (5, 5.2)], dashed=True)
    p.label(2.9, 5, p.names["a"])
    p.label(7.1, 5, p.names["b"])
    p.span(0.8, 0.8 + first, 2.1, p.value("lam1"))
    p.arrow(1.6, 1.4, 1.6, 0, "")
    p.show("f", "lam1", "v2")


FAMILY = Family(
    name="wave",
    roles={"wave": ("wave", "pulse train", "ripple"), "a": MEDIA, "b": MEDIA},
    recognize={"wave": r"wave|pulse|ripple|sound|light", "a": r"medium_?1|first", "b": r"medium_?2|second"},
    quantities={
        "f": Quantity("frequency", "f", "Hz", ("Hz", "kHz"), 15, 420, "wave", ("f", "frequency")),
        "lam1": Quantity(
            "first wavelength", "λ1", "m", ("m", "cm"), 0.15, 1.9, "wave", ("lambda", "wavelength", "λ", "lambda1")
        ),
        "v2": Quantity("second wave speed", "v2", "m/s", ("m/s",), 20, 480, "b", ("speed_2",)),
        "v1": Quantity(
            "first wave speed", "v1", "m/s", ("m/s",), owner="a", aliases=("v", "speed", "wave_speed", "wave speed")
        ),
        "lam2": Quantity("second wavelength", "λ2", "m", ("m", "cm"), owner="wave", aliases=("lambda2",)),
        "period": Quantity("period", "T", "s", ("s", "ms"), owner="wave", aliases=("t",)),
        "ratio": Quantity("ratio of the second to the first wave speed", "n", "", ("",), owner=""),
    },
    conditions={},
    formulas={
        "v1": lambda f, lam1: f * lam1,
        "lam2": lambda v2, f: v2 / f,
        "period": lambda f: 1 / f,
        "ratio": lambda v2, v1: v2 / v1,
        "trend": lambda lam1, lam2: "grows" if lam2 > lam1 else "shrinks" if lam2 < lam1 else "",
    },
    equations=_equations,
    relations=lambda s: (("in", "wave", "a"), ("connected_to", "a", "b")),
    forces=lambda s: (),
    rules=("wave speed equals frequency times wavelength", "the frequency is kept where the medium changes"),
    rule_words=r"wave|frequency|wavelength",
    setting="A {wave} with a frequency of {f} has a first wavelength of {lam1} on a {a} and passes into a {b} with a second wave speed of "
    "{v2}.",
    effect="The wavelength of the {wave} {trend} to a second wavelength of {lam2}",
    subject="wave",
    headline="lam2",
    outcome=Outcome(
        "trend",
        "Does the wavelength of the {wave} grow or shrink?",
        {
            "grows": r"\bgrow|\bincreas|longer|stretch|\brises?\b",
            "shrinks": r"\bshr[iu]nk|\bdecreas|shorter|\bfalls?\b|compress",
        },
    ),
    targets=("v1", "lam2", "period", "ratio"),
    interventions=("f", "v2"),
    assumptions=("both media are uniform", "the wave loses no energy"),
    accept=lambda s: abs(s["ratio"] - 1) > 0.2 and 0.25 < s["ratio"] < 4,
    draw=_draw,
    laws=frozenset(("waves", "refraction")),
    change=("lam1", "lam2"),
)
