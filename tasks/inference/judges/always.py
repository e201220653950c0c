"""The two judges that never look: whatever is shown, the same verdict.

Where no verdict is asked for they give the first well-formed answer there is: letter A, an empty scene, the first label.
"""

from __future__ import annotations

import json

from tasks.inference.judges.question import EMPTY_SCENE, kind_of, labels
from tasks.inference.message import Message


class _Always:
    verdicts: dict[str, str]

    def answer(self, message: Message) -> str:
        prompt = message.text
        kind = kind_of(prompt)
        if kind is None or kind in self.verdicts:
            return self.verdicts[kind or "yes_no"]
        if kind == "letter":
            return "A"
        if kind == "scene":
            return EMPTY_SCENE
        return json.dumps({"answer": labels(prompt, kind)[0]})


class AlwaysSuccess(_Always):
    verdicts = {"yes_no": "Yes", "success_fail": "Success"}  # noqa: RUF012


class AlwaysFail(_Always):
    verdicts = {"yes_no": "No", "success_fail": "Fail"}  # noqa: RUF012
