# SPDX-License-Identifier: BSD-3-Clause
"""Tests the independent decoder's DEPI: known bytes, round trips, random bytes, a capture."""

import struct
from dataclasses import replace
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captures import capture
from vcmts.witness import depi
from vcmts.witness.crc import frame_check_sequence, internet_checksum
from vcmts.witness.docsis import FC_TYPE_MAC, decode_frame, encode_frame
from vcmts.witness.l2tp import Carrier, Datagram, L2tpError, decode_datagram, encode_datagram
from vcmts.witness.pcapfile import read_pcap


def hx(text: str) -> bytes:
    return bytes.fromhex(text)


V4 = Carrier(
    hx("020000000002"), hx("020000000001"), ip_address("192.168.1.1"), ip_address("192.168.1.2")
)
V6 = replace(V4, source=ip_address("2001:db8::1"), destination=ip_address("2001:db8::2"))
carriers = st.sampled_from([V4, V6, replace(V4, udp=True), replace(V6, udp=True)])


def test_psp_packet_of_a_real_core() -> None:
    frame = hx("C2000038BA43 01E02F000001 AC1F6B1BAAC1 0026 000003") + bytes(39)
    psp = depi.decode_psp(hx("40016564C03E0090") + frame, extra_length=2)
    assert psp == depi.Psp(0x6564, (depi.Segment(frame),), hx("0090"))
    assert depi.ExtraBytes(2, counting=True).at(9) == psp.extra
    assert depi.encode_psp(psp) == hx("40016564C03E0090") + frame


@given(carriers, st.integers(1, 0xFFFFFFFF), st.binary(max_size=60))
def test_encoded_datagram_is_decoded(carrier: Carrier, session: int, payload: bytes) -> None:
    wire = encode_datagram(carrier, session, payload)
    datagram = decode_datagram(wire)
    assert datagram == Datagram(carrier, session, payload, datagram.ip_length)
    overhead = (20 if carrier.source.version == 4 else 40) + (12 if carrier.udp else 0) + 4
    assert datagram.ip_length == overhead + len(payload)
    assert len(wire) == max(60, 14 + datagram.ip_length)
    for length in range(14 + datagram.ip_length):
        with pytest.raises(L2tpError):
            decode_datagram(wire[:length])
    with pytest.raises(L2tpError):
        decode_datagram(wire.ljust(61, b"\0") + b"\0")


@given(st.binary(max_size=80), st.sampled_from(["0800", "86DD"]), st.sampled_from([0x45, 0x60]))
def test_random_bytes_are_no_datagram(data: bytes, ethertype: str, version: int) -> None:
    try:
        decode_datagram(bytes(12) + hx(ethertype) + bytes([version]) + data)
    except L2tpError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("offset", "value", "text"),
    [
        (20, "6000", "fragment"),
        (20, "4001", "fragment"),
        (23, "06", "protocol 6"),
        (36, "06A4", "UDP port 1700"),
        (38, "001B", "UDP length 27"),
        (42, "0002", "version 2"),
        (53, "01", "UDP checksum"),
    ],
)
def test_invalid_datagram_is_refused(offset: int, value: str, text: str) -> None:
    frame = bytearray(encode_datagram(replace(V4, udp=True), 1, bytes(18) + b"x"))
    frame[offset : offset + len(hx(value))] = hx(value)
    frame[24:26] = bytes(2)
    frame[24:26] = internet_checksum(bytes(frame[14:34])).to_bytes(2, "big")
    if "checksum" not in text:
        frame[40:42] = bytes(2)
    with pytest.raises(L2tpError, match=text):
        decode_datagram(bytes(frame))


def test_control_messages_have_session_0() -> None:
    assert decode_datagram(encode_datagram(V4, 0, hx("C803"))).session == 0
    control = bytearray(encode_datagram(replace(V4, udp=True), 5, bytes(20)))
    control[42] = 0xC8
    control[40:42] = bytes(2)  # no checksum
    assert decode_datagram(bytes(control)).session == 0


segments = st.builds(depi.Segment, st.binary(min_size=1, max_size=20), st.booleans(), st.booleans())
psps = st.builds(
    depi.Psp,
    st.integers(0, 65535),
    st.lists(segments, min_size=1, max_size=6).map(tuple),
    st.binary(max_size=2),
    st.integers(0, 7),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)


@given(psps)
def test_encoded_psp_is_decoded(psp: depi.Psp) -> None:
    wire = depi.encode_psp(psp)
    assert depi.decode_psp(wire, len(psp.extra)) == psp
    for length in range(len(wire)):
        with pytest.raises(depi.DepiError):
            depi.decode_psp(wire[:length], len(psp.extra))
    with pytest.raises(depi.DepiError):
        depi.decode_psp(wire + b"\0", len(psp.extra))


@given(st.binary(max_size=40), st.sampled_from([0, 2]))
def test_random_psp_is_refused_or_encoded_back(data: bytes, extra_length: int) -> None:
    try:
        psp = depi.decode_psp(data, extra_length)
    except depi.DepiError:
        return
    assert depi.encode_psp(psp) == data


@given(
    carriers,
    st.lists(st.binary(min_size=1, max_size=400), max_size=12),
    st.integers(100, 600),
    st.sampled_from(
        [depi.ExtraBytes(), depi.ExtraBytes(2, True, 3), depi.ExtraBytes(2, False, 15)]
    ),
    st.integers(1, 16),
    st.integers(0, 65535),
)
def test_packetized_frames_are_reassembled(
    carrier: Carrier,
    queue: list[bytes],
    mtu: int,
    extra: depi.ExtraBytes,
    max_segments: int,
    sequence: int,
) -> None:
    sender = depi.Packetizer(carrier, 7, mtu, extra, max_segments, flow=2, sequence=sequence)
    receiver = depi.Reassembler()
    received = []
    lengths = []
    for number, packet in enumerate(sender.pack(queue)):
        datagram = decode_datagram(packet)
        psp = depi.decode_psp(datagram.payload, extra.length)
        assert psp.extra == extra.at(number)
        assert len(psp.segments) <= max_segments
        lengths.append((datagram.ip_length, len(psp.segments)))
        whole, problems = receiver.push(psp, number)
        assert not problems
        received += [frame.data for frame in whole]
    assert received == queue
    assert receiver.finish() == []
    assert all(length <= mtu for length, _ in lengths)
    # every packet but the last is full: another byte and table entry would not fit
    assert all(length + 3 > mtu or count == max_segments for length, count in lengths[:-1])


def _psp(sequence: int, *pieces: str, flow: int = 0) -> depi.Psp:
    """A PSP packet from text: [ab] is a whole frame, [ab a first fragment, ab a middle one."""
    return depi.Psp(
        sequence,
        tuple(
            depi.Segment(piece.strip("[]").encode(), piece[0] == "[", piece[-1] == "]")
            for piece in pieces
        ),
        flow=flow,
    )


@pytest.mark.parametrize(
    ("packets", "received", "problems"),
    [
        ([_psp(65535, "[a]", "[b"), _psp(0, "c", "d]", "[e]")], "a bcd e", []),
        ([_psp(1, "[a"), _psp(3, "b]", "[c]")], "c", ["1 missing", "given up", "never began"]),
        ([_psp(1, "[a"), _psp(2, "[b]")], "b", ["another frame begins"]),
        ([_psp(1, "[a]"), _psp(1, "[a]")], "a a", ["repeated or late"]),
        ([_psp(1, "[a]"), _psp(2, "[b")], "a", ["1 bytes of a frame begun in packet 1 given up"]),
        ([_psp(1, "a]", "[b]")], "b", ["1 bytes continue"]),
        ([_psp(1, "[a"), _psp(2, "[b]", flow=1), _psp(3, "c]")], "b ac", []),
    ],
)
def test_reassembly_problems(packets: list[depi.Psp], received: str, problems: list[str]) -> None:
    receiver = depi.Reassembler()
    frames: list[bytes] = []
    texts: list[str] = []
    for number, psp in enumerate(packets):
        whole, result = receiver.push(psp, number)
        frames += [frame.data for frame in whole]
        texts += result
    texts += receiver.finish()
    assert b" ".join(frames).decode() == received
    assert len(texts) == len(problems)
    assert all(part in text for part, text in zip(problems, texts, strict=True))


def test_sequence_numbers_may_be_per_flow() -> None:
    packets = [_psp(1, "[a", flow=0), _psp(9, "[b]", flow=1), _psp(2, "c]", flow=0)]
    receiver = depi.Reassembler(sequence_per_flow=True)
    assert [receiver.push(psp, 0)[1] for psp in packets] == [[], [], []]
    receiver = depi.Reassembler()
    assert any(receiver.push(psp, 0)[1] for psp in packets)


def test_packetizer_refuses_too_small_mtu() -> None:
    overhead = 20 + 4 + 4 + 2
    with pytest.raises(depi.DepiError):
        depi.Packetizer(V4, 1, overhead)
    assert len(depi.Packetizer(V4, 1, overhead + 1).pack([b"abc"])) == 3


# A real core


def _pseudowire_subtypes(captured: list[tuple[bytes, Datagram]]) -> dict[int, int]:
    """Returns CableLabs subtypes by session ID, from the ICRPs of the RPD."""
    subtypes = {}
    for _, datagram in captured:
        if datagram.session:
            continue
        values = {}
        length = int.from_bytes(datagram.payload[2:4], "big")
        offset = 12
        while offset < length:
            flags, vendor, kind = struct.unpack_from(">HHH", datagram.payload, offset)
            end = offset + (flags & 0x3FF)
            values[vendor, kind] = datagram.payload[offset + 6 : end]
            offset = end
        if values.get((0, 0)) == b"\x00\x0b":
            subtype = int.from_bytes(values[4491, 17], "big")
            subtypes[int.from_bytes(values[0, 63], "big")] = subtype
    return subtypes


@pytest.fixture(scope="module")
def captured() -> list[tuple[bytes, Datagram]]:
    """All L2TPv3 packets over IP, each with its frame."""
    datagrams = []
    for record in read_pcap(capture("rpd-session.pcap")).records:
        if record.data[12:14] == b"\x08\x00" and record.data[23] == 115:
            datagrams.append((record.data, decode_datagram(record.data)))
    return datagrams


def _check_mmm(frame: bytes) -> None:
    decoded = decode_frame(frame)
    assert (decoded.fc_type, decoded.fc_parm, decoded.elements) == (FC_TYPE_MAC, 1, ())
    assert decoded.pdu[-4:] == frame_check_sequence(decoded.pdu[:-4])
    # MSGLEN counts from DSAP to the end of the body
    assert int.from_bytes(decoded.pdu[12:14], "big") == len(decoded.pdu) - 18
    assert encode_frame(decoded) == frame


def test_captured_downstream_sessions(captured: list[tuple[bytes, Datagram]]) -> None:
    subtypes = _pseudowire_subtypes(captured)
    sessions = {
        session: depi.Reassembler() for session, subtype in subtypes.items() if subtype == 4
    }
    assert len(sessions) == 2
    counters: dict[int, int] = {}
    frames = 0
    for number, (packet, datagram) in enumerate(captured):
        if datagram.session not in sessions:
            continue
        psp = depi.decode_psp(datagram.payload, extra_length=2)
        counter = counters.get(datagram.session, psp.extra[1] >> 4)
        assert psp.extra == depi.ExtraBytes(2, counting=True).at(counter)
        counters[datagram.session] = counter + 1
        whole, problems = sessions[datagram.session].push(psp, number)
        assert not problems
        for frame in whole:
            _check_mmm(frame.data)
        frames += len(whole)
        encoded = encode_datagram(datagram.carrier, datagram.session, depi.encode_psp(psp))
        assert encoded == packet
    assert frames > 8000
    assert all(reassembler.finish() == [] for reassembler in sessions.values())


def test_captured_map_session(captured: list[tuple[bytes, Datagram]]) -> None:
    subtypes = _pseudowire_subtypes(captured)
    packets = [datagram for _, datagram in captured if subtypes.get(datagram.session) == 13]
    receiver = depi.Reassembler()
    for number, datagram in enumerate(packets):
        whole, problems = receiver.push(depi.decode_psp(datagram.payload), number)
        assert not problems
        assert [frame.data[:6] for frame in whole] == [hx("01E02F000001")]
    assert len(packets) > 8000
