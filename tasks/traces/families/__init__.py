"""The 17 families of paper 2, section 5.1, one file each; the project's physics, open to every other package."""

from tasks.traces.families import (
    buoyancy,
    circuit,
    circular_motion,
    collision,
    em_induction,
    fluid,
    free_fall,
    friction,
    inclined_plane,
    lever,
    optics,
    pendulum,
    projectile,
    pulley,
    spring,
    thermal,
    wave,
)
from tasks.traces.families.base import Family, ForceSpec, Outcome, Quantity, State

_MODULES = (
    inclined_plane,
    projectile,
    collision,
    free_fall,
    friction,
    circular_motion,
    pulley,
    lever,
    pendulum,
    spring,
    fluid,
    buoyancy,
    circuit,
    optics,
    wave,
    thermal,
    em_induction,
)
FAMILIES: dict[str, Family] = {module.FAMILY.name: module.FAMILY for module in _MODULES}

__all__ = ["FAMILIES", "Family", "ForceSpec", "Outcome", "Quantity", "State"]
