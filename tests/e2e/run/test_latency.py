# SPDX-License-Identifier: BSD-3-Clause
"""Pipeline latency with and without `--latency`: summary and telemetry must agree."""

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
from vcmts.telemetry.plane import plane as connect_plane
from vcmts.witness.pcapfile import records_of, write_pcap

SLOW = IPv4Address("10.0.0.9")  # subscriber of sg-small.yaml behind channel 22 alone
RATE = 37.5e6  # bit/s of channel 22
PACKETS = 64  # one burst of the receive stage
SIZE = 1400  # bytes of a frame without CRC
LEAD_US = 500  # SCHEDULER_LEAD_NS: a channel gets work at most so far ahead of its rate


@dataclass(frozen=True)
class Measurement:
    latency: dict[str, Any]  # pipeline_latency_us of the summary
    out: Path  # capture of the R-PHY port


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A capture of one burst of packets to SLOW. They wait up to 19 ms in its queue."""
    path = tmp_path / "in.pcap"
    write_pcap(path, records_of([udp_frame(SLOW, SIZE, n) for n in range(PACKETS)]))
    return path


def wait_for_latency(client: Plane, packets: int) -> None:
    until(
        lambda: telemetry_latency.answer(client)["downstream"]["packets"] >= packets,
        f"times of {packets} packets",
    )


def is_ordered(latency: dict[str, Any]) -> bool:
    """Whether the percentiles ascend up to the maximum, which the mean does not exceed."""
    quantiles = [latency[key] for key in telemetry_latency.KEYS[1:]]
    return quantiles == sorted(quantiles) and 0 < latency["mean"] <= latency["max"]


def measure(config: Path, capture: Path, folder: Path) -> Measurement:
    """Runs vcmtsd with the capture. Checks that summary and telemetry report the same latency."""
    out, summary = folder / "out.pcap", folder / "summary.json"
    options = ("--config", config, "--latency", "--json", summary)
    with serve(*options, *pcap_ports(capture, out)) as run:
        with connect_plane(run.process.pid) as client:
            wait_for_latency(client, PACKETS)
            reported = telemetry_latency.read(client, reset=True)["downstream"]
            after_reset = telemetry_latency.read(client, reset=False)["downstream"]
            pid = str(run.process.pid)
            shown = vcmts("telemetry", "--pid", pid, "latency", "downstream")
        done = run.stop()
    assert done.status == 0, done.stderr
    assert "in the pipeline:" in done.stdout and shown.status == 0
    latency = json.loads(summary.read_text())["downstream"]["pipeline_latency_us"]
    assert is_ordered(latency) and sum(packets for _, packets in latency["histogram"]) == PACKETS
    assert after_reset["max"] == 0 and after_reset["histogram"] == []
    for key in telemetry_latency.KEYS:
        assert reported[key] == pytest.approx(latency[key], abs=0.001)
    assert reported["histogram"] == latency["histogram"]
    return Measurement(latency, out)


def test_latency_includes_queue_time(config: Path, capture: Path, tmp_path: Path) -> None:
    """Latency is at least the time in the queue, by the channel's rate.
    tests/realtime/test_latency.py compares it with timestamps of the port."""
    latency = measure(config, capture, tmp_path).latency
    delays = list(accumulate([SIZE * 8e6 / RATE] * PACKETS))
    assert latency["max"] > delays[-1] - LEAD_US
    # The histogram keeps three digits of a time.
    assert latency["mean"] > 0.99 * (sum(delays) / PACKETS - LEAD_US)


def test_latency_is_off_by_default(config: Path, capture: Path, tmp_path: Path) -> None:
    """Without --latency, telemetry returns no latency, even to a reset; the summary has null."""
    summary = tmp_path / "summary.json"
    ports = pcap_ports(capture, tmp_path / "out.pcap")
    with serve("--config", config, "--json", summary, *ports) as run:
        with connect_plane(run.process.pid) as client:
            assert telemetry_latency.answer(client, reset=True) == {}
            assert telemetry_latency.read(client, reset=False) == {}
            pid = str(run.process.pid)
            for invalid in ("sideways", "downstream x", "downstream2"):
                done = vcmts("telemetry", "--pid", pid, "latency", invalid)
                assert done.status == 2 and len(done.messages) == 1
        run.wait_processed(PACKETS)
        assert run.stop().status == 0
    stats = json.loads(summary.read_text())["downstream"]
    assert stats["pipeline_latency_us"] is None and stats["transmitted"] == PACKETS
