# SPDX-License-Identifier: BSD-3-Clause
"""Checks the pacing of vcmts-traffic in a capture of its packets.

net_pcap stamps each packet when it writes it, by its own conversion of the TSC; the last test
compares that with the system clock. The system may preempt the sender at any time. Still, it never
exceeds the requested rate. While it runs, its packets have the distances of the rate, or are up to
an eighth closer for some time after a pause."""

import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from e2e.run.test_traffic_alone import CONFIG, traffic
from e2e.running import run
from patience import TIMEOUT
from vcmts.witness.pcapfile import parse_pcap, read_pcap

SIZE = 1000  # bytes of a packet
BITS = SIZE * 8
RATE = 80e6  # bit/s
CATCH_UP = 1.125  # the highest rate after a pause, relative to the requested one
BURST = 50e-6  # seconds for which packets may be sent at once


@dataclass(frozen=True)
class Sent:
    """The packets of a run: send times in seconds since the first one, and sizes in bits."""

    times: list[float]
    bits: list[int]

    def total(self, begin: float = 0.0, end: float = float("inf")) -> int:
        """The bits sent from `begin` until `end`."""
        return sum(b for t, b in zip(self.times, self.bits, strict=True) if begin <= t < end)

    def paused(self, usual: float) -> float:
        """Seconds of preemption. `usual` is the normal distance of two packets."""
        gaps = [b - a for a, b in pairwise(self.times)]
        return sum(gap - usual for gap in gaps if gap > 2 * usual + 100e-6)

    def distance(self, share: Callable[[float], float], begin: float, end: float) -> float:
        """The median distance of two packets, relative to that of the rate at their time. `share`
        is the rate at a time, as a share of RATE."""
        return statistics.median(
            (b - a) * share((a + b) / 2) * RATE / BITS
            for a, b in pairwise(self.times)
            if begin <= a and b < end
        )


def follows(sent: Sent, share: Callable[[float], float], begin: float, end: float) -> bool:
    """Whether packets were sent at these shares of RATE. Pauses do not change the median."""
    return 0.985 / CATCH_UP <= sent.distance(share, begin, end) <= 1.015


def sent_packets(folder: Path, *more: str) -> Sent:
    """Runs vcmts-traffic with the options `more`. Returns the packets of its network port."""
    path = folder / "sent.pcap"
    ports = (f"net_pcap0,tx_pcap={path}", "net_null1,no-rx=1")
    done = run(traffic(*ports, "--send-only", *more))
    assert done.status == 0, done.stderr
    capture = read_pcap(path)
    assert capture.nanoseconds
    first = capture.records[0].time_ns
    return Sent(
        [(record.time_ns - first) / 1e9 for record in capture.records],
        [record.original_length * 8 for record in capture.records],
    )


@pytest.mark.parametrize("rate", ["1Mbps", "80Mbps", "400Mbps"])
def test_constant_rate(tmp_path: Path, rate: str) -> None:
    """Checks the maximum rate, the mean rate and the size of bursts."""
    sent = sent_packets(tmp_path, "--mix", str(SIZE), "--rate", rate, "--duration", "800ms")
    bits = float(rate.removesuffix("Mbps")) * 1e6
    usual = BITS / bits
    # At most a burst and a packet ahead of the rate: the sender only compensates for pauses.
    ahead = [(n + 1) * BITS - bits * t for n, t in enumerate(sent.times)]
    assert max(ahead) <= bits * BURST + 2 * BITS + 0.01 * bits * sent.times[-1]
    pause = sent.paused(usual)
    assert sent.total() >= 0.99 * bits * (sent.times[-1] - pause) - 2 * BITS
    assert sent.times[-1] <= 0.81
    # Nine of ten windows of 200 us have at most the allowed packets; pauses cause larger bursts.
    starts = range(0, len(sent.times), max(1, len(sent.times) // 500))
    counts = [sum(t < sent.times[n] + 200e-6 for t in sent.times[n : n + 200]) for n in starts]
    allowed = (200e-6 * CATCH_UP + 2 * BURST) * bits / BITS + 2
    assert statistics.quantiles(counts, n=10)[-1] <= allowed


def test_very_low_rate(tmp_path: Path) -> None:
    """64 bytes at 10 kbps: one packet per 51.2 ms."""
    sent = sent_packets(tmp_path, "--mix", "64", "--rate", "10kbps", "--duration", "1100ms")
    assert 20 <= len(sent.times) <= 22
    # Compares the least delayed packets of both halves: pauses delay some packets, but not all.
    late = [t - n * 0.0512 for n, t in enumerate(sent.times)]
    assert abs(min(late[:10]) - min(late[10:])) < 0.01 * 1.1


def test_bursts(tmp_path: Path) -> None:
    shape = ("--rate", "80Mbps", "--shape", "bursts:on=10ms,off=40ms")
    sent = sent_packets(tmp_path, "--mix", str(SIZE), *shape, "--duration", "1s")
    bursts = {int((t + 50e-6) / 0.050) for t in sent.times}
    assert len(bursts) >= 8
    # A pause at the end of a burst delays a packet or two; the others leave with the next burst.
    inside = sum((t + 50e-6) % 0.050 < 0.0102 for t in sent.times)
    assert inside >= len(sent.times) - 3 * len(bursts)
    assert len(sent.times) <= RATE * 0.2 * 1.01 / BITS + 3
    assert follows(sent, lambda _: 1.0, 0.0, 1.0)


def test_steps(tmp_path: Path) -> None:
    shape = ("--rate", "80Mbps", "--shape", "steps:20%,100%,48Mbps,each=300ms")
    sent = sent_packets(tmp_path, "--mix", str(SIZE), *shape, "--duration", "900ms")
    shares = (0.2, 1.0, 0.6)
    for step in range(3):
        begin = 0.3 * step
        assert follows(sent, lambda t: shares[int(t / 0.3)], begin + 0.001, begin + 0.299)
    assert sent.total() <= (0.2 + 1 + 0.6) * 0.3 * RATE * 1.01 + 2 * BITS


def test_ramp(tmp_path: Path) -> None:
    shape = ("--rate", "80Mbps", "--shape", "ramp:from=10%")
    sent = sent_packets(tmp_path, "--mix", str(SIZE), *shape, "--duration", "600ms")
    for n in range(4):
        assert follows(sent, lambda t: 0.1 + 0.9 * t / 0.6, 0.15 * n, 0.15 * (n + 1))
    assert sent.total() <= 0.55 * 0.6 * RATE * 1.01 + 2 * BITS


def test_day_profile_from_a_file(tmp_path: Path) -> None:
    """The rate rises until noon and falls until midnight."""
    profile = tmp_path / "day.txt"
    profile.write_text("# hour, share of the peak\n0:00 10%\n12:00 100%\n")
    shape = ("--rate", "80Mbps", "--duration", "600ms", "--shape", f"day:@{profile}")
    sent = sent_packets(tmp_path, "--mix", str(SIZE), *shape)
    for n in range(4):
        expected = (0.15 * n, 0.15 * (n + 1))
        assert follows(sent, lambda t: 1 - 0.9 * abs(t - 0.3) / 0.3, *expected)
    assert sent.total() <= 0.55 * 0.6 * RATE * 1.01 + 2 * BITS


def test_upstream_has_its_own_shape(tmp_path: Path) -> None:
    down, up = tmp_path / "down.pcap", tmp_path / "up.pcap"
    ports = (f"net_pcap0,tx_pcap={down}", f"net_pcap1,tx_pcap={up}")
    rates = ("--rate", "40Mbps", "--upstream-share", "50%", "--duration", "600ms")
    shape = ("--shape", "constant", "--upstream-shape", "bursts:period=100ms,duty=30%")
    done = run(traffic(*ports, "--send-only", *rates, *shape, config=CONFIG))
    assert done.status == 0, done.stderr
    # UEPI packets of a finished burst leave until they are flushed.
    times_up = [record.time_ns for record in read_pcap(up).records]
    inside = sum((t - times_up[0] + 100_000) % 100_000_000 < 32_000_000 for t in times_up)
    assert inside >= 0.75 * len(times_up)
    assert 3 <= len({(t - times_up[0] + 100_000) // 100_000_000 for t in times_up}) <= 7
    times = [record.time_ns for record in read_pcap(down).records]
    inside = sum((t - times[0]) % 100_000_000 < 32_000_000 for t in times)
    assert inside < 0.6 * len(times)


def read_fifo(path: Path, chunks: list[tuple[float, bytes]]) -> None:
    """Reads a pipe to its end. Records each chunk with its time by the system clock."""
    with path.open("rb", buffering=0) as pipe:
        while chunk := pipe.read(65536):
            chunks.append((time.monotonic(), chunk))


def delays(chunks: Sequence[tuple[float, bytes]]) -> list[tuple[float, float]]:
    """For the last packet of each chunk: its timestamp, and how much later it was read (s)."""
    records = parse_pcap(b"".join(chunk for _, chunk in chunks)).records
    ends, offset = [], 24
    for record in records:
        offset += 16 + len(record.data)
        ends.append(offset)
    result, read, n = [], 0, 0
    for when, chunk in chunks:
        read += len(chunk)
        while n + 1 < len(ends) and ends[n + 1] <= read:
            n += 1
        if ends[n] <= read:
            stamp = records[n].time_ns / 1e9
            result.append((stamp, when - stamp))
    return result


def test_timestamps_match_the_system_clock(tmp_path: Path) -> None:
    """Shortest delays of both halves: the clocks differ by less than 1 %."""
    path = tmp_path / "fifo.pcap"
    os.mkfifo(path)
    chunks: list[tuple[float, bytes]] = []
    reader = threading.Thread(target=read_fifo, args=(path, chunks), daemon=True)
    reader.start()
    ports = (f"net_pcap0,tx_pcap={path}", "net_null1,no-rx=1")
    rate = ("--mix", str(SIZE), "--rate", "80Mbps", "--duration", "1500ms")
    done = run(traffic(*ports, "--send-only", *rate))
    assert done.status == 0, done.stderr
    reader.join(TIMEOUT)
    result = delays(chunks)
    middle = (result[0][0] + result[-1][0]) / 2
    first = min(delay for stamp, delay in result if stamp < middle)
    second = min(delay for stamp, delay in result if stamp >= middle)
    assert abs(second - first) < 0.01 * (result[-1][0] - result[0][0]) / 2
