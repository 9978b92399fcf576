# SPDX-License-Identifier: BSD-3-Clause
"""DEPI frames are sent when they are full or when the flush timer expires."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from e2e.frames import udp_frame
from e2e.running import SMALL, DownstreamReplay, replace_values, replay
from e2e.traffic import START_NS, generate, with_times
from vcmts.witness.config import load_config
from vcmts.witness.depi import Psp, decode_psp
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import Record, records_of

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
MIN_FRAGMENT = 16  # bytes; vcmtsd makes no shorter first fragment
ENTRY = 2  # bytes of a segment table entry
STEP_NS = 20_000


def depi_frames(replayed: DownstreamReplay) -> list[tuple[int, Psp]]:
    """DEPI frames of the output: free bytes up to the MTU, and the decoded frame."""
    frames = []
    for record in replayed.out.records:
        datagram = decode_datagram(record.data)
        extra = replayed.config.by_session[datagram.session].extra.length
        free = replayed.config.rphy.mtu - datagram.ip_length
        frames.append((free, decode_psp(datagram.payload, extra)))
    return frames


@pytest.mark.parametrize(
    ("mtu", "max_segments"),
    [("1500", "1"), ("1501", "2"), ("1500", "16"), ("1537", "255"), ("9000", "16")],
)
def test_only_flushed_frames_have_free_space(mtu: str, max_segments: str, tmp_path: Path) -> None:
    text = replace_values(SMALL.read_text(), mtu=mtu, max_segments=max_segments)
    replayed = replay(tmp_path, text, with_times(generate(CONFIG, 5, 400), 5, mean_gap_ns=2000))
    replayed.check()
    counters = replayed.stats["counters"]
    limit = int(max_segments)
    with_space = full = 0
    for free, psp in depi_frames(replayed):
        assert free >= 0
        with_space += free >= ENTRY + MIN_FRAGMENT and len(psp.segments) < limit
        full += free <= ENTRY or len(psp.segments) == limit
    assert with_space <= counters["depi_flushed"]
    assert full <= counters["depi_full"]
    assert counters["depi_full"] > 0 and (counters["depi_flushed"] > 0) == (limit > 1)


def test_first_fragments_have_min_size(tmp_path: Path) -> None:
    """Frames of many sizes: the first fragment of a frame always has 16 bytes or more."""
    destination = IPv4Address("10.0.0.9")
    sent = []
    for number, size in enumerate(range(1380, 1460)):
        frames = [udp_frame(destination, size, number), udp_frame(destination, 300, number)]
        sent += records_of(frames, START_NS + number * 10_000_000, 0)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    first_fragments = [
        len(segment.data)
        for _, psp in depi_frames(replayed)
        for segment in psp.segments
        if not segment.end
    ]
    assert min(first_fragments) == MIN_FRAGMENT
    assert len(first_fragments) < len(sent)


@pytest.mark.parametrize("flush", ["0 us", "50 us", "130 us", "1 ms"])
def test_single_packet_is_flushed_in_time(flush: str, tmp_path: Path) -> None:
    text = replace_values(SMALL.read_text(), flush=flush)
    flush_ns = int(flush.split()[0]) * {"us": 1000, "ms": 1_000_000}[flush.split()[1]]
    destinations = [address for modem in CONFIG.modems for address in modem.addresses[:2]]
    frames = [udp_frame(address, 70 + 41 * i, i) for i, address in enumerate(destinations * 3)]
    sent = records_of(frames, START_NS, 5_000_000)
    replayed = replay(tmp_path, text, sent)
    replayed.check()
    arrivals = {record.data[6:]: record.time_ns for record in sent}
    for frame in replayed.decoded.frames:
        assert frame.ethernet is not None
        delay_ns = frame.time_ns - arrivals[frame.ethernet[6:]]
        assert flush_ns <= delay_ns <= flush_ns + STEP_NS, f"{len(frame.ethernet)} bytes"
    assert replayed.stats["counters"]["depi_full"] == 0 or flush_ns > 0


def test_full_frame_is_sent_without_timer(tmp_path: Path) -> None:
    """A DEPI frame with no free byte after a segment table entry is sent without the timer."""
    frames = [udp_frame(IPv4Address("10.0.0.9"), size, size) for size in range(1440, 1460)]
    sent = records_of(frames, START_NS, 10_000_000)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    arrivals = {record.time_ns for record in sent}
    full = set()
    for record, (free, _) in zip(replayed.out.records, depi_frames(replayed), strict=True):
        assert (record.time_ns in arrivals) == (free <= ENTRY)
        full |= {free} if free <= ENTRY else set()
    assert full == {0, 1, 2}


def test_packets_of_one_instant_share_frame(tmp_path: Path) -> None:
    frames = [udp_frame(IPv4Address("10.0.0.9"), 64, number) for number in range(14)]
    sent = records_of(frames[:7], START_NS, 0) + records_of(frames[7:], START_NS + 10**9, 5_000)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    assert [len(psp.segments) for _, psp in depi_frames(replayed)] == [7, 7]


def test_output_time_follows_capture(tmp_path: Path) -> None:
    """A pause of half a day, and timestamps that go back: those of the output do not."""
    half_a_day = 43_200 * 10**9
    times = [START_NS, START_NS + half_a_day, START_NS + 5, START_NS - 10**9]
    times.append(START_NS + half_a_day + 10**9)
    destination = IPv4Address("10.0.0.9")
    frames = [udp_frame(destination, 100, number) for number in range(len(times))]
    sent = [Record(t, f, len(f)) for t, f in zip(times, frames, strict=True)]
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    out = [record.time_ns for record in replayed.out.records]
    assert out == sorted(out)
    assert out[0] - START_NS <= 50_000 + STEP_NS
    assert out[-1] - times[-1] <= 50_000 + STEP_NS
    assert len(out) == 3  # earlier timestamps count as those of the packet before
