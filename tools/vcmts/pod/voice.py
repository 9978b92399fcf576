# SPDX-License-Identifier: BSD-3-Clause
"""What is said: lines as vcmtsd writes them, and why the container ended, for the kubelet."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from vcmts.secret import shown

TERMINATION_LOG = "/dev/termination-log"
MESSAGE_MOST = 2048  # bytes: the kubelet keeps 4096
WORST_MOST = 16  # lines of vcmtsd's that are kept


def line(text: str) -> str:
    """In one line, whatever it has."""
    return " ".join(text.split())


def json_line(level: str, message: str) -> str:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    said = {"time": now, "level": level, "area": "pod", "message": line(message)}
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False)


@dataclass
class Voice:
    json: bool
    worst: list[str] = field(default_factory=list)  # mistakes that vcmtsd told last
    overdue: str = ""  # that it was killed, as it did not end

    def say(self, level: str, message: str) -> None:
        told = shown(line(message))
        text = json_line(level, told) if self.json else f"vcmts pod: {told}"
        with suppress(OSError):  # nobody reads: no reason to stop
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def heard(self, text: str) -> None:
        """A line of vcmtsd's."""
        message = text
        if text.startswith("{"):
            try:
                said = json.loads(text)
            except ValueError:
                said = {}
            if said.get("level") != "error":
                return
            message = str(said.get("message", ""))
        if message.strip():
            self.worst = [*self.worst, line(message)][-WORST_MOST:]


def terminate(message: str, environment: dict[str, str] | None = None) -> None:
    """Tells the kubelet, where there is one."""
    told = os.environ if environment is None else environment
    path = Path(told.get("VCMTS_TERMINATION_LOG", TERMINATION_LOG))
    if not path.exists() and "VCMTS_TERMINATION_LOG" not in told:
        return  # no container of Kubernetes
    cut = shown(line(message)).encode()[:MESSAGE_MOST].decode(errors="ignore")
    with suppress(OSError):  # the log has it
        path.write_text(cut + "\n", encoding="utf-8")
