"""The errors that a person sees.

    WorldauditError
    ├── BadInput        what was asked for cannot be: exit code 2
    └── StageFailed     a stage could not do its work: exit code 1

Every message names what it is about (uid, file, line, key) and what would mend it. It may quote what a server or a file says,
and whoever shows it, be it a traceback or a log of Prefect's, shows it to a terminal: it is printable from the beginning.
"""

from tasks.printable import printable


class WorldauditError(Exception):
    exit_code = 1

    def __init__(self, message: str):
        super().__init__(printable(message))


class BadInput(WorldauditError):
    """Bad usage or bad input."""

    exit_code = 2


class StageFailed(WorldauditError):
    """A stage failed; what was finished before it is kept."""
