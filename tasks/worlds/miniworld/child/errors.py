"""Errors that the parent knows by their names."""


class BadInput(Exception):
    """What was asked for cannot be."""


class StageFailed(Exception):
    """MiniWorld cannot do its work."""
