"""Judges as TOML names them: `[judges.NAME]`, checked before anything is computed or sent.

    [judges.gpt-4o]
    api = "openai"
    model = "gpt-4o-2024-11-20"
    limits = { concurrency = 16, requests_per_minute = 500, budget = 20.0 }
    decoding = { temperature = 0.0, seed = 7 }
    prices = { input = 2.5, output = 10.0 }

Every fault is a BadInput that names the judge, the key and, for an unknown key, the known key nearest to it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import pydantic
from pydantic import Field

from tasks.config import describe, nearest, read_toml
from tasks.errors import BadInput
from tasks.inference.secrets import checked_key
from tasks.judges import JUDGES, version

Api = Literal["openai", "anthropic", "gemini", "vllm", "embedded", "python"]
Canary = Literal["order", "twins"]


class _Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Limits(_Strict):
    """How hard a judge may be driven. Changes nothing in its answers, so no key depends on it."""

    concurrency: int | None = Field(default=None, ge=1, le=1024, description="in flight; 16, or 1 for `python`")
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0, description="input and output tokens together")
    deadline_s: float = Field(default=300.0, gt=0, description="for one item, over all its tries and waits")
    timeout_s: float = Field(default=120.0, gt=0, description="for one try")
    retries: int = Field(
        default=6, ge=0, description="of one item after a passing fault; waits for a rate limit are free"
    )
    backoff_s: float = Field(default=1.0, gt=0, description="first wait after a fault; doubles, up to 60 s")
    breaker: int = Field(default=5, ge=1, description="failed tries in a row after which the server is probed")
    max_failed: float = Field(default=0.05, ge=0, le=1, description="share of items that may end api_error")
    budget: float | None = Field(
        default=None, gt=0, description="stop before spending more, in the currency of `prices`"
    )
    max_images: int | None = Field(default=None, ge=0, description="a request; where the server's own limit is lower")
    max_body_mb: float | None = Field(
        default=None, gt=0, description="a request; where the server's own limit is lower"
    )
    processes: int = Field(default=1, ge=1, le=256, description="for `embedded` and `python` judges")


class Decoding(_Strict):
    """What is asked of the sampler. None means: not sent, the server's default holds."""

    temperature: float | None = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=1)
    seed: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1, description="in place of every item's own")
    reasoning_effort: str | None = None
    rename: dict[str, str] = Field(
        default_factory=dict, description='what this server calls it: {max_tokens = "max_completion_tokens"}'
    )
    drop: list[str] = Field(default_factory=list, description="parameters that this server refuses and may be left out")
    extra: dict[str, Any] = Field(default_factory=dict, description="put into the request body as it is")

    @pydantic.field_validator("extra")
    @classmethod
    def _json(cls, extra: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(extra, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError("holds a date, nan or inf, which JSON has not; write it as text") from None
        return extra


class Prices(_Strict):
    """In one currency, whichever; tokens by the million."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    image: float = Field(default=0.0, ge=0, description="for one picture, where it is not counted in input tokens")
    currency: str = "USD"


class Serve(_Strict):
    """A vLLM server that is started for the run and stopped after it."""

    command: list[str] = Field(default=["vllm", "serve"], min_length=1)
    path: str | None = Field(default=None, description="model folder or hub name; the judge's `model` where absent")
    tensor_parallel_size: int | None = Field(default=None, ge=1)
    max_model_len: int | None = Field(default=None, ge=1)
    max_images: int | None = Field(default=None, ge=1, description="--limit-mm-per-prompt")
    dtype: str | None = None
    flags: list[str] = Field(default_factory=list, description="further flags, as on the command line")
    env: dict[str, str] = Field(default_factory=dict)
    port: int = Field(default=0, ge=0, le=65535, description="0: any free port")
    ready_s: float = Field(default=900.0, gt=0, description="how long it may take to load")


class JudgeSpec(_Strict):
    """One judge. `identity` is the part that decides its answers and thus the artifact's key."""

    api: Api
    model: str = ""
    entry_point: str | None = Field(default=None, description='for `python`: "package.module:callable"')
    base_url: str | None = None
    base_url_env: str | None = Field(
        default=None, description="variable that holds the URL of a server that moves about"
    )
    api_key_env: str | None = Field(default=None, description="name of the environment variable that holds the key")
    system: str | None = Field(default=None, description="system prompt; none by default")
    decoding: Decoding = Decoding()
    structured: bool = Field(
        default=False, description="constrain answers by the item's answer format, where the server can"
    )
    logprobs: bool = Field(default=False, description="ask for token log-probabilities and derive p(success)")
    replicates: int = Field(default=1, ge=1, le=100)
    reasoning_tags: list[str] = ["think", "thinking", "reasoning"]
    serve: Serve | None = None
    limits: Limits = Limits()
    prices: Prices | None = None
    canaries: list[Canary] = Field(default_factory=list)

    @pydantic.model_validator(mode="after")
    def _agree(self) -> JudgeSpec:
        if self.api == "python":
            if not self.entry_point or not re.fullmatch(r"[\w.]+:[\w.]+", self.entry_point):
                raise ValueError('api "python" needs entry_point = "package.module:callable"')
        elif self.entry_point:
            raise ValueError('entry_point goes with api = "python" only')
        if self.api == "embedded" and self.model not in JUDGES:
            raise ValueError(JUDGES.unknown(self.model))
        if self.api in ("openai", "anthropic", "gemini", "vllm") and not self.model:
            raise ValueError("model is missing")
        if self.base_url and self.base_url_env:
            raise ValueError("base_url and base_url_env exclude each other")
        if self.serve and (self.api != "vllm" or self.base_url or self.base_url_env):
            raise ValueError('serve goes with api = "vllm" and without base_url')
        if self.api == "vllm" and not (self.serve or self.base_url or self.base_url_env):
            raise ValueError("needs base_url of a running server, or serve = {...} to start one")
        if self.base_url and not re.match(r"https?://[^@\s?#]+$", self.base_url):
            raise ValueError("base_url must be http(s)://host/path without user, password or query")
        if self.limits.budget is not None and self.prices is None:
            raise ValueError("limits.budget needs prices = { input = ..., output = ... }")
        unsupported = UNSUPPORTED.get(self.api, frozenset())
        asked = {name for name in unsupported if getattr(self.decoding, name, None) is not None}
        if refused := sorted(asked - set(self.decoding.drop)):
            raise ValueError(
                f"{self.api} has no parameter {', '.join(refused)}; "
                f"leave it out, or allow that with decoding.drop = {list(refused)}"
            )
        if self.logprobs and self.api == "anthropic":
            raise ValueError("anthropic offers no log-probabilities; remove logprobs")
        return self

    @property
    def hosted(self) -> bool:
        """Whether its answers come over HTTP."""
        return self.api in ("openai", "anthropic", "gemini", "vllm")

    @property
    def concurrency(self) -> int:
        """How many items are in flight. An embedded judge works one by one; the others wait for the disk together."""
        return self.limits.concurrency or {"python": 1, "embedded": 256}.get(self.api, 16)

    def key_variable(self) -> str | None:
        """The environment variable that must hold its key, or None where none is needed."""
        if self.api_key_env:
            return self.api_key_env
        return None if self.base_url or self.base_url_env else DEFAULT_KEYS.get(self.api)

    def api_key(self) -> str | None:
        """The key as it is sent. BadInput names the variable that is not set, or holds what no key is. A key is read from
        nowhere else and stored nowhere."""
        variable = self.key_variable()
        if variable and not os.environ.get(variable):
            raise BadInput(
                f"the judge ({self.api} {self.model}) needs its key in ${variable}, which is not set; "
                f"export it, or name another variable with api_key_env"
            )
        return checked_key(os.environ[variable], variable) if variable else None

    def url(self) -> str:
        """Where its API lies, without a trailing slash."""
        if self.base_url_env:
            found = os.environ.get(self.base_url_env, "")
            if not re.match(r"https?://[^@\s?#]+$", found):
                raise BadInput(f"${self.base_url_env} must hold the URL of the judge's server, http(s)://host/path")
            return found.rstrip("/")
        return (self.base_url or DEFAULT_URLS[self.api]).rstrip("/")

    def identity(self) -> dict[str, Any]:
        """What decides its answers: everything but limits, prices, canaries and where the key is kept; of an embedded
        judge also its version."""
        kept = self.model_dump(exclude={"limits", "prices", "canaries", "api_key_env"})
        if self.api == "embedded":
            kept["version"] = version(self.model)
        if self.serve:  # how to start the process is no part of what it answers
            for name in ("command", "port", "ready_s", "env"):
                kept["serve"].pop(name)
        return kept


DEFAULT_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
DEFAULT_URLS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
}
UNSUPPORTED = {"anthropic": frozenset({"seed"}), "openai": frozenset({"top_k"})}


def embedded(name: str) -> JudgeSpec:
    """The judge that needs no TOML."""
    return JudgeSpec(api="embedded", model=name)


def checked_name(name: str, source: str) -> str:
    """The name of a judge that is not an embedded one. BadInput where it is none."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(f"{source}: a judge's name is letters, digits, '.', '_' and '-', not {name!r}")
    if name in JUDGES:
        raise BadInput(f"{source}: {name!r} is the name of an embedded judge; choose another one")
    return name


def parse_judge(name: str, table: Mapping[str, Any], source: str = "judges") -> JudgeSpec:
    """One `[judges.NAME]` table. BadInput names what is wrong in it."""
    checked_name(name, source)
    try:
        return JudgeSpec.model_validate(dict(table))
    except pydantic.ValidationError as error:
        faults = "; ".join(describe(fault, JudgeSpec) for fault in error.errors())
        raise BadInput(f"{source}: [judges.{name}]: {faults}") from None


def load_judges(path: str | Path) -> dict[str, JudgeSpec]:
    """Every judge that a TOML file names, by name. Other tables of the file are left alone."""
    tables = read_toml(path).get("judges", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise BadInput(f"{path}: judges are tables, [judges.NAME]")
    return {name: parse_judge(name, table, str(path)) for name, table in tables.items()}


def resolve(names: Iterable[str], known: Mapping[str, JudgeSpec] | None = None) -> dict[str, JudgeSpec]:
    """The judges asked for by name: those that `known` (a TOML file's) has, and the embedded ones.

    BadInput names an unknown judge and the nearest known one.
    """
    available = {name: embedded(name) for name in JUDGES} | dict(known or {})
    for name in names:
        if name not in available:
            raise BadInput(f"no judge is called {name!r}{nearest(name, available)}; there are {', '.join(available)}")
    return {name: available[name] for name in names}
