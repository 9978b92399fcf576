# SPDX-License-Identifier: BSD-3-Clause
"""A server for a day, made up: its time goes on as far as somebody waits for it."""

import threading
from dataclasses import dataclass
from typing import Any

from planning.day.moment import Counts, Moment
from planning.day.watch import Source, Watch
from vcmts.top.samples import Answer, answer_of

BITS = 1e9  # a second, downstream at the peak; upstream a tenth
FAST, SLOW = 1.8e9, 0.8e9
LENGTH = 24.0  # seconds of the day


@dataclass
class Server:
    """`share`: of the peak, by seconds since the traffic began. Each core is busy for that share,
    and paused for half of the rest; its clock is slow where it is less than half."""

    begins: float = 101.5  # uptime
    cores: int = 2
    pauses: bool = True
    groups: tuple[str, ...] = ("1", "7")
    answers: int = 10**9  # after so many it is gone
    uptime: float = 100.0
    work: float = 0.0  # seconds of the peak

    def share(self, second: float) -> float:
        return 0.25 if second < 12 else 0.75

    def pass_by(self, seconds: float) -> None:
        """In steps of a hundredth of a second."""
        for _ in range(round(seconds * 100)):
            self.uptime += 0.01
            if self.uptime > self.begins + 1e-9:
                self.work += 0.01 * self.share(self.uptime - self.begins)

    def samples(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []

        def put(name: str, value: float, **labels: str) -> None:
            made.append({"name": f"vcmts_{name}", "value": value, "labels": labels})

        sent = self.work * BITS / 8 / len(self.groups)
        for group in self.groups:
            put("downstream_received_bytes_total", sent, service_group=group)
            put("upstream_transmitted_bytes_total", sent / 10, service_group=group)
        for core in range(self.cores):
            own = {"worker": str(core), "core": str(core + 1)}
            put("worker_info", 1, **own, runs=f"pipelines of core {core + 1}")
            put("worker_busy_seconds_total", self.work, **own)
            put("worker_idle_seconds_total", self.uptime - self.work, **own)
            if self.pauses:
                put("worker_paused_seconds_total", (self.uptime - self.work) / 2, **own)
                put("worker_idle_info", 1, **own, kind="sleep")
                slow = self.share(self.uptime - self.begins) < 0.5
                put("core_frequency_hertz", SLOW if slow else FAST, core=own["core"])
                put("core_frequency_wished_hertz", SLOW, core=own["core"])
        if self.pauses:
            put("power_policy_info", 1, policy="saving", driver="simulated")
        return made

    def latencies(self) -> dict[str, Counts]:
        """A thousand packets per second of work: 98 % took 20 us, the others 310 us."""
        packets = round(1000 * self.work)
        return {"downstream": {20_000: packets - packets // 50, 310_000: packets // 50}}

    def moved(self) -> Answer:
        return self.ask().told

    def ask(self) -> Moment:
        """Which takes a hundredth of a second."""
        if self.answers == 0:
            raise ConnectionResetError(104, "it is gone")
        self.answers -= 1
        self.pass_by(0.01)
        told = answer_of({"uptime": self.uptime, "samples": self.samples()})
        return Moment(told, self.latencies())


class Waits(threading.Event):
    """What is waited for is the server's time. It is over at a time of it."""

    def __init__(self, server: Server, over_at: float = 1e9) -> None:
        super().__init__()
        self.server, self.over_at = server, over_at

    def wait(self, timeout: float | None = None) -> bool:
        left = self.over_at - self.server.uptime
        self.server.pass_by(max(0.0, min(timeout or 0.0, left)))
        return self.server.uptime >= self.over_at - 1e-9


def watched(server: Server, length: float = LENGTH, **how: Any) -> Watch:
    """A day of this length, to its end: an hour is a second."""
    lines = how.pop("lines", [])
    over = Waits(server, how.pop("over_at", 1e9))
    silent = how.pop("silent", 0.0)
    source = Source(server.ask, server.moved, {}, how.pop("joules", dict))
    watch = Watch(source, length, silent, lambda *line: lines.append(line), over=over)
    watch.run()
    return watch
