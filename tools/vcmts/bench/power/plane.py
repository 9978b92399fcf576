# SPDX-License-Identifier: BSD-3-Clause
"""Runs vcmtsd and the traffic program, joined by memif, and changes power settings."""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcmts.bench import transport, trials
from vcmts.child import Stopped
from vcmts.control import metrics
from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.jsons import Json
from vcmts.paths import program
from vcmts.run.plane import data_plane, make_wire

# Values of the configuration key power.idle: no pause, and the pause for shared cores.
POLL, SLEEP = "poll", "sleep"
# Kinds of pause; a CPU has only some. goals.best_pause() takes the first that was measured. umwait
# is not among them: on memif, workers use tpause-c0.2 instead.
PAUSES = ("tpause-c0.2", "tpause-c0.1", "mwaitx", "spin", SLEEP)
KINDS = (POLL, *PAUSES)
IDLE_INFO = "vcmts_worker_idle_info"
CONTROL_SECONDS = 30.0  # timeout of a control request
SETTLE_SECONDS = 0.02  # for the governor; workers have applied it when power.set answers


@dataclass(frozen=True)
class Plane:
    """Both programs, ready for trials. Requests to vcmtsd raise ProgramError if they fail."""

    ask: transport.Ask
    control: Client
    pid: int
    host: Json
    ring: int  # packets per direction that a memif buffers; it loses the rest of a pause

    def call(self, method: str, **what: Any) -> Any:
        try:
            return self.control.call(method, **what)
        except (RefusedError, ClosedError, OSError) as error:
            raise trials.ProgramError(f"{method}: {error}") from error

    def samples(self, *names: str) -> list[Json]:
        try:
            found: list[Json] = metrics.metrics(self.control, names=list(names))["samples"]
        except (RefusedError, ClosedError, OSError, metrics.PartsError) as error:
            raise trials.ProgramError(f"{metrics.METHOD}: {error}") from error
        return found

    def set(self, **what: Any) -> None:
        """Changes power settings. On return the workers and the governor have applied them."""
        self.call("power.set", **what)
        time.sleep(SETTLE_SECONDS)

    def get(self) -> Json:
        found: Json = self.call("power.get")
        return found

    def select_pause(self, idle: str) -> bool:
        """Selects one of KINDS. Returns whether all workers use it; those whose CPU lacks it
        poll."""
        self.set(idle=idle)
        reported = self.samples(IDLE_INFO)
        return bool(reported) and all(sample["labels"]["kind"] == idle for sample in reported)

    def metrics(self, *names: str) -> dict[str, float]:
        """The sums of metrics over all labels, by name; without those that do not exist."""
        found: dict[str, float] = {}
        for sample in self.samples(*names):
            found[sample["name"]] = found.get(sample["name"], 0.0) + sample["value"]
        return found

    def counted(self, *names: str) -> dict[str, float]:
        """As metrics(). Raises ProgramError if one does not exist."""
        found = self.metrics(*names)
        missing = [name for name in names if name not in found]
        if missing:
            raise trials.ProgramError(f"vcmtsd has no metric {missing[0]}")
        return found

    def cpu_seconds(self) -> float:
        """CPU time of vcmtsd in s. The clock's ID is that of clock_getcpuclockid(3), which Python
        offers only for threads."""
        return time.clock_gettime(~self.pid << 3 | 2)


@contextmanager
def open_plane(
    config: Path, facts: Json, folder: Path, given: argparse.Namespace, stopped: Stopped
) -> Iterator[Plane]:
    """Runs the programs during the context. vcmtsd starts with polling and without frequency
    changes.

    Raises StopError after a signal, ProgramError if a program fails, MistakeError if one rejects
    its configuration or does not start. `facts`: of run.plane.facts_of(). `given`: options of
    `vcmts bench power`.
    """
    core = transport.traffic_core(facts, given.core)
    names = enumerate(("network", "rphy"))
    ends = [make_wire(folder, n, name, facts["mtu"], packets=given.ring) for n, name in names]
    command = [str(program("vcmts-traffic")), "--config", str(config), "--trials"]
    command += ["--core", str(core), "--main-core", str(core)]
    command += ["--network", ends[0].client, "--rphy", ends[1].client]
    power = ["--idle", POLL, "--policy", "none", "--power-driver", given.driver]
    socket, result = folder / "control.sock", folder / "vcmtsd.json"
    with (
        (folder / "vcmtsd.said").open("w+b") as stderr,
        data_plane(
            config, ends, result, stopped, stderr, control=str(socket), options=power
        ) as running,
    ):
        if stopped.by_signal:
            raise trials.StopError(stopped.text)
        with (
            trials.start_server(command, folder, stopped) as serving,
            transport.connect(socket) as telemetry,
            Client(socket, CONTROL_SECONDS) as control,
        ):
            ask = transport.ask_both(serving, running, telemetry)
            yield Plane(ask, control, running.pid, serving.ready["host"], given.ring)
