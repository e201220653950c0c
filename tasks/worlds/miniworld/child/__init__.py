"""MiniWorld's side of its child process: the package `miniworld_child` there. Python 3.9, relative imports only.

`state` is what both sides know; the others are loaded in the child alone.
"""
