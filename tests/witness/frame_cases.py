# SPDX-License-Identifier: BSD-3-Clause
"""Test cases with MAC frames, and the drops and counters expected for each, determined by hand."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

from vcmts.witness import bpi
from vcmts.witness.config import parse_config
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.docsis import (
    FC_PARM_FRAGMENT,
    FC_TYPE_MAC,
    Frame,
    Request,
    encode_frame,
    encode_request,
)
from vcmts.witness.ehdr import BpDown, BpUp, RawElement
from witness.cable_modem import (
    RNG_REQ,
    FrameOptions,
    concatenate,
    fragment,
    management_frame,
    management_message,
    packet_frame,
)
from witness.rig import (
    KEYED,
    OLD,
    PLAIN,
    Cases,
    Rig,
    corrupted,
    packet,
    plain,
    segment,
    send,
    whole,
)
from witness.sample import UPSTREAM
from witness.subscriber import arp_frame, ip_frame, numbered_frame, udp_frame

CONFIG = parse_config(UPSTREAM)
MS = 10**6
case = Cases()


def encrypted_frame(number: int = 0, **changes: object) -> bytes:
    """A frame of service flow 101. `changes`: of the modem's Security."""
    security = replace(KEYED.security, **changes)  # type: ignore[arg-type]
    return packet_frame(security, 1, numbered_frame(KEYED.addresses[0], number, 60))


# Messages, requests, concatenation

MESSAGE = management_message(PLAIN.mac, RNG_REQ, b"body")


@case({"management_crc": 1}, management=1, frames=2, transmitted=0)
def management(rig: Rig) -> None:
    whole(rig, management_frame(MESSAGE), corrupted(management_frame(MESSAGE), 30))


@case({}, request_frames=2, requests=2, concatenations=1, transmitted=2, frames=5)
def requests_and_concatenation(rig: Rig) -> None:
    """The frame count and LEN of a concatenation are not checked."""
    frames = [encode_request(Request(10, 1)), encode_request(Request(10, 1, queue_depth=True))]
    whole(rig, concatenate([plain(), b"", b""])[0], plain(), *frames, plain())


@case({"frame_gap": 1, "frame_runt": 1}, requests=2, frames=3, transmitted=1)
def requests_in_good_headers(rig: Rig) -> None:
    """Requests of lost frames count; those in invalid headers do not."""
    requesting = packet_frame(PLAIN.security, 11, packet(), FrameOptions(None, request=5))
    runt = encode_frame(Frame(b"", (RawElement(1, b"\x05\x00\x0b"),)))
    send(rig, segment(0, runt + requesting[:12], 0), segment(2, requesting, 0))


@case({}, requests=1, bad_requests=2, request_frames=3)
def requests_for_foreign_sids(rig: Rig) -> None:
    """SIDs of another service flow of the modem, of another modem, and an unknown SID."""
    whole(rig, *(encode_request(Request(sid, 1)) for sid in (11, 20, 9)))


# Privacy


def send_encrypted(rig: Rig, *frames: bytes) -> None:
    """Sends frames in service flow 101, whose modem has a key."""
    stream = b"".join(frames)
    rig.burst(1, 1, segment(0, stream, 0, cluster=0), segmented=True)


@case({"privacy_missing": 3}, transmitted=1, decrypted=1, clear=0)
def privacy_missing(rig: Rig) -> None:
    """No privacy element, EN not set, and the element of the downstream."""
    ethernet = numbered_frame(KEYED.addresses[0], 0, 60)
    pdu = ethernet + frame_check_sequence(ethernet)
    down = encode_frame(Frame(pdu, (BpDown(15, True, 1, 1),)))
    send_encrypted(
        rig,
        packet_frame(KEYED.security, 1, ethernet, FrameOptions(None)),
        encrypted_frame(key=None),
        down,
        encrypted_frame(),
    )


@case({"key_unknown": 3}, transmitted=2, decrypted=2)
def key_unknown(rig: Rig) -> None:
    """Key sequence numbers 15 and 0 are known; not 14, not 1, not 15 with toggle 0."""
    ethernet = numbered_frame(KEYED.addresses[0], 0, 60)
    toggled = encode_frame(Frame(encrypted_frame()[10:], (BpUp(15, True, 0, 1),)))
    good = packet_frame(KEYED.security, 1, ethernet, FrameOptions(next_key=True))
    send_encrypted(
        rig,
        encrypted_frame(key_sequence=14),
        encrypted_frame(key_sequence=1),
        toggled,
        encrypted_frame(),
        good,
    )


@case({"key_unknown": 1, "privacy_sid": 1}, transmitted=1, clear=1)
def privacy_without_key(rig: Rig) -> None:
    """EN set by a modem without key; a foreign SID in an element without EN."""
    security = replace(PLAIN.security, key=bytes(16), iv=bytes(16))
    foreign = packet_frame(PLAIN.security, 1, packet())
    whole(rig, packet_frame(security, 10, packet()), foreign)
    whole(rig, packet_frame(PLAIN.security, 10, packet()))


@case({"privacy_sid": 3}, transmitted=1, decrypted=1)
def privacy_sid(rig: Rig) -> None:
    """SID 3 is of another service flow, SID 2 of another cluster of the same flow. The SID is
    checked before the key."""
    ethernet = numbered_frame(KEYED.addresses[0], 0, 60)
    clear, unknown = (
        replace(KEYED.security, **new) for new in ({"key": None}, {"key_sequence": 9})
    )
    foreign = [packet_frame(security, 3, ethernet) for security in (clear, unknown)]
    send_encrypted(rig, *(packet_frame(KEYED.security, sid, ethernet) for sid in (3, 2)), *foreign)


@case({"frame_crc": 2}, transmitted=1, decrypted=2, clear=1, frames=3)
def frame_crc(rig: Rig) -> None:
    """A wrong bit, and a wrong key."""
    send_encrypted(rig, encrypted_frame(key=bytes(16)), encrypted_frame())
    whole(rig, corrupted(plain(), 40))


# Fragments

# A clear frame of modem OLD, to be fragmented.
INSIDE = packet_frame(OLD.security, 20, numbered_frame(OLD.addresses[0], 0, 60), FrameOptions(None))


def old(rig: Rig, *frames: bytes) -> None:
    """Sends frames as modem OLD, in one burst."""
    whole(rig, *frames, sid=20)


@case({}, fragments=4, frames=4 + 4, transmitted=3, concatenations=1, decrypted=4, clear=3)
def fragments(rig: Rig) -> None:
    """Any first number, in several bursts, a single fragment; a concatenation inside."""
    first, second, third = fragment(OLD.security, 20, INSIDE, [1, 60], 15)
    old(rig, first, second)
    old(rig, third, *fragment(OLD.security, 20, b"".join(concatenate([INSIDE, INSIDE])), []))


@case({"fragment_crc": 1, "fragment_order": 2}, fragments=0, transmitted=0, frames=3)
def fragment_crc(rig: Rig) -> None:
    """The dropped fragment makes the other two out of order."""
    first, second, third = fragment(OLD.security, 20, INSIDE, [20, 40])
    old(rig, first, corrupted(second, 15), third)


@case({"fragment_order": 4}, fragments=1, transmitted=1)
def fragment_order(rig: Rig) -> None:
    """A last fragment alone; a first fragment before the last; one that is first and last."""
    first, second, third = fragment(OLD.security, 20, INSIDE, [20, 40])
    old(rig, third, first, second, first, *fragment(OLD.security, 20, INSIDE, []))


@case({"fragment_order": 3}, fragments=0)
def fragment_repeated(rig: Rig) -> None:
    first, second, _ = fragment(OLD.security, 20, INSIDE, [20, 40])
    old(rig, first, second, second)


@case({"frame_runt": 1}, frames=4, fragments=2, transmitted=1)
def fragment_without_payload(rig: Rig) -> None:
    element = BpUp(2, True, 0, 20, minislots=0, fragment=0x10)
    pdu = bpi.encrypt(bytes(4), OLD.security.key or b"", OLD.security.iv)
    empty = encode_frame(Frame(pdu, (element,), FC_TYPE_MAC, FC_PARM_FRAGMENT))
    first, second = fragment(OLD.security, 20, INSIDE, [20])
    old(rig, first, empty, second)


@case({"fragment_too_long": 33}, frames=33 + 33, fragments=33, padding_bytes=65541)
def fragment_too_long(rig: Rig) -> None:
    """The maximum is 65,541 bytes."""
    for size in (65542, 65541):
        for frame in fragment(OLD.security, 20, bytes(size), range(0, size, 2000)):
            old(rig, frame)


@case({"frame_timeout": 1, "fragment_order": 1}, frames=2)
def fragment_timeout(rig: Rig) -> None:
    first, second = fragment(OLD.security, 20, INSIDE, [20])
    old(rig, first)
    rig.wait(500 * MS)
    old(rig, second)


@case({"frame_truncated": 1}, fragments=2, transmitted=1, frames=4)
def frames_inside_fragments(rig: Rig) -> None:
    old(rig, *fragment(OLD.security, 20, INSIDE + INSIDE[:-1], [75]))


@case({"key_unknown": 1}, fragments=1, decrypted=1, clear=0)
def encrypted_inside_a_fragment(rig: Rig) -> None:
    """A frame of joined fragments must not be encrypted."""
    inside = packet_frame(OLD.security, 20, numbered_frame(OLD.addresses[0], 0, 60))
    old(rig, *fragment(OLD.security, 20, inside, []))


@case({"frame_reserved": 1}, fragments=1, transmitted=1, frames=3)
def fragment_inside_a_fragment(rig: Rig) -> None:
    nested = fragment(OLD.security, 20, INSIDE, [])[0]
    old(rig, *fragment(OLD.security, 20, nested + INSIDE, []))


@case({}, fragments=1, request_frames=1, requests=1, requests_repeated=0, extracted=2)
def request_inside_a_fragment(rig: Rig) -> None:
    """The request counts on the channel with the end of the fragment's header, as the other channel
    has request records."""
    (data,) = fragment(KEYED.security, 1, encode_request(Request(1, 3)), [])
    rig.burst(1, 1, segment(0, data[:15], 0, cluster=0), segmented=True)
    rig.burst(2, 1, segment(1, data[15:], cluster=0), segmented=True)


@case({"privacy_missing": 1}, fragments=0)
def fragment_in_the_clear(rig: Rig) -> None:
    old(rig, fragment(replace(OLD.security, key=None), 20, INSIDE, [])[0])


UNSPECIFIED, BROADCAST = IPv4Address(0), IPv4Address("255.255.255.255")


LINK_LOCAL, MULTICAST, UNSPECIFIED_V6 = (
    IPv6Address("fe80::5"),
    IPv6Address("ff02::2"),
    IPv6Address(0),
)


def icmpv6(kind: int) -> bytes:
    """An ICMPv6 message without contents."""
    return bytes([kind]) + bytes(7)


HOP_BY_HOP = bytes([58, 0, 5, 2, 0, 0, 1, 0])  # router alert before ICMPv6, as in MLD
# Frames of the modem without key, and whether source verification accepts them.
SOURCES: list[tuple[bytes, bool]] = [
    (udp_frame(UNSPECIFIED, BROADCAST, (68, 67)), True),
    (udp_frame(UNSPECIFIED, BROADCAST, (1024, 67)), True),
    (udp_frame(UNSPECIFIED, BROADCAST, (67, 68)), False),
    (ip_frame(UNSPECIFIED, IPv4Address("224.0.0.22"), 2, bytes(16)), True),  # IGMP
    (ip_frame(IPv4Address("10.0.0.9"), IPv4Address("224.0.0.22"), 2, bytes(16)), False),
    (udp_frame(IPv4Address("10.0.0.9"), BROADCAST, (68, 67)), False),
    (ip_frame(UNSPECIFIED, BROADCAST, 6, bytes.fromhex("00440043") + bytes(16)), False),
    (arp_frame(UNSPECIFIED, BROADCAST), True),
    (arp_frame(IPv4Address("10.0.0.2"), BROADCAST), True),
    (arp_frame(IPv4Address("10.0.0.9"), BROADCAST), False),
    *(
        (ip_frame(UNSPECIFIED_V6, MULTICAST, 58, icmpv6(kind)), True)
        for kind in (131, 132, 133, 135, 143)
    ),
    *(
        (ip_frame(UNSPECIFIED_V6, MULTICAST, 58, icmpv6(kind)), False)
        for kind in (0, 128, 130, 134, 136, 137)
    ),
    (ip_frame(UNSPECIFIED_V6, MULTICAST, 58, b""), False),
    (ip_frame(UNSPECIFIED_V6, MULTICAST, 0, HOP_BY_HOP + icmpv6(143)), True),
    (ip_frame(UNSPECIFIED_V6, MULTICAST, 0, HOP_BY_HOP + icmpv6(128)), False),
    (ip_frame(LINK_LOCAL, MULTICAST, 58, bytes(8)), True),
    (ip_frame(IPv6Address("febf::1"), MULTICAST, 58, bytes(8)), True),
    (ip_frame(IPv6Address("fec0::1"), MULTICAST, 58, bytes(8)), False),
    (ip_frame(LINK_LOCAL, MULTICAST, 0, HOP_BY_HOP + bytes(8)), True),
    (udp_frame(LINK_LOCAL, MULTICAST, (546, 547)), True),
    (udp_frame(LINK_LOCAL, MULTICAST, (40000, 547)), True),
    (udp_frame(LINK_LOCAL, MULTICAST, (547, 546)), False),
    (udp_frame(UNSPECIFIED_V6, MULTICAST, (546, 547)), False),
    (udp_frame(IPv6Address("2001:db8::9"), MULTICAST, (546, 547)), False),
    (udp_frame(IPv6Address("2001:db8::2"), MULTICAST, (1, 2)), True),
]


def send_packets(rig: Rig, *frames: bytes) -> None:
    """Sends Ethernet frames as the modem without key."""
    for ethernet in frames:
        whole(rig, packet_frame(PLAIN.security, 10, ethernet, FrameOptions(None)))


@case(
    {"source_address": sum(not allowed for _, allowed in SOURCES)},
    transmitted=sum(allowed for _, allowed in SOURCES),
)
def source_addresses(rig: Rig) -> None:
    send_packets(rig, *(frame for frame, _ in SOURCES))


@case({"source_rate": 25}, transmitted=202)
def source_rate(rig: Rig) -> None:
    """A burst of 200, then one per 10 ms. Frames with an own address are not limited."""
    own = udp_frame(PLAIN.addresses[0], BROADCAST, (1, 2))
    frames = [*[SOURCES[0][0]] * 112, *[arp_frame(UNSPECIFIED, BROADCAST)] * 113, own, own]
    send_packets(rig, *frames)


@case({}, transmitted=2, transmitted_bytes=2 * 60, ipv4=2)
def priority_tag(rig: Rig) -> None:
    """A priority tag (VLAN 0) is removed. Short frames are padded."""
    short = udp_frame(PLAIN.addresses[0], BROADCAST, (1, 2))
    send_packets(rig, short, short[:12] + b"\x81\x00\xe0\x00" + short[12:])


@case({"frame_phs": 1}, transmitted=2)
def header_suppression(rig: Rig) -> None:
    """Index 0: nothing is suppressed. The second byte (grants) is ignored."""
    ethernet = numbered_frame(PLAIN.addresses[0], 0, 60)
    pdu = ethernet + frame_check_sequence(ethernet)
    for value in (b"\x00", b"\x00\x83", b"\x07"):
        whole(rig, encode_frame(Frame(pdu, (RawElement(6, value),))))


@case(
    {"ipv4_header": 1, "ipv4_length": 1, "ipv4_checksum": 1, "source_address": 1, "vlan": 1},
    transmitted=1,
    ipv4=1,
    llc=1,
)
def malformed_ipv4(rig: Rig) -> None:
    """The header checksum is verified; other protocols pass."""
    good = packet()
    send_packets(rig, corrupted(good, 24), good[:14] + b"\x44" + good[15:])
    send_packets(rig, good[:16] + b"\xff" + good[17:], numbered_frame(KEYED.addresses[0], 0, 60))
    send_packets(
        rig, good[:12] + b"\x81\x00\x00\x05" + good[12:], good[:12] + b"\x88\x63" + good[14:]
    )


@case(
    {"ipv6_header": 1, "ipv6_length": 1, "source_address": 1, "arp_malformed": 1},
    transmitted=1,
    ipv6=1,
    llc=1,
)
def malformed_ipv6_and_arp(rig: Rig) -> None:
    six = udp_frame(IPv6Address(1), IPv6Address(2), (1, 2), bytes(20))
    send_packets(rig, corrupted(six, 14), six[:14] + b"\x50" + six[15:], six[:-1])
    arp = arp_frame(IPv4Address("10.0.0.2"), IPv4Address(1))
    send_packets(rig, arp, arp[:-1])
