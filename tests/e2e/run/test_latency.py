# SPDX-License-Identifier: BSD-3-Clause
"""How long packets stay in the pipeline: in the summary and in the telemetry, with and without."""

import json
from dataclasses import dataclass
from ipaddress import IPv4Address
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from e2e.frames import udp_frame
from e2e.ports import pcap_ports, serve
from e2e.run.test_run import config as config
from e2e.running import vcmts
from patience import until
from vcmts.telemetry import latency as telemetry_latency
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as connected
from vcmts.witness.pcapfile import records_of, write_pcap

SLOW = IPv4Address("10.0.0.9")  # channel 22 alone
RATE = 37.5e6
PACKETS, SIZE = 64, 1400  # one burst of the receive stage
LEAD_US = 500  # that work may be given ahead of a rate


@dataclass(frozen=True)
class Measured:
    told: dict[str, Any]
    out: Path  # what left by the R-PHY port


@pytest.fixture
def captured(tmp_path: Path) -> Path:
    """Packets at once for a slow channel."""
    path = tmp_path / "in.pcap"
    write_pcap(path, records_of([udp_frame(SLOW, SIZE, n) for n in range(PACKETS)]))
    return path


def awaited(asked: Plane, packets: int) -> None:
    until(
        lambda: telemetry_latency.answer(asked)["downstream"]["packets"] >= packets,
        f"times of {packets} packets",
    )


def in_order(told: dict[str, Any]) -> bool:
    quantiles = [told[key] for key in telemetry_latency.KEYS[1:]]
    return quantiles == sorted(quantiles) and 0 < told["mean"] <= told["max"]


def measured(config: Path, captured: Path, folder: Path) -> Measured:
    """Told by the summary and by the telemetry alike."""
    out, summary = folder / "out.pcap", folder / "summary.json"
    options = ("--config", config, "--latency", "--json", summary)
    with serve(*options, *pcap_ports(captured, out)) as run:
        with connected(run.process.pid) as asked:
            awaited(asked, PACKETS)
            by_telemetry = telemetry_latency.read(asked, reset=True)["downstream"]
            again = telemetry_latency.read(asked, reset=False)["downstream"]
            pid = str(run.process.pid)
            shown = vcmts("telemetry", "--pid", pid, "latency", "downstream")
        done = run.stop()
    assert done.status == 0, done.stderr
    assert "in the pipeline:" in done.stdout and shown.status == 0
    told = json.loads(summary.read_text())["downstream"]["pipeline_latency_us"]
    assert in_order(told) and sum(packets for _, packets in told["histogram"]) == PACKETS
    assert again["max"] == 0 and again["histogram"] == []
    for key in telemetry_latency.KEYS:
        assert by_telemetry[key] == pytest.approx(told[key], abs=0.001)
    assert by_telemetry["histogram"] == told["histogram"]
    return Measured(told, out)


def test_a_burst_into_a_slow_channel(config: Path, captured: Path, tmp_path: Path) -> None:
    """The scheduler holds it back as the channel's rate demands, on a slow machine for longer: no
    packet leaves sooner. Beside the timestamps of the port: tests/realtime/test_latency.py."""
    told = measured(config, captured, tmp_path).told
    waits = list(accumulate([SIZE * 8e6 / RATE] * PACKETS))
    assert told["max"] > waits[-1] - LEAD_US
    # but for what the histogram rounds
    assert told["mean"] > 0.99 * (sum(waits) / PACKETS - LEAD_US)


def test_without_the_option(config: Path, captured: Path, tmp_path: Path) -> None:
    """Without --latency nothing is told, and nothing is there to reset."""
    summary = tmp_path / "summary.json"
    ports = pcap_ports(captured, tmp_path / "out.pcap")
    with serve("--config", config, "--json", summary, *ports) as run:
        with connected(run.process.pid) as asked:
            assert telemetry_latency.answer(asked, reset=True) == {}
            assert telemetry_latency.read(asked, reset=False) == {}
            pid = str(run.process.pid)
            for wrong in ("sideways", "downstream x", "downstream2"):
                done = vcmts("telemetry", "--pid", pid, "latency", wrong)
                assert done.status == 2 and len(done.messages) == 1
        run.taken(PACKETS)
        assert run.stop().status == 0
    stats = json.loads(summary.read_text())["downstream"]
    assert stats["pipeline_latency_us"] is None and stats["transmitted"] == PACKETS
