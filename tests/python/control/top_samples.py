# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a server's metrics.get, made up: everything moves evenly with its time.

As a program (python -m python.control.top_samples SOCKET) it is a service that gives them, for
whoever looks at a screen without a data plane.
"""

import json
import math
import socketserver
import sys
import threading
import time
from typing import Any

Json = dict[str, Any]

DOWN = (
    *("receive", "parse", "known_flows", "modem_lookup", "filter", "classify", "enqueue"),
    *("schedule", "hand_over", "take_over", "frame", "encrypt_submit", "encrypt_collect", "depi"),
    "transmit",
)
UP = (
    *("receive", "validate", "uepi", "reassemble", "extract", "decrypt_submit", "decrypt_collect"),
    *("defragment", "extract_joined", "verify_source", "transmit", "requests"),
)
HZ = 2e9
BOUNDS = (1e-6, 1e-5, 1e-4, 1e-3, math.inf)
PACKETS, BYTES = 100_000, 1000  # a second of group 1, and of a packet; group N has N times as many
MODEMS = 3


class Samples:
    """Puts down samples of one moment."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.list = seconds, list[Json]()

    def put(self, name: str, value: float, /, **labels: str) -> None:
        self.list.append({"name": f"vcmts_{name}", "labels": labels, "value": value})

    def count(self, name: str, rate: float, /, **labels: str) -> None:
        self.put(f"{name}_total", round(rate * self.seconds), **labels)

    def histogram(self, name: str, rates: tuple[float, ...], **labels: str) -> None:
        """Observations a second of each bucket."""
        below = 0.0
        for bound, rate in zip(BOUNDS, rates, strict=True):
            below += rate
            le = "+Inf" if math.isinf(bound) else f"{bound:g}"
            self.put(f"{name}_bucket", round(below * self.seconds), **labels, le=le)
        self.put(f"{name}_count", round(below * self.seconds), **labels)
        self.put(f"{name}_sum", below * self.seconds * 1e-5, **labels)


def mac(group: int, number: int) -> str:
    return f"02:00:00:{group:02x}:00:{number:02x}"


def put_direction(made: Samples, group: int, way: str, rate: float) -> None:
    own = {"service_group": str(group)}
    for moved in ("received", "transmitted"):
        made.count(f"{way}_{moved}_packets", rate, **own)
        made.count(f"{way}_{moved}_bytes", rate * BYTES, **own)
    stages = DOWN if way == "downstream" else UP
    for number, stage in enumerate(stages, 1):
        made.count("stage_cycles", rate * 10 * number, **own, direction=way, stage=stage)


def put_group(made: Samples, group: int) -> None:
    own, rate = {"service_group": str(group)}, float(PACKETS * group)
    made.put("service_group_info", 1, **own, name=f"group {group}")
    made.put("service_group_modems", MODEMS, **own)
    made.put("service_group_active_modems", MODEMS - 1, **own)
    made.put("service_group_service_flows", 2 * MODEMS, **own)
    made.put("downstream_held_packets", 12, **own)
    put_direction(made, group, "downstream", rate)
    put_direction(made, group, "upstream", rate / 10)
    drops = {"filter_deny": 10.0 * (group - 1), "runt": 0.0, "docsis_pie_drop": 2.0 * (group - 1)}
    for reason, lost in drops.items():
        made.count("downstream_dropped_packets", lost, **own, reason=reason)
    made.put("upstream_dropped_total", 7, **own, reason="psp_late", unit="packet")
    made.put("upstream_dropped_total", 0, **own, reason="burst_gap", unit="burst")
    made.histogram("scheduler_delay_seconds", (0, rate / 2, rate / 2, 0, 0), **own, priority="0")
    made.histogram("scheduler_delay_seconds", (0, 0, 0, 0, 0), **own, priority="7")
    made.histogram("pipeline_latency_seconds", (0, 0, 10, 0, 0), **own, direction="upstream")
    for channel in (159, 160):
        chosen = {**own, "channel": str(channel)}
        made.put("downstream_channel_rate_bytes_per_second", 2.5e8 * group, **chosen)
        made.count("downstream_channel_bytes", rate * BYTES / 2, **chosen)
        made.count("downstream_channel_packets", rate / 2, **chosen)


def put_worker(made: Samples, core: int, runs: str, busy: float) -> None:
    own = {"worker": str(core), "core": str(core)}
    made.put("worker_info", 1, **own, runs=runs)
    made.put("worker_busy_seconds_total", made.seconds * busy, **own)
    made.put("worker_idle_seconds_total", made.seconds * (1 - busy), **own)
    made.put("worker_paused_seconds_total", made.seconds * (1 - busy) / 2, **own)
    made.count("worker_rounds", 1e6, **own)
    made.put("worker_descheduled_total", 3, **own)
    made.put("worker_longest_round_seconds", 0.0042, **own)


def put_modem(made: Samples, group: int, number: int) -> None:
    own = {"service_group": str(group), "modem": mac(group, number)}
    made.count("modem_downstream_packets", 1000 * number, **own)
    made.count("modem_downstream_bytes", 1e6 * number, **own)
    made.put("modem_downstream_waiting_packets", number, **own)
    made.put("modem_active_addresses", 1, **own)
    made.count("modem_downstream_dropped_packets", number - 1, **own, reason="flow_buffer_full")


def put_flows(made: Samples, group: int, modem: str) -> None:
    for sfid in (11, 2):
        own = {"service_group": str(group), "sfid": str(sfid), "modem": modem}
        made.count("flow_packets", 100 * sfid, **own)
        made.count("flow_bytes", 1e5 * sfid, **own)
        made.put("flow_waiting_packets", 5, **own)
        made.put("flow_waiting_bytes", 5000, **own)
        made.put("flow_drop_probability_ratio", 0.015, **own)
        made.put("flow_max_sustained_bytes_per_second", 0 if sfid == 2 else 2.5e6, **own)
        made.count("flow_dropped_packets", sfid - 2, **own, reason="docsis_pie_drop")


def metrics_get(
    seconds: float, groups: tuple[int, ...] = (1, 2, 10), params: Json | None = None
) -> Json:
    """The result of metrics.get at this time after the start."""
    params = params or {}
    made = Samples(seconds)
    wanted = [group for group in groups if str(params.get("group", group)) == str(group)]
    if "group" not in params:
        made.put("build_info", 1, version="1.2.3", dpdk="22.11", ipsec_mb="1.5")
        made.put("tsc_hz", HZ)
        put_worker(made, 1, "upper MAC", 0.95)
        put_worker(made, 10, "lower MAC, upstream", 0.25)
        made.count("ethdev_missed_packets", 5, port="net_memif0", role="network")
    for group in wanted:
        put_group(made, group)
        macs = [mac(group, number) for number in range(1, MODEMS + 1)]
        for number, one in enumerate(macs, 1):
            if params.get("modems") or params.get("modem") == one:
                put_modem(made, group, number)
            if params.get("modem") == one:
                put_flows(made, group, one)
    names = tuple(params.get("names", ("",)))
    return {
        "uptime": seconds,
        "samples": [sample for sample in made.list if sample["name"].startswith(names)],
    }


class Handler(socketserver.StreamRequestHandler):
    """One batch of requests behind the other."""

    server: "Service"

    def handle(self) -> None:
        text, decoder = "", json.JSONDecoder()
        while piece := self.request.recv(65536):
            text += piece.decode()
            try:
                requests, _ = decoder.raw_decode(text)
            except ValueError:
                continue
            text = ""
            line = self.server.answer(requests)
            if line is None:
                return
            self.wfile.write(line + b"\n")


class Service(socketserver.ThreadingUnixStreamServer):
    """`says`: what is answered to all instead, if anything; `groups` are those in service. It
    answers when `goes_on` is set."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path: str) -> None:
        super().__init__(path, Handler)
        self.groups: tuple[int, ...] = (1, 2, 10)
        self.says: bytes | None = None
        self.closes = False
        self.goes_on = threading.Event()
        self.goes_on.set()

    def answer(self, requests: list[Json]) -> bytes | None:
        """None: the connection is closed."""
        self.goes_on.wait()
        if self.closes or self.says is not None:
            return None if self.closes else self.says
        seconds = time.monotonic() % 1e6
        head = {"jsonrpc": "2.0"}
        answers = [
            {**head, "id": one["id"], "result": metrics_get(seconds, self.groups, one["params"])}
            for one in requests
        ]
        return json.dumps(answers).encode()


if __name__ == "__main__":
    with Service(sys.argv[1]) as served:
        served.serve_forever()
