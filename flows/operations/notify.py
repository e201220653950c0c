"""Somebody is told of a failed flow run, by a program or a web hook that the configuration names.

It is a state hook of the flow, run by the process that ran the flow: it needs no automation on the server. A worker that
died cannot tell; for that the parent's or the next night's run fails and tells.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

from tasks.config import Configuration, Notify, load
from tasks.printable import printable

TIMEOUT_SECONDS = 30


def told_of_failure(flow: Any, flow_run: Any, state: Any) -> None:
    """Prefect's `on_failure` hook. Never raises: a hook that fails would hide the failure that it is about."""
    path = (flow_run.parameters or {}).get("config") or os.environ.get("WORLDAUDIT_CONFIG")
    try:
        notify = (load(path) if path else Configuration()).notify
        send(notify, message(flow.name, flow_run, state))
    except Exception as error:
        print(printable(f"nobody could be told of the failed {flow.name}: {error}"), file=sys.stderr)


def message(name: str, flow_run: Any, state: Any) -> dict[str, Any]:
    """What is told: flow, run, state, the reason, and the parameters to start it again with. No configuration, no keys."""
    parameters = flow_run.parameters or {}
    return {
        "flow": name,
        "flow_run": flow_run.name,
        "flow_run_id": str(flow_run.id),
        "state": state.name,
        "message": state.message,
        "parameters": parameters,
        "mend": "worldaudit runs shows the run and the command that mends it",
    }


def send(notify: Notify, value: dict[str, Any]) -> None:
    """To the program's standard input, to the web hook, to both or to nobody. Raises where one of them does not take it."""
    text = json.dumps(value, ensure_ascii=False)
    if notify.command:
        subprocess.run(notify.command, input=text, text=True, check=True, timeout=TIMEOUT_SECONDS)
    if notify.webhook_env:
        url = os.environ.get(notify.webhook_env, "")
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"${notify.webhook_env} holds no URL")
        request = urllib.request.Request(url, text.encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS).close()
