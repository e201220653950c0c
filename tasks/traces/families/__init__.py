"""The physics families, one file each, found by being there; those of installed packages by the entry point
`worldaudit.families`. The first seventeen are those of paper 2, section 5.1.

Their order decides how many traces of a bank each family gets, and is therefore fixed; a family that is added comes after
them.
"""

from tasks.registry import Registry
from tasks.traces.family import Family

RELEASE = (
    "inclined_plane", "projectile", "collision", "free_fall", "friction", "circular_motion", "pulley", "lever", "pendulum",
    "spring", "fluid", "buoyancy", "circuit", "optics", "wave", "thermal", "em_induction",
)  # fmt: skip
FAMILIES: Registry[Family] = Registry(
    "physics family", "tasks.traces.families", "FAMILY", "worldaudit.families", joined="_", first=RELEASE
)
