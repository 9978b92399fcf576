# SPDX-License-Identifier: BSD-3-Clause
"""Simulated answers of metrics.get, whose counters grow evenly with time.

As a program (python -m python.control.top_samples SOCKET) it serves them, to try screens without a
data plane."""

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
PACKETS = 100_000  # per second of group 1; group N has N times as many
BYTES = 1000  # per packet
MODEMS = 3


class Samples:
    """Collects the samples of one moment. Names get the prefix `vcmts_`."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.list = seconds, list[Json]()

    def put(self, name: str, value: float, /, **labels: str) -> None:
        self.list.append({"name": f"vcmts_{name}", "labels": labels, "value": value})

    def count(self, name: str, rate: float, /, **labels: str) -> None:
        self.put(f"{name}_total", round(rate * self.seconds), **labels)

    def histogram(self, name: str, rates: tuple[float, ...], **labels: str) -> None:
        """Adds buckets with these observations per second."""
        below = 0.0
        for bound, rate in zip(BOUNDS, rates, strict=True):
            below += rate
            le = "+Inf" if math.isinf(bound) else f"{bound:g}"
            self.put(f"{name}_bucket", round(below * self.seconds), **labels, le=le)
        self.put(f"{name}_count", round(below * self.seconds), **labels)
        self.put(f"{name}_sum", below * self.seconds * 1e-5, **labels)


def mac(group: int, number: int) -> str:
    return f"02:00:00:{group:02x}:00:{number:02x}"


def put_direction(samples: Samples, group: int, direction: str, rate: float) -> None:
    labels = {"service_group": str(group)}
    for moved in ("received", "transmitted"):
        samples.count(f"{direction}_{moved}_packets", rate, **labels)
        samples.count(f"{direction}_{moved}_bytes", rate * BYTES, **labels)
    stages = DOWN if direction == "downstream" else UP
    for number, stage in enumerate(stages, 1):
        samples.count(
            "stage_cycles", rate * 10 * number, **labels, direction=direction, stage=stage
        )


def put_group(samples: Samples, group: int) -> None:
    labels, rate = {"service_group": str(group)}, float(PACKETS * group)
    samples.put("service_group_info", 1, **labels, name=f"group {group}")
    samples.put("service_group_modems", MODEMS, **labels)
    samples.put("service_group_active_modems", MODEMS - 1, **labels)
    samples.put("service_group_service_flows", 2 * MODEMS, **labels)
    samples.put("downstream_held_packets", 12, **labels)
    put_direction(samples, group, "downstream", rate)
    put_direction(samples, group, "upstream", rate / 10)
    drops = {"filter_deny": 10.0 * (group - 1), "runt": 0.0, "docsis_pie_drop": 2.0 * (group - 1)}
    for reason, lost in drops.items():
        samples.count("downstream_dropped_packets", lost, **labels, reason=reason)
    samples.put("upstream_dropped_total", 7, **labels, reason="psp_late", unit="packet")
    samples.put("upstream_dropped_total", 0, **labels, reason="burst_gap", unit="burst")
    samples.histogram(
        "scheduler_delay_seconds", (0, rate / 2, rate / 2, 0, 0), **labels, priority="0"
    )
    samples.histogram("scheduler_delay_seconds", (0, 0, 0, 0, 0), **labels, priority="7")
    samples.histogram("pipeline_latency_seconds", (0, 0, 10, 0, 0), **labels, direction="upstream")
    for channel in (159, 160):
        chosen = {**labels, "channel": str(channel)}
        samples.put("downstream_channel_rate_bytes_per_second", 2.5e8 * group, **chosen)
        samples.count("downstream_channel_bytes", rate * BYTES / 2, **chosen)
        samples.count("downstream_channel_packets", rate / 2, **chosen)


def put_worker(samples: Samples, core: int, runs: str, busy: float) -> None:
    labels = {"worker": str(core), "core": str(core)}
    samples.put("worker_info", 1, **labels, runs=runs)
    samples.put("worker_busy_seconds_total", samples.seconds * busy, **labels)
    samples.put("worker_idle_seconds_total", samples.seconds * (1 - busy), **labels)
    samples.put("worker_paused_seconds_total", samples.seconds * (1 - busy) / 2, **labels)
    samples.count("worker_rounds", 1e6, **labels)
    samples.put("worker_descheduled_total", 3, **labels)
    samples.put("worker_longest_round_seconds", 0.0042, **labels)


def put_modem(samples: Samples, group: int, number: int) -> None:
    labels = {"service_group": str(group), "modem": mac(group, number)}
    samples.count("modem_downstream_packets", 1000 * number, **labels)
    samples.count("modem_downstream_bytes", 1e6 * number, **labels)
    samples.put("modem_downstream_waiting_packets", number, **labels)
    samples.put("modem_active_addresses", 1, **labels)
    samples.count(
        "modem_downstream_dropped_packets", number - 1, **labels, reason="flow_buffer_full"
    )


def put_flows(samples: Samples, group: int, modem: str) -> None:
    for sfid in (11, 2):
        labels = {"service_group": str(group), "sfid": str(sfid), "modem": modem}
        samples.count("flow_packets", 100 * sfid, **labels)
        samples.count("flow_bytes", 1e5 * sfid, **labels)
        samples.put("flow_waiting_packets", 5, **labels)
        samples.put("flow_waiting_bytes", 5000, **labels)
        samples.put("flow_drop_probability_ratio", 0.015, **labels)
        samples.put("flow_max_sustained_bytes_per_second", 0 if sfid == 2 else 2.5e6, **labels)
        samples.count("flow_dropped_packets", sfid - 2, **labels, reason="docsis_pie_drop")


def metrics_get(
    seconds: float, groups: tuple[int, ...] = (1, 2, 10), params: Json | None = None
) -> Json:
    """Returns the result of metrics.get, `seconds` after the start."""
    params = params or {}
    samples = Samples(seconds)
    wanted = [group for group in groups if str(params.get("group", group)) == str(group)]
    if "group" not in params:
        samples.put("build_info", 1, version="1.2.3", dpdk="22.11", ipsec_mb="1.5")
        samples.put("tsc_hz", HZ)
        put_worker(samples, 1, "upper MAC", 0.95)
        put_worker(samples, 10, "lower MAC, upstream", 0.25)
        samples.count("ethdev_missed_packets", 5, port="net_memif0", role="network")
    for group in wanted:
        put_group(samples, group)
        macs = [mac(group, number) for number in range(1, MODEMS + 1)]
        for number, one in enumerate(macs, 1):
            if params.get("modems") or params.get("modem") == one:
                put_modem(samples, group, number)
            if params.get("modem") == one:
                put_flows(samples, group, one)
    names = tuple(params.get("names", ("",)))
    return {
        "uptime": seconds,
        "samples": [sample for sample in samples.list if sample["name"].startswith(names)],
    }


class Handler(socketserver.StreamRequestHandler):
    """Answers batches of requests one after the other."""

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
    """Simulates the control socket of a vcmtsd with these `groups`. It answers when `may_answer`
    is set: with `fixed_answer`, if there is one. `closes` makes it close connections."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path: str) -> None:
        super().__init__(path, Handler)
        self.groups: tuple[int, ...] = (1, 2, 10)
        self.fixed_answer: bytes | None = None
        self.closes = False
        self.may_answer = threading.Event()
        self.may_answer.set()

    def answer(self, requests: list[Json]) -> bytes | None:
        """Returns None to close the connection."""
        self.may_answer.wait()
        if self.closes or self.fixed_answer is not None:
            return None if self.closes else self.fixed_answer
        seconds = time.monotonic() % 1e6
        head = {"jsonrpc": "2.0"}
        answers = [
            {**head, "id": one["id"], "result": metrics_get(seconds, self.groups, one["params"])}
            for one in requests
        ]
        return json.dumps(answers).encode()


if __name__ == "__main__":
    with Service(sys.argv[1]) as service:
        service.serve_forever()
