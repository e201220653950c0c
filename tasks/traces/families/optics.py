"""An object before a thin converging lens.

Parameters: focal length, object distance, object height; condition: the side of the object. Derived: image distance,
magnification, image height (all as sizes). Outcome: real or virtual. Counterfactual: focal length, distance, height.
"""

from tasks.traces.family import OPPOSITES, Family, Outcome, Panel, Quantity, Solved


def _equations(s: Solved) -> dict[str, str]:
    gap = "({do} - {f})" if s["image"] == "real" else "({f} - {do})"
    return {
        "di": f"{{f}}·{{do}}/{gap}",
        "magnification": f"{{f}}/{gap}",
        "hi": f"{{ho}}·{{f}}/{gap}",
    }


def _draw(p: Panel) -> None:
    s = p.state
    p.line([(0.6, 3), (9.4, 3)], dashed=True)
    _draw_lens(p, 5, 3, 2.1)
    p.label(5, 5.35, p.names["lens"])
    way = -1 if s["side"] == "left" else 1
    reach = max(s["do"], s["di"] if s["image"] == "virtual" else 0, 2 * s["f"])
    scale = 3.9 / reach
    p.arrow(5 + way * s["do"] * scale, 3, 0, 1.1, p.names["item"])
    for side in (-1, 1):
        p.dot(5 + side * s["f"] * scale, 3, "F")
    p.span(5, 5 + way * s["do"] * scale, 1.5, p.value("do"))
    p.show("f", "do", "ho")


def _draw_lens(p: Panel, x: float, y: float, half: float) -> None:
    bend = [i / 20 - 1 for i in range(41)]
    right = [(x + 0.32 * (1 - b * b), y + half * b) for b in bend]
    left = [(x - 0.32 * (1 - b * b), y + half * b) for b in reversed(bend)]
    p.polygon([*right, *left], "#cfe3f5")


FAMILY = Family(
    name="optics",
    roles={"item": ("candle", "arrow", "pencil", "flower", "key", "spoon"), "lens": ("lens", "magnifier")},
    recognize={"lens": r"lens|magnifier", "item": r"object|candle|arrow|pencil"},
    quantities={
        "f": Quantity("focal length", "f", "m", ("m", "cm"), 0.08, 0.35, "lens", ("f", "focal_length")),
        "do": Quantity(
            "object distance", "do", "m", ("m", "cm"), 0.05, 0.8, "item", ("d_o", "do", "object_distance", "distance")
        ),
        "ho": Quantity("object height", "ho", "m", ("m", "cm"), 0.02, 0.095, "item", ("h_o",)),
        "di": Quantity(
            "image distance", "di", "m", ("m", "cm"), owner="item", aliases=("d_i", "image_distance"), either_sign=True
        ),
        "magnification": Quantity(
            "magnification", "M", "", ("",), owner="", aliases=("m", "magnification"), either_sign=True
        ),
        "hi": Quantity("image height", "hi", "m", ("m", "cm"), owner="item", aliases=("h_i",), either_sign=True),
    },
    conditions={"side": ("left", "right")},
    formulas={
        "image": lambda do, f: "real" if do > f else "virtual" if do < f else "",
        "di": lambda f, do: abs(f * do / (do - f)),
        "magnification": lambda di, do: di / do,
        "hi": lambda ho, magnification: ho * magnification,
    },
    equations=_equations,
    relations=lambda s: (
        ((f"{s['side']}_of", "item", "lens"), (f"{OPPOSITES[str(s['side'])]}_of", "lens", "item"))
        if s.get("side")
        else ()
    ),
    forces=lambda s: (),
    rules=("the thin lens equation", "the reciprocals of both distances add up to that of the focal length"),
    rule_words=r"lens|focal",
    setting="A {item} with an object height of {ho} stands to the {side} of a thin converging {lens} with a focal length of {f}, at an "
    "object distance of {do}.",
    effect="A {image} image of the {item} forms at an image distance of {di}",
    subject="item",
    headline="di",
    outcome=Outcome(
        "image",
        "Is the image of the {item} real or virtual?",
        {"real": r"\breal\b|other side", "virtual": r"\bvirtual\b|same side"},
    ),
    targets=("di", "magnification", "hi"),
    interventions=("ho", "f"),
    assumptions=("the lens is thin", "the rays are paraxial"),
    accept=lambda s: 0.3 < abs(s["do"] / s["f"] - 1) < 2.5,
    draw=_draw,
    laws=frozenset(("lenses",)),
)
