"""The side of a world's child process that is the same for every world (see tasks/worlds/process.py for the other one).

It runs in whatever interpreter a simulator needs, Python 3.9 or later: standard library and numpy only, relative imports
only, nothing of `tasks`. In the child this folder is the package `worldaudit_child`, and the world's own child folder is
`<world>_child`.
"""
