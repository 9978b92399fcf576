# SPDX-License-Identifier: BSD-3-Clause
"""The downstream scheduler in replays: rates, buffers, fairness, priorities, AQM, bonding."""

import json
from collections import Counter
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from e2e.expected import expect_downstream
from e2e.frames import udp_frame
from e2e.running import SMALL, DownstreamReplay, replace_values, replay
from e2e.traffic import START_NS, generate
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import records_of

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
LEAD_NS = 500_000  # SCHEDULER_LEAD_NS: a channel gets work at most so far ahead of its rate
STEP_NS = 10_000  # step of the replay's clock
FLUSH_NS = 50_000
SESSION_OFFSET = 14 + 20  # of the session ID in a DEPI frame over IPv4
BONDED = IPv4Address("10.0.0.1")  # channels 11 and 12
ALL_CHANNELS = IPv4Address("10.0.0.21")
SLOW = IPv4Address("10.0.0.9")  # channel 22 alone
SHARED = (IPv4Address("10.0.0.13"), IPv4Address("10.0.0.17"))  # channel 21, two modems
SLOW_RATE = 37_500_000
RATES = {  # bit/s, by session of the channel
    0x00010001: 1_890_000_000,
    0xFFFFFFFE: 1_500_000_000,
    0x00010003: 800_000_000,
    1: 42_240_000,
    0x00020002: SLOW_RATE,
}

BURST = 64  # packets per burst of the receive stage


def frames_to(*destinations: IPv4Address, count: int, size: int) -> list[bytes]:
    """`count` frames of `size` bytes to the destinations by round robin."""
    modulus = len(destinations)
    return [udp_frame(destinations[n % modulus], size, n) for n in range(count)]


def depi_sizes(replayed: DownstreamReplay, session: int | None = None) -> list[tuple[int, int]]:
    """Time in ns and bytes of each DEPI frame, of one session or all."""
    return [
        (record.time_ns, len(record.data))
        for record in replayed.out.records
        if session
        in (None, int.from_bytes(record.data[SESSION_OFFSET : SESSION_OFFSET + 4], "big"))
    ]


def max_lead_ns(sent: list[tuple[int, int]], rate: int) -> float:
    """Maximum lead ahead of the rate, in ns, over all intervals."""
    lead = longest = 0.0
    before = sent[0][0]
    for time_ns, size in sent:
        lead = max(0.0, lead - (time_ns - before)) + size * 8e9 / rate
        longest = max(longest, lead)
        before = time_ns
    return longest


def check_rate(sent: list[tuple[int, int]], rate: int) -> None:
    """Checks that DEPI frames from START_NS on use the rate without a pause, and exceed it at most
    by the lead and the open DEPI frame."""
    frame_ns = max(size for _, size in sent) * 8e9 / rate
    assert max_lead_ns(sent, rate) <= LEAD_NS + STEP_NS + 2 * frame_ns
    took_ns = sent[-1][0] - START_NS
    needed_ns = sum(size for _, size in sent) * 8e9 / rate
    slack_ns = STEP_NS + FLUSH_NS + 2 * frame_ns
    assert needed_ns - LEAD_NS - slack_ns <= took_ns <= needed_ns + slack_ns


def channel_stats(replayed: DownstreamReplay, session: int) -> dict[str, Any]:
    """The scheduler's statistics of the channel."""
    [number] = [c.id for c in CONFIG.channels if c.session == session]
    [stats] = [c for c in replayed.stats["scheduler"]["channels"] if c["id"] == number]
    assert isinstance(stats, dict)
    return stats


@pytest.mark.parametrize("limit", [100, 3000])
def test_group_rate_limit_is_kept(limit: int, tmp_path: Path) -> None:
    text = replace_values(SMALL.read_text(), rate_limit=f"{limit} Mbps")
    frames = frames_to(BONDED, ALL_CHANNELS, count=2000, size=1500)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    check_rate(depi_sizes(replayed), limit * 1_000_000)


def test_burst_uses_all_channels_at_their_rates(tmp_path: Path) -> None:
    """A burst to all channels uses each at its rate."""
    frames = frames_to(ALL_CHANNELS, count=3000, size=1500)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    assert sum(RATES.values()) < 10_000_000_000
    for session, rate in RATES.items():
        sent = depi_sizes(replayed, session)
        check_rate(sent, rate)
        # the scheduler counts every byte on the wire
        assert channel_stats(replayed, session)["bytes"] == sum(size for _, size in sent)


@pytest.mark.parametrize(("mtu", "gap_ns"), [(1500, 0), (4000, 1_000), (1500, 20_000)])
def test_scheduled_bytes_match_sent_bytes(mtu: int, gap_ns: int, tmp_path: Path) -> None:
    """The scheduler's estimate of bytes includes DOCSIS headers, fragmentation and DEPI headers. It
    may assume an earlier flush, with one DEPI frame and one fragment more."""
    text = replace_values(SMALL.read_text(), mtu=str(mtu))
    replayed = replay(tmp_path, text, records_of(generate(CONFIG, 12, 2500), START_NS, gap_ns))
    for session in RATES:
        sent = sum(size for _, size in depi_sizes(replayed, session))
        stats = channel_stats(replayed, session)
        assert stats["packets"] == sum(f.session == session for f in replayed.decoded.frames)
        assert 0.998 * sent - 44 <= stats["bytes"] <= 1.02 * sent + 44


def test_queue_delay_matches_channel_rate(tmp_path: Path) -> None:
    frames = frames_to(SLOW, count=300, size=1000)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    check_rate(depi_sizes(replayed), SLOW_RATE)
    [delay] = replayed.stats["scheduler"]["delay"]
    duration_us = (replayed.decoded.frames[-1].time_ns - START_NS) / 1000
    assert (delay["priority"], delay["packets"]) == (6, 300)
    assert delay["mean_us"] == pytest.approx(duration_us / 2, rel=0.05)
    assert delay["p50_us"] == pytest.approx(duration_us / 2, rel=0.15)
    assert 0.95 * duration_us <= delay["p99_us"] <= delay["p99_9_us"] <= 1.15 * duration_us
    assert sum(packets for _, packets in delay["histogram"]) == 300
    assert channel_stats(replayed, 0x00020002)["utilisation"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("buffer", [1, 1003, 1004, 20_000, 100_000])
def test_packets_above_buffer_are_dropped(buffer: int, tmp_path: Path) -> None:
    """Packets of one instant are queued up to the buffer and the lead. Others are dropped."""
    text = SMALL.read_text().replace("buffer: 8 MB", f"buffer: {buffer} B")
    frames = frames_to(SLOW, count=400, size=1000)
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
    output = [frame.ethernet[6:] for frame in replayed.decoded.frames if frame.ethernet]
    first = min(fit, BURST)
    assert output[:first] == [frame[6:] for frame in frames[:first]]
    # The channel transmits between bursts, so later packets are queued, too, in their order.
    sent = iter(frames)
    assert all(any(packet == frame[6:] for frame in sent) for packet in output)


def test_full_buffer_affects_own_flow_only(tmp_path: Path) -> None:
    """The buffer of one flow overflows. Another flow of the same channel loses no packet."""
    text = SMALL.read_text().replace("priority: 4, buffer: 8 MB", "priority: 4, buffer: 5 kB")
    overloaded, other = SHARED
    frames = frames_to(overloaded, count=300, size=1000) + frames_to(other, count=50, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    assert replayed.decoded.problems == []
    assert len(replayed.decoded.flow(501)) == 50
    assert replayed.stats["drops"]["flow_buffer_full"] == 300 - len(replayed.decoded.flow(401))
    assert 5 <= len(replayed.decoded.flow(401)) < 20


def test_scheduler_drops_above_max_queued(tmp_path: Path) -> None:
    frames = frames_to(*SHARED, count=16_384 + 600, size=60)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    dropped = replayed.stats["drops"]["scheduler_full"]
    assert 500 <= dropped <= 600
    assert replayed.stats["transmitted"] == len(frames) - dropped
    assert replayed.stats["balanced"] and replayed.stats["dropped"] == dropped


def test_modems_of_one_priority_share_equally(tmp_path: Path) -> None:
    """The quantum of a modem is 2,048 bytes."""
    text = SMALL.read_text().replace("{id: 401, priority: 4,", "{id: 401,")
    frames = frames_to(SHARED[0], count=200, size=800) + frames_to(SHARED[1], count=200, size=800)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    modems = [frame.modem.mac[5] for frame in replayed.decoded.frames if frame.modem]
    contended = modems[20:300]  # without the first ones, of one modem only
    assert Counter(contended)[4] == pytest.approx(140, abs=3)


def test_higher_priority_is_transmitted_first(tmp_path: Path) -> None:
    """Packets of the higher priority are received last."""
    frames = frames_to(SHARED[1], count=100, size=800) + frames_to(SHARED[0], count=100, size=800)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    modems = [frame.modem.mac[5] for frame in replayed.decoded.frames if frame.modem]
    lead = LEAD_NS * 42_240_000 // 8_000_000_000 // 800 + 1
    assert Counter(modems[lead : 100 + lead])[4] >= 100 - lead
    assert set(modems[100 + lead :]) == {5}
    high, low = replayed.stats["scheduler"]["delay"]
    assert (high["priority"], low["priority"]) == (4, 0)
    assert high["mean_us"] < 0.5 * low["mean_us"]


RATE_LIMITED_FLOW = "{id: 401, priority: 4, max_sustained_rate: 10 Mbps, max_traffic_burst: 5 kB,"


def test_sustained_rate_is_kept(tmp_path: Path) -> None:
    """The other flow of the channel uses the remaining rate."""
    text = SMALL.read_text().replace("{id: 401, priority: 4,", RATE_LIMITED_FLOW)
    frames = frames_to(*SHARED, count=400, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 0))
    replayed.check()
    rated = [(f.time_ns, 1004) for f in replayed.decoded.frames if f.modem and f.modem.mac[5] == 4]
    other = [f.time_ns for f in replayed.decoded.frames if f.modem and f.modem.mac[5] == 5]
    assert max_lead_ns(rated, 10_000_000) <= 5000 * 8e9 / 10e6 + LEAD_NS
    duration_s = (rated[-1][0] - START_NS) / 1e9
    assert duration_s == pytest.approx((200 * 1004 - 5000) * 8 / 10e6, rel=0.01)
    assert other[-1] - START_NS == pytest.approx(200 * 1060 * 8e9 / (42.24e6 - 10.5e6), rel=0.08)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("aqm: wred, wred: {weight: 3}", "wred_drop"),
        ("aqm: docsis-pie, latency_target: 5 ms", "docsis_pie_drop"),
    ],
)
def test_aqm_keeps_queue_short(settings: str, reason: str, tmp_path: Path) -> None:
    """Overload of 1.5 s: AQM drops keep the queue shorter than tail drop. A replay gives the same
    result again."""
    text = SMALL.read_text().replace(
        "{id: 401, priority: 4, buffer: 8 MB", f"{{id: 401, buffer: 800 kB, {settings}"
    )
    sent = records_of(frames_to(SHARED[0], count=9000, size=1000), START_NS, 160_000)
    stats = replay(tmp_path, text, sent).stats
    assert stats["balanced"] and stats["drops"][reason] == stats["dropped"] > 300
    [flow] = stats["scheduler"]["service_flows"]
    assert flow["id"] == 401 and flow["drops"] == {reason: stats["dropped"]}
    assert replay(tmp_path / "again", text, sent).stats == stats
    tail = replay(tmp_path / "tail", text.replace(settings, "aqm: tail-drop"), sent).stats
    assert tail["drops"]["flow_buffer_full"] == tail["dropped"] > 300
    [delay], [tail_delay] = stats["scheduler"]["delay"], tail["scheduler"]["delay"]
    assert delay["mean_us"] < 0.8 * tail_delay["mean_us"]
    assert tail_delay["p99_us"] == pytest.approx(800_000 * 8 / 42.24 * 1.05, rel=0.15)


def test_bonded_flow_uses_channels_by_rate(tmp_path: Path) -> None:
    """Under load, each channel of the bonding group carries packets in proportion to its rate."""
    frames = frames_to(BONDED, count=2000, size=1400)
    replayed = replay(tmp_path, SMALL.read_text(), records_of(frames, START_NS, 0))
    replayed.check()
    shares = Counter(frame.session for frame in replayed.decoded.frames)
    assert set(shares) == {0x00010001, 0xFFFFFFFE}
    assert shares[0x00010001] / len(frames) == pytest.approx(1.89 / (1.89 + 1.5), abs=0.02)
    assert replayed.decoded.counters["out_of_order"] > 0


def test_flows_use_only_channels_of_their_group(tmp_path: Path) -> None:
    sent = records_of(generate(CONFIG, 11, 1500), START_NS, 50_000)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    replayed.check()
    ids = {channel.session: channel.id for channel in CONFIG.channels}
    allowed = {modem.mac: set(modem.channels) for modem in CONFIG.modems}
    for frame in replayed.decoded.frames:
        assert frame.modem is not None
        assert ids[frame.session] in allowed[frame.modem.mac]


@pytest.mark.parametrize("address", ["10.0.0.1", "10.0.0.5", "10.0.0.21"])
def test_burst_uses_all_channels_of_group(address: str, tmp_path: Path) -> None:
    """A low rate uses the first channel only, a burst uses all channels of the bonding group."""
    modem = CONFIG.by_address[IPv4Address(address)]
    ids = {channel.session: channel.id for channel in CONFIG.channels}
    frames = frames_to(IPv4Address(address), count=300, size=1000)
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


def test_long_capture_needs_few_steps(tmp_path: Path) -> None:
    """Six minutes at a low rate: the replay skips the time between packets, in multiples of its
    clock step."""
    text = SMALL.read_text().replace(
        "{id: 302, priority: 6,",
        "{id: 302, priority: 6, max_sustained_rate: 19 kbps, max_traffic_burst: 2000 B,",
    )
    frames = frames_to(SLOW, count=900, size=1000)
    replayed = replay(tmp_path, text, records_of(frames, START_NS, 400_000_000))
    replayed.check()
    times = [frame.time_ns for frame in replayed.decoded.frames]
    gaps = [after - before for before, after in pairwise(times[100:])]
    assert times[-1] - START_NS > 360 * 10**9
    assert mean(gaps) == pytest.approx(1004 * 8e9 / 19e3, rel=0.001)
    assert {(time - START_NS) % STEP_NS for time in times} == {0}
    steps = json.loads(replayed.stats_path.read_text())["steps"]
    assert len(frames) <= steps <= 10 * len(frames)


def test_packets_queued_for_a_minute_are_dropped_as_stopped(tmp_path: Path) -> None:
    """The replay ends, and drops queued packets with reason `stopped`."""
    text = SMALL.read_text().replace("rate: 37.5 Mbps", "rate: 10 kbps")
    sent = records_of(frames_to(SLOW, count=100, size=1000), START_NS, 0)
    replayed = replay(tmp_path, text, sent)
    stopped = replayed.stats["drops"]["stopped"]
    assert stopped == 100 - replayed.stats["transmitted"] > 0
    # one per DEPI frame: Ethernet, IPv4, session, PSP, table entry, extra bytes, MAC header, frame
    needed = 60 * 10_000 // 8 // (14 + 20 + 4 + 4 + 2 + 2 + 13 + 1004)
    assert needed <= replayed.stats["transmitted"] <= needed + 2
    assert replayed.stats["held"] == 0 and replayed.stats["balanced"]
    assert (
        expect_downstream(sent, CONFIG).counters["enqueued"]
        == replayed.stats["counters"]["enqueued"]
    )
    assert replayed.decoded.problems == []
