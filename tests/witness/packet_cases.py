# SPDX-License-Identifier: BSD-3-Clause
"""Test cases with packets and bursts, and the drops and counters expected for each, determined by
hand."""

from dataclasses import replace
from ipaddress import IPv4Address

from vcmts.witness.config import parse_config
from vcmts.witness.crc import internet_checksum
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.docsis import Request, encode_request
from vcmts.witness.l2tp import encode_datagram
from vcmts.witness.uepi import (
    Equalizer,
    OfdmaHeader,
    OfdmaTrailer,
    ScQamHeader,
    ScQamTrailer,
    TrailerFlag,
    encode_header,
    encode_trailer,
)
from witness.cable_modem import (
    RNG_REQ,
    FrameOptions,
    management_frame,
    management_message,
    packet_frame,
)
from witness.rig import GAP_NS, Cases, Rig
from witness.sample import UPSTREAM
from witness.subscriber import arp_frame, ip_frame, numbered_frame, udp_frame

CONFIG = parse_config(UPSTREAM)


SC_QAM, OFDMA, RECORDS, RANGING = 0x20001, 0x20002, 0x20012, 0x20021


PLAIN = CONFIG.modems[1]


CORE, RPD = IPv4Address("192.168.1.1"), IPv4Address("192.168.1.2")


MS = 10**6


FRAME = packet_frame(
    PLAIN.security, 10, numbered_frame(PLAIN.addresses[0], 0, 60), FrameOptions(None)
)


FEC = TrailerFlag.FEC_VALID


def head(sid: int = 10, iuc: int = 5) -> Segment:
    return Segment(encode_header(ScQamHeader(iuc, sid, 0)), True, False)


def body(data: bytes = FRAME) -> Segment:
    return Segment(data, False, False)


def tail(lost: int = 0, flags: TrailerFlag = FEC) -> Segment:
    return Segment(encode_trailer(ScQamTrailer(1, 0, lost, 0, flags)), False, True)


# The segments of a whole burst, and its payload in two segments.
WHOLE = (head(), body(), tail())


PARTS = (body(FRAME[:20]), body(FRAME[20:]))


case = Cases()


def good(rig: Rig) -> bytes:
    """A packet with one whole burst."""
    return rig.l2tp(SC_QAM, encode_psp(Psp(7, WHOLE)))


def patched(packet: bytes, at: int, new: bytes) -> bytes:
    """A packet with `new` at offset `at`, and with a correct IPv4 checksum."""
    packet = packet[:at] + new + packet[at + len(new) :]
    header = packet[14:24] + b"\0\0" + packet[26:34]
    return packet[:24] + internet_checksum(header).to_bytes(2, "big") + packet[26:]


# Packets


@case({"outer_runt": 2}, received=2, received_bytes=13, psp_packets=0)
def outer_runt(rig: Rig) -> None:
    rig.put(b"")
    rig.put(good(rig)[:13])


@case({"not_l2tp": 5})
def not_l2tp(rig: Rig) -> None:
    rig.put(arp_frame(RPD, CORE))
    rig.put(arp_frame(RPD, CORE)[:30])
    rig.put(udp_frame(RPD, CORE, (1700, 1702), bytes(20)))
    rig.put(ip_frame(RPD, CORE, 6, bytes(20)))
    rig.put(good(rig)[:12] + bytes.fromhex("88A80000") + good(rig)[12:])


@case({"outer_ip_header": 3})
def outer_ip_header(rig: Rig) -> None:
    rig.put(good(rig)[:33])
    rig.put(patched(good(rig), 14, b"\x65"))
    rig.put(patched(good(rig), 14, b"\x44"))


@case({"outer_ip_length": 3})
def outer_ip_length(rig: Rig) -> None:
    rig.put(good(rig)[:-1])
    rig.put(patched(good(rig), 16, b"\x00\x13"))
    over_udp = rig.l2tp(SC_QAM, encode_psp(Psp(7, WHOLE)), udp=True)
    rig.put(patched(over_udp, 38, b"\x00\x07"))


@case({"outer_ip_checksum": 1})
def outer_ip_checksum(rig: Rig) -> None:
    packet = good(rig)
    rig.put(packet[:22] + b"\x3f" + packet[23:])


@case({"outer_fragment": 2})
def outer_fragment(rig: Rig) -> None:
    rig.put(patched(good(rig), 20, b"\x20\x00"))
    rig.put(patched(good(rig), 20, b"\x00\x01"))


@case({"outer_address": 2})
def outer_address(rig: Rig) -> None:
    carrier = rig.config.rphy.carrier
    rig.put(encode_datagram(carrier, SC_QAM, encode_psp(Psp(7, WHOLE))))
    stranger = replace(rig.config.upstream_carrier(), source=IPv4Address("192.168.1.3"))
    rig.put(encode_datagram(stranger, SC_QAM, encode_psp(Psp(7, WHOLE))))


@case({"l2tp_version": 1})
def l2tp_version(rig: Rig) -> None:
    packet = rig.l2tp(SC_QAM, encode_psp(Psp(7, WHOLE)), udp=True)
    rig.put(packet[:43] + b"\x02" + packet[44:])


@case({"l2tp_truncated": 3})
def l2tp_truncated(rig: Rig) -> None:
    rig.put(ip_frame(RPD, CORE, 115, bytes(3)))
    rig.put(ip_frame(RPD, CORE, 17, bytes(7)))
    rig.put(udp_frame(RPD, CORE, (1701, 1701), b"\x00\x03\x00\x00\x00\x02\x00"))


@case({"l2tp_control": 2})
def l2tp_control(rig: Rig) -> None:
    rig.put(rig.l2tp(0, bytes.fromhex("C803000C000000000000")))
    rig.put(udp_frame(RPD, CORE, (1701, 1701), bytes.fromhex("C803000C0000000000000000")))


@case({"unknown_session": 2})
def unknown_session(rig: Rig) -> None:
    rig.put(rig.l2tp(0x20003, encode_psp(Psp(7, WHOLE))))
    rig.put(rig.l2tp(0x10001, encode_psp(Psp(7, WHOLE))))  # of the downstream


@case({"psp_truncated": 3})
def psp_truncated(rig: Rig) -> None:
    whole = encode_psp(Psp(7, WHOLE))
    for length in (3, 9, len(whole) - 1):
        rig.put(rig.l2tp(SC_QAM, whole[:length]))


@case({"psp_control": 1, "psp_extended": 1, "psp_trailing": 1})
def psp_header_bits(rig: Rig) -> None:
    rig.put(rig.l2tp(SC_QAM, encode_psp(Psp(7, WHOLE, vccv=True, header_extension=1))))
    rig.put(rig.l2tp(SC_QAM, encode_psp(Psp(7, WHOLE, header_extension=2))))
    rig.put(rig.l2tp(SC_QAM, encode_psp(Psp(7, WHOLE)) + b"\0"))


@case({}, psp_packets=3, psp_segments=6, transmitted=2)
def allowed_packets(rig: Rig) -> None:
    """A VLAN tag, no sequence number, no segments."""
    packet = good(rig)
    rig.put(packet[:12] + bytes.fromhex("81000005") + packet[12:])
    rig.psp(SC_QAM, None, *WHOLE)
    rig.put(rig.l2tp(SC_QAM, bytes.fromhex("40000008")))


# The order of packets


@case({"psp_duplicate": 2}, psp_packets=3, psp_gaps=0, psp_reordered=1, transmitted=3)
def psp_duplicate(rig: Rig) -> None:
    """65534 was delivered; 0 is pending when it is repeated."""
    for number in (65534, 0, 65534, 0, 65535):
        rig.psp(SC_QAM, number, *WHOLE)


@case({"psp_late": 2}, psp_packets=2, psp_gaps=1, psp_missing=33, transmitted=2)
def psp_late(rig: Rig) -> None:
    """34 is 33 ahead of the missing 1, one more than the window."""
    for number in (0, 34, 1, 65535):
        rig.psp(SC_QAM, number, *WHOLE)


@case({}, psp_packets=34, psp_gaps=0, psp_reordered=32, transmitted=34)
def reorder_window_of_32(rig: Rig) -> None:
    """33 is 32 ahead of the missing 1. All numbers between arrive later."""
    for number in (0, 33, *range(1, 33)):
        rig.psp(SC_QAM, number, *WHOLE)


@case({}, psp_packets=4, psp_gaps=2, psp_missing=31, transmitted=4)
def two_gaps(rig: Rig) -> None:
    """34 makes the queue skip 1 and deliver 2 and 3. Then 34 is pending until the timer expires."""
    for number in (0, 2, 3, 34):
        rig.psp(SC_QAM, number, *WHOLE)


@case({"psp_late": 1}, psp_packets=3, psp_gaps=1, psp_missing=1, transmitted=3)
def reorder_timeout(rig: Rig) -> None:
    rig.psp(SC_QAM, 0, *WHOLE)
    rig.wait(50 * MS)  # nothing is missing yet
    rig.psp(SC_QAM, 2, *WHOLE)
    rig.wait(5 * MS)
    rig.psp(SC_QAM, 1, *WHOLE, flow=0)
    rig.psp(SC_QAM, 3, *WHOLE)


@case({"psp_duplicate": 63, "psp_late": 1}, psp_resyncs=1, psp_packets=66, psp_gaps=0)
def psp_resync(rig: Rig) -> None:
    """The device restarts at 0: 64 packets are dropped, the last of which was never delivered."""
    for number in range(64):
        rig.psp(SC_QAM, number, *WHOLE)
    for number in (*range(1, 64), 65535, 0, 1):
        rig.psp(SC_QAM, number, *WHOLE)


@case({"psp_duplicate": 1, "psp_late": 1}, psp_resyncs=1, psp_packets=6, psp_missing=0)
def psp_resync_after_silence(rig: Rig) -> None:
    """An old number resynchronizes after a second without packets, not before."""
    for number in (7, 8, 9):
        rig.psp(SC_QAM, number, *WHOLE)
    rig.wait(1000 * MS - 2 * GAP_NS)
    rig.psp(SC_QAM, 8, *WHOLE)
    rig.wait(1000 * MS - GAP_NS)
    for number in (0, 1, 2, 65535):
        rig.psp(SC_QAM, number, *WHOLE)


@case({"psp_duplicate": 64}, psp_resyncs=0, psp_packets=65)
def no_resync_after_packet_in_order(rig: Rig) -> None:
    """One packet in order is among the duplicates."""
    for number in (*range(64), *range(32), 64, *range(32, 64)):
        rig.psp(SC_QAM, number, *WHOLE)


@case({"psp_late": 1, "psp_duplicate": 1}, psp_packets=66)
def history_of_64_packets(rig: Rig) -> None:
    """After 65, the history has 2 to 65: 2 is a duplicate, 1 is late."""
    for number in (*range(66), 1, 2):
        rig.psp(SC_QAM, number, *WHOLE)


@case({}, psp_packets=4, psp_gaps=0)
def sequence_per_psp_flow(rig: Rig) -> None:
    for number, flow in ((10, 0), (500, 1), (11, 0), (501, 1)):
        rig.psp(SC_QAM, number, *WHOLE, flow=flow)


# Bursts


@case({"burst_headless": 2}, bursts=3, segments=1, transmitted=1)
def burst_headless(rig: Rig) -> None:
    """All segments up to the next header count as one burst."""
    rig.psp(SC_QAM, 0, body(), tail(), body(), *WHOLE, tail())


@case({"burst_gap": 1}, bursts=2, segments=1, psp_gaps=1, psp_missing=1, transmitted=1)
def burst_gap(rig: Rig) -> None:
    rig.psp(SC_QAM, 0, head(), PARTS[0])
    rig.psp(SC_QAM, 2, PARTS[1], tail(), body(), *WHOLE)


@case({"burst_headless": 1}, bursts=3, psp_missing=1, transmitted=2)
def gap_between_bursts(rig: Rig) -> None:
    """No burst was open at the gap, so the following segments have no header."""
    rig.psp(SC_QAM, 0, *WHOLE)
    rig.psp(SC_QAM, 2, *PARTS, tail(), *WHOLE)


@case({"burst_broken": 1}, bursts=2, transmitted=1)
def burst_broken(rig: Rig) -> None:
    rig.psp(SC_QAM, 0, head(), body(), *WHOLE)


@case({"burst_header": 4}, bursts=5, transmitted=1)
def burst_header(rig: Rig) -> None:
    """Header and trailer in one segment, one byte too few or too many, and an OFDMA header."""
    long = Segment(head().data + b"\0", True, False)
    short = Segment(head().data[:7], True, False)
    other = Segment(encode_header(OfdmaHeader(5, 10, 0, 0, 2048)), True, False)
    both = Segment(head().data, True, True)
    rig.psp(SC_QAM, 0, both, body(), tail(), long, body(), tail(), short, tail(), other)
    rig.psp(SC_QAM, 1, *WHOLE)


def ofdma(header: bytes, trailer: bytes) -> tuple[Segment, ...]:
    """A burst with the payload FRAME."""
    return Segment(header, True, False), body(), Segment(trailer, False, True)


OFDMA_HEADER = encode_header(OfdmaHeader(5, 3, 0, 7, 2048))


@case({"burst_trailer": 3, "burst_header": 1}, bursts=4, fec_uncorrectable=0)
def burst_trailer(rig: Rig) -> None:
    of_8 = encode_trailer(OfdmaTrailer(8, 1, 0, 1, flags=FEC))
    of_7 = encode_trailer(OfdmaTrailer(7, 1, 0, 1, flags=FEC))
    for number, trailer in enumerate((of_8, of_7[:-1], b"\x80" + of_7[1:])):
        rig.psp(OFDMA, number, *ofdma(OFDMA_HEADER, trailer))
    rig.psp(OFDMA, 3, *ofdma(b"\x90" + OFDMA_HEADER[1:], of_7))


@case({}, odd_trailers=3, transmitted=5, fec_uncorrectable=2 + 3 + 4)
def odd_trailers(rig: Rig) -> None:
    """Truncated, too long, a vendor field of wrong size. The first eight bytes are valid."""
    block = Equalizer(0, 0, 0, bytes(96))
    known = encode_trailer(ScQamTrailer(1, 0, 4, 0, FEC, block))
    trailers = [
        tail(1).data[:7],
        tail(2).data + b"\0",
        encode_trailer(ScQamTrailer(1, 0, 3, 0, FEC))[:1] + b"\x09" + tail(3).data[2:],
        known,
        tail(9, TrailerFlag(0)).data,  # codewords are not valid
    ]
    for number, trailer in enumerate(trailers):
        rig.psp(SC_QAM, number, head(), body(), Segment(trailer, False, True))


@case({"burst_too_long": 2}, bursts=3, transmitted=1, padding_bytes=65535 - len(FRAME))
def burst_too_long(rig: Rig) -> None:
    """The maximum is 65,535 bytes in 64 segments."""
    segments: list[Segment] = []
    for size, pieces in ((65536, 64), (65, 65), (65535, 64)):
        data = (FRAME + bytes(size))[:size]
        parts = [data[size * n // pieces : size * (n + 1) // pieces] for n in range(pieces)]
        segments += [head(), *(body(part) for part in parts), tail()]
    for number, segment in enumerate(segments):
        rig.psp(SC_QAM, number, segment)


@case({"burst_timeout": 1}, bursts=2, transmitted=1)
def burst_timeout(rig: Rig) -> None:
    rig.psp(SC_QAM, 0, head(), PARTS[0])
    rig.wait(500 * MS)
    rig.psp(SC_QAM, 1, PARTS[1], tail(), *WHOLE)


@case({"unknown_sid": 1}, bursts=3, no_bursts=2, segments=0)
def unknown_sid(rig: Rig) -> None:
    """SID 3 is of the other channel. The SID of an empty burst is not checked."""
    rig.psp(SC_QAM, 0, head(3), body(), tail(), head(3), tail(), head(10), tail())


@case({"not_ranging": 2, "unknown_sid": 1}, management=1, segments=3, requests=0)
def ranging_accepts_any_sid(rig: Rig) -> None:
    request = encode_request(Request(10, 1))
    rig.psp(RANGING, 1, head(), body(request), tail())
    message = management_frame(management_message(PLAIN.mac, RNG_REQ, b"x"))
    rig.psp(RANGING, 2, head(0x3FFF), body(message), tail(), head(10), body(), tail())
    rig.psp(SC_QAM, 0, head(0x3FFF), body(message), tail())


@case({"not_ranging": 1}, requests=2, bad_requests=1, request_frames=3, management=1, transmitted=0)
def request_region_accepts_any_sid(rig: Rig) -> None:
    """The SID of the burst may be of a flow with segment headers, or unknown."""
    for number, (of, sid) in enumerate([(11, 10), (0x3FFF, 20), (10, 9)]):
        rig.psp(SC_QAM, number, head(of, iuc=1), body(encode_request(Request(sid, 1))), tail())
    message = management_frame(management_message(PLAIN.mac, RNG_REQ, b"x"))
    rig.psp(SC_QAM, 3, head(10, iuc=1), body(message), tail(), head(10, iuc=1), body(), tail())


@case({}, bad_requests=3, requests=0, psp_packets=1)
def bad_requests(rig: Rig) -> None:
    record = bytes.fromhex("57 05 0010 0003 0003 01556601 00020002")
    rig.psp(RECORDS, 0, Segment(record[:15]), Segment(record, True, False), Segment(record + b"\0"))
