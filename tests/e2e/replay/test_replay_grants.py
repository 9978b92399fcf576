# SPDX-License-Identifier: BSD-3-Clause
"""Replays bandwidth requests with an upstream scheduler. The output has MAPs and UCDs on the MAP
pseudowires and on the downstream channel that carries them. An independent validator must accept
each MAP, and all requested bytes must be granted."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from e2e.running import vcmtsd
from e2e.traffic import START_NS
from vcmts.witness.config import parse_config
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.depi import Reassembler, decode_psp
from vcmts.witness.docsis import Request, decode_frame, encode_request
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap
from vcmts.witness.uepi import RequestRecord
from wireshark.tshark import Tshark
from witness.maps import Channel, Flow, Grant, Map, Validator, read
from witness.rphy_device import RphyDevice
from witness.sample import UPSTREAM

pytestmark = pytest.mark.replay

MS = 1_000_000
SC_QAM, OFDMA = 1, 2
MAP_SESSIONS = {0x00030001: SC_QAM, 0x00030002: OFDMA}
CARRIER = 0x00010001
MESSAGE_FLOW = 1  # PSP flow of MAC messages in session CARRIER
LAST = 60 * MS  # time of the last packet
UNIT = 4  # bytes; N of requests in N bytes
HEADER = 8  # bytes of a segment header
MAP, UCD_SC_QAM, UCD_OFDMA = 3, 35, 51
CONFIG = UPSTREAM.replace("upstream: {", "upstream: {scheduler: {map_interval: 2 ms}, ")
CHANNELS = {
    SC_QAM: Channel(minislot_bytes=48, burst_minislots=1),
    OFDMA: Channel(minislot_bytes=42, frame_minislots=237),
}
# Each SID cluster of a flow has its own requests.
FLOWS = {
    (SC_QAM, 1): Flow("101", HEADER),
    (OFDMA, 1): Flow("101", HEADER),
    (SC_QAM, 2): Flow("101, cluster 2", HEADER),
    (OFDMA, 2): Flow("101, cluster 2", HEADER),
    (OFDMA, 3): Flow("102", HEADER),
    (SC_QAM, 10): Flow("201"),
    (SC_QAM, 11): Flow("202", HEADER),
    (SC_QAM, 20): Flow("301"),
}


@dataclass
class Requests:
    """Records with requests, and the requested bytes: (ns after START_NS, flow, bytes)."""

    records: list[Record] = field(default_factory=list)
    requested: list[tuple[int, str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.config = parse_config(CONFIG)
        self.device = RphyDevice(self.config)
        self.channels = {channel.id: channel for channel in self.config.upstream.channels}

    def _send(self, at: int, packet: bytes) -> None:
        self.records.append(Record(START_NS + at, packet, len(packet)))

    def add_record(self, at: int, sid: int, size: int) -> None:
        """Adds a request record of `size` units of N bytes, on the request session."""
        request = RequestRecord(1, size, 0x3FFF, sid, 0, 0x00020002, n_bytes=True)
        self._send(at, self.device.records(0x00020012, [request], ofdma=True))
        self.requested.append((at, FLOWS[OFDMA, sid].name, size * UNIT))

    def add_frame(self, at: int, sid: int, size: int, queue_depth: bool) -> None:
        """Adds a request frame in a burst. `size`: units of N bytes with `queue_depth`, or
        minislots."""
        payload = encode_request(Request(sid, size, queue_depth))
        burst = self.device.burst(self.channels[SC_QAM], sid, payload, segmented=False)
        for packet in self.device.pack(self.channels[SC_QAM], 0x00020001, [burst]):
            self._send(at, packet)
        channel = CHANNELS[SC_QAM]
        minislots = size - channel.burst_minislots
        requested = size * UNIT if queue_depth else minislots * channel.minislot_bytes
        self.requested.append((at, FLOWS[SC_QAM, sid].name, requested))


@dataclass
class Messages:
    """MAPs and UCDs of the output, as (ns after START_NS, session, message)."""

    maps: list[tuple[int, int, bytes]] = field(default_factory=list)
    ucds: list[tuple[int, int, bytes]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def by_session(self, session: int) -> list[tuple[int, bytes]]:
        """The MAPs of a session, each with its time."""
        return [(at, message) for at, of, message in self.maps if of == session]


def mac_message(session: int, data: bytes) -> bytes:
    """The MAC message from its DA on. On a channel, a MAC frame with a CRC contains it."""
    if session in MAP_SESSIONS:
        return data
    pdu = decode_frame(data).pdu
    assert frame_check_sequence(pdu[:-4]) == pdu[-4:]
    return pdu[:-4]


def read_messages(path: Path) -> Messages:
    messages = Messages()
    known = (*MAP_SESSIONS, CARRIER)
    sessions = {session: Reassembler(sequence_per_flow=True) for session in known}
    for number, record in enumerate(read_pcap(path).records):
        datagram = decode_datagram(record.data)
        psp = decode_psp(datagram.payload, 2 if datagram.session == CARRIER else 0)
        assert psp.flow == (MESSAGE_FLOW if datagram.session == CARRIER else 0)
        whole, problems = sessions[datagram.session].push(psp, number)
        messages.problems += problems
        for frame in whole:
            message = mac_message(datagram.session, frame.data)
            kind = messages.maps if message[18] == MAP else messages.ucds
            kind.append((record.time_ns - START_NS, datagram.session, message))
    messages.problems += [text for session in sessions.values() for text in session.finish()]
    return messages


def parse_map(message: bytes) -> Map:
    assert int.from_bytes(message[12:14], "big") == len(message) - 14
    return read(message[20:], message[17])


@dataclass(frozen=True)
class Replayed:
    messages: Messages
    stats: dict[str, Any]
    out: Path


def replay(requests: Requests, folder: Path, text: str = CONFIG) -> Replayed:
    folder.mkdir(exist_ok=True)
    config, uepi, ip = folder / "sg.yaml", folder / "uepi.pcap", folder / "ip.pcap"
    out, stats = folder / "depi.pcap", folder / "stats.json"
    config.write_text(text)
    write_pcap(uepi, sorted(requests.records, key=lambda record: record.time_ns))
    ways = ("--rphy-in", uepi, "--network-out", ip, "--rphy-out", out, "--json", stats)
    done = vcmtsd("replay", "--config", config, *ways)
    assert done.status == 0, done.stderr
    return Replayed(read_messages(out), json.loads(stats.read_text()), out)


def all_requests() -> Requests:
    """Small and large requests on both channels, some of them at the same time."""
    requests = Requests()
    requests.add_record(0, 3, 25)
    requests.add_record(10_000, 3, 400)
    requests.add_record(3 * MS, 1, 5000)
    requests.add_record(3 * MS, 2, 1)
    requests.add_frame(4 * MS, 20, 500, queue_depth=True)
    requests.add_frame(5 * MS, 10, 40, queue_depth=False)
    requests.add_frame(5 * MS + 1, 20, 2, queue_depth=False)
    requests.add_record(LAST, 3, 1)
    return requests


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    return replay(all_requests(), tmp_path_factory.mktemp("grants"))


def grants_in(replayed: Replayed, validator: Validator) -> list[Grant]:
    """Grants of all MAPs. The validator gets each request before the MAPs that follow it."""
    maps = [pair for session in MAP_SESSIONS for pair in replayed.messages.by_session(session)]
    waiting, grants = list(all_requests().requested), []
    for time, message in sorted(maps, key=lambda pair: pair[0]):
        while waiting and waiting[0][0] <= time:
            validator.ask(*waiting.pop(0)[1:])
        grants += validator.take(parse_map(message))
    for _, name, size in waiting:
        validator.ask(name, size)
    return grants


def test_all_requests_are_granted(replayed: Replayed) -> None:
    requested = all_requests().requested
    validator = Validator(CHANNELS, FLOWS)
    grants = grants_in(replayed, validator)
    # the last request has no MAP after it
    owed = {name: account.least for name, account in validator.accounts.items()}
    assert {name: size for name, size in owed.items() if size > 0} == {"102": UNIT}
    for name in {name for _, name, _ in requested}:
        wanted = sum(size for at, of, size in requested if of == name and at < LAST)
        assert sum(grant.bytes for grant in grants if grant.flow == name) >= wanted
    assert validator.maps > 40
    assert validator.gaps == 0
    assert {"data", "request", "initial"} <= validator.used.keys()


def test_maps_have_count_of_sent_ucd(replayed: Replayed) -> None:
    """MULPI: a modem ignores MAPs with another UCD count than its UCD."""
    for session in MAP_SESSIONS:
        [count] = {message[21] for _, of, message in replayed.messages.ucds if of == session}
        maps = [parse_map(message) for _, message in replayed.messages.by_session(session)]
        assert {map_.ucd_count for map_ in maps} == {count}


def test_same_input_gives_same_output(replayed: Replayed, tmp_path: Path) -> None:
    again = replay(all_requests(), tmp_path / "again")
    assert again.out.read_bytes() == replayed.out.read_bytes()
    assert again.stats == replayed.stats


def test_tshark_finds_no_errors(replayed: Replayed, tshark: Tshark) -> None:
    pcap = tshark.folder / "grants.pcap"
    copyfile(replayed.out, pcap)
    rows = tshark.fields(pcap, "docsis_map.numie", "_ws.malformed")
    assert len([row for row in rows if row["docsis_map.numie"]]) == len(replayed.messages.maps)
    assert not any(row["_ws.malformed"] for row in rows)
    assert not any(tshark.experts(pcap))
