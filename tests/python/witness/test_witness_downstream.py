# SPDX-License-Identifier: BSD-3-Clause
"""Tests the downstream decoder: correct frames, and faults of packets, headers, sequences."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcmts.witness.config import Config, parse_config
from vcmts.witness.depi import ExtraBytes, Segment
from vcmts.witness.docsis import Frame, encode_frame
from vcmts.witness.downstream import Result, decode_downstream
from vcmts.witness.ehdr import BpDown, BpUp2, DsService
from vcmts.witness.model import Modem
from vcmts.witness.pcapfile import Record, records_of
from witness.sample import CONFIG
from witness.sender import Sender, find_flow, mac_frame


@pytest.fixture(scope="module")
def config() -> Config:
    return parse_config(CONFIG)


def ethernet(modem: Modem, size: int, fill: int = 0) -> bytes:
    body = bytes((fill + index) & 0xFF for index in range(size - 14))
    return modem.mac + bytes.fromhex("0200000000AA0800") + body


SHARED = CONFIG.replace(
    "{said: 0x0002, cipher: none, key_sequence: 2}",
    "{said: 1, key: 00010203040506070809101112131415,"
    " iv: 101112131415161718191a1b1c1d1e1f, key_sequence: 3}",
)


def decode(packets: Sequence[bytes], config: Config) -> Result:
    return decode_downstream(records_of(packets), config)


def texts(result: Result) -> str:
    return "\n".join(problem.text for problem in result.problems)


# Modem 1 has bonded flows, two flows only on channel 1, and one only on channel 2.
OWN_GROUPS = CONFIG.replace(
    "  - {id: 2, channels: [3]}",
    "\n".join(f"  - {{id: {n}, channels: [{n % 3 + 1}]}}" for n in (2, 3, 4)),
).replace(
    "      - {id: 3, state: provisioned",
    "      - {id: 4, bonding_group: 3, priority: 3}\n"
    "      - {id: 5, bonding_group: 3, priority: 3}\n"
    "      - {id: 6, bonding_group: 4, priority: 3}\n"
    "      - {id: 3, state: provisioned",
)


def test_flows_of_single_channels_differ_by_channel() -> None:
    """These flows have neither DSID nor different priorities."""
    config = parse_config(OWN_GROUPS)
    modem, sender = config.modems[0], Sender(config)
    sent = {flow: [ethernet(modem, 300 + flow, index) for index in range(3)] for flow in (2, 4, 6)}
    packets = []
    for index in range(3):
        for flow, channel in ((2, index % 2 + 1), (4, 1), (6, 2)):
            packets += sender.send(flow, sent[flow][index], channel)
    result = decode(packets + sender.flush(), config)
    assert texts(result) == ""
    assert result.flows == {(2,): sent[2], (4, 5): sent[4], (6,): sent[6]}


def test_frame_records_have_packet_and_time(config: Config) -> None:
    sender = Sender(config)
    modem = config.modems[0]
    sender.send(1, ethernet(modem, 100), 1)
    packets = sender.send(1, ethernet(modem, 1900), 1) + sender.flush()
    result = decode(packets, config)
    first, second = result.frames
    assert (first.first_packet, first.packet, first.time_ns, first.session) == (1, 1, 0, 0x10001)
    assert (second.first_packet, second.packet, second.time_ns) == (1, 2, 1000)
    assert second.modem == modem and second.flows == (1,)
    assert second.service == DsService(0, 1, 65534)
    assert result.counters["concatenated"] == 1
    assert result.counters["fragments"] == 2


def ten_packets(config: Config) -> list[bytes]:
    """Returns ten packets with one frame each, alternating between both channels of modem 1."""
    sender = Sender(config)
    packets = []
    for index in range(10):
        sender.send(1, ethernet(config.modems[0], 200, index), 1 + index % 2)
        packets += sender.flush()
    return packets


def test_reordering_between_channels_is_allowed(config: Config) -> None:
    packets = ten_packets(config)
    in_order = decode(packets, config).flow(1)
    overtaken = decode(packets[1::2] + packets[::2], config)
    assert texts(overtaken) == ""
    assert overtaken.flow(1) == in_order and len(in_order) == 10
    assert overtaken.counters["out_of_order"] == 5


def swap(packets: list[bytes]) -> list[bytes]:
    return [packets[2], packets[1], packets[0], *packets[3:]]


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda packets: packets[:4] + packets[5:], ["1 missing", "DSID 0x00001: 1 missing"]),
        (lambda packets: packets[:5] + packets[4:], ["repeated or late", "1 came twice"]),
        (swap, ["repeated or late", "late within one channel"]),
    ],
)
def test_lost_repeated_and_swapped_packets(
    config: Config, damage: Callable[[list[bytes]], list[bytes]], expected: list[str]
) -> None:
    result = decode(damage(ten_packets(config)), config)
    for text in expected:
        assert text in texts(result)


@given(st.data())
def test_flipped_bit_is_reported(data: st.DataObject) -> None:
    """A check covers every bit of an IPv4 DEPI packet."""
    config = parse_config(CONFIG)
    packets = ten_packets(config)
    index = data.draw(st.integers(0, 9))
    bit = data.draw(st.integers(0, 8 * len(packets[index]) - 1))
    broken = bytearray(packets[index])
    broken[bit // 8] ^= 1 << bit % 8
    packets[index] = bytes(broken)
    assert decode(packets, config).problems


def with_ds(frame: Frame, **changes: Any) -> Frame:
    """Returns the frame with other values in its DS EHDR."""
    privacy, service = frame.elements
    assert isinstance(service, DsService)
    return replace(frame, elements=(privacy, replace(service, **changes)))


def with_privacy(frame: Frame, **changes: Any) -> Frame:
    privacy, service = frame.elements
    assert isinstance(privacy, BpDown)
    return replace(frame, elements=(replace(privacy, **changes), service))


@pytest.mark.parametrize(
    ("damage", "text", "delivered"),
    [
        (lambda f: replace(f, fc_type=2), "FC_TYPE 2", False),
        (lambda f: Frame(f.pdu, fc_type=3, fc_parm=1), "FC_TYPE 3", False),
        (lambda f: replace(f, elements=f.elements[::-1]), "expected BP_DOWN and DS EHDR", False),
        (lambda f: replace(f, elements=f.elements[:1]), "expected BP_DOWN and DS EHDR", False),
        (lambda f: replace(f, elements=()), "expected BP_DOWN and DS EHDR", False),
        (
            lambda f: replace(f, elements=(BpUp2(3, True, 1, 1), f.elements[1])),
            "expected BP_DOWN and DS EHDR",
            False,
        ),
        (lambda f: with_privacy(f, said=9), "SAID 0x0009 belongs to no modem", False),
        (lambda f: with_privacy(f, said=2), "is no modem of SAID 0x0002", False),
        (lambda f: with_privacy(f, key_sequence=5), "key_sequence=5", False),
        (lambda f: with_privacy(f, toggle=0), "toggle=0", False),
        (lambda f: with_privacy(f, enabled=False), "enabled=False", False),
        (lambda f: with_privacy(f, version=0), "version=0", False),
        (lambda f: with_ds(f, dsid=7), "DSID 0x00007 is unknown", False),
        (lambda f: with_ds(f, sequence=None), "without sequence number", False),
        (lambda f: with_ds(f, dsid=None, sequence=None), "no flow of priority 0", False),
        (lambda f: with_ds(f, priority=1), "flow 1: priority 1", True),
        (lambda f: replace(f, pdu=f.pdu[:17]), "PDU of 17 bytes", False),
        (lambda f: replace(f, pdu=f.pdu + bytes(1950)), "PDU of 2054 bytes", False),
        (lambda f: replace(f, pdu=f.pdu[:-1] + b"\0"), "Ethernet CRC", False),
    ],
)
def test_wrong_frame_is_reported(
    config: Config, damage: Callable[[Frame], Frame], text: str, delivered: bool
) -> None:
    modem, flow = find_flow(config, 1)
    packet = ethernet(modem, 100)
    frame = damage(mac_frame(modem, flow, packet))
    packets = Sender(config).packetizers[1].pack([encode_frame(frame)])
    result = decode(packets, config)
    assert [problem.packet for problem in result.problems] == [len(packets)]
    assert text in texts(result)
    assert result.flow(1) == ([packet] if delivered else [])
    assert len(result.frames) == result.counters["frames"] == 1
    assert result.counters["delivered"] == delivered


def test_wrong_destination_is_reported(config: Config) -> None:
    modem, flow = find_flow(config, 1)
    other = ethernet(config.modems[1], 100)
    wire = encode_frame(mac_frame(modem, flow, other))
    result = decode(Sender(config).packetizers[1].pack([wire]), config)
    assert "destination 02:01:00:00:00:02 is no modem of SAID 0x0001" in texts(result)


def test_modems_may_share_a_security_association() -> None:
    config = parse_config(SHARED)
    sender = Sender(config)
    for flow_id, channel in ((1, 1), (10, 3), (12, 3)):
        modem, _ = find_flow(config, flow_id)
        sender.send(flow_id, ethernet(modem, 100), channel)
    result = decode(sender.flush(), config)
    assert texts(result) == ""
    assert {flows: len(frames) for flows, frames in result.flows.items()} == {
        (1,): 1,
        (10, 11): 1,
        (12,): 1,
    }


def test_dsid_of_another_modem_is_reported(config: Config) -> None:
    modem, flow = config.modems[1], replace(config.modems[1].flows[0], dsid=1)
    wire = encode_frame(mac_frame(modem, flow, ethernet(modem, 100)))
    result = decode(Sender(config).packetizers[3].pack([wire]), config)
    assert "DSID 0x00001 is of modem 02:01:00:00:00:01" in texts(result)


def test_inactive_flow_is_reported(config: Config) -> None:
    sender = Sender(config)
    sender.send(3, ethernet(config.modems[0], 100), 1)
    assert texts(decode(sender.flush(), config)) == "flow 3 is not active"


def test_sequence_change_count_is_reported(config: Config) -> None:
    modem, flow = find_flow(config, 1)
    frames = [mac_frame(modem, flow, ethernet(modem, 80, i), i) for i in range(3)]
    frames[1:] = [with_ds(frame, sequence_change_count=1) for frame in frames[1:]]
    result = decode(Sender(config).packetizers[1].pack(map(encode_frame, frames)), config)
    assert texts(result) == "DSID 0x00001: sequence change count changed"
    assert len(result.flow(1)) == 3


@pytest.mark.parametrize("flow", [2, 4])
def test_channel_of_another_flow_is_reported(flow: int) -> None:
    """Flow 2 has a DSID, and flow 4 has none."""
    config = parse_config(OWN_GROUPS)
    sender = Sender(config)
    sender.send(flow, ethernet(config.modems[0], 100), 3)
    result = decode(sender.flush(), config)
    assert texts(result) == f"flow {flow} on channel 3, not its own"
    assert result.counters["delivered"] == 1


def test_damaged_hcs_loses_one_frame(config: Config) -> None:
    modem, flow = find_flow(config, 1)
    good = [encode_frame(mac_frame(modem, flow, ethernet(modem, 80, i), i)) for i in range(3)]
    bad = good[1][:4] + b"\xff" + good[1][5:]
    result = decode(Sender(config).packetizers[1].pack([good[0], bad, good[2]]), config)
    assert len(result.flow(1)) == 2
    assert "HCS" in texts(result) and "1 missing before 2" in texts(result)
    assert (result.counters["gaps"], result.counters["rejected"]) == (1, 1)
    assert result.frames[1].header is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ttl": 63}, "ttl 63, expected 64"),
        ({"dscp": 5}, "dscp 5, expected 4"),
        ({"ecn": 1}, "ecn 1, expected 0"),
        ({"dont_fragment": False}, "dont_fragment False"),
        ({"udp": True}, "udp True"),
        ({"source_mac": bytes(6)}, "source_mac"),
        ({"destination_mac": bytes(6)}, "destination_mac"),
    ],
)
def test_wrong_headers_are_reported(config: Config, changes: dict[str, Any], text: str) -> None:
    sender = Sender(config)
    carrier = replace(sender.packetizers[1].carrier, **changes)
    sender.packetizers[1].carrier = carrier
    sender.send(1, ethernet(config.modems[0], 100), 1)
    result = decode(sender.flush(), config)
    assert text in texts(result)
    assert result.counters["delivered"] == 1


@pytest.mark.parametrize(
    ("channel", "changes", "text"),
    [
        (1, {"mtu": 1501}, "IP packet of 1501 bytes, MTU 1500"),
        (1, {"max_segments": 5}, "5 segments, at most 4"),
        (1, {"extra": ExtraBytes(2)}, "extra bytes 0000, expected 0010"),
        (1, {"extra": ExtraBytes(2, True, 1)}, "extra bytes 0001, expected 0000"),
        (2, {"extra": ExtraBytes(2, True, 5)}, "extra bytes 0015, expected 0005"),
        (1, {"flow": 1}, "PSP flags"),
        (1, {"session": 0x10004}, "session 0x00010004 is unknown"),
        (1, {"session": 0}, "session 0x00000000 is unknown"),
        (1, {"extra": ExtraBytes()}, "segment table tells"),
        (3, {"extra": ExtraBytes(2)}, "segment table tells"),
    ],
)
def test_wrong_psp_packet_is_reported(
    config: Config, channel: int, changes: dict[str, Any], text: str
) -> None:
    sender = Sender(config)
    sender.packetizers[channel] = replace(sender.packetizers[channel], **changes)
    modem, flow = find_flow(config, 12 if channel == 3 else 1)
    packets = []
    for index in range(8):
        packets += sender.send(flow.id, ethernet(modem, 60, index), channel)
    for index in range(8):
        packets += sender.send(flow.id, ethernet(modem, 1400, index), channel)
    assert text in texts(decode(packets + sender.flush(), config))


def test_incomplete_frame_at_the_end_is_reported(config: Config) -> None:
    packet = Sender(config).packetizers[1].send([Segment(b"begin", end=False)])
    result = decode([packet], config)
    assert "5 bytes of a frame begun in packet 1 given up" in texts(result)


def test_truncated_and_foreign_records_are_reported(config: Config) -> None:
    sender = Sender(config)
    sender.send(1, ethernet(config.modems[0], 100), 1)
    (packet,) = sender.flush()
    arp = bytes(12) + b"\x08\x06" + bytes(46)
    result = decode_downstream([Record(0, packet[:50], len(packet)), Record(1, arp, 60)], config)
    assert [problem.packet for problem in result.problems] == [1, 1, 2]
    assert "cut to 50" in texts(result) and "EtherType 0x0806 is not IP" in texts(result)


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_random_packets_are_reported(packets: list[bytes]) -> None:
    result = decode(packets, parse_config(CONFIG))
    assert len(result.problems) >= len(packets)


@given(st.binary(max_size=60))
def test_random_frame_is_reported(data: bytes) -> None:
    config = parse_config(CONFIG)
    result = decode(Sender(config).packetizers[1].pack([data]), config)
    assert bool(result.problems) == bool(data)
