"""Sign in the child process: the color follows from the seed, steps are as long as in the other environments."""

from __future__ import annotations

from typing import Any

from .simulator import Simulator, make

COLORS = ("blue", "red", "green")


class Sign(Simulator):
    def make(self, env_id: str) -> Any:
        import miniworld.envs.sign
        from miniworld.params import DEFAULT_PARAMS

        mission = self.mission

        class SeededSign(miniworld.envs.sign.Sign):  # type: ignore[misc]
            def _gen_world(self) -> None:
                self._color_index = int(self.np_random.integers(3))
                super()._gen_world()
                self.mission = mission.format(kind=("box", "key")[self._goal])

        env = make(env_id, SeededSign, max_episode_steps=250)
        for name in ("forward_step", "turn_step"):
            env.params.set(name, DEFAULT_PARAMS.params[name].default)
        return env

    def target(self, env: Any) -> Any:
        return env._objects[env._goal][env._color_index]

    def after_edit(self, env: Any) -> None:
        (text,) = (entity.str for entity in env.entities if hasattr(entity, "str"))
        env.set_color_index(COLORS.index(text.lower()))
