"""The judge that says Fail to every verdict, unseen."""

from __future__ import annotations

from tasks.judges._constant import answer_always
from tasks.judges._message import Message


class AlwaysFail:
    def answer(self, message: Message) -> str:
        return answer_always(message, "No", "Fail")


JUDGE = AlwaysFail
