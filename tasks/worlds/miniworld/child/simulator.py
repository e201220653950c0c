"""What an environment has done in the child process, beside what MiniWorld does by itself."""

from __future__ import annotations

import urllib.parse
from typing import Any

import gymnasium

from .errors import BadInput
from .state import HEIGHT, WIDTH


class Simulator:
    """What the engine asks of an environment. One that needs something else names a subclass as its `simulator`."""

    def __init__(self, name: str, mission: str):
        self.name, self.mission = name, mission  # those of the environment

    def make(self, env_id: str) -> Any:
        """MiniWorld's environment object."""
        return make(env_id)

    def target(self, env: Any) -> Any:
        """The entity that the mission names."""
        return env.box

    def after_edit(self, env: Any) -> None:
        """Bring the simulator's own bookkeeping in line after an intervention."""


def make(env_id: str, entry_point: Any = None, **arguments: Any) -> Any:
    """A new MiniWorld environment. `env_id` is a registered id, with arguments after a question mark where the
    configuration is not a registered one: `MiniWorld-Hallway-v0?length=16`. `entry_point` is a class to use in place of
    the registered one. Raises BadInput for an id that there is not."""
    registered, _, query = env_id.partition("?")
    options = {**arguments, **{name: _number(values[0]) for name, values in urllib.parse.parse_qs(query).items()}}
    options.update({"obs_width": WIDTH, "obs_height": HEIGHT, "window_width": 8, "window_height": 8})
    try:
        spec = gymnasium.spec(registered)
        if entry_point is not None:
            return entry_point(**options)
        return gymnasium.make(spec, disable_env_checker=True, **options).unwrapped
    except (gymnasium.error.Error, TypeError, AssertionError) as error:
        raise BadInput(f"no MiniWorld environment {env_id!r}: {error}") from error


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
