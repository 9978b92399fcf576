# SPDX-License-Identifier: BSD-3-Clause
"""The messages of `vcmts pod`: log lines in vcmtsd's format, and the kubelet's message."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from vcmts.secret import hide_keys

TERMINATION_LOG = "/dev/termination-log"
MESSAGE_MOST = 2048  # bytes: the kubelet keeps 4096
ERRORS_MOST = 16  # error lines of vcmtsd that are kept


def join_lines(text: str) -> str:
    """Joins the lines of a text."""
    return " ".join(text.split())


def json_line(level: str, message: str) -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    entry = {"time": now, "level": level, "area": "pod", "message": join_lines(message)}
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False)


@dataclass
class Voice:
    """The log, and the last errors of vcmtsd."""

    json: bool
    errors: list[str] = field(default_factory=list)  # the last error lines of vcmtsd
    overdue: str = ""  # message that vcmtsd did not end and was killed

    def say(self, level: str, message: str) -> None:
        told = hide_keys(join_lines(message))
        text = json_line(level, told) if self.json else f"vcmts pod: {told}"
        with suppress(OSError):  # stderr is closed: continue without messages
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def record(self, text: str) -> None:
        """Keeps a line of vcmtsd if it is an error."""
        message = text
        if text.startswith("{"):
            try:
                entry = json.loads(text)
            except ValueError:
                entry = {}
            if entry.get("level") != "error":
                return
            message = str(entry.get("message", ""))
        if message.strip():
            self.errors = [*self.errors, join_lines(message)][-ERRORS_MOST:]


def write_termination_message(message: str, environment: dict[str, str] | None = None) -> None:
    """Writes the termination message for the kubelet, if there is one."""
    told = os.environ if environment is None else environment
    path = Path(told.get("VCMTS_TERMINATION_LOG", TERMINATION_LOG))
    if not path.exists() and "VCMTS_TERMINATION_LOG" not in told:
        return  # not in Kubernetes
    shortened = hide_keys(join_lines(message)).encode()[:MESSAGE_MOST].decode(errors="ignore")
    with suppress(OSError):  # the log has the message too
        path.write_text(shortened + "\n", encoding="utf-8")
