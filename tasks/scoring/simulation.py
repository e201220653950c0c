"""Simulated exams and judges whose truth is known: what the metrics are checked against.

An exam has the shape of the base exam (paper 1, Tables 9 and 11), in answers only; a judge is a few probabilities. The truth of
every metric follows from them by integration over the group intercept, on no path that the metrics share.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from storage.tables import SCHEMAS
from tasks.scoring.graded import CANONICAL

ENVS = ("doorkey", "keycorridor", "lavagap", "memory", "multiroom", "redbluedoors")
PRESENTED = ("keycorridor", "multiroom", "redbluedoors")  # the environments of Task C
CHECKPOINTS = (
    ("identity_short", 48),
    ("identity_medium", 48),
    ("identity_long", 40),
    ("status_early_holding", 48),
    ("status_mid_holding", 45),
    ("status_first_post_drop", 48),
    ("status_late_post_drop", 48),
)
SCENE = {
    "agent": {"pos": [3, 6], "dir": "up", "carrying": None},
    "front_cell": {"type": "door", "color": "yellow", "state": 2},
    "objects": [{"type": "key", "color": "yellow", "state": None, "pos": [1, 2]}],
}
Shown = tuple[str, str, str]  # temporal, visual, framing
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def exam(
    groups_c: int = 18, groups_d: int = 12, tasks: str = "ABCDE", items_a: int = 103, items_b: int = 144
) -> pl.DataFrame:
    """Rows of `answers` in the shape of the base exam; the number of groups of C and D can be changed."""
    rows: list[dict[str, Any]] = []

    def add(task: str, env: str, group: int, gold: str, *parts: str, **columns: Any) -> str:
        group_id = f"{env}_s{group:06d}"
        uid = ".".join([task, env, f"s{group:06d}", *parts])
        base = dict.fromkeys(SCHEMAS["answers"].names)
        rows.append({**base, "uid": uid, "task": task, "world": "simulated", "env": env, "env_id": env}
                    | {"group_id": group_id, "gold": gold} | columns)  # fmt: skip
        return uid

    def judged(task: str, env: str, group: int, variant: str, shown: Shown, representation: str | None) -> None:
        good, bad = ("yes", "no") if task == "C" else ("success", "fail")
        twin = None
        if representation == "split":
            twin = ".".join([task, env, f"s{group:06d}", variant, *shown, "composite"])
        add(
            task, env, group, bad if variant == "cf" else good, variant, *shown, *([representation] if representation else []),
            variant=variant, temporal=shown[0], visual=shown[1], framing=shown[2], representation=representation,
            companion_of=twin,
        )  # fmt: skip

    if "A" in tasks:
        for index in range(items_a):
            env = ENVS[index % len(ENVS)]
            others = ["successor:left", "successor:right", "trajectory:0"]
            place = index % 4
            gold, shown_at = "ABCD"[place], [*others[:place], "gold:forward", *others[place:]]
            true = add("A", env, index // 2, gold, str(index), "true", condition="true", options=shown_at)
            for condition in ("shuffle", "mask"):
                ablation = {"condition": condition, "companion_of": true, "options": shown_at}
                add("A", env, index // 2, gold, str(index), condition, **ablation)
    if "B" in tasks:
        for index in range(items_b):
            add("B", ENVS[index % len(ENVS)], index // 3, json.dumps(SCENE), str(index))
    if "C" in tasks:
        probes: list[Shown] = [(t, v, "none") for t in ("orig", "rev") for v in ("clean", "noisy", "style")]
        probes += [("orig", "clean", f) for f in ("neu", "pos", "neg")]
        for group, variant, shown, representation in itertools.product(
            range(groups_c), ("full", "nocue", "cf"), probes, ("composite", "split")
        ):
            judged("C", PRESENTED[group % 3], group, variant, shown, representation)
    if "D" in tasks:
        shorter: list[Shown] = [*(("orig", "clean", f) for f in ("neu", "pos", "neg")), ("orig", "style", "neu")]
        for group, variant, seen in itertools.product(range(groups_d), ("full", "nocue", "cf"), shorter):
            judged("D", ENVS[group % len(ENVS)], group, variant, seen, None)
    if "E" in tasks:
        for condition, count in CHECKPOINTS:
            for group in range(count):
                env = ("unlockpickup", "blockedunlockpickup")[group % 2]
                gold = (
                    "key_yellow"
                    if condition.startswith("identity")
                    else "dropped"
                    if "post" in condition
                    else "holding"
                )
                add("E", env, group, gold, condition, condition=condition)
    return pl.DataFrame(rows, schema=pl.from_arrow(SCHEMAS["answers"].empty_table()).schema)  # type: ignore[union-attr]


@dataclass(frozen=True)
class Judge:
    """A judge by its probabilities. Verdicts of C and D are logistic: `full` and `cf` are the log-odds of "success" for those
    trajectories (NoCue as Full), `spread` the sd of the group intercept, `effects` what a presentation adds, `split` what the
    split representation adds. `action` is the accuracy of Task A with the true action, `without_action` without; None: the
    same answer as with it. `label` is the accuracy of E, `scene` the chance that each component of B is right. `unread` is the
    chance that an answer cannot be read, the same for all."""

    name: str
    full: float = 2.0
    cf: float = -2.0
    spread: float = 0.5
    effects: dict[str, float] = field(default_factory=dict)
    split: float = 0.0
    action: float = 0.8
    without_action: float | None = 0.25
    label: float = 0.7
    scene: float = 0.9
    unread: float = 0.0

    # --- the truth ------------------------------------------------------------------------------------------------

    def _yes(self, variant: str, *shown: str, split: bool = False) -> np.ndarray:
        """Pr(success) at every quadrature node of the group intercept."""
        logit = self.cf if variant == "cf" else self.full
        logit += sum(self.effects.get(level, 0.0) for level in shown) + (self.split if split else 0.0)
        return 1 / (1 + np.exp(-(logit + self.spread * NODES)))

    def truth(self, task: str = "C") -> dict[str, float]:
        """What each metric converges to at the canonical presentation, Composite, when everything is read. `task` matters
        for the visual family: D has no noise probe."""

        def mean(values: np.ndarray) -> float:
            return float(WEIGHTS @ values)

        full, cf, split = self._yes("full"), self._yes("cf"), self._yes("full", split=True)
        values = {
            "JAcc_neu": mean(full),
            "Acc_full": mean(full),
            "Acc_nocue": mean(full),
            "Acc_cf": mean(1 - cf),
            "p_active": mean(full),
            "IDR_raw": mean(full * (1 - cf)),
            "IDR_cond": mean(full * (1 - cf)) / mean(full),
            "IDR_rev": mean((1 - full) * cf),
            "VCC_rep_full": mean(full * split + (1 - full) * (1 - split)),
            "Acc_A1": self.action,
            "delta_shuffle": 0.0 if self.without_action is None else self.action - self.without_action,
            "delta_mask": 0.0 if self.without_action is None else self.action - self.without_action,
            "E_Acc": self.label,
            "B_position": self.scene,
            "B_carrying": self.scene,
            "B_front_cell": self.scene,
            "B_objects": self.scene,
            "B_MeanScore": self.scene,
            "B_Acc": self.scene**3,  # all but the position must be right: weights 0.1, 0.2, 0.3, 0.4 against 0.90
            "share_parsed": 1 - self.unread,
        }
        for family, levels in (
            ("temporal", ("rev",)),
            ("visual", ("noisy", "style") if task == "C" else ("style",)),
            ("framing", ("pos", "neg")),
        ):
            shown = [self._yes("full", level) for level in levels]
            agree = [full * other + (1 - full) * (1 - other) for other in shown]
            values[f"NS_{family}"] = mean(np.mean(agree, axis=0))
            values[f"JCR_{family}"] = mean(
                full * np.prod(shown, axis=0) + (1 - full) * np.prod([1 - s for s in shown], axis=0)
            )
            values[f"Flip_{family}"] = 1 - values[f"JCR_{family}"]
            values[f"LES_{family}"] = max(abs(self.effects.get(level, 0.0)) for level in levels)
        return values

    # --- its answers ------------------------------------------------------------------------------------------------

    def answer(self, answers: pl.DataFrame, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
        """(responses, parsed) to every row of `answers`."""
        rng = np.random.default_rng(seed)
        groups = {group: rng.standard_normal() for group in answers["group_id"].unique(maintain_order=True)}
        letters: dict[str, str] = {}
        values = []
        for row in answers.iter_rows(named=True):  # a loop: one answer at a time, as a judge would
            task, gold = row["task"], row["gold"]
            if task in "CD":
                logit = (self.cf if row["variant"] == "cf" else self.full) + self.spread * groups[row["group_id"]]
                shown = (row[axis] for axis in CANONICAL)
                logit += sum(self.effects.get(level, 0.0) for level in shown)
                logit += self.split if row["representation"] == "split" else 0.0
                yes = rng.random() < 1 / (1 + np.exp(-logit))
                value = ("yes" if yes else "no") if task == "C" else ("success" if yes else "fail")
            elif task == "A":
                first = letters.get(row["companion_of"] or "")
                if first is not None and self.without_action is None:
                    value = first
                else:
                    right = self.action if first is None else self.without_action
                    wrong = [letter for letter in "ABCD" if letter != gold]
                    value = gold if rng.random() < (right or 0.0) else wrong[rng.integers(3)]
                if first is None:
                    letters[row["uid"]] = value
            elif task == "B":
                value = json.dumps(self._scene(json.loads(gold), rng))
            else:
                value = gold if rng.random() < self.label else "ball_red"
            values.append(value if rng.random() >= self.unread else None)
        who = {"judge": pl.lit(self.name), "replicate": pl.lit(0, pl.Int32)}
        responses = answers.select("uid").with_columns(**who, status=pl.lit("ok"))
        parsed = responses.select("uid", "judge", "replicate").with_columns(value=pl.Series(values, dtype=pl.String))
        mode = pl.when(pl.col("value").is_null()).then(pl.lit("none")).otherwise(pl.lit("strict"))
        reason = pl.when(pl.col("value").is_null()).then(pl.lit("no_answer"))
        return responses, parsed.with_columns(parse_mode=mode, reason=reason)

    def _scene(self, gold: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        agent, front, things = dict(gold["agent"]), dict(gold["front_cell"]), list(gold["objects"])
        if rng.random() > self.scene:
            agent["dir"] = "down"
        if rng.random() > self.scene:
            agent["carrying"] = {"type": "ball", "color": "red"}
        if rng.random() > self.scene:
            front["color"] = "red"
        if rng.random() > self.scene:
            things = []
        return {"agent": agent, "front_cell": front, "objects": things}


def sit(answers: pl.DataFrame, judges: list[Judge], seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(responses, parsed) of several judges."""
    answered = [judge.answer(answers, seed + index) for index, judge in enumerate(judges)]
    return pl.concat([one for one, _ in answered]), pl.concat([two for _, two in answered])
