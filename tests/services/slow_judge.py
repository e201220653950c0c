"""A judge that takes its time and writes down each question that it was asked, to be interrupted in the middle."""

from __future__ import annotations

import os
import time

from storage import digest
from tasks.inference.message import Message
from tasks.judges.always_success import AlwaysSuccess


def answer(message: Message) -> str:
    """SLOW_JUDGE_LOG names the file with a line for each question asked, SLOW_JUDGE_SECONDS is how long it takes."""
    pictures = "".join(digest(image) for image in message.images)
    with open(os.environ["SLOW_JUDGE_LOG"], "a") as log:
        log.write(digest(message.text + pictures) + "\n")
    time.sleep(float(os.environ["SLOW_JUDGE_SECONDS"]))
    return AlwaysSuccess().answer(message)
