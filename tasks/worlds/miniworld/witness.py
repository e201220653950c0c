"""A MiniWorld trajectory executed again in a fresh simulator, which draws by MiniWorld's own step.

Every state is compared. Of the frames, those are drawn again at which something happens or the mask lies, the first and
the last, and every SAMPLED-th: a frame follows from its state, so that a fault in how frames are drawn is not a fault of
one frame. Drawing all of them would double the cost of an exam; a test does it for every environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tasks.pictures.pixels import Pixels, differing
from tasks.worlds.base import Episode, Json, MaskBox, Witness
from tasks.worlds.miniworld.child.state import AGENT_RADIUS, COLORS, KINDS, RoomState, decode_state, encode_state
from tasks.worlds.miniworld.floor import Floor
from tasks.worlds.miniworld.process import RemoteEngine

SAMPLED = 8


class Rules(Protocol):
    """What a witness asks of its environment: the floor plan, what the NoCue target is, and when it is used."""

    def floor(self, seed: int) -> Floor: ...
    def cue(self, state: RoomState) -> int: ...
    def cue_used(self, state: RoomState) -> bool: ...


class MiniWorldWitness(Witness):
    def __init__(
        self, engine: RemoteEngine, episode: Episode, edits: list[Json], frames: dict[int, Pixels], rules: Rules
    ):
        """`engine` is fresh; it has run the `episode`, after `edits`, and drawn `frames` (by step) on the way."""
        self.engine, self.episode, self.edits, self._frames, self.rules = engine, episode, edits, dict(frames), rules
        self._states: list[RoomState] = episode.states
        eventful = sorted({event.step for event in episode.events} - set(self._frames))
        shown = engine.show([self._states[step] for step in eventful], edits)
        self._frames |= dict(zip(eventful, shown, strict=True))
        self._boxes: dict[int, list[MaskBox]] = {}

    def states(self) -> list[Json]:
        return [encode_state(state) for state in self._states]

    def invalid_state(self, state: Json) -> str | None:
        try:
            decoded = decode_state(state)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            return f"not a state: {error}"
        numbers = [*decoded.pose, *(v for t in decoded.things for v in (t.x, t.y, t.z, t.direction, t.size, t.radius))]
        if not np.isfinite(np.array(numbers, dtype=float)).all():
            return "a pose that is not finite"
        for thing in decoded.things:
            if thing.kind not in KINDS or (thing.kind in ("box", "ball", "key") and thing.color not in COLORS):
                return f"there is no {thing.name} in MiniWorld"
        if not -1 <= decoded.carrying < len(decoded.things):
            return f"thing {decoded.carrying} is carried, there are {len(decoded.things)}"
        room = float(self.rules.floor(decoded.seed).clearance(np.array([[decoded.x, decoded.z]]))[0])
        if room < AGENT_RADIUS - 1e-9:
            return f"the agent stands {room:.2f} m from a wall, it is {AGENT_RADIUS} m wide"
        return None

    def draws(self, step: int) -> bool:
        return step in self._frames

    def misread(self, step: int, pixels: Pixels, masked: Sequence[MaskBox]) -> str | None:
        if masked:
            self.target_boxes(step)  # draws the frame on the way
        expected = self._frames.get(step)
        if expected is None:
            return None
        if pixels.shape != expected.shape:
            return f"the frame at step {step} is {pixels.shape}"
        if np.array_equal(pixels, expected):
            return None
        differs = differing(pixels, expected)
        for box in masked:
            differs[box.top : box.top + box.height, box.left : box.left + box.width] = False
        return f"at step {step} {differs.sum()} pixels are not what the simulator draws" if differs.any() else None

    def faces_target(self, step: int) -> bool:
        return self.rules.cue_used(self._states[step])

    def target_boxes(self, step: int) -> list[MaskBox]:
        if step not in self._boxes:
            state = self._states[step]
            frame, _, box = self.engine.outlined(state, self.edits, self.rules.cue(state))
            self._frames.setdefault(step, frame)
            self._boxes[step] = [MaskBox(step, *box)] if box else []
        return self._boxes[step]
