# SPDX-License-Identifier: BSD-3-Clause
"""What vcmts-traffic sends over time, as a capture sees it.

net_pcap stamps each packet when it writes it, on its own account of the TSC; a test below holds
that account against the clock of the operating system. Whoever runs these tests may take the core
of the sender away at any time. What can be said all the same: it is never ahead of what it was
asked for, and while it runs, its packets have the distances that the rate gives them, or for some
time after a pause are an eighth nearer.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from e2e.run.test_traffic_alone import CONFIG, words
from e2e.running import run
from patience import TIMEOUT
from vcmts.witness.pcapfile import parse_pcap, read_pcap

SIZE = 1000
BITS = SIZE * 8
RATE = 80e6
CATCH_UP = 1.125
BURST = 50e-6


@dataclass(frozen=True)
class Sent:
    """When each packet left, in seconds since the first, and the bits of each."""

    times: list[float]
    bits: list[int]

    def total(self, begin: float = 0.0, end: float = float("inf")) -> int:
        return sum(b for t, b in zip(self.times, self.bits, strict=True) if begin <= t < end)

    def paused(self, usual: float) -> float:
        """Seconds in which the sender was away: `usual` is the distance of two packets."""
        gaps = [b - a for a, b in pairwise(self.times)]
        return sum(gap - usual for gap in gaps if gap > 2 * usual + 100e-6)

    def distance(self, share: Callable[[float], float], begin: float, end: float) -> float:
        """The median distance of two packets, in that of the rate at their time."""
        return statistics.median(
            (b - a) * share((a + b) / 2) * RATE / BITS
            for a, b in pairwise(self.times)
            if begin <= a and b < end
        )


def follows(sent: Sent, share: Callable[[float], float], begin: float, end: float) -> bool:
    """Whether packets were sent at these shares of RATE: a median, as pauses make other gaps."""
    return 0.985 / CATCH_UP <= sent.distance(share, begin, end) <= 1.015


def captured(folder: Path, *more: str) -> Sent:
    """The downstream as it was sent."""
    path = folder / "sent.pcap"
    ports = (f"net_pcap0,tx_pcap={path}", "net_null1,no-rx=1")
    done = run(words(*ports, "--send-only", *more))
    assert done.status == 0, done.stderr
    capture = read_pcap(path)
    assert capture.nanoseconds
    first = capture.records[0].time_ns
    return Sent(
        [(record.time_ns - first) / 1e9 for record in capture.records],
        [record.original_length * 8 for record in capture.records],
    )


@pytest.mark.parametrize("rate", ["1Mbps", "80Mbps", "400Mbps"])
def test_the_rate_is_kept(tmp_path: Path, rate: str) -> None:
    """All three: never ahead, as much as there was time for, and in small bursts."""
    sent = captured(tmp_path, "--mix", str(SIZE), "--rate", rate, "--duration", "800ms")
    bits = float(rate.removesuffix("Mbps")) * 1e6
    usual = BITS / bits
    # Never ahead of the rate by more than a burst and a packet: pauses are made up for, not more.
    ahead = [(n + 1) * BITS - bits * t for n, t in enumerate(sent.times)]
    assert max(ahead) <= bits * BURST + 2 * BITS + 0.01 * bits * sent.times[-1]
    away = sent.paused(usual)
    assert sent.total() >= 0.99 * bits * (sent.times[-1] - away) - 2 * BITS
    assert sent.times[-1] <= 0.81
    # Bursts: nine of ten windows of 200 us hold no more than they may; pauses make others.
    starts = range(0, len(sent.times), max(1, len(sent.times) // 500))
    held = [sum(t < sent.times[n] + 200e-6 for t in sent.times[n : n + 200]) for n in starts]
    allowed = (200e-6 * CATCH_UP + 2 * BURST) * bits / BITS + 2
    assert statistics.quantiles(held, n=10)[-1] <= allowed


def test_a_trickle(tmp_path: Path) -> None:
    """64 bytes at 10 kbps: a packet each 51.2 ms."""
    sent = captured(tmp_path, "--mix", "64", "--rate", "10kbps", "--duration", "1100ms")
    assert 20 <= len(sent.times) <= 22
    # The least late packets of both halves: each may be held up, but not all.
    late = [t - n * 0.0512 for n, t in enumerate(sent.times)]
    assert abs(min(late[:10]) - min(late[10:])) < 0.01 * 1.1


def test_bursts(tmp_path: Path) -> None:
    shape = ("--rate", "80Mbps", "--shape", "bursts:on=10ms,off=40ms")
    sent = captured(tmp_path, "--mix", str(SIZE), *shape, "--duration", "1s")
    bursts = {int((t + 50e-6) / 0.050) for t in sent.times}
    assert len(bursts) >= 8
    # A pause over the end of a burst leaves a packet or two; the rest goes with the next burst.
    inside = sum((t + 50e-6) % 0.050 < 0.0102 for t in sent.times)
    assert inside >= len(sent.times) - 3 * len(bursts)
    assert len(sent.times) <= RATE * 0.2 * 1.01 / BITS + 3
    assert follows(sent, lambda _: 1.0, 0.0, 1.0)


def test_steps(tmp_path: Path) -> None:
    shape = ("--rate", "80Mbps", "--shape", "steps:20%,100%,48Mbps,each=300ms")
    sent = captured(tmp_path, "--mix", str(SIZE), *shape, "--duration", "900ms")
    shares = (0.2, 1.0, 0.6)
    for step in range(3):
        begin = 0.3 * step
        assert follows(sent, lambda t: shares[int(t / 0.3)], begin + 0.001, begin + 0.299)
    assert sent.total() <= (0.2 + 1 + 0.6) * 0.3 * RATE * 1.01 + 2 * BITS


def test_a_ramp(tmp_path: Path) -> None:
    shape = ("--rate", "80Mbps", "--shape", "ramp:from=10%")
    sent = captured(tmp_path, "--mix", str(SIZE), *shape, "--duration", "600ms")
    for n in range(4):
        assert follows(sent, lambda t: 0.1 + 0.9 * t / 0.6, 0.15 * n, 0.15 * (n + 1))
    assert sent.total() <= 0.55 * 0.6 * RATE * 1.01 + 2 * BITS


def test_a_day_from_a_file(tmp_path: Path) -> None:
    """It rises until noon and falls until midnight, as it began."""
    profile = tmp_path / "day.txt"
    profile.write_text("# hour, share of the peak\n0:00 10%\n12:00 100%\n")
    shape = ("--rate", "80Mbps", "--duration", "600ms", "--shape", f"day:@{profile}")
    sent = captured(tmp_path, "--mix", str(SIZE), *shape)
    for n in range(4):
        expected = (0.15 * n, 0.15 * (n + 1))
        assert follows(sent, lambda t: 1 - 0.9 * abs(t - 0.3) / 0.3, *expected)
    assert sent.total() <= 0.55 * 0.6 * RATE * 1.01 + 2 * BITS


def test_the_upstream_has_its_own_shape(tmp_path: Path) -> None:
    down, up = tmp_path / "down.pcap", tmp_path / "up.pcap"
    ports = (f"net_pcap0,tx_pcap={down}", f"net_pcap1,tx_pcap={up}")
    rates = ("--rate", "40Mbps", "--upstream-share", "50%", "--duration", "600ms")
    shape = ("--shape", "constant", "--upstream-shape", "bursts:period=100ms,duty=30%")
    done = run(words(*ports, "--send-only", *rates, *shape, config=CONFIG))
    assert done.status == 0, done.stderr
    # UEPI of ended bursts goes out until its packets are flushed.
    ended = [record.time_ns for record in read_pcap(up).records]
    inside = sum((t - ended[0] + 100_000) % 100_000_000 < 32_000_000 for t in ended)
    assert inside >= 0.75 * len(ended)
    assert 3 <= len({(t - ended[0] + 100_000) // 100_000_000 for t in ended}) <= 7
    times = [record.time_ns for record in read_pcap(down).records]
    inside = sum((t - times[0]) % 100_000_000 < 32_000_000 for t in times)
    assert inside < 0.6 * len(times)


def read_fifo(path: Path, chunks: list[tuple[float, bytes]]) -> None:
    """What comes, and when by the clock of the system."""
    with path.open("rb", buffering=0) as pipe:
        while chunk := pipe.read(65536):
            chunks.append((time.monotonic(), chunk))


def delays(chunks: Sequence[tuple[float, bytes]]) -> list[tuple[float, float]]:
    """Of each packet that a chunk ends: its stamp, and how much later it was read."""
    records = parse_pcap(b"".join(chunk for _, chunk in chunks)).records
    ends, offset = [], 24
    for record in records:
        offset += 16 + len(record.data)
        ends.append(offset)
    found, read, n = [], 0, 0
    for when, chunk in chunks:
        read += len(chunk)
        while n + 1 < len(ends) and ends[n + 1] <= read:
            n += 1
        if ends[n] <= read:
            stamp = records[n].time_ns / 1e9
            found.append((stamp, when - stamp))
    return found


def test_stamps_go_by_the_clock_of_the_system(tmp_path: Path) -> None:
    """The shortest delays of both halves: a second is the same for both within 1 %."""
    path = tmp_path / "fifo.pcap"
    os.mkfifo(path)
    chunks: list[tuple[float, bytes]] = []
    reader = threading.Thread(target=read_fifo, args=(path, chunks), daemon=True)
    reader.start()
    ports = (f"net_pcap0,tx_pcap={path}", "net_null1,no-rx=1")
    rate = ("--mix", str(SIZE), "--rate", "80Mbps", "--duration", "1500ms")
    done = run(words(*ports, "--send-only", *rate))
    assert done.status == 0, done.stderr
    reader.join(TIMEOUT)
    found = delays(chunks)
    middle = (found[0][0] + found[-1][0]) / 2
    first = min(delay for stamp, delay in found if stamp < middle)
    second = min(delay for stamp, delay in found if stamp >= middle)
    assert abs(second - first) < 0.01 * (found[-1][0] - found[0][0]) / 2
