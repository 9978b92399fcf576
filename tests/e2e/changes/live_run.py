# SPDX-License-Identifier: BSD-3-Clause
"""Starts `./vcmts run` and connects to its control socket, for changes while packets are sent."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.machine import ran_undisturbed
from e2e.running import environment, stop_process
from patience import TIMEOUT
from vcmts.control.client import Client
from vcmts.directions import DIRECTIONS

PROFILE = "6ofdm-0sc-qam_300cms_aes"
KEY = bytes(range(16)).hex()
DURATION = "86400s"  # the block ends the run before

Json = dict[str, Any]


def get_modems(client: Client, group: int) -> list[Json]:
    groups = client.call("config.get", keys=True)["config"]["service_groups"]
    modems: list[Json] = next(g["modems"] for g in groups if g["service_group"] == group)
    return modems


@dataclass
class LiveRun:
    """Inside of the block: the client, and the PID of vcmtsd. After it: summary and exit status."""

    process: "subprocess.Popen[str]"
    client: Client = field(init=False)
    pid: int = 0
    lines: list[str] = field(default_factory=list)
    summary: Json = field(default_factory=dict)
    status: int = 0

    def wait_for_progress(self) -> None:
        """Waits for the next progress line."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if "proven" in line:
                return
        raise AssertionError("".join(self.lines))


def check_summary(summary: Json) -> None:
    """Checks the balance per direction. No packet may be lost if the machine ran undisturbed."""
    for part in (summary[name] for name in DIRECTIONS):
        corrupted = part["corrupted"] + part["undecipherable"]
        assert part["sent"] == part["proven"] + part["lost"] + part["overtaken"] + corrupted > 0
        assert part["unaccounted"] == part["duplicated"] == 0
        # packets that were under way at a change: few at any speed of the machine
        assert 20 * part["overtaken"] < part["sent"], part["overtaken"]
        # the traffic program applies every change in order, however late
        assert corrupted == 0, (part["corrupted_by"], part["undecipherable"])
        assert part["balanced"]
        assert part["lost"] == 0 or not ran_undisturbed(summary), part["lost"]


@contextmanager
def live_run(
    groups: int, rate: str, profile: str = PROFILE, options: Sequence[str] = ()
) -> Iterator[LiveRun]:
    """Runs `vcmts run` until the end of the block, which begins when packets are proven."""
    with tempfile.TemporaryDirectory(prefix="c-") as name:  # short path, for UNIX sockets
        path, report = Path(name) / "c.sock", Path(name) / "s.json"
        arguments = ["run", "--profile", profile, "--groups", str(groups), "--rate", rate, *options]
        arguments += ["--duration", DURATION, "--control-socket", str(path), "--json", str(report)]
        with subprocess.Popen(
            [sys.executable, "-m", "vcmts", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        ) as process:
            try:
                run = LiveRun(process)
                run.wait_for_progress()
                with Client(path, TIMEOUT) as run.client:
                    run.pid = run.client.call("server.info")["pid"]
                    yield run
                process.terminate()
                run.lines.append(process.communicate(timeout=TIMEOUT)[1])
            finally:
                stop_process(process)
        assert report.exists(), "".join(run.lines)
        run.summary = json.loads(report.read_text(encoding="utf-8"))
        run.status = process.returncode
