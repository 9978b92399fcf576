# SPDX-License-Identifier: BSD-3-Clause
"""Compares the latencies that the data plane reports with the timestamps of a capture."""

from math import ceil
from pathlib import Path

import pytest

from e2e.run.test_latency import PACKETS, measure
from e2e.run.test_latency import capture as capture
from e2e.run.test_latency import config as config
from vcmts.witness.config import load_config
from vcmts.witness.downstream import decode_downstream
from vcmts.witness.pcapfile import read_pcap

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
BUCKET_WIDTH = 0.1  # times of a histogram bucket agree in their first two digits
TRANSMIT_US = 100  # from a port's timestamp to the return of its transmit function


def quantile(times: list[float], share: float) -> float:
    """The smallest time that is not exceeded by at least this share of the times."""
    return sorted(times)[ceil(share * len(times)) - 1]


def captured_latencies(out: Path, config: Path, first_us: float) -> list[float]:
    """Latency of each packet in us, when the DEPI frame with its last byte left. All packets
    arrived at one time, and the first frame left `first_us` later."""
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    assert not decoded.problems and len(decoded.frames) == PACKETS
    start = min(frame.time_ns for frame in decoded.frames)
    return [(frame.time_ns - start) / 1000 + first_us for frame in decoded.frames]


def test_reported_latencies_match_a_capture(config: Path, capture: Path, tmp_path: Path) -> None:
    """A burst in a slow channel has the same delays in histogram and capture."""
    run = measure(config, capture, tmp_path)
    reported = run.latency
    first_us, first_packets = reported["histogram"][0]
    latencies = captured_latencies(run.out, config, first_us)
    tolerance = {"rel": 0.01, "abs": TRANSMIT_US + BUCKET_WIDTH * first_us}
    for key, share in QUANTILES.items():
        assert reported[key] == pytest.approx(quantile(latencies, share), **tolerance), key
    assert reported["mean"] == pytest.approx(sum(latencies) / PACKETS, **tolerance)
    assert first_packets < PACKETS / 2
