"""The laws of physics that a rule may name, and the field that each belongs to; a family says which fields govern its scenes.

A rule belongs to a family where it names a law of it, in whatever words; it does not where it names a law that governs other scenes
(paper 2, appendix on the verifier, transition check 1). A rule that names nothing known stays open.
"""

from __future__ import annotations

import re
from collections.abc import Collection

GENERAL = frozenset(("dynamics", "kinematics", "energy"))  # fields that a law of another scene may be told with
LAWS = tuple(
    (field, re.compile(pattern, re.IGNORECASE))
    for field, pattern in (
        ("refraction", r"snell|refractive ind|law of refraction|total internal reflection|frequency is (?:kept|unchanged)"),
        ("lenses", r"thin[- ]lens|lens (?:equation|formula|maker)|mirror equation|focal length"),
        ("gases", r"ideal gas|\bp\s*v\s*=\s*n\s*r\s*t\b|boyle|charles's law|gay-lussac|adiabatic"),
        ("quanta", r"heisenberg|uncertainty principle|schr[oö]dinger|photoelectric|planck|de broglie|pauli|bohr|radioactive|half-life"),
        ("charges", r"coulomb's law|gauss|biot|amp[eè]re's law"),
        ("radiation", r"stefan|boltzmann|wien's"),
        ("relativity", r"relativ(?:ity|istic)|lorentz"),
        ("orbits", r"kepler|universal gravitation"),
        ("flow", r"bernoulli|continuity equation|venturi|poiseuille|torricelli"),
        ("hydrostatics", r"pascal's|hydrostatic|pressure (?:grows|increases|rises) with depth|density times (?:g|gravity) times depth|gauge pressure"),
        ("buoyancy", r"archimedes|buoyan|displaced (?:fluid|liquid|volume)"),
        ("induction", r"faraday|lenz|magnetic induction|electromagnetic induction|induced (?:emf|voltage|current)|change of (?:the )?(?:magnetic )?flux"),
        ("currents", r"ohm's|kirchhoff|resistors? in (?:series|parallel)|equivalent resistance|total resistance"),
        ("elasticity", r"hooke|spring constant|spring force|elastic potential"),
        ("circles", r"centripetal|uniform circular"),
        ("rotation", r"angular momentum|moment of inertia"),
        ("torque", r"torque|law of the lever|moments? about"),
        ("heat", r"specific heat|calorimetr|heat capacity|latent heat|newton's law of cooling|q\s*=\s*m\s*c"),
        ("waves", r"wave equation|doppler|superposition of waves|interference|diffraction|v\s*=\s*f\s*[λ·*]|frequency times (?:the )?wavelength"),
        ("momentum", r"conservation of (?:linear )?momentum|momentum is conserved|impulse|total momentum"),
        ("kinematics", r"kinematic|(?:constant|uniform) (?:gravitational )?acceleration"),
        ("dynamics", r"newton's (?:first|second|third|1st|2nd|3rd)|newton 2|net force|f\s*=\s*m\s*a\b"),
        ("pulleys", r"atwood|difference of (?:the|both|two) weights|bod(?:y|ies) on one string"),
        ("energy", r"conservation of (?:mechanical )?energy|energy (?:is )?conserv|height is turned into speed"),
        ("friction", r"coulomb friction|friction law|static friction|kinetic friction"),
        ("inclines", r"along the (?:incline|slope|ramp)|\binclined plane"),
        ("falling", r"free[- ]fall|projectil"),
        ("flight", r"horizontal motion|parabol"),
        ("oscillations", r"small[- ]angle|simple harmonic"),
        ("swings", r"pendul|along the (?:swing|arc)"),
    )
)  # fmt: skip


def belongs(rule: str, fields: Collection[str]) -> bool | None:
    """Whether a rule names laws of these fields, or of the general ones beside, and of no other; None where it names none that is
    known."""
    named = {field for field, pattern in LAWS if pattern.search(rule)}
    if not named:
        return None
    return not named.isdisjoint(fields) and not named - GENERAL - set(fields)
