# SPDX-License-Identifier: BSD-3-Clause
"""A simulated server and clock: time advances only when the watch waits or reads."""

import threading
from dataclasses import dataclass
from typing import Any

from planning.day.moment import Counts, Moment
from planning.day.watch import Source, Watch
from vcmts.top.samples import Answer, answer_of

BITS = 1e9  # per second, downstream at the peak; upstream has a tenth
FAST, SLOW = 1.8e9, 0.8e9
LENGTH = 24.0  # seconds per day


@dataclass
class Server:
    """Cores are busy for `share` of the time, paused for half of the rest, slow below 0.5."""

    traffic_start: float = 101.5  # uptime at which the traffic begins
    cores: int = 2
    pauses: bool = True
    groups: tuple[str, ...] = ("1", "7")
    answers_left: int = 10**9  # the connection is reset after so many
    uptime: float = 100.0
    work: float = 0.0  # seconds at the peak rate that carry the same bits

    def share(self, second: float) -> float:
        return 0.25 if second < 12 else 0.75

    def advance(self, seconds: float) -> None:
        """Advances the uptime, in steps of 0.01 s."""
        for _ in range(round(seconds * 100)):
            self.uptime += 0.01
            if self.uptime > self.traffic_start + 1e-9:
                self.work += 0.01 * self.share(self.uptime - self.traffic_start)

    def samples(self) -> list[dict[str, Any]]:
        samples: list[dict[str, Any]] = []

        def put(name: str, value: float, **labels: str) -> None:
            samples.append({"name": f"vcmts_{name}", "value": value, "labels": labels})

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
                slow = self.share(self.uptime - self.traffic_start) < 0.5
                put("core_frequency_hertz", SLOW if slow else FAST, core=own["core"])
                put("core_frequency_wished_hertz", SLOW, core=own["core"])
        if self.pauses:
            put("power_policy_info", 1, policy="saving", driver="simulated")
        return samples

    def latencies(self) -> dict[str, Counts]:
        """1,000 packets per second of work: 98 % took 20 us, the others 310 us."""
        packets = round(1000 * self.work)
        return {"downstream": {20_000: packets - packets // 50, 310_000: packets // 50}}

    def read_samples(self) -> Answer:
        return self.read_moment().answer

    def read_moment(self) -> Moment:
        """Takes 0.01 s."""
        if self.answers_left == 0:
            raise ConnectionResetError(104, "it is gone")
        self.answers_left -= 1
        self.advance(0.01)
        answer = answer_of({"uptime": self.uptime, "samples": self.samples()})
        return Moment(answer, self.latencies())


class UptimeEvent(threading.Event):
    """Waits by the clock of the server. It is set when the uptime is `over_at`."""

    def __init__(self, server: Server, over_at: float = 1e9) -> None:
        super().__init__()
        self.server, self.over_at = server, over_at

    def wait(self, timeout: float | None = None) -> bool:
        left = self.over_at - self.server.uptime
        self.server.advance(max(0.0, min(timeout or 0.0, left)))
        return self.server.uptime >= self.over_at - 1e-9


def run_watch(server: Server, length: float = LENGTH, **options: Any) -> Watch:
    """Watches a day of `length` seconds. Options: `lines` gets the progress lines, `over_at` is the
    uptime of an interruption, `silent` the seconds of the day before the first packet, `joules`
    reads energy counters."""
    lines = options.pop("lines", [])
    over = UptimeEvent(server, options.pop("over_at", 1e9))
    silent = options.pop("silent", 0.0)
    source = Source(server.read_moment, server.read_samples, {}, options.pop("joules", dict))
    watch = Watch(source, length, silent, lambda *line: lines.append(line), over=over)
    watch.run()
    return watch
