# SPDX-License-Identifier: BSD-3-Clause
"""Captures the upstream packets of vcmts-traffic. A strict decoder must find no error, a replay
must transmit all frames, and tshark with our dissector must read them."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from e2e.running import run, vcmts
from e2e.traffic import START_NS
from e2e.upstream import replay_upstream, upstream_config
from vcmts.paths import program
from vcmts.witness.config import parse_config
from vcmts.witness.docsis import SEGMENT_SEQUENCES, decode_segment_header
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from vcmts.witness.strict_bursts import read_bursts
from vcmts.witness.strict_frames import Decoded
from wireshark.tshark import EXPERTS, UEPI_EXPERTS, Tshark
from witness.sample import UPSTREAM
from witness.strict_upstream import decode_upstream

MIN_SENT = 500
# Between packets in the replay. Times of the capture may have pauses of a busy machine.
PACKET_INTERVAL_NS = 50_000


def profile() -> str:
    """A profile with 300 modems, each of which sends few packets."""
    return vcmts("profile", "6ofdm-0sc-qam_300cms_aes").stdout


VARIANTS = {
    "sample": lambda: UPSTREAM,
    "IPv6, numbered by session": lambda: upstream_config(
        "verify_crc: true, psp_numbering: session", ipv6=True
    ),
    "300 modems": profile,
}


@dataclass(frozen=True)
class Captured:
    """The packets that the traffic program sent, its summary, and the strict decoder's result."""

    text: str
    config: Config
    path: Path
    records: tuple[Record, ...]
    summary: dict[str, Any]
    decoded: Decoded


@pytest.fixture(scope="module", params=VARIANTS)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("traffic")
    text = VARIANTS[request.param]()
    config, uepi, summary = folder / "sg.yaml", folder / "uepi.pcap", folder / "summary.json"
    config.write_text(text)
    network = ("--network", f"net_pcap0,tx_pcap={folder / 'ip.pcap'}")
    rphy = ("--rphy", f"net_pcap1,tx_pcap={uepi}")
    options = ("--no-downstream", "--upstream-rate", "30Mbps", "--seed", "7", "--json", summary)
    command = (program("vcmts-traffic"), "--config", config, *network, *rphy, *options)
    counts: dict[str, Any] = {"sent": 0}
    milliseconds = 300
    while counts["sent"] <= MIN_SENT:
        done = run([*command, "--duration", f"{milliseconds}ms"])
        assert done.status == 1, done.stderr  # as no packet is received
        counts = json.loads(summary.read_text())["upstream"]
        milliseconds *= 3  # for slow machines
    records = read_pcap(uepi).records
    model = replace(parse_config(text), control_port=True)
    return Captured(text, model, uepi, records, counts, decode_upstream(records, model))


def test_strict_decoder_finds_no_error(captured: Captured) -> None:
    """The strict decoder finds no error, and the packets match the summary."""
    decoded, sent = captured.decoded, captured.summary
    assert [(problem.packet, problem.text) for problem in decoded.problems] == []
    assert (
        sum(map(len, decoded.frames.values())) == decoded.kinds["packet"] == sent["sent"] > MIN_SENT
    )
    assert len(captured.records) == sent["uepi_packets"]
    assert sum(len(record.data) for record in captured.records) == sent["uepi_bytes"]
    assert len(decoded.management) == sent["management"] > 0
    assert decoded.kinds["fragment"] == sent["fragments"]
    assert decoded.kinds["concatenation"] == sent["concatenations"]
    if captured.text == UPSTREAM:
        assert set(decoded.frames) == {(101, 0), (101, 2), (102, 0), (201, 0), (202, 1), (301, 0)}
        assert min(sent[name] for name in ("fragments", "concatenations", "request_records")) > 10


def test_replay_transmits_all_frames(captured: Captured, tmp_path: Path) -> None:
    records = [
        replace(record, time_ns=START_NS + number * PACKET_INTERVAL_NS)
        for number, record in enumerate(captured.records)
    ]
    replayed = replay_upstream(tmp_path, captured.text, records)
    assert replayed.problems() == []
    assert replayed.drops == {}
    sent = Counter(frame for frames in captured.decoded.frames.values() for frame in frames)
    assert Counter(replayed.frames) == sent
    counters = replayed.stats["upstream"]["counters"]
    for counted, sent_as in (
        ("received", "uepi_packets"),
        ("transmitted", "sent"),
        ("transmitted_bytes", "sent_bytes"),
        ("bursts", "bursts"),
        ("management", "management"),
        ("fragments", "fragments"),
        ("concatenations", "concatenations"),
    ):
        assert counters[counted] == captured.summary[sent_as], counted
    requests = captured.summary["requests"] + captured.summary["request_records"]
    assert counters["requests"] + counters["requests_repeated"] == requests
    assert not counters["bad_requests"] and not counters["requests_lost"]


def copy_for_tshark(tshark: Tshark, captured: Captured) -> Path:
    """Copies the capture to a folder that tshark may read."""
    pcap = tshark.folder / "traffic.pcap"
    pcap.write_bytes(captured.path.read_bytes())
    pcap.chmod(0o644)
    return pcap


@pytest.mark.parametrize("captured", ["300 modems"], indirect=True)
def test_documented_filter_prints_nothing(captured: Captured, tshark: Tshark) -> None:
    """The filter of docs/wireshark.md prints nothing for a capture without loss and errors."""
    pcap = copy_for_tshark(tshark, captured)
    assert tshark.read(pcap, "-Y", "psp && _ws.expert") == ""
    joined = tshark.read(pcap, "-Y", "docsis_uepi.joined.part")  # it has joined segments
    assert joined  # their number depends on the machine


# Packets by which tests with `lags` delay OFDMA channels.
LAG = 24
DISABLED_PROTOCOLS = ("--disable-protocol", "tcp", "--disable-protocol", "udp")  # ports are random
COUNTED = (
    "docsis.hcs.status",
    "docsis_uepi.segment.hcs.status",
    "_ws.malformed",
    "docsis_uepi.request",
)
EXPERT_NAMES = (
    *(f"psp.expert.{name}" for name in EXPERTS),
    *(f"docsis_uepi.expert.{name}" for name in UEPI_EXPERTS),
)


def delay_ofdma(captured: Captured) -> list[Record]:
    """Records with OFDMA channels delayed by LAG packets, so that segments are overtaken."""
    channels = captured.config.upstream.by_session
    late = {session for session, (channel, _) in channels.items() if channel.type == "ofdma"}
    keys = [
        number + LAG * (decode_datagram(record.data).session in late)
        for number, record in enumerate(captured.records)
    ]
    order = sorted(range(len(keys)), key=lambda number: keys[number])
    return [
        replace(captured.records[number], time_ns=START_NS + index * PACKET_INTERVAL_NS)
        for index, number in enumerate(order)
    ]


def expected_experts(records: Sequence[Record], config: Config) -> dict[int, set[str]]:
    """Expected expert messages per packet number, from 1, for segments out of order. This is
    possible without a lag, too: a segment may wait in an open packet while the next one is sent."""
    half, expected = SEGMENT_SEQUENCES // 2, dict[tuple[int, int], int]()
    experts: dict[int, set[str]] = {}
    for arrived in read_bursts(records, config).bursts:
        _, flow, cluster = config.by_sid[(arrived.channel.id, arrived.burst.header.sid)]
        if arrived.ranging or not flow.segment_header:
            continue
        sequence = decode_segment_header(arrived.burst.payload).sequence
        key = (flow.id, cluster.id)
        ahead = (sequence - expected.get(key, sequence)) % SEGMENT_SEQUENCES
        if ahead:
            name = "gap" if ahead < half else "late"
            experts.setdefault(arrived.packet, set()).add(f"docsis_uepi.expert.{name}")
        if ahead < half:
            expected[key] = (sequence + 1) % SEGMENT_SEQUENCES
    return experts


def expert_messages(rows: list[dict[str, list[str]]]) -> dict[int, set[str]]:
    """Numbers of the frames with expert infos, and the names of these."""
    messages = {number: {n for n in EXPERT_NAMES if row[n]} for number, row in enumerate(rows, 1)}
    return {number: names for number, names in messages.items() if names}


# Not with 300 modems: their grants are too far apart for segments to overtake.
@pytest.mark.parametrize(
    ("captured", "lags"),
    [(name, lags) for name in VARIANTS for lags in (False, True)][:-1],
    indirect=["captured"],
)
def test_tshark_reads_all_packets(captured: Captured, tshark: Tshark, lags: bool) -> None:
    """The dissector has no configuration. It joins segments as a modem has the same SID on all
    channels of a flow."""
    pcap = copy_for_tshark(tshark, captured)
    records: Sequence[Record] = captured.records
    if lags:
        records = delay_ofdma(captured)
        write_pcap(pcap, records)
    rows = tshark.fields(pcap, *COUNTED, *EXPERT_NAMES, options=DISABLED_PROTOCOLS)
    decoded, summary = captured.decoded, captured.summary
    assert len(rows) == summary["uepi_packets"]
    expected = expected_experts(records, captured.config)
    assert bool(expected) or not lags
    found = expert_messages(rows)
    others = [number for number in expected | found if expected.get(number) != found.get(number)]
    assert not [
        (number, found.get(number), expected.get(number), records[number - 1].data.hex())
        for number in others[:3]
    ]
    values = {name: Counter(value for row in rows for value in row[name]) for name in COUNTED}
    kinds = decoded.kinds - decoded.inside
    outside = kinds["packet"] + kinds["fragment"] + kinds["request"] + len(decoded.management)
    assert values["docsis.hcs.status"] == {"1": outside}
    assert values["docsis_uepi.segment.hcs.status"] == {"1": summary["segments"]}
    assert values["docsis_uepi.request"].total() == summary["request_records"]
    assert not values["_ws.malformed"]
