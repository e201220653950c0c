"""LaTeX as the plain text that people would type instead: `pylatexenc` reads it, this module says how each node is written.

`\\frac{a}{b}` is `((a)/(b))`, `2.06 \\text{ N}` is `2.06 N`, `17.6^\\circ` is `17.6°`; a command that is not known is its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tasks.traces.remembered import remembered

LONGEST = 20_000  # characters that are read as LaTeX
DEEPEST = 60  # braces within braces
_SYMBOLS = {
    "times": "×", "cdot": "·", "ast": "·", "div": "/", "circ": "°", "degree": "°", "celsius": "°C", "approx": "≈", "simeq": "≈", "sim": "≈",
    "equiv": "=", "pm": "±", "mp": "∓", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "ll": "<", "gg": ">",
    "lt": "<", "gt": ">", "to": " → ", "rightarrow": " → ", "Rightarrow": " → ", "implies": " → ", "longrightarrow": " → ",
    "leftarrow": " ← ", "uparrow": " ↑ ", "downarrow": " ↓ ", "therefore": " → ", "left": "", "right": "", "bigl": "", "bigr": "", "big": "",
    "displaystyle": "", "limits": "", "boxed": "", ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "quad": " ", "qquad": " ", "\\": "\n", "%": "%",
    "{": "(", "}": ")", "Omega": "Ω", "ohm": "Ω", "ell": "L", "prime": "'", "infty": "∞", "angle": "∠", "sum": "Σ", "Delta": "Δ", "delta": "δ",
    "alpha": "α", "beta": "β", "gamma": "γ", "epsilon": "ε", "varepsilon": "ε", "eta": "η", "theta": "θ", "vartheta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "Phi": "Φ", "psi": "ψ",
    "omega": "ω", "Sigma": "Σ",
}  # fmt: skip
_SIMPLE = re.compile(r"^[-+−]?\w+$|^°$")
_BLANKS = re.compile(r"[ \t\u2009\u202f]{2,}")
_MARKS = frozenset("\\${")
_FUNCTIONS = ("sin", "cos", "tan", "ln", "log", "exp")


def plain(text: str) -> str:
    """The text without LaTeX; the same text where there is none, or where it is too long or too deep to be meant."""
    return text if _MARKS.isdisjoint(text) else _plain(text)


@remembered(4096)
def _plain(text: str) -> str:
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerError

    if len(text) > LONGEST or _depth(text) > DEEPEST:
        return text
    try:
        nodes, _, _ = LatexWalker(text, tolerant_parsing=True).get_latex_nodes()
    except (LatexWalkerError, RecursionError, ValueError, IndexError):
        return text
    return _BLANKS.sub(" ", _written(nodes)).strip()


def _depth(text: str) -> int:
    deepest = depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return deepest


def _written(nodes: Sequence[Any]) -> str:
    """A row of nodes as text."""
    written = ""
    for node in nodes:
        piece = _node(node)
        if written.endswith("^"):
            if piece == "°":
                written, piece = written[:-1], "°"
            elif node.__class__.__name__ == "LatexGroupNode" and not _SIMPLE.match(piece.strip()):
                piece = f"({piece})"
        elif written.endswith("_"):
            piece = re.sub(r"[\s,]+", "_", piece.strip()) + piece[len(piece.rstrip()) :]
        written += piece
    return written


def _node(node: Any) -> str:
    match node.__class__.__name__:
        case "LatexCharsNode":
            return str(node.chars)
        case "LatexGroupNode":
            return _written(node.nodelist)
        case "LatexMathNode":
            content = _written(node.nodelist)
            return content if node.displaytype == "inline" else f"{content}\n"
        case "LatexMacroNode":
            return _macro(node)
        case "LatexEnvironmentNode":
            return _written(node.nodelist).replace("&", " ") + "\n"
        case "LatexSpecialsNode":
            return " " if node.specials_chars == "~" else str(node.specials_chars)
    return ""


def _is_upright(node: Any) -> bool:
    """Whether an argument is text, as units are, and no mathematics."""
    first = (getattr(node, "nodelist", None) or [node])[0]
    return getattr(first, "macroname", "") in ("text", "mathrm", "textrm", "operatorname", "rm")


def _macro(node: Any) -> str:
    name, given = node.macroname, node.nodeargd.argnlist if node.nodeargd is not None else []
    arguments = [None if one is None else _node(one) for one in given or []]
    if name in ("frac", "dfrac", "tfrac", "cfrac") and len(arguments) == 2:
        if all(_is_upright(one) for one in given):
            return f"{arguments[0]}/{arguments[1]}"  # of units
        return f"(({arguments[0]})/({arguments[1]}))"
    if name == "sqrt":
        root, inside = [*([None] * (2 - len(arguments))), *arguments][-2:]
        return f"sqrt({inside})" if root is None else f"(({inside})^(1/({root})))"
    if name in _SYMBOLS:
        return _SYMBOLS[name] + (node.macro_post_space if name[0].isalpha() and name != "Delta" else "")
    if name in _FUNCTIONS:
        return f"{name} "
    inside = "".join(one for one in arguments if one is not None)
    return inside if arguments and inside else name + str(node.macro_post_space)
