# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler, seen from outside: rates, buffers, fairness, channels."""

import json
from collections import Counter
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from e2e.expected import expect
from e2e.frames import udp_frame
from e2e.running import SMALL, Replayed, replay, vary
from e2e.traffic import START_NS, generate
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import records_of

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
LEAD_NS = 500_000  # that work may be given ahead of a rate
STEP_NS = 10_000  # of the replay's clock
FLUSH_NS = 50_000
SESSION_OFFSET = 14 + 20  # of the L2TPv3 session in a DEPI frame over IPv4
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
    """When each DEPI frame left, and its bytes: what channels and the group's limit count."""
    return [
        (record.time_ns, len(record.data))
        for record in replayed.out.records
        if session
        in (None, int.from_bytes(record.data[SESSION_OFFSET : SESSION_OFFSET + 4], "big"))
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


def check_rate(sent: list[tuple[int, int]], rate: int) -> None:
    """From the burst at START_NS to the last frame: never above the rate, but for the lead and the
    DEPI frame that was being filled, and never idle."""
    frame_ns = max(size for _, size in sent) * 8e9 / rate
    assert most_ahead(sent, rate) <= LEAD_NS + STEP_NS + 2 * frame_ns
    took = sent[-1][0] - START_NS
    needed = sum(size for _, size in sent) * 8e9 / rate
    slack = STEP_NS + FLUSH_NS + 2 * frame_ns
    assert needed - LEAD_NS - slack <= took <= needed + slack


def channel(replayed: Replayed, session: int) -> dict[str, Any]:
    """What the scheduler says of the channel."""
    [number] = [c.id for c in CONFIG.channels if c.session == session]
    [told] = [c for c in replayed.stats["scheduler"]["channels"] if c["id"] == number]
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize("limit", [100, 3000])
def test_group_limit(limit: int, tmp_path: Path) -> None:
    text = vary(SMALL.read_text(), rate_limit=f"{limit} Mbps")
    frames = burst(BONDED, ALL_CHANNELS, count=2000, size=1500)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    check_rate(sizes(replayed), limit * 1_000_000)


def test_channel_rates(tmp_path: Path) -> None:
    """A burst to all channels: each is used at its rate and not above, for as long as it lasts."""
    frames = burst(ALL_CHANNELS, count=3000, size=1500)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    assert sum(RATES.values()) < 10_000_000_000
    for session, rate in RATES.items():
        sent = sizes(replayed, session)
        check_rate(sent, rate)
        # every byte on the wire is one that the scheduler has counted
        assert channel(replayed, session)["bytes"] == sum(size for _, size in sent)


@pytest.mark.parametrize(("mtu", "gap_ns"), [(1500, 0), (4000, 1_000), (1500, 20_000)])
def test_scheduler_counts_what_is_sent(mtu: int, gap_ns: int, tmp_path: Path) -> None:
    """DOCSIS headers, cuts and DEPI frames included, whatever the traffic; it may take a flush to
    be earlier by a round, and count a DEPI frame and a cut more for that."""
    text = vary(SMALL.read_text(), mtu=str(mtu))
    replayed = replay(tmp_path, text, records_of(generate(CONFIG, 12, 2500), START_NS, gap_ns))
    for session in RATES:
        sent = sum(size for _, size in sizes(replayed, session))
        told = channel(replayed, session)
        assert told["packets"] == sum(f.session == session for f in replayed.decoded.frames)
        assert 0.998 * sent - 44 <= told["bytes"] <= 1.02 * sent + 44


def test_packets_wait_as_long_as_the_channel_takes(tmp_path: Path) -> None:
    frames = burst(SLOW, count=300, size=1000)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    check_rate(sizes(replayed), SLOW_RATE)
    [delay] = replayed.stats["scheduler"]["delay"]
    took_us = (replayed.decoded.frames[-1].time_ns - START_NS) / 1000
    assert (delay["priority"], delay["packets"]) == (6, 300)
    assert delay["mean_us"] == pytest.approx(took_us / 2, rel=0.05)
    assert delay["p50_us"] == pytest.approx(took_us / 2, rel=0.15)
    assert 0.95 * took_us <= delay["p99_us"] <= delay["p99_9_us"] <= 1.15 * took_us
    assert sum(packets for _, packets in delay["histogram"]) == 300
    assert channel(replayed, 0x00020002)["utilisation"] == pytest.approx(1, abs=0.01)


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
    flows = replayed.stats["scheduler"]["service_flows"]
    assert [(flow["id"], flow["drops"]) for flow in flows] == [(302, {"flow_buffer_full": dropped})]
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


def test_flows_take_turns(tmp_path: Path) -> None:
    """Modems of one priority, of 2,048 bytes each."""
    text = SMALL.read_text().replace("{id: 401, priority: 4,", "{id: 401,")
    frames = burst(SHARED[0], count=200, size=800) + burst(SHARED[1], count=200, size=800)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    modems = [frame.modem.mac[5] for frame in replayed.decoded.frames if frame.modem]
    while_both_wait = modems[20:300]  # the first few had the channel for themselves
    assert Counter(while_both_wait)[4] == pytest.approx(140, abs=3)


def test_priorities(tmp_path: Path) -> None:
    """What has the higher one goes first, also when it comes last; then what has the lower."""
    frames = burst(SHARED[1], count=100, size=800) + burst(SHARED[0], count=100, size=800)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    modems = [frame.modem.mac[5] for frame in replayed.decoded.frames if frame.modem]
    lead = LEAD_NS * 42_240_000 // 8_000_000_000 // 800 + 1
    assert Counter(modems[lead : 100 + lead])[4] >= 100 - lead
    assert set(modems[100 + lead :]) == {5}
    high, low = replayed.stats["scheduler"]["delay"]
    assert (high["priority"], low["priority"]) == (4, 0)
    assert high["mean_us"] < 0.5 * low["mean_us"]


RATED = "{id: 401, priority: 4, max_sustained_rate: 10 Mbps, max_traffic_burst: 5 kB,"


def test_sustained_rate(tmp_path: Path) -> None:
    """The flow keeps its rate and burst; the channel's other flow has what is left of it."""
    text = SMALL.read_text().replace("{id: 401, priority: 4,", RATED)
    frames = burst(*SHARED, count=400, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    rated = [(f.time_ns, 1004) for f in replayed.decoded.frames if f.modem and f.modem.mac[5] == 4]
    other = [f.time_ns for f in replayed.decoded.frames if f.modem and f.modem.mac[5] == 5]
    assert most_ahead(rated, 10_000_000) <= 5000 * 8e9 / 10e6 + LEAD_NS
    took = (rated[-1][0] - START_NS) / 1e9
    assert took == pytest.approx((200 * 1004 - 5000) * 8 / 10e6, rel=0.01)
    assert other[-1] - START_NS == pytest.approx(200 * 1060 * 8e9 / (42.24e6 - 10.5e6), rel=0.08)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("aqm: wred, wred: {weight: 3}", "wred_drop"),
        ("aqm: docsis-pie, latency_target: 5 ms", "docsis_pie_drop"),
    ],
)
def test_congestion_control(settings: str, reason: str, tmp_path: Path) -> None:
    """More than the channel carries, for a second and a half: drops keep the queue short, under
    a name, which a replay makes again; the buffer's end alone keeps it full."""
    text = SMALL.read_text().replace(
        "{id: 401, priority: 4, buffer: 8 MB", f"{{id: 401, buffer: 800 kB, {settings}"
    )
    sent = records_of(burst(SHARED[0], count=9000, size=1000), START_NS, 160_000)
    stats = replay(tmp_path, text, sent).stats
    assert stats["balanced"] and stats["drops"][reason] == stats["dropped"] > 300
    [flow] = stats["scheduler"]["service_flows"]
    assert flow["id"] == 401 and flow["drops"] == {reason: stats["dropped"]}
    assert replay(tmp_path / "again", text, sent).stats == stats
    tail = replay(tmp_path / "tail", text.replace(settings, "aqm: tail-drop"), sent).stats
    assert tail["drops"]["flow_buffer_full"] == tail["dropped"] > 300
    [delay], [longer] = stats["scheduler"]["delay"], tail["scheduler"]["delay"]
    assert delay["mean_us"] < 0.8 * longer["mean_us"]
    assert longer["p99_us"] == pytest.approx(800_000 * 8 / 42.24 * 1.05, rel=0.15)


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
    sent = records_of(generate(CONFIG, 11, 1500), START_NS, 50_000)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    ids = {channel.session: channel.id for channel in CONFIG.channels}
    allowed = {modem.mac: set(modem.channels) for modem in CONFIG.modems}
    for frame in replayed.decoded.frames:
        assert frame.modem is not None
        assert ids[frame.session] in allowed[frame.modem.mac]


@pytest.mark.parametrize("address", ["10.0.0.1", "10.0.0.5", "10.0.0.21"])
def test_a_burst_uses_the_whole_group(address: str, tmp_path: Path) -> None:
    """The first channel alone at an easy pace, as it is always free; all of them in a burst."""
    modem = CONFIG.by_address[IPv4Address(address)]
    ids = {channel.session: channel.id for channel in CONFIG.channels}
    frames = burst(IPv4Address(address), count=300, size=1000)
    for gap_ns, channels in ((100_000, modem.channels[:1]), (0, modem.channels)):
        folder = tmp_path / str(gap_ns)
        replayed = replay(folder, SMALL.read_text(), records_of(frames, START_NS, gap_ns))
        replayed.check()
        assert {ids[frame.session] for frame in replayed.decoded.frames} == set(channels)
        [group] = [g for g in replayed.stats["scheduler"]["bonding_groups"] if g["packets"]]
        assert (group["channels"], group["packets"]) == (len(modem.channels), len(frames))
        assert (group["early_share"] > 0) == (gap_ns == 0)
        longest_ns = 1100 * 8e9 / min(RATES[s] for s, number in ids.items() if number in channels)
        assert group["max_skew_us"] * 1000 <= LEAD_NS + longest_ns


def test_a_long_capture_in_few_steps(tmp_path: Path) -> None:
    """Six minutes at a crawl: time goes on from one packet that may leave to the next, on the grid
    of the replay's clock."""
    text = SMALL.read_text().replace(
        "{id: 302, priority: 6,",
        "{id: 302, priority: 6, max_sustained_rate: 19 kbps, max_traffic_burst: 2000 B,",
    )
    frames = burst(SLOW, count=900, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 400_000_000))
    replayed.check()
    times = [frame.time_ns for frame in replayed.decoded.frames]
    gaps = [after - before for before, after in pairwise(times[100:])]
    assert times[-1] - START_NS > 360 * 10**9
    assert mean(gaps) == pytest.approx(1004 * 8e9 / 19e3, rel=0.001)
    assert {(time - START_NS) % STEP_NS for time in times} == {0}
    steps = json.loads(replayed.stats_path.read_text())["steps"]
    assert len(frames) <= steps <= 10 * len(frames)


def test_what_cannot_leave_in_a_minute_is_stopped(tmp_path: Path) -> None:
    """The replay ends, and says what it has left behind."""
    text = SMALL.read_text().replace("rate: 37.5 Mbps", "rate: 10 kbps")
    sent = records_of(burst(SLOW, count=100, size=1000), START_NS, 0)
    replayed = replay(tmp_path, text, sent)
    stopped = replayed.stats["drops"]["stopped"]
    assert stopped == 100 - replayed.stats["transmitted"] > 0
    # each in a DEPI frame of its own: Ethernet, IPv4, session, PSP, entry, two bytes, MAC header
    needed = 60 * 10_000 // 8 // (14 + 20 + 4 + 4 + 2 + 2 + 13 + 1004)
    assert needed <= replayed.stats["transmitted"] <= needed + 2
    assert replayed.stats["held"] == 0 and replayed.stats["balanced"]
    assert expect(sent, CONFIG).counters["enqueued"] == replayed.stats["counters"]["enqueued"]
    assert replayed.decoded.problems == []
