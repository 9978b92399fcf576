# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler, seen from outside: rates, buffers, fairness, channels."""

from collections import Counter
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from e2e.expected import expect
from e2e.frames import udp_frame
from e2e.running import SMALL, Replayed, replay, vary
from e2e.traffic import START_NS, generate
from witness.config import load_config
from witness.docsis import encode_frame
from witness.pcapfile import records_of

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
LEAD_NS = 1_000_000  # that work may be given ahead of a rate, and a burst drain behind it
BONDED = IPv4Address("10.0.0.1")  # channels 11 and 12
ALL_CHANNELS = IPv4Address("10.0.0.21")
SLOW = IPv4Address("10.0.0.9")  # channel 22 alone
SHARED = (IPv4Address("10.0.0.13"), IPv4Address("10.0.0.17"))  # channel 21, two modems
SLOW_RATE = 37_500_000
RATES = {
    0x00010001: 1_890_000_000,
    0xFFFFFFFE: 1_500_000_000,
    0x00010003: 800_000_000,
    1: 42_240_000,
    0x00020002: SLOW_RATE,
}

BURST = 64  # packets of one instant that go in together


def burst(*destinations: IPv4Address, count: int, size: int) -> list[bytes]:
    """Frames of one size to these in turn."""
    turns = len(destinations)
    return [udp_frame(destinations[n % turns], size, n) for n in range(count)]


def sizes(replayed: Replayed, session: int | None = None) -> list[tuple[int, int]]:
    """When each MAC frame had left, and its bytes."""
    return [
        (frame.time_ns, len(encode_frame(frame.header)))
        for frame in replayed.decoded.frames
        if frame.header and session in (None, frame.session)
    ]


def most_ahead(sent: list[tuple[int, int]], rate: int) -> float:
    """By how many ns of the rate the sender was ahead of it, over every interval there is."""
    ahead = worst = 0.0
    before = sent[0][0]
    for time_ns, size in sent:
        ahead = max(0.0, ahead - (time_ns - before)) + size * 8e9 / rate
        worst = max(worst, ahead)
        before = time_ns
    return worst


def mean_rate(sent: list[tuple[int, int]]) -> float:
    """Bits per second from the first frame to the last."""
    return sum(size for _, size in sent[1:]) * 8e9 / (sent[-1][0] - sent[0][0])


@pytest.mark.parametrize("limit", [100, 3000])
def test_group_limit(limit: int, tmp_path: Path) -> None:
    text = vary(SMALL.read_text(), rate_limit=f"{limit} Mbps")
    frames = burst(BONDED, ALL_CHANNELS, count=2000, size=1500)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    sent = sizes(replayed)
    assert most_ahead(sent, limit * 1_000_000) <= LEAD_NS
    assert mean_rate(sent) >= 0.9 * limit * 1_000_000


def test_channel_rates(tmp_path: Path) -> None:
    """A burst to all channels: each is used at its rate and not above, for as long as it lasts."""
    frames = burst(ALL_CHANNELS, count=3000, size=1500)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    assert sum(RATES.values()) < 10_000_000_000
    for session, rate in RATES.items():
        sent = sizes(replayed, session)
        assert most_ahead(sent, rate) <= LEAD_NS
        assert mean_rate(sent) >= 0.9 * rate, f"session {session:#x}"


def test_packets_wait_as_long_as_the_channel_takes(tmp_path: Path) -> None:
    frames = burst(SLOW, count=300, size=1000)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    took = replayed.decoded.frames[-1].time_ns - START_NS
    needed = sum(size for _, size in sizes(replayed)) * 8e9 / SLOW_RATE
    assert needed - LEAD_NS <= took <= needed + LEAD_NS


@pytest.mark.parametrize("buffer", [1, 1003, 1004, 20_000, 100_000])
def test_full_buffer(buffer: int, tmp_path: Path) -> None:
    """What one instant brings is kept up to the buffer and the lead; the rest is dropped."""
    text = SMALL.read_text().replace("buffer: 8 MB", f"buffer: {buffer} B")
    frames = burst(SLOW, count=400, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    dropped = replayed.stats["drops"]["flow_buffer_full"]
    kept = replayed.stats["transmitted"]
    fit = buffer // 1004
    assert fit <= kept <= fit + LEAD_NS * SLOW_RATE / 8e9 / 1004 + 1 if fit else kept == 0
    assert kept + dropped == len(frames) == replayed.stats["received"]
    assert replayed.stats["dropped"] == dropped and replayed.stats["balanced"]
    assert replayed.stats["counters"]["enqueued"] == kept
    assert replayed.decoded.problems == []
    arrived = [frame.ethernet[6:] for frame in replayed.decoded.frames if frame.ethernet]
    first = min(fit, BURST)
    assert arrived[:first] == [frame[6:] for frame in frames[:first]]
    # The channel makes room between the bursts of the instant: what is kept of each stays in order.
    sent = iter(frames)
    assert all(any(packet == frame[6:] for frame in sent) for packet in arrived)


def test_a_full_buffer_is_the_flows_own(tmp_path: Path) -> None:
    """One flow overflows, another one of the same channel loses nothing."""
    text = SMALL.read_text().replace("priority: 4, buffer: 8 MB", "priority: 4, buffer: 5 kB")
    greedy, modest = SHARED
    frames = burst(greedy, count=300, size=1000) + burst(modest, count=50, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    assert replayed.decoded.problems == []
    assert len(replayed.decoded.flow(501)) == 50
    assert replayed.stats["drops"]["flow_buffer_full"] == 300 - len(replayed.decoded.flow(401))
    assert 5 <= len(replayed.decoded.flow(401)) < 20


def test_scheduler_holds_a_bounded_number(tmp_path: Path) -> None:
    frames = burst(*SHARED, count=16_384 + 600, size=60)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    dropped = replayed.stats["drops"]["scheduler_full"]
    assert 500 <= dropped <= 600
    assert replayed.stats["transmitted"] == len(frames) - dropped
    assert replayed.stats["balanced"] and replayed.stats["dropped"] == dropped
    assert replayed.decoded.problems == []


def test_flows_take_turns(tmp_path: Path) -> None:
    frames = burst(SHARED[0], count=200, size=800) + burst(SHARED[1], count=200, size=800)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    modems = [frame.modem.mac[5] for frame in replayed.decoded.frames if frame.modem]
    while_both_wait = modems[20:300]  # the first few had the channel for themselves
    assert set(Counter(while_both_wait).values()) == {140}


def test_bonded_flows_spread_by_rate(tmp_path: Path) -> None:
    """Under load each channel of the group carries its share; other channels carry nothing."""
    frames = burst(BONDED, count=2000, size=1400)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    shares = Counter(frame.session for frame in replayed.decoded.frames)
    assert set(shares) == {0x00010001, 0xFFFFFFFE}
    assert shares[0x00010001] / len(frames) == pytest.approx(1.89 / (1.89 + 1.5), abs=0.02)
    assert replayed.decoded.counters["out_of_order"] > 0


def test_each_flow_keeps_to_its_group(tmp_path: Path) -> None:
    """At an easy pace all channels of a group are used, and no other."""
    sent = records_of(generate(CONFIG, 11, 1500), START_NS, 50_000)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    ids = {channel.session: channel.id for channel in CONFIG.channels}
    used: dict[bytes, set[int]] = {}
    for frame in replayed.decoded.frames:
        assert frame.modem is not None
        used.setdefault(frame.modem.mac, set()).add(ids[frame.session])
    assert used == {modem.mac: set(modem.channels) for modem in CONFIG.modems}


def test_what_cannot_leave_in_a_minute_is_stopped(tmp_path: Path) -> None:
    """The replay ends, and says what it has left behind."""
    text = SMALL.read_text().replace("rate: 37.5 Mbps", "rate: 10 kbps")
    sent = records_of(burst(SLOW, count=100, size=1000), START_NS, 0)
    replayed = replay(tmp_path, text, sent)
    stopped = replayed.stats["drops"]["stopped"]
    assert stopped == 100 - replayed.stats["transmitted"] > 0
    needed = 60 * 10_000 // 8 // 1013
    assert needed <= replayed.stats["transmitted"] <= needed + 2
    assert replayed.stats["held"] == 0 and replayed.stats["balanced"]
    assert expect(sent, CONFIG).counters["enqueued"] == replayed.stats["counters"]["enqueued"]
    assert replayed.decoded.problems == []
