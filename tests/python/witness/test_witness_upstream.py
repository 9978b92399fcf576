# SPDX-License-Identifier: BSD-3-Clause
"""Tests the upstream model and the strict upstream decoder: both deliver all that simulated modems
sent, in any segmentation. Damaged packets deliver nothing that was not sent."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcmts.witness import docsis
from vcmts.witness.config import Config, parse_config
from vcmts.witness.depi import decode_psp
from vcmts.witness.ip import ethernet_frame
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import Record, records_of
from vcmts.witness.uepi import RequestRecord
from witness.accounting import REASONS
from witness.cable_modem import (
    RNG_REQ,
    FrameOptions,
    concatenate,
    fragment,
    management_frame,
    management_message,
    packet_frame,
    split_segments,
)
from witness.frames import BandwidthRequest
from witness.hostile import hostile_records
from witness.rphy_device import RphyDevice
from witness.sample import UPSTREAM
from witness.strict_upstream import decode_upstream
from witness.subscriber import numbered_frame
from witness.upstream import Result, expect_upstream
from witness.upstream_traffic import sending

CONFIG = parse_config(UPSTREAM)
OVER_IPV6 = parse_config(
    UPSTREAM.replace("192.168.1.1", '"2001:db8::1:1"')
    .replace("192.168.1.2", '"2001:db8::1:2"')
    .replace("verify_crc: true", "verify_crc: true, psp_numbering: session")
)
seeds = st.integers(0, 1 << 32)


def outcome(packets: Sequence[bytes], config: Config = CONFIG) -> Result:
    return expect_upstream(records_of(packets), config)


@given(seeds, st.sampled_from([CONFIG, OVER_IPV6]))
def test_model_and_decoder_deliver_all_frames(seed: int, config: Config) -> None:
    sender = sending(seed, config)
    result = outcome(sender.packets, config)
    assert not result.drops and not any(result.pending.values())
    for stream, frames in sender.expected.items():
        assert result.stream(*stream) == frames
    counters = result.counters
    assert counters["transmitted"] == sum(map(len, sender.expected.values()))
    assert result.management == [ethernet_frame(message) for message in sender.management]
    assert counters["management"] == len(sender.management)
    assert counters["fragments"] == sender.fragments
    assert counters["psp_packets"] == counters["received"] == len(sender.packets)
    assert not counters["resync_bytes"] and not counters["psp_gaps"]
    # and the strict decoder finds no fault
    decoded = decode_upstream(records_of(sender.packets), config)
    assert decoded.problems == []
    assert decoded.frames == sender.expected
    assert Counter(decoded.management) == Counter(sender.management)


def test_segments_of_one_byte() -> None:
    """The smallest segments, across the wrap of sequence numbers."""
    modem, channel = CONFIG.modems[0], CONFIG.upstream.channels[0]
    packet = numbered_frame(modem.addresses[0], 0, 60)
    frame = packet_frame(modem.security, 1, packet)
    segments = split_segments([frame], range(len(frame)), sequence=8150)
    assert [len(segment) for segment in segments] == [9] * len(frame)
    device = RphyDevice(CONFIG)
    bursts = [device.burst(channel, 1, segment, segmented=True) for segment in segments]
    result = outcome(device.pack(channel, channel.session, bursts))
    assert result.stream(101, 0) == [packet] and result.counters["extracted"] == len(frame)


# Bandwidth requests


def one_burst(config: Config, number: int, sid: int, payload: bytes, segmented: bool) -> Result:
    channel = config.upstream.channels[number]
    device = RphyDevice(config)
    burst = device.burst(channel, sid, payload, segmented=segmented)
    return outcome(device.pack(channel, channel.session, [burst]), config)


def test_requests_of_all_kinds() -> None:
    _, plain, old = CONFIG.modems
    ethernet = numbered_frame(old.addresses[0], 0, 60)
    dress = FrameOptions("bp_up", piggyback=7, request=9)
    frames = [
        docsis.encode_request(docsis.Request(20, 3)),
        docsis.encode_request(docsis.Request(20, 0x102, queue_depth=True)),
        packet_frame(old.security, 20, ethernet, dress),
        *fragment(
            old.security, 20, packet_frame(old.security, 20, ethernet, FrameOptions(None)), [30]
        ),
    ]
    result = one_burst(CONFIG, 0, 20, b"".join(frames), False)
    requests = [(ask.kind, ask.size, ask.n_bytes) for ask in result.requests]
    assert requests == [
        ("request", 3, False),
        ("queue_request", 0x102, True),
        ("element", 9, False),
        ("piggyback", 7, False),
    ]
    flows_of_requests = [(ask.modem, ask.flow, ask.cluster) for ask in result.requests]
    assert flows_of_requests == [(old.mac, 301, 0)] * 4
    assert result.counters["request_frames"] == 2
    (segment,) = split_segments([docsis.encode_request(docsis.Request(11, 1))], [], 5, 1, [16])
    result = one_burst(CONFIG, 0, 11, segment, True)
    flow = (plain.mac, 202, 1)
    assert result.requests == [
        BandwidthRequest("segment", *flow, 16, True),
        BandwidthRequest("request", *flow, 1, False),
    ]


def test_request_records_replace_requests_in_bursts() -> None:
    ofdma = CONFIG.upstream.channels[1]
    modem = CONFIG.modems[0]
    (segment,) = split_segments([docsis.encode_request(docsis.Request(3, 1))], [], requests=[16])
    device = RphyDevice(CONFIG)
    burst = device.burst(ofdma, 3, segment, segmented=True)
    packets = device.pack(ofdma, ofdma.session, [burst])
    record = RequestRecord(5, 16, 3, 3, 0, ofdma.session, None, False, True)
    session = ofdma.request_session
    assert session is not None
    packets.append(device.records(session, [record, replace(record, sid=9)], True))
    packets.append(device.records(session, [replace(record, sid_cluster=2, sid=1)], False))
    packets.append(device.records(session, [replace(record, sid_cluster=2, sid=1)], True))
    result = outcome(packets)
    assert result.requests == [
        BandwidthRequest("record", modem.mac, 102, 0, 16, False),
        BandwidthRequest("record", modem.mac, 101, 2, 16, False),
    ]
    assert result.counters["requests_repeated"] == 2
    assert result.counters["bad_requests"] == 2  # an unknown SID, a foreign version


# Damage


def test_hostile_traffic_causes_all_drop_reasons() -> None:
    """Nearly all of them; good frames are still delivered."""
    result = expect_upstream(hostile_records(CONFIG, Random(3), 600), CONFIG)
    later = {reason for unit in ("burst", "segment", "frame") for reason in REASONS[unit]}
    rare = """burst_too_long fragment_too_long no_control_port vlan ipv4_header ipv4_length
        ipv4_checksum ipv6_header ipv6_length ipv6_extensions arp_malformed source_rate frame_phs
        burst_stopped segment_stopped stopped
        burst_session_removed segment_flow_removed frame_flow_removed"""
    assert later - set(rare.split()) - set(result.drops) == set()
    assert result.counters["transmitted"] > 500


# The strict decoder


def problems(packets: Sequence[bytes]) -> str:
    decoded = decode_upstream(records_of(packets), CONFIG)
    return "\n".join(problem.text for problem in decoded.problems)


def test_lost_and_repeated_packets_are_reported() -> None:
    packets = sending(7, CONFIG).packets
    assert problems(packets) == ""
    assert "expected" in problems(packets[:1] + packets[2:] + packets[1:2])
    assert "expected" in problems([*packets, packets[-1]])
    assert "expected" in problems(packets[:3] + packets[4:])
    assert (
        problems([*packets, b""]) == "0 bytes are no Ethernet frame\nthe model drops or buffers"
        " {'outer_runt': 1}"
    )
    truncated = [Record(index, packet, len(packet) + 1) for index, packet in enumerate(packets)]
    assert len(decode_upstream(truncated, CONFIG).problems) == len(packets)


def payload_bytes(packet: bytes) -> list[int]:
    """Offsets of bytes that modems sent, without headers of the R-PHY device."""
    datagram = decode_datagram(packet)
    if datagram.session == CONFIG.upstream.channels[1].request_session:
        return []
    psp = decode_psp(datagram.payload)
    offset = packet.index(datagram.payload) + 4 + 2 * len(psp.segments)
    positions: list[int] = []
    for segment in psp.segments:
        if not segment.begin and not segment.end:
            positions += range(offset, offset + len(segment.data))
        offset += len(segment.data)
    return positions


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bit_is_reported(seed: int) -> None:
    """A flipped bit in a header, in the content or in the padding of a modem is a problem."""
    random = Random(seed)
    packets = sending(seed, CONFIG).packets
    index = random.choice([n for n, packet in enumerate(packets) if payload_bytes(packet)])
    packet = bytearray(packets[index])
    packet[random.choice(payload_bytes(packets[index]))] ^= 1 << random.randrange(8)
    assert problems([*packets[:index], bytes(packet), *packets[index + 1 :]]) != ""


def burst_problems(sid: int, frames: Sequence[bytes], channel: int = 0) -> str:
    upstream = CONFIG.upstream.channels[channel]
    device = RphyDevice(CONFIG)
    burst = device.burst(upstream, sid, b"".join(frames), segmented=False)
    return problems(device.pack(upstream, upstream.session, [burst]))


def test_wrong_frames_are_reported() -> None:
    _, plain, old = CONFIG.modems
    ethernet = numbered_frame(old.addresses[0], 0, 60)
    good = packet_frame(old.security, 20, ethernet)
    clear = packet_frame(old.security, 20, ethernet, FrameOptions(None))
    assert burst_problems(20, [good]) == ""
    assert "in the clear" in burst_problems(20, [clear])
    assert "no key" in burst_problems(
        20, [packet_frame(replace(old.security, key_sequence=3), 20, ethernet)]
    )
    assert "said=21" in burst_problems(20, [packet_frame(old.security, 21, ethernet)])
    stolen = numbered_frame(plain.addresses[0], 0, 60)
    assert "source address" in burst_problems(20, [packet_frame(old.security, 20, stolen)])
    assert "exceeds its burst" in burst_problems(20, [good[:-1]])
    assert burst_problems(20, concatenate([good, good])) == ""
    three = docsis.Frame(good + good, (), docsis.FC_TYPE_MAC, docsis.FC_PARM_CONCATENATION, 3)
    assert "concatenation of 3" in burst_problems(20, [docsis.encode_frame(three)])
    pieces = fragment(old.security, 20, clear, [20, 40])
    assert burst_problems(20, pieces) == ""
    assert "fragment 2" in burst_problems(20, [pieces[0], pieces[2]])
    assert "last fragment is missing" in burst_problems(20, pieces[:2])
    message = management_frame(management_message(old.mac, RNG_REQ, b"x"))
    assert burst_problems(20, [message]) == ""
    assert "CRC" in burst_problems(20, [message[:-1] + bytes([message[-1] ^ 1])])
