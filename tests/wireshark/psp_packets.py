# SPDX-License-Identifier: BSD-3-Clause
"""Makes DOCSIS frames, PSP packets and L2TPv3 control messages, and writes them as captures.

It shares no code with the product or the witness, so that it shares no mistake with them.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

CORE, RPD = "192.168.1.1", "192.168.1.2"
CORE6, RPD6 = "2001:db8::1", "2001:db8::2"
MODEM = bytes.fromhex("020100000001")
GATEWAY = bytes.fromhex("020000000009")
SESSION = 0x00010001


def hcs(header: bytes) -> bytes:
    """CRC-16/X-25, low byte first (MULPI header check sequence)."""
    crc = 0xFFFF
    for byte in header:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return struct.pack("<H", crc ^ 0xFFFF)


def mac_frame(pdu: bytes, *elements: bytes, fc: int = 0x00) -> bytes:
    """A MAC frame with these extended header elements and a correct HCS."""
    ehdr = b"".join(elements)
    header = struct.pack("!BBH", fc | bool(ehdr), len(ehdr), len(ehdr) + len(pdu)) + ehdr
    return header + hcs(header) + pdu


def privacy(said: int, *, enabled: bool) -> bytes:
    return struct.pack("!BBHB", 0x44, 0x11, enabled << 15 | said, 0)


def ds_ehdr(dsid: int, sequence: int) -> bytes:
    return struct.pack("!B", 0x85) + dsid.to_bytes(3, "big") + struct.pack("!H", sequence)


def with_crc(pdu: bytes) -> bytes:
    return pdu + struct.pack("<I", zlib.crc32(pdu))


def ethernet_pdu(size: int, source_port: int = 5000) -> bytes:
    """An Ethernet frame of `size` bytes with CRC, which carries a UDP packet."""
    data = bytes(i & 0xFF for i in range(size - 4 - 14 - 28))
    udp = struct.pack("!HHHH", source_port, 40000, 8 + len(data), 0) + data
    return with_crc(MODEM + GATEWAY + b"\x08\x00" + ipv4("198.51.100.1", "10.0.0.1", 17, udp))


def data_frame(size: int, sequence: int = 0, *, encrypted: bool = False) -> bytes:
    """A packet PDU frame of `size` bytes, with the extended headers of a bonded BPI+ flow."""
    return mac_frame(
        ethernet_pdu(size - 17, 5000 + sequence),
        privacy(1, enabled=encrypted),
        ds_ehdr(0x12345, sequence),
    )


def map_message() -> bytes:
    """A MAP as a MAC management message without MAC header and CRC."""
    elements = struct.pack("!3I", 0xFFFCC000, 0xFFFC4028, 0x0001C140)
    body = struct.pack("!BBBBII4B", 1, 0, 3, 0, 1000, 600, 0, 4, 0, 10) + elements
    llc = struct.pack("!BBBBBB", 0, 0, 3, 1, 3, 0)
    return bytes.fromhex("01e02f000001") + GATEWAY + struct.pack("!H", len(llc + body)) + llc + body


def map_frame() -> bytes:
    return mac_frame(with_crc(map_message()), fc=0xC2)


@dataclass(frozen=True)
class Segment:
    data: bytes
    first: bool = True
    last: bool = True


def split_frame(frame: bytes, *sizes: int) -> list[Segment]:
    """Splits a frame into fragments of these sizes; the last one has the rest."""
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))] + [len(frame)]
    starts = [0, *ends[:-1]]
    return [
        Segment(frame[start:end], start == 0, end == len(frame))
        for start, end in zip(starts, ends, strict=True)
    ]


def psp(sequence: int, *segments: Segment | bytes, extra: bytes = b"", flow: int = 0) -> bytes:
    """A PSP packet. `extra`: bytes between the segment table and the segments."""
    parts = [s if isinstance(s, Segment) else Segment(s) for s in segments]
    table = b"".join(struct.pack("!H", p.first << 15 | p.last << 14 | len(p.data)) for p in parts)
    head = struct.pack("!BBH", 0x40 | flow << 1, len(parts), sequence & 0xFFFF)
    return head + table + extra + b"".join(p.data for p in parts)


def counter(value: int, profile: int = 0) -> bytes:
    """The two bytes after the table of the DEPI subtype: a counter and a profile."""
    return bytes((0, (value & 15) << 4 | profile))


def ipv4(source: str, destination: str, protocol: int, payload: bytes) -> bytes:
    head = struct.pack("!BBHHHBBH", 0x45, 0x10, 20 + len(payload), 0, 0x4000, 64, protocol, 0)
    head += IPv4Address(source).packed + IPv4Address(destination).packed
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:] + payload


def ipv6(source: str, destination: str, protocol: int, payload: bytes) -> bytes:
    head = struct.pack("!IHBB", 6 << 28 | 0x10 << 20, len(payload), protocol, 64)
    return head + IPv6Address(source).packed + IPv6Address(destination).packed + payload


def ethernet(packet: bytes) -> bytes:
    return GATEWAY + MODEM + (b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00") + packet


def ip(source: str, destination: str, protocol: int, payload: bytes) -> bytes:
    build = ipv6 if ip_address(source).version == 6 else ipv4
    return ethernet(build(source, destination, protocol, payload))


def udp(source: str, destination: str, payload: bytes, port: int = 1701) -> bytes:
    head = struct.pack("!HHH", port, port, 8 + len(payload))
    addresses = ip_address(source).packed + ip_address(destination).packed
    data = addresses + struct.pack("!HH", 17, len(head + payload) + 2) + head + payload
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    checksum = struct.pack("!H", ~total & 0xFFFF or 0xFFFF)
    return ip(source, destination, 17, head + checksum + payload)


def depi(body: bytes, session: int = SESSION, source: str = CORE, destination: str = RPD) -> bytes:
    """An L2TPv3 data message over IP."""
    return ip(source, destination, 115, struct.pack("!I", session) + body)


def depi_udp(
    body: bytes,
    session: int = SESSION,
    source: str = CORE,
    destination: str = RPD,
    port: int = 1701,
) -> bytes:
    """An L2TPv3 data message over UDP."""
    return udp(source, destination, struct.pack("!HHI", 3, 0, session) + body, port)


def avp(kind: int, value: bytes, vendor: int = 0) -> bytes:
    """A mandatory AVP of a control message."""
    return struct.pack("!HHH", 0x8000 | 6 + len(value), vendor, kind) + value


def control(message: int, *avps: bytes) -> bytes:
    """An L2TPv3 control message, from its flags on."""
    body = avp(0, struct.pack("!H", message)) + b"".join(avps)
    return struct.pack("!HHIHH", 0xC803, 12 + len(body), 7, 0, 0) + body


def call(message: int, local: int, remote: int, subtype: int, *more: bytes, pw: int = 13) -> bytes:
    """ICRQ (10) or ICRP (11) of a pseudowire. `local`, `remote`: session IDs; `more`: AVPs."""
    return control(
        message,
        avp(63, struct.pack("!I", local)),
        avp(64, struct.pack("!I", remote)),
        avp(68, struct.pack("!H", pw)),
        avp(69, struct.pack("!H", 4)),
        avp(17, struct.pack("!H", subtype), 4491),
        *more,
    )


def control_ip(message: bytes, source: str, destination: str) -> bytes:
    return ip(source, destination, 115, bytes(4) + message)


def session_setup(session: int, subtype: int, local: int = 1) -> list[bytes]:
    """Control messages that set up a pseudowire: ICRQ of the core, ICRP of the RPD."""
    return [
        control_ip(call(10, local, 0, subtype), CORE, RPD),
        control_ip(call(11, session, local, subtype), RPD, CORE),
    ]


def write_pcap(path: Path, packets: list[bytes], snap_lengths: Sequence[int] = ()) -> Path:
    """Writes packets 100 us apart, truncated to `snap_lengths`."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, packet in enumerate(packets):
            stored = packet[: snap_lengths[i]] if i < len(snap_lengths) else packet
            file.write(
                struct.pack("<4I", 1_700_000_000, i * 100, len(stored), len(packet)) + stored
            )
    return path
