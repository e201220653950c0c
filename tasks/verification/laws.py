"""The laws of physics that a rule may name, and the field that each belongs to; a family says which fields govern its scenes.

A rule belongs to a family where it names a law of it, in whatever words; it does not where all that it names belongs elsewhere
(paper 2, appendix on the verifier, transition check 1). A rule that names nothing known stays open.
"""

from __future__ import annotations

import re
from collections.abc import Collection

LAWS = tuple(
    (field, re.compile(pattern, re.IGNORECASE))
    for field, pattern in (
        ("refraction", r"snell|refractive ind|law of refraction|total internal reflection"),
        ("lenses", r"thin[- ]lens|lens (?:equation|formula|maker)|mirror equation|focal length"),
        ("gases", r"ideal gas|\bp\s*v\s*=\s*n\s*r\s*t\b|boyle|charles's law|gay-lussac|adiabatic"),
        ("quanta", r"heisenberg|uncertainty principle|schr[oö]dinger|photoelectric|planck|de broglie|pauli|bohr|radioactive|half-life"),
        ("charges", r"coulomb's law|gauss|biot|amp[eè]re's law"),
        ("radiation", r"stefan|boltzmann|wien's"),
        ("relativity", r"relativ(?:ity|istic)|lorentz"),
        ("orbits", r"kepler|universal gravitation"),
        ("flow", r"bernoulli|continuity equation|venturi|poiseuille|torricelli"),
        ("hydrostatics", r"pascal's|hydrostatic|pressure (?:grows|increases|rises) with depth"),
        ("buoyancy", r"archimedes|buoyan|displaced (?:fluid|liquid|volume)"),
        ("induction", r"faraday|lenz|magnetic induction|electromagnetic induction|induced (?:emf|voltage|current)"),
        ("currents", r"ohm's|kirchhoff|resistors? in (?:series|parallel)|equivalent resistance"),
        ("elasticity", r"hooke|spring constant|elastic potential"),
        ("circles", r"centripetal|uniform circular"),
        ("torque", r"torque|law of the lever|moments? about"),
        ("heat", r"specific heat|calorimetr|heat capacity|latent heat|newton's law of cooling|q\s*=\s*m\s*c"),
        ("waves", r"wave equation|doppler|superposition of waves|interference|diffraction|v\s*=\s*f\s*[λ·*]"),
        ("momentum", r"conservation of momentum|momentum is conserved|impulse"),
        ("kinematics", r"free fall|kinematic|(?:constant|uniform) acceleration"),
        ("dynamics", r"newton's (?:first|second|third|1st|2nd|3rd)|newton 2|net force|atwood|f\s*=\s*m\s*a\b"),
        ("energy", r"conservation of (?:mechanical )?energy|energy (?:is )?conserv"),
        ("friction", r"coulomb friction|friction law|static friction|kinetic friction"),
        ("swings", r"pendul|small[- ]angle|simple harmonic"),
    )
)  # fmt: skip


def belongs(rule: str, fields: Collection[str]) -> bool | None:
    """Whether a rule names a law of one of the fields; None where it names none that is known."""
    named = {field for field, pattern in LAWS if pattern.search(rule)}
    return not named.isdisjoint(fields) if named else None
