# SPDX-License-Identifier: BSD-3-Clause
"""tshark reads replay output: MAC frames, and DEPI frames with our PSP dissector."""

from collections import Counter
from ipaddress import IPv4Address, IPv6Address

import pytest

from e2e.frames import udp_frame
from e2e.running import SMALL, DownstreamReplay, replace_values, replay
from e2e.traffic import START_NS
from vcmts.witness.config import load_config
from vcmts.witness.depi import Reassembler, decode_psp
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import LINKTYPE_DOCSIS, records_of, write_pcap
from wireshark.tshark import Tshark

pytestmark = pytest.mark.replay

Records = list[dict[str, list[str]]]

CONFIG = load_config(SMALL)
IPV6 = {"core_ip": '"2001:db8:9::1"', "rpd_ip": '"2001:db8:9::2"'}
VARIANTS = {
    "MTU 1500": {},
    "IPv6, MTU 9000": {**IPV6, "mtu": "9000", "max_segments": "255"},
}


def valid_traffic() -> list[bytes]:
    """UDP that tshark dissects without errors. IPv6 is sent to modems with a key only."""
    addresses = [
        address
        for modem in CONFIG.modems
        for address in modem.addresses
        if isinstance(address, IPv4Address) or modem.security.key
    ]
    assert any(isinstance(address, IPv6Address) for address in addresses)
    sizes = (70, 84, 256, 1280, 1514, 1996)
    return [udp_frame(addresses[n % len(addresses)], sizes[n % len(sizes)], n) for n in range(600)]


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=list(VARIANTS))
def replayed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tshark: Tshark
) -> DownstreamReplay:
    text = replace_values(SMALL.read_text(), **request.param)
    sent = records_of(valid_traffic(), START_NS, 7_000)
    result = replay(tmp_path_factory.mktemp("tshark"), text, sent)
    result.check()
    assert result.stats["transmitted"] > 400
    return result


def mac_frames(replayed: DownstreamReplay) -> list[bytes]:
    """The MAC frames of the output, reassembled from segments."""
    sessions: dict[int, Reassembler] = {}
    frames = []
    for number, record in enumerate(replayed.out.records):
        datagram = decode_datagram(record.data)
        extra = replayed.config.by_session[datagram.session].extra.length
        psp = decode_psp(datagram.payload, extra)
        whole, problems = sessions.setdefault(datagram.session, Reassembler()).push(psp, number)
        assert problems == []
        frames += [frame.data for frame in whole]
    return frames


def values(rows: Records, name: str) -> Counter[int]:
    """Counts the values of a field."""
    return Counter(int(value, 0) for row in rows for value in row[name])


def test_tshark_dissects_mac_frames(replayed: DownstreamReplay, tshark: Tshark) -> None:
    frames = mac_frames(replayed)
    pcap = tshark.folder / "docsis.pcap"
    write_pcap(pcap, records_of(frames), LINKTYPE_DOCSIS)
    rows = tshark.fields(
        pcap,
        *("docsis.hcs.status", "docsis.len", "docsis.ehdr.ds_dsid", "docsis.ehdr.ds_traffic_pri"),
        *("docsis.ehdr.said", "_ws.expert.severity", "_ws.malformed"),
    )
    assert len(rows) == len(frames) == replayed.stats["transmitted"]
    assert {tuple(row["docsis.hcs.status"]) for row in rows} == {("1",)}
    assert [int(row["docsis.len"][0]) + 6 for row in rows] == [len(frame) for frame in frames]
    assert {tuple(row["_ws.expert.severity"]) for row in rows} == {()}
    assert {tuple(row["_ws.malformed"]) for row in rows} == {()}
    services = [frame.service for frame in replayed.decoded.frames]
    modems = [frame.modem for frame in replayed.decoded.frames]
    dsids = Counter(s.dsid for s in services if s and s.dsid is not None)
    assert values(rows, "docsis.ehdr.ds_dsid") == dsids
    assert values(rows, "docsis.ehdr.ds_traffic_pri") == Counter(s.priority for s in services if s)
    assert values(rows, "docsis.ehdr.said") == Counter(m.security.said for m in modems if m)


def test_tshark_dissects_depi_frames(replayed: DownstreamReplay, tshark: Tshark) -> None:
    """Dissects the output file with docsis-psp.lua, as a user does."""
    pcap = tshark.folder / "out.pcap"
    pcap.write_bytes(replayed.out_path.read_bytes())
    rows = tshark.fields(
        pcap,
        *("l2tp.sid", "psp.seq", "psp.count", "psp.gap", "psp.late", "docsis.hcs.status"),
        *("_ws.expert.severity", "_ws.malformed", "udp.dstport"),
    )
    counters = replayed.stats["counters"]
    assert len(rows) == counters["depi_frames"]
    assert sum(int(row["psp.count"][0]) for row in rows) == counters["psp_segments"]
    assert all(row["psp.gap"] == row["psp.late"] == [] for row in rows)
    statuses = Counter(status for row in rows for status in row["docsis.hcs.status"])
    assert statuses == {"1": counters["transmitted"]}
    assert {tuple(row["_ws.malformed"]) for row in rows} == {()}
    assert {tuple(row["_ws.expert.severity"]) for row in rows} == {()}
    unencrypted = sum(port == "9" for row in rows for port in row["udp.dstport"])
    assert unencrypted == counters["clear"]
    sequences: dict[str, list[int]] = {}
    for row in rows:
        sequences.setdefault(row["l2tp.sid"][0], []).append(int(row["psp.seq"][0]))
    assert len(sequences) == len(replayed.config.channels)
    for numbers in sequences.values():
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
