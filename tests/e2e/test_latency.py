# SPDX-License-Identifier: BSD-3-Clause
"""How long packets stay in the pipeline, beside the timestamps of captures: the data plane tells of
times as somebody else sees them."""

import json
import time
from ipaddress import IPv4Address
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from e2e.frames import udp_frame
from e2e.ports import pcap_ports, serve
from e2e.running import vcmts
from e2e.test_run import on_these_cores
from vcmts.telemetry import latency as telemetry_latency
from vcmts.telemetry.command import Vcmtsd
from vcmts.telemetry.command import vcmtsd as connected
from witness.config import load_config
from witness.downstream import decode_downstream
from witness.pcapfile import read_pcap, records_of, write_pcap

pytestmark = pytest.mark.run

SLOW = IPv4Address("10.0.0.9")  # channel 22 alone
RATE = 37.5e6
PACKETS, SIZE = 64, 1400  # one burst of the receive stage
LEAD_US = 500  # that work may be given ahead of a rate
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
EDGE = 0.1  # a bucket's times begin with the same two digits
LONGEST_NS = 60_000_000_000  # longer times count as this
CLOSE_US = 100  # between a port's timestamp and the return from it


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(on_these_cores("1ds1t"))
    return path


@pytest.fixture
def captured(tmp_path: Path) -> Path:
    """Packets at once for a slow channel."""
    path = tmp_path / "in.pcap"
    write_pcap(path, records_of([udp_frame(SLOW, SIZE, n) for n in range(PACKETS)]))
    return path


def awaited(asked: Vcmtsd, packets: int) -> None:
    deadline = time.monotonic() + 20
    told = asked.ask(telemetry_latency.COMMAND)
    while told["downstream"]["packets"] < packets:
        assert time.monotonic() < deadline, told
        time.sleep(0.02)
        told = asked.ask(telemetry_latency.COMMAND)


def quantile(times: list[float], share: float) -> float:
    """What that share of the times, or just more, do not exceed."""
    return sorted(times)[ceil(share * len(times)) - 1]


def in_order(told: dict[str, Any]) -> bool:
    quantiles = [told[key] for key in telemetry_latency.KEYS[1:]]
    return quantiles == sorted(quantiles) and 0 < told["mean"] <= told["max"]


def seen_from_outside(out: Path, config: Path, first_us: float) -> list[float]:
    """When the DEPI frame with a packet's last byte left, after the first one that left: it had
    taken `first_us` by then, and all came in at one time."""
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    assert not decoded.problems and len(decoded.frames) == PACKETS
    begin = min(frame.time_ns for frame in decoded.frames)
    return [(frame.time_ns - begin) / 1000 + first_us for frame in decoded.frames]


def test_a_capture_sees_the_same(config: Path, captured: Path, tmp_path: Path) -> None:
    """A burst into a slow channel: what the scheduler holds back is seen by the pipeline as by the
    R-PHY port's timestamps, and is what the channel's rate makes of it."""
    out, summary = tmp_path / "out.pcap", tmp_path / "summary.json"
    options = ("--config", config, "--latency", "--json", summary)
    with serve(*options, *pcap_ports(captured, out)) as run:
        with connected(run.process.pid) as asked:
            awaited(asked, PACKETS)
            by_telemetry = telemetry_latency.read(asked.ask, reset=True)["downstream"]
            again = telemetry_latency.read(asked.ask, reset=False)["downstream"]
            shown = vcmts("telemetry", "--pid", str(asked.pid), "latency", "downstream")
            # who reads a histogram to its end asks for what is behind the longest times
            assert asked.ask(telemetry_latency.COMMAND, f"downstream {LONGEST_NS + 1}") == {}
        done = run.stop()
    assert done.status == 0, done.stderr
    assert "in the pipeline:" in done.stdout and shown.status == 0
    told = json.loads(summary.read_text())["downstream"]["pipeline_latency_us"]
    assert in_order(told) and sum(packets for _, packets in told["histogram"]) == PACKETS
    assert again["max"] == 0 and again["histogram"] == []
    for key in telemetry_latency.KEYS:
        assert by_telemetry[key] == pytest.approx(told[key], abs=0.001)
    assert by_telemetry["histogram"] == told["histogram"]
    first_us, first_packets = told["histogram"][0]
    seen = seen_from_outside(out, config, first_us)
    near = {"rel": 0.01, "abs": CLOSE_US + EDGE * first_us}
    for key, share in QUANTILES.items():
        assert told[key] == pytest.approx(quantile(seen, share), **near), key
    assert told["mean"] == pytest.approx(sum(seen) / PACKETS, **near)
    assert first_packets < PACKETS / 2
    # never sooner than the rate allows
    waits = list(accumulate([SIZE * 8e6 / RATE] * PACKETS))
    assert told["max"] > waits[-1] - LEAD_US
    assert told["mean"] > sum(waits) / PACKETS - LEAD_US


def test_without_the_option(config: Path, captured: Path, tmp_path: Path) -> None:
    """Without --latency nothing is told, and nothing is there to reset."""
    summary = tmp_path / "summary.json"
    ports = pcap_ports(captured, tmp_path / "out.pcap")
    with serve("--config", config, "--json", summary, *ports) as run:
        with connected(run.process.pid) as asked:
            assert asked.ask(telemetry_latency.COMMAND, "reset") == {}
            assert telemetry_latency.read(asked.ask, reset=False) == {}
            for wrong in ("sideways", "downstream x", "downstream2"):
                done = vcmts("telemetry", "--pid", str(asked.pid), "latency", wrong)
                assert done.status == 2 and len(done.messages) == 1
        assert run.stop().status == 0
    stats = json.loads(summary.read_text())["downstream"]
    assert stats["pipeline_latency_us"] is None and stats["transmitted"] == PACKETS
