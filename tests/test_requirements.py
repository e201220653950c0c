"""What is installed is what was looked at: exact versions, and files by their digests."""

from __future__ import annotations

import re
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"


def test_every_pin_is_exact_and_has_digests() -> None:
    text = re.sub(r"^#.*\n", "", LOCK.read_text(), flags=re.MULTILINE)
    pins = text.replace("\\\n", " ").splitlines()
    assert len(pins) > 200
    for pin in pins:
        assert re.fullmatch(r"[a-z0-9.-]+==[^ ;]+( ; [^-]+)?( +--hash=sha256:[0-9a-f]{64})+", pin), pin[:80]
