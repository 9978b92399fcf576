# SPDX-License-Identifier: BSD-3-Clause
"""How long packets stay in the pipeline, beside the timestamps of captures: the data plane tells of
times as somebody else sees them."""

from math import ceil
from pathlib import Path

import pytest

from e2e.run.test_latency import PACKETS, measured
from e2e.run.test_latency import captured as captured
from e2e.run.test_latency import config as config
from vcmts.witness.config import load_config
from vcmts.witness.downstream import decode_downstream
from vcmts.witness.pcapfile import read_pcap

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
EDGE = 0.1  # a bucket's times begin with the same two digits
CLOSE_US = 100  # between a port's timestamp and the return from it


def quantile(times: list[float], share: float) -> float:
    """What that share of the times, or just more, do not exceed."""
    return sorted(times)[ceil(share * len(times)) - 1]


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
    found = measured(config, captured, tmp_path)
    told = found.told
    first_us, first_packets = told["histogram"][0]
    seen = seen_from_outside(found.out, config, first_us)
    near = {"rel": 0.01, "abs": CLOSE_US + EDGE * first_us}
    for key, share in QUANTILES.items():
        assert told[key] == pytest.approx(quantile(seen, share), **near), key
    assert told["mean"] == pytest.approx(sum(seen) / PACKETS, **near)
    assert first_packets < PACKETS / 2
