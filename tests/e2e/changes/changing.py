# SPDX-License-Identifier: BSD-3-Clause
"""`./vcmts run` in service, with a client of its control socket."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.machine import kept_up
from e2e.running import environment, stop
from patience import TIMEOUT
from vcmts.control.client import Client
from vcmts.directions import DIRECTIONS

PROFILE = "6ofdm-0sc-qam_300cms_aes"
KEY = bytes(range(16)).hex()
LONG = "86400s"  # it is stopped before

Json = dict[str, Any]


def modems_of(client: Client, group: int) -> list[Json]:
    groups = client.call("config.get", keys=True)["config"]["service_groups"]
    found: list[Json] = next(g["modems"] for g in groups if g["service_group"] == group)
    return found


@dataclass
class Changing:
    """While the block runs: its client, and the process of vcmtsd. Afterwards: how it ended."""

    process: "subprocess.Popen[str]"
    client: Client = field(init=False)
    pid: int = 0
    lines: list[str] = field(default_factory=list)
    summary: Json = field(default_factory=dict)
    status: int = 0

    def goes_on(self) -> None:
        """Waits for the next line of its progress."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if "proven" in line:
                return
        raise AssertionError("".join(self.lines))


def check(summary: Json) -> None:
    """Every packet has its account; nothing is lost where the machine kept up."""
    for way in (summary[name] for name in DIRECTIONS):
        broken = way["corrupted"] + way["undecipherable"]
        assert way["sent"] == way["proven"] + way["lost"] + way["overtaken"] + broken > 0
        assert way["unaccounted"] == way["duplicated"] == 0
        # a change overtakes what is under way, at any speed of the machine: little
        assert 20 * way["overtaken"] < way["sent"], way["overtaken"]
        # the traffic learns of every change in order, however late
        assert broken == 0, (way["corrupted_by"], way["undecipherable"])
        assert way["balanced"]
        assert way["lost"] == 0 or not kept_up(summary), way["lost"]


@contextmanager
def changing(
    groups: int, rate: str, profile: str = PROFILE, more: Sequence[str] = ()
) -> Iterator[Changing]:
    with tempfile.TemporaryDirectory(prefix="c-") as name:  # short, as a socket lives there
        path, report = Path(name) / "c.sock", Path(name) / "s.json"
        words = ["run", "--profile", profile, "--groups", str(groups), "--rate", rate, *more]
        words += ["--duration", LONG, "--control-socket", str(path), "--json", str(report)]
        with subprocess.Popen(
            [sys.executable, "-m", "vcmts", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        ) as process:
            try:
                run = Changing(process)
                run.goes_on()
                with Client(path, TIMEOUT) as run.client:
                    run.pid = run.client.call("server.info")["pid"]
                    yield run
                process.terminate()
                run.lines.append(process.communicate(timeout=TIMEOUT)[1])
            finally:
                stop(process)
        assert report.exists(), "".join(run.lines)
        run.summary = json.loads(report.read_text(encoding="utf-8"))
        run.status = process.returncode
