"""Content keys: what an artifact is named after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical_json(value: Any) -> str:
    """One spelling for one value: sorted keys, no blanks, no NaN. Sets and objects are refused with TypeError, so
    that a key can never depend on a hash seed or a pickle."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(data: bytes | memoryview | str) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def artifact_key(stage: str, version: int, config: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """SHA-256 over (stage name, stage version, the configuration that the stage reads, keys of its inputs).

    `inputs` maps a role ("groups", "items", ...) to the key of the artifact that plays it.
    """
    return digest(canonical_json([stage, version, dict(config), dict(inputs)]))
