"""Simulators that break, for the child process of MiniWorld."""

import os

from miniworld_child.simulator import Simulator


class Dies(Simulator):
    """Its drawing kills its process."""

    def make(self, env_id):
        os.abort()


class Raises(Simulator):
    """A user's environment that raises in reset."""

    def make(self, env_id):
        env = super().make(env_id)

        def reset(**_):
            raise ZeroDivisionError("no room")

        env.reset = reset
        return env
