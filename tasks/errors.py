"""The errors that a person sees.

    WorldauditError
    ├── BadInput        what was asked for cannot be: exit code 2
    └── StageFailed     a stage could not do its work: exit code 1

Every message names what it is about (uid, file, line, key) and what would mend it.
"""


class WorldauditError(Exception):
    exit_code = 1


class BadInput(WorldauditError):
    """Bad usage or bad input."""

    exit_code = 2


class StageFailed(WorldauditError):
    """A stage failed; what was finished before it is kept."""
