"""A robot on a line of eight cells, and a flag. The simulator runs in a child process (`child/engine.py`)."""

from worldaudit import World, WorldauditError


def check():
    """For `worldaudit doctor`: (name, whether it works, what was found or what would mend it)."""
    from worldaudit_extension.line.process import ENGINE

    try:
        return [("child process", True, f"Python {ENGINE('main', 'python')}")]
    except WorldauditError as error:
        return [("child process", False, str(error))]


WORLD = World(
    name="line",
    title="Line",
    package=__name__,
    distributions=("numpy",),
    judges=("line-reader", "left-hander"),
    check=check,
)
