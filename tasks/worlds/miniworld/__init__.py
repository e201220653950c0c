"""MiniWorld: first-person 3D rooms with continuous poses (paper 1, Appendix E.1).

Importing this package needs no OpenGL; a child process loads it when an environment is first stepped or drawn.
"""

from __future__ import annotations
