# SPDX-License-Identifier: BSD-3-Clause
"""Whole frames, and what must be counted for them: found by hand."""

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
    Dress,
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
    packet,
    plain,
    segment,
    send,
    spoilt,
    whole,
)
from witness.sample import UPSTREAM
from witness.subscriber import arp_frame, ip_frame, numbered_frame, udp_frame

CONFIG = parse_config(UPSTREAM)
MS = 10**6
case = Cases()


def keyed(number: int = 0, **changes: object) -> bytes:
    """A frame of the modem of service flow 101, with privacy changed."""
    security = replace(KEYED.security, **changes)  # type: ignore[arg-type]
    return packet_frame(security, 1, numbered_frame(KEYED.addresses[0], number, 60))


# Messages, requests, concatenation

MESSAGE = management_message(PLAIN.mac, RNG_REQ, b"body")


@case({"management_crc": 1}, management=1, frames=2, transmitted=0)
def management(rig: Rig) -> None:
    whole(rig, management_frame(MESSAGE), spoilt(management_frame(MESSAGE), 30))


@case({}, request_frames=2, requests=2, concatenations=1, transmitted=2, frames=5)
def requests_and_concatenation(rig: Rig) -> None:
    """The number of frames and LEN of a concatenation are not asked."""
    frames = [encode_request(Request(10, 1)), encode_request(Request(10, 1, queue_depth=True))]
    whole(rig, concatenate([plain(), b"", b""])[0], plain(), *frames, plain())


@case({"frame_gap": 1, "frame_runt": 1}, requests=2, frames=3, transmitted=1)
def requests_of_good_headers(rig: Rig) -> None:
    """The request of a frame that is lost counts, but not that of one with a bad header."""
    asking = packet_frame(PLAIN.security, 11, packet(), Dress(None, request=5))
    runt = encode_frame(Frame(b"", (RawElement(1, b"\x05\x00\x0b"),)))
    send(rig, segment(0, runt + asking[:12], 0), segment(2, asking, 0))


@case({}, requests=1, bad_requests=2, request_frames=3)
def requests_of_others(rig: Rig) -> None:
    """For another service flow of the modem; for a SID of another modem, for one of nobody."""
    whole(rig, *(encode_request(Request(sid, 1)) for sid in (11, 20, 9)))


# Privacy


def secret(rig: Rig, *frames: bytes) -> None:
    """Of service flow 101."""
    stream = b"".join(frames)
    rig.burst(1, 1, segment(0, stream, 0, cluster=0), segmented=True)


@case({"privacy_missing": 3}, transmitted=1, decrypted=1, clear=0)
def privacy_missing(rig: Rig) -> None:
    """Without element, without EN, with one of the downstream."""
    ethernet = numbered_frame(KEYED.addresses[0], 0, 60)
    pdu = ethernet + frame_check_sequence(ethernet)
    down = encode_frame(Frame(pdu, (BpDown(15, True, 1, 1),)))
    secret(
        rig, packet_frame(KEYED.security, 1, ethernet, Dress(None)), keyed(key=None), down, keyed()
    )


@case({"key_unknown": 3}, transmitted=2, decrypted=2)
def key_unknown(rig: Rig) -> None:
    """Generations 15 and 0 are known; not 14, not 1, not 15 with the toggle of even ones."""
    ethernet = numbered_frame(KEYED.addresses[0], 0, 60)
    toggled = encode_frame(Frame(keyed()[10:], (BpUp(15, True, 0, 1),)))
    good = packet_frame(KEYED.security, 1, ethernet, Dress(next_key=True))
    secret(rig, keyed(key_sequence=14), keyed(key_sequence=1), toggled, keyed(), good)


@case({"key_unknown": 1, "privacy_sid": 1}, transmitted=1, clear=1)
def privacy_without_key(rig: Rig) -> None:
    """EN from a modem without key; a foreign SID in an element that says nothing else."""
    security = replace(PLAIN.security, key=bytes(16), iv=bytes(16))
    foreign = packet_frame(PLAIN.security, 1, packet())
    whole(rig, packet_frame(security, 10, packet()), foreign)
    whole(rig, packet_frame(PLAIN.security, 10, packet()))


@case({"privacy_sid": 3}, transmitted=1, decrypted=1)
def privacy_sid(rig: Rig) -> None:
    """SID 3 is of another service flow of the modem, SID 2 of another cluster of the same. That is
    asked before the key."""
    ethernet = numbered_frame(KEYED.addresses[0], 0, 60)
    clear, unknown = (
        replace(KEYED.security, **new) for new in ({"key": None}, {"key_sequence": 9})
    )
    foreign = [packet_frame(security, 3, ethernet) for security in (clear, unknown)]
    secret(rig, *(packet_frame(KEYED.security, sid, ethernet) for sid in (3, 2)), *foreign)


@case({"frame_crc": 2}, transmitted=1, decrypted=2, clear=1, frames=3)
def frame_crc(rig: Rig) -> None:
    """A bit of a packet, the wrong key."""
    secret(rig, keyed(key=bytes(16)), keyed())
    whole(rig, spoilt(plain(), 40))


# Fragments

INSIDE = packet_frame(OLD.security, 20, numbered_frame(OLD.addresses[0], 0, 60), Dress(None))


def old(rig: Rig, *frames: bytes) -> None:
    whole(rig, *frames, sid=20)


@case({}, fragments=4, frames=4 + 4, transmitted=3, concatenations=1, decrypted=4, clear=3)
def fragments(rig: Rig) -> None:
    """Numbered from anywhere, over several bursts, alone; a concatenation inside."""
    first, second, third = fragment(OLD.security, 20, INSIDE, [1, 60], 15)
    old(rig, first, second)
    old(rig, third, *fragment(OLD.security, 20, b"".join(concatenate([INSIDE, INSIDE])), []))


@case({"fragment_crc": 1, "fragment_order": 2}, fragments=0, transmitted=0, frames=3)
def fragment_crc(rig: Rig) -> None:
    """The others do not follow each other without it."""
    first, second, third = fragment(OLD.security, 20, INSIDE, [20, 40])
    old(rig, first, spoilt(second, 15), third)


@case({"fragment_order": 4}, fragments=1, transmitted=1)
def fragment_order(rig: Rig) -> None:
    """The last one alone; a first one before the last; one that is first and last."""
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
    """65,542 bytes are one too many."""
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
    """What was joined is in the clear."""
    inside = packet_frame(OLD.security, 20, numbered_frame(OLD.addresses[0], 0, 60))
    old(rig, *fragment(OLD.security, 20, inside, []))


@case({"frame_reserved": 1}, fragments=1, transmitted=1, frames=3)
def fragment_inside_a_fragment(rig: Rig) -> None:
    nested = fragment(OLD.security, 20, INSIDE, [])[0]
    old(rig, *fragment(OLD.security, 20, nested + INSIDE, []))


@case({}, fragments=1, request_frames=1, requests=1, requests_repeated=0, extracted=2)
def request_inside_a_fragment(rig: Rig) -> None:
    """Made on the channel where the fragment's header ended; the other one has records."""
    (data,) = fragment(KEYED.security, 1, encode_request(Request(1, 3)), [])
    rig.burst(1, 1, segment(0, data[:15], 0, cluster=0), segmented=True)
    rig.burst(2, 1, segment(1, data[15:], cluster=0), segmented=True)


@case({"privacy_missing": 1}, fragments=0)
def fragment_in_the_clear(rig: Rig) -> None:
    old(rig, fragment(replace(OLD.security, key=None), 20, INSIDE, [])[0])


NOBODY, ANYBODY = IPv4Address(0), IPv4Address("255.255.255.255")


LINK, GROUP, UNSET = IPv6Address("fe80::5"), IPv6Address("ff02::2"), IPv6Address(0)


def icmpv6(kind: int) -> bytes:
    return bytes([kind]) + bytes(7)


HOP_BY_HOP = bytes([58, 0, 5, 2, 0, 0, 1, 0])  # router alert before ICMPv6, as in MLD
# Frames of the modem without key, and whether it may send them.
SOURCES: list[tuple[bytes, bool]] = [
    (udp_frame(NOBODY, ANYBODY, (68, 67)), True),
    (udp_frame(NOBODY, ANYBODY, (1024, 67)), True),
    (udp_frame(NOBODY, ANYBODY, (67, 68)), False),
    (ip_frame(NOBODY, IPv4Address("224.0.0.22"), 2, bytes(16)), True),  # IGMP
    (ip_frame(IPv4Address("10.0.0.9"), IPv4Address("224.0.0.22"), 2, bytes(16)), False),
    (udp_frame(IPv4Address("10.0.0.9"), ANYBODY, (68, 67)), False),
    (ip_frame(NOBODY, ANYBODY, 6, bytes.fromhex("00440043") + bytes(16)), False),
    (arp_frame(NOBODY, ANYBODY), True),
    (arp_frame(IPv4Address("10.0.0.2"), ANYBODY), True),
    (arp_frame(IPv4Address("10.0.0.9"), ANYBODY), False),
    *((ip_frame(UNSET, GROUP, 58, icmpv6(kind)), True) for kind in (131, 132, 133, 135, 143)),
    *((ip_frame(UNSET, GROUP, 58, icmpv6(kind)), False) for kind in (0, 128, 130, 134, 136, 137)),
    (ip_frame(UNSET, GROUP, 58, b""), False),
    (ip_frame(UNSET, GROUP, 0, HOP_BY_HOP + icmpv6(143)), True),
    (ip_frame(UNSET, GROUP, 0, HOP_BY_HOP + icmpv6(128)), False),
    (ip_frame(LINK, GROUP, 58, bytes(8)), True),
    (ip_frame(IPv6Address("febf::1"), GROUP, 58, bytes(8)), True),
    (ip_frame(IPv6Address("fec0::1"), GROUP, 58, bytes(8)), False),
    (ip_frame(LINK, GROUP, 0, HOP_BY_HOP + bytes(8)), True),
    (udp_frame(LINK, GROUP, (546, 547)), True),
    (udp_frame(LINK, GROUP, (40000, 547)), True),
    (udp_frame(LINK, GROUP, (547, 546)), False),
    (udp_frame(UNSET, GROUP, (546, 547)), False),
    (udp_frame(IPv6Address("2001:db8::9"), GROUP, (546, 547)), False),
    (udp_frame(IPv6Address("2001:db8::2"), GROUP, (1, 2)), True),
]


def subscribers(rig: Rig, *frames: bytes) -> None:
    """Of the modem without key."""
    for ethernet in frames:
        whole(rig, packet_frame(PLAIN.security, 10, ethernet, Dress(None)))


@case(
    {"source_address": sum(not allowed for _, allowed in SOURCES)},
    transmitted=sum(allowed for _, allowed in SOURCES),
)
def source_addresses(rig: Rig) -> None:
    subscribers(rig, *(frame for frame, _ in SOURCES))


@case({"source_rate": 25}, transmitted=202)
def source_rate(rig: Rig) -> None:
    """200 at once, and then one in 10 ms; an own address is not limited."""
    own = udp_frame(PLAIN.addresses[0], ANYBODY, (1, 2))
    sets = [*[SOURCES[0][0]] * 112, *[arp_frame(NOBODY, ANYBODY)] * 113, own, own]
    subscribers(rig, *sets)


@case({}, transmitted=2, transmitted_bytes=2 * 60, ipv4=2)
def priority_tag(rig: Rig) -> None:
    """Of VLAN 0: as untagged. What is too short for Ethernet gets bytes behind it."""
    short = udp_frame(PLAIN.addresses[0], ANYBODY, (1, 2))
    subscribers(rig, short, short[:12] + b"\x81\x00\xe0\x00" + short[12:])


@case({"frame_phs": 1}, transmitted=2)
def header_suppression(rig: Rig) -> None:
    """Index 0 says that nothing is suppressed; of the second byte, grants, nothing is asked."""
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
    """The checksum of its header is asked; a protocol that is not IP passes."""
    good = packet()
    subscribers(rig, spoilt(good, 24), good[:14] + b"\x44" + good[15:])
    subscribers(rig, good[:16] + b"\xff" + good[17:], numbered_frame(KEYED.addresses[0], 0, 60))
    subscribers(
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
    subscribers(rig, spoilt(six, 14), six[:14] + b"\x50" + six[15:], six[:-1])
    arp = arp_frame(IPv4Address("10.0.0.2"), IPv4Address(1))
    subscribers(rig, arp, arp[:-1])
