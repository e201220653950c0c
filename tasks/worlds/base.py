"""What a world offers to the stages: environments with planners, maskable cues, counterfactuals and a witness.

Stages know worlds and environments only through these types. A world is a package with a `World` record in `WORLD`; an
environment is one file of that package.
"""

from __future__ import annotations

import abc
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from tasks.pictures.pixels import Pixels

Json = dict[str, Any]
Interventions = list[tuple[str, Callable[[], list[Any]]]]  # named ways, each giving what to change at t = 0


@dataclass(frozen=True)
class World:
    """A simulator that can be audited in. Its package must be light to import: the simulator is loaded when it is used."""

    name: str  # as commands and tables have it
    title: str  # as reports have it
    package: str  # whose modules hold the environments; `profiles/` and `prompts/` in its folder are the world's own
    distributions: tuple[str, ...]  # installed packages whose versions matter to what it does
    judges: tuple[str, ...]  # embedded judges that sit its exams by default, hardest first
    check: Callable[
        [], list[tuple[str, bool, str]]
    ]  # what it needs: (name, whether it works, what was found or mends it)
    required: bool = False  # whether the base audit cannot run without it

    @property
    def folder(self) -> Path:
        return Path(next(iter(importlib.import_module(self.package).__path__)))

    @property
    def profiles(self) -> dict[str, Path]:
        """The profiles that the world's own folder holds, by name."""
        return {path.stem: path for path in sorted(self.folder.glob("profiles/*.toml"))}

    @property
    def prompts(self) -> dict[str, Path]:
        """The prompt sets that the world's own folder holds, by name."""
        return {path.stem: path for path in sorted(self.folder.glob("prompts/*.toml"))}


class Rejected(Exception):
    """A seed that cannot give a clean group; the message is the reason that its row records."""


@dataclass(frozen=True)
class Event:
    """Something that happened on the way into state `step` (state 0 is the start)."""

    step: int
    name: str


@dataclass(frozen=True)
class MaskBox:
    """Pixels of the frame at `step` that NoCue hides."""

    step: int
    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Intervention:
    """A change of the world at t = 0. `parameters` is plain JSON and enough to apply it in a fresh simulator."""

    name: str
    parameters: Json

    def to_json(self) -> Json:
        return {"name": self.name, "parameters": self.parameters}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Intervention:
        return cls(value["name"], value["parameters"])


@dataclass
class Episode:
    """One execution: `len(actions) + 1` states and the simulator's own verdict.

    `states` are the world's own state records; `Environment.encode` makes JSON of them.
    """

    mission: str
    actions: list[str]
    states: list[Any]
    success: bool
    terminated: bool
    truncated: bool
    reward: float
    intervention: Intervention | None = None
    events: list[Event] = field(default_factory=list)


class Witness(abc.ABC):
    """A trajectory executed again in a fresh simulator, by the simulator's own means, for the gates to question."""

    episode: Episode

    @abc.abstractmethod
    def states(self) -> list[Json]:
        """Every state as the fresh simulator gives it, in the form that the `trajectories` table stores."""

    @abc.abstractmethod
    def invalid_state(self, state: Json) -> str | None:
        """Why a stored state is not one that the world can be in; None where it is valid (gate E2)."""

    def draws(self, step: int) -> bool:
        """Whether `misread` compares the frame at `step`; a world whose frames are costly to draw takes a sample."""
        return True

    @abc.abstractmethod
    def misread(self, step: int, pixels: Pixels, masked: Sequence[MaskBox]) -> str | None:
        """Why the frame does not show the state at `step` outside the masked boxes; None where it does (gate E2)."""

    @abc.abstractmethod
    def faces_target(self, step: int) -> bool:
        """Whether the agent faces, touches or uses the NoCue target in the state at `step` (gate D5)."""

    @abc.abstractmethod
    def target_boxes(self, step: int) -> list[MaskBox]:
        """Where the frame at `step` shows the NoCue target; empty where it is out of sight (gate N1)."""


class Environment(abc.ABC):
    """One environment: its mission, causal chain, NoCue target and counterfactuals (paper 1, Tables 6 and 7).

    Concrete classes live one a file and are found by `tasks.worlds`. `env_id` picks a configuration (size, layout) of
    the environment; `default_id` is the base profile's.
    """

    world: ClassVar[str]
    name: ClassVar[str]
    default_id: ClassVar[str]
    causal_chain: ClassVar[tuple[str, ...]]  # events that a success must show, in this order (gate E1)
    final_event: ClassVar[str]  # the last of them; what a counterfactual must prevent
    changes: ClassVar[str] = "edits"  # what an intervention's parameters call its changes
    nocue_target: ClassVar[str]  # in words
    nocue_budget: ClassVar[int]  # most frames that may be masked (Table 7)
    frame_size: ClassVar[tuple[int, int]]  # width, height in pixels
    nocue_alignment: ClassVar[float] = 0.70  # least mean IoU of mask and target (Table 7)

    def __init__(self, env_id: str | None = None):
        self.env_id = env_id or self.default_id

    def rollout(self, seed: int) -> Episode:
        """A successful Full trajectory from the planner. Raises Rejected."""
        full = self._planned(seed)
        if not full.success:
            raise Rejected("the plan ends without success")
        if full.truncated:
            raise Rejected("the plan runs into the step limit")
        if missing := self.chain_in_order(full.events):
            raise Rejected(f"causal chain: {missing}")
        if unclear := self.unclear(full):
            raise Rejected(unclear)
        return full

    @abc.abstractmethod
    def _planned(self, seed: int) -> Episode:
        """What the planner does from a seeded reset, successful or not. Raises Rejected where its plan cannot go on."""

    def unclear(self, full: Episode) -> str | None:
        """Why the last frame of a success does not show it; None where it does (report GR1)."""
        return None

    @abc.abstractmethod
    def nocue(self, full: Episode) -> list[MaskBox]:
        """The boxes that NoCue masks. Raises Rejected where there is nothing to mask within the budget."""

    @abc.abstractmethod
    def interventions(self, full: Episode) -> Interventions:
        """Ways to make the same actions fail. They may raise Rejected when they are taken."""

    @abc.abstractmethod
    def execute(self, seed: int, actions: Sequence[str], intervention: Intervention | None = None) -> Episode:
        """`actions` from a seeded reset, whatever comes of them. An episode that ends early is stepped no further."""

    def counterfactual(self, seed: int, full: Episode) -> Episode:
        """The same actions after an intervention at t = 0, failing for the declared reason: the first way that works,
        beginning with another one at every seed. Raises Rejected where none does."""
        ways = self.interventions(full)
        first = seed % len(ways)
        reasons = []
        for name, changes in ways[first:] + ways[:first]:
            try:
                cf = self.execute(seed, full.actions, Intervention(name, {self.changes: changes()}))
                reason = self.why_failed(full, cf) or self.allowed_divergence(full, cf)
            except Rejected as error:
                reason = str(error)
            if reason is None:
                return cf
            reasons.append(f"{name}: {reason}")
        raise Rejected("no counterfactual fails as declared: " + "; ".join(reasons))

    def why_failed(self, full: Episode, cf: Episode) -> str | None:
        """None where `cf` fails because of its declared intervention; else what is wrong (gate CF1)."""
        if cf.success:
            return "it succeeds"
        if cf.truncated:
            return "it runs into the step limit"
        if len(cf.states) != len(full.states):
            return f"it ends after {len(cf.states) - 1} of {len(full.actions)} actions"
        if any(event.name == self.final_event for event in cf.events):
            return f"{self.final_event} happens all the same"
        return self.nearly(full, cf)

    def nearly(self, full: Episode, cf: Episode) -> str | None:
        """Why a failure is too close to a success to be told from it; None where it is clear."""
        return None

    @abc.abstractmethod
    def allowed_divergence(self, full: Episode, cf: Episode) -> str | None:
        """None where `cf` differs from `full` only as its intervention makes it; else what is wrong (gate D6)."""

    @abc.abstractmethod
    def events(self, states: Sequence[Any]) -> list[Event]:
        """What happened, read off the states."""

    @abc.abstractmethod
    def encode(self, state: Any) -> Json:
        """A state as plain JSON (no numpy types)."""

    @abc.abstractmethod
    def decode(self, state: Json) -> Any:
        """The inverse of `encode`."""

    @abc.abstractmethod
    def frames(self, seed: int, episode: Episode) -> Iterator[Pixels]:
        """The frame of every state, unmasked."""

    @abc.abstractmethod
    def hide(self, frame: Pixels, boxes: Sequence[MaskBox]) -> Pixels:
        """A copy of `frame` with the boxes masked, as NoCue shows it."""

    @abc.abstractmethod
    def branches(self, seed: int, actions: Sequence[str], steps: Sequence[int]) -> dict[int, dict[str, Branch]]:
        """What each action of the world would lead to in the Full trajectory's state at each of `steps`."""

    @abc.abstractmethod
    def witness(
        self, seed: int, actions: Sequence[str], intervention: Intervention | None, full: Episode | None = None
    ) -> Witness:
        """The actions in a fresh simulator."""

    @abc.abstractmethod
    def contradicts(self, state: Any, action: str, after: Any) -> bool:
        """Whether what the frame of `after` shows cannot follow from what the frame of `state` shows under `action`,
        to one who knows the rules and sees only the two frames (Task A's distractors must)."""

    def scene(self, state: Any) -> Json:
        """What Task B asks about the frame of `state`. Worlds without a Task B do not have it."""
        raise NotImplementedError(f"{self.world} has no scene descriptions")

    def chain_in_order(self, events: Sequence[Event]) -> str | None:
        """None where the causal chain's events occur in order; else the first one missing (gate E1)."""
        at = -1
        for name in self.causal_chain:
            later = [event.step for event in events if event.name == name and event.step > at]
            if not later:
                return f"{name} does not occur after step {max(at, 0)}"
            at = min(later)
        return None


@dataclass(frozen=True)
class Branch:
    """A successor of a state. Its frame is drawn when it is asked for, since most successors are never shown."""

    state: Any
    draw: Callable[[], Pixels] = field(repr=False)

    @property
    def pixels(self) -> Pixels:
        return self.draw()
