"""The laws of physics that a rule may name, and the families of scenes in which each is at home.

A rule belongs to a family where it names a law of it, in whatever words; it does not where all that it names belongs elsewhere
(paper 2, appendix on the verifier, transition check 1). A rule that names nothing known stays open.
"""

from __future__ import annotations

import re

MOTION = frozenset(
    (
        "free_fall",
        "projectile",
        "inclined_plane",
        "friction",
        "pulley",
        "spring",
        "pendulum",
        "collision",
        "circular_motion",
    )
)
STATICS = frozenset(("lever", "pulley", "friction", "inclined_plane", "buoyancy", "fluid"))
FLUIDS = frozenset(("buoyancy", "fluid"))
NOWHERE = frozenset[str]()

# (how the law is named, the families that it governs)
LAWS = tuple(
    (re.compile(pattern, re.IGNORECASE), families)
    for pattern, families in (
        (r"snell|refractive ind|law of refraction|total internal reflection", frozenset(("optics", "wave"))),
        (r"thin[- ]lens|lens (?:equation|formula|maker)|mirror equation|focal length", frozenset(("optics",))),
        (r"ideal gas|\bp\s*v\s*=\s*n\s*r\s*t\b|boyle|charles's law|gay-lussac|adiabatic", NOWHERE),
        (r"heisenberg|uncertainty principle|schr[oö]dinger|photoelectric|planck|de broglie|pauli|bohr", NOWHERE),
        (
            r"coulomb's law|gauss|biot|amp[eè]re's law|stefan|boltzmann|wien's|relativ|lorentz|kepler|radioactive|half-life",
            NOWHERE,
        ),
        (r"bernoulli|continuity equation|venturi|poiseuille|torricelli", frozenset(("fluid",))),
        (r"pascal's|hydrostatic|pressure (?:grows|increases|rises) with depth", FLUIDS),
        (r"archimedes|buoyan|displaced (?:fluid|liquid|volume)", FLUIDS),
        (
            r"faraday|lenz|magnetic induction|electromagnetic induction|induced (?:emf|voltage|current)",
            frozenset(("em_induction",)),
        ),
        (
            r"ohm's|kirchhoff|resistors? in (?:series|parallel)|equivalent resistance",
            frozenset(("circuit", "em_induction")),
        ),
        (r"hooke|spring constant|elastic potential", frozenset(("spring",))),
        (r"centripetal|uniform circular motion", frozenset(("circular_motion", "pendulum"))),
        (r"torque|law of the lever|moments? about", frozenset(("lever",))),
        (
            r"specific heat|calorimetr|heat capacity|latent heat|newton's law of cooling|q\s*=\s*m\s*c",
            frozenset(("thermal",)),
        ),
        (
            r"wave equation|doppler|superposition of waves|interference|diffraction|v\s*=\s*f\s*[λ·*]",
            frozenset(("wave",)),
        ),
        (r"conservation of momentum|momentum is conserved|impulse", frozenset(("collision",))),
        (r"atwood", frozenset(("pulley",))),
        (r"free fall|projectile|kinematic|(?:constant|uniform) acceleration", MOTION),
        (r"newton's (?:first|second|third|1st|2nd|3rd)|newton 2|net force|f\s*=\s*m\s*a\b", MOTION | STATICS),
        (r"conservation of (?:mechanical )?energy|energy (?:is )?conserv", MOTION | frozenset(("thermal",))),
        (r"coulomb friction|friction law|static friction|kinetic friction", frozenset(("friction", "inclined_plane"))),
        (r"pendulum", frozenset(("pendulum",))),
    )
)
GOVERNED = frozenset(
    family for _, families in LAWS for family in families
)  # of a family that is not here no law is known


def belongs(rule: str, family: str) -> bool | None:
    """Whether a rule belongs to a family; None where it names no law that is known."""
    homes = [families for pattern, families in LAWS if pattern.search(rule)]
    if not homes:
        return None
    return any(family in families for families in homes)
