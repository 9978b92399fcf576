# SPDX-License-Identifier: BSD-3-Clause
"""What vcmts-traffic sends upstream, captured: the strict decoder finds no fault with it, replay
turns all of it into frames, and so do Wireshark and our dissector."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from e2e.running import run, vcmts
from e2e.traffic import START_NS
from e2e.upstream import replay_upstream, vary_upstream
from vcmts.paths import program
from vcmts.witness.config import parse_config
from vcmts.witness.docsis import SEGMENT_SEQUENCES, decode_segment_header
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from vcmts.witness.strict_bursts import read_bursts
from vcmts.witness.strict_frames import Decoded
from wireshark.stage import EXPERTS, UEPI_EXPERTS, Stage
from witness.sample import UPSTREAM
from witness.strict_upstream import decode_upstream

LEAST = 500  # packets
# Of the replay: what was captured may have pauses, in which a slow machine did something else.
DISTANCE_NS = 50_000


def profile() -> str:
    """300 modems; what each sends is little."""
    return vcmts("profile", "6ofdm-0sc-qam_300cms_aes").stdout


VARIANTS = {
    "sample": lambda: UPSTREAM,
    "IPv6, numbered by session": lambda: vary_upstream(
        "verify_crc: true, psp_numbering: session", ipv6=True
    ),
    "300 modems": profile,
}


@dataclass(frozen=True)
class Captured:
    """What the traffic program sent in a moment, and said of it."""

    text: str
    config: Config
    path: Path
    records: tuple[Record, ...]
    said: dict[str, Any]
    decoded: Decoded


@pytest.fixture(scope="module", params=VARIANTS)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("traffic")
    text = VARIANTS[request.param]()
    config, uepi, said = folder / "sg.yaml", folder / "uepi.pcap", folder / "said.json"
    config.write_text(text)
    network = ("--network", f"net_pcap0,tx_pcap={folder / 'ip.pcap'}")
    rphy = ("--rphy", f"net_pcap1,tx_pcap={uepi}")
    how = ("--no-downstream", "--upstream-rate", "30Mbps", "--seed", "7", "--json", said)
    start = (program("vcmts-traffic"), "--config", config, *network, *rphy, *how)
    told: dict[str, Any] = {"sent": 0}
    milliseconds = 300
    while told["sent"] <= LEAST:
        ended = run([*start, "--duration", f"{milliseconds}ms"])
        assert ended.status == 1, ended.stderr  # as nothing comes back
        told = json.loads(said.read_text())["upstream"]
        milliseconds *= 3  # the machine is slow
    records = read_pcap(uepi).records
    model = replace(parse_config(text), control_port=True)
    return Captured(text, model, uepi, records, told, decode_upstream(records, model))


def test_no_fault(captured: Captured) -> None:
    """And all that it says it sent is there."""
    decoded, said = captured.decoded, captured.said
    assert [(problem.packet, problem.text) for problem in decoded.problems] == []
    assert sum(map(len, decoded.frames.values())) == decoded.kinds["packet"] == said["sent"] > LEAST
    assert len(captured.records) == said["uepi_packets"]
    assert sum(len(record.data) for record in captured.records) == said["uepi_bytes"]
    assert len(decoded.management) == said["management"] > 0
    assert decoded.kinds["fragment"] == said["fragments"]
    assert decoded.kinds["concatenation"] == said["concatenations"]
    if captured.text == UPSTREAM:
        assert set(decoded.frames) == {(101, 0), (101, 2), (102, 0), (201, 0), (202, 1), (301, 0)}
        assert min(said[name] for name in ("fragments", "concatenations", "request_records")) > 10


def test_replay_turns_it_into_frames(captured: Captured, tmp_path: Path) -> None:
    records = [
        replace(record, time_ns=START_NS + number * DISTANCE_NS)
        for number, record in enumerate(captured.records)
    ]
    replayed = replay_upstream(tmp_path, captured.text, records)
    assert replayed.problems() == []
    assert replayed.drops == {}
    sent = Counter(frame for frames in captured.decoded.frames.values() for frame in frames)
    assert Counter(replayed.frames) == sent
    counters = replayed.stats["upstream"]["counters"]
    for counted, said in (
        ("received", "uepi_packets"),
        ("transmitted", "sent"),
        ("transmitted_bytes", "sent_bytes"),
        ("bursts", "bursts"),
        ("management", "management"),
        ("fragments", "fragments"),
        ("concatenations", "concatenations"),
    ):
        assert counters[counted] == captured.said[said], counted
    asked = captured.said["requests"] + captured.said["request_records"]
    assert counters["requests"] + counters["requests_repeated"] == asked
    assert not counters["bad_requests"] and not counters["requests_lost"]


def on_stage(stage: Stage, captured: Captured) -> Path:
    """The capture where tshark may read it."""
    pcap = stage.folder / "traffic.pcap"
    pcap.write_bytes(captured.path.read_bytes())
    pcap.chmod(0o644)
    return pcap


@pytest.mark.parametrize("captured", ["300 modems"], indirect=True)
def test_page_says_that_this_prints_nothing(captured: Captured, stage: Stage) -> None:
    """docs/wireshark.md of a capture without loss and mistakes; all of it is encrypted here."""
    pcap = on_stage(stage, captured)
    assert stage.tshark(pcap, "-Y", "psp && _ws.expert") == ""
    joined = stage.tshark(pcap, "-Y", "docsis_uepi.joined.part")  # or there was little to mistake
    assert joined  # how many there are is the speed of the machine


# Packets by which the OFDMA channel lags behind the others where a test makes it.
LAG = 24
QUIET = ("--disable-protocol", "tcp", "--disable-protocol", "udp")  # ports without a sense
COUNTED = (
    "docsis.hcs.status",
    "docsis_uepi.segment.hcs.status",
    "_ws.malformed",
    "docsis_uepi.request",
)
REMARKS = (
    *(f"psp.expert.{name}" for name in EXPERTS),
    *(f"docsis_uepi.expert.{name}" for name in UEPI_EXPERTS),
)


def lagging(captured: Captured) -> list[Record]:
    """As if the way to an OFDMA channel were longer: its segments are overtaken by others."""
    channels = captured.config.upstream.by_session
    late = {session for session, (channel, _) in channels.items() if channel.type == "ofdma"}
    keys = [
        number + LAG * (decode_datagram(record.data).session in late)
        for number, record in enumerate(captured.records)
    ]
    order = sorted(range(len(keys)), key=lambda number: keys[number])
    return [
        replace(captured.records[number], time_ns=START_NS + place * DISTANCE_NS)
        for place, number in enumerate(order)
    ]


def out_of_order(records: Sequence[Record], config: Config) -> dict[int, set[str]]:
    """By packet, from 1: what is to be said of segments that others overtook. A modem may have
    the end of one in an open packet of a channel while it sends the next one on another."""
    half, expected = SEGMENT_SEQUENCES // 2, dict[tuple[int, int], int]()
    found: dict[int, set[str]] = {}
    for arrived in read_bursts(records, config).bursts:
        _, flow, cluster = config.by_sid[(arrived.channel.id, arrived.burst.header.sid)]
        if arrived.ranging or not flow.segment_header:
            continue
        sequence = decode_segment_header(arrived.burst.payload).sequence
        place = (flow.id, cluster.id)
        ahead = (sequence - expected.get(place, sequence)) % SEGMENT_SEQUENCES
        if ahead:
            name = "gap" if ahead < half else "late"
            found.setdefault(arrived.packet, set()).add(f"docsis_uepi.expert.{name}")
        if ahead < half:
            expected[place] = (sequence + 1) % SEGMENT_SEQUENCES
    return found


def remarks(rows: list[dict[str, list[str]]]) -> dict[int, set[str]]:
    said = {number: {n for n in REMARKS if row[n]} for number, row in enumerate(rows, 1)}
    return {number: names for number, names in said.items() if names}


# Of many modems hardly one has two grants so near to each other that one overtakes.
@pytest.mark.parametrize(
    ("captured", "lags"),
    [(name, lags) for name in VARIANTS for lags in (False, True)][:-1],
    indirect=["captured"],
)
def test_wireshark_reads_it(captured: Captured, stage: Stage, lags: bool) -> None:
    """A modem has the same SID on all channels of a flow: the dissector, which knows no
    configuration, could not tell otherwise which segments belong together."""
    pcap = on_stage(stage, captured)
    records: Sequence[Record] = captured.records
    if lags:
        records = lagging(captured)
        write_pcap(pcap, records)
    rows = stage.fields(pcap, *COUNTED, *REMARKS, options=QUIET)
    decoded, said = captured.decoded, captured.said
    assert len(rows) == said["uepi_packets"]
    expected = out_of_order(records, captured.config)
    assert bool(expected) or not lags
    found = remarks(rows)
    others = [number for number in expected | found if expected.get(number) != found.get(number)]
    assert not [
        (number, found.get(number), expected.get(number), records[number - 1].data.hex())
        for number in others[:3]
    ]
    values = {name: Counter(value for row in rows for value in row[name]) for name in COUNTED}
    kinds = decoded.kinds - decoded.inside
    outside = kinds["packet"] + kinds["fragment"] + kinds["request"] + len(decoded.management)
    assert values["docsis.hcs.status"] == {"1": outside}
    assert values["docsis_uepi.segment.hcs.status"] == {"1": said["segments"]}
    assert values["docsis_uepi.request"].total() == said["request_records"]
    assert not values["_ws.malformed"]
