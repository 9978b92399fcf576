# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes classic pcap files in both byte orders, with microseconds or nanoseconds."""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC_MICROSECONDS = 0xA1B2C3D4
MAGIC_NANOSECONDS = 0xA1B23C4D
MAGIC_PCAPNG = 0x0A0D0D0A
LINKTYPE_ETHERNET = 1
LINKTYPE_DOCSIS = 143
MAX_RECORD = 262144  # limit of libpcap for Ethernet
FILE_HEADER = "IHHiIII"
RECORD_HEADER = "IIII"


class PcapError(ValueError):
    """Malformed pcap file."""


@dataclass(frozen=True)
class Record:
    """A packet. `time_ns`: since the epoch; `original_length`: bytes on the wire."""

    time_ns: int
    data: bytes
    original_length: int


@dataclass(frozen=True)
class Capture:
    linktype: int
    snaplen: int
    nanoseconds: bool
    byte_order: str  # "<" or ">", as of struct
    records: tuple[Record, ...]


def _byte_order_and_unit(data: bytes) -> tuple[str, bool]:
    for byte_order in "<>":
        (magic,) = struct.unpack_from(byte_order + "I", data)
        if magic in (MAGIC_MICROSECONDS, MAGIC_NANOSECONDS):
            return byte_order, magic == MAGIC_NANOSECONDS
    if data[:4] == MAGIC_PCAPNG.to_bytes(4, "big"):
        raise PcapError("this is pcapng, not classic pcap")
    raise PcapError(f"not a pcap file: it starts with {data[:4].hex()}")


def _parse_record(data: bytes, offset: int, number: int, layout: tuple[str, int]) -> Record:
    byte_order, tick = layout
    body = offset + struct.calcsize(RECORD_HEADER)
    if body > len(data):
        raise PcapError(f"record {number}: its header is cut off at {len(data) - offset} bytes")
    seconds, fraction, captured, original = struct.unpack_from(
        byte_order + RECORD_HEADER, data, offset
    )
    if fraction * tick >= 1_000_000_000:
        raise PcapError(f"record {number}: fraction of a second {fraction} is a second or more")
    if captured > MAX_RECORD:
        raise PcapError(f"record {number}: length {captured} is above {MAX_RECORD}")
    if captured > original:
        raise PcapError(f"record {number}: {captured} bytes captured of {original}")
    if captured > len(data) - body:
        raise PcapError(
            f"record {number}: length {captured}, only {len(data) - body} bytes left in the file"
        )
    time_ns = seconds * 1_000_000_000 + fraction * tick
    return Record(time_ns, data[body : body + captured], original)


def parse_pcap(data: bytes) -> Capture:
    """Parses the bytes of a file. Raises only PcapError."""
    header_size = struct.calcsize("<" + FILE_HEADER)
    if len(data) < header_size:
        raise PcapError(f"{len(data)} bytes are less than a pcap file header ({header_size})")
    byte_order, nanoseconds = _byte_order_and_unit(data)
    _, major, minor, _, _, snaplen, network = struct.unpack_from(byte_order + FILE_HEADER, data)
    if (major, minor) != (2, 4):
        raise PcapError(f"pcap version {major}.{minor}, only 2.4 is known")
    layout = (byte_order, 1 if nanoseconds else 1000)
    records: list[Record] = []
    offset = header_size
    while offset < len(data):
        record = _parse_record(data, offset, len(records) + 1, layout)
        records.append(record)
        offset += struct.calcsize(RECORD_HEADER) + len(record.data)
    # the upper bits of the last word describe a frame check sequence
    return Capture(network & 0xFFFF, snaplen, nanoseconds, byte_order, tuple(records))


def read_pcap(path: str | Path) -> Capture:
    """Reads a file. Raises PcapError with its name."""
    try:
        return parse_pcap(Path(path).read_bytes())
    except PcapError as error:
        raise PcapError(f"{path}: {error}") from error


def build_pcap(
    records: Iterable[Record],
    linktype: int = LINKTYPE_ETHERNET,
    nanoseconds: bool = True,
    byte_order: str = "<",
) -> bytes:
    """Returns the bytes of a file. Microsecond files have times rounded down."""
    magic = MAGIC_NANOSECONDS if nanoseconds else MAGIC_MICROSECONDS
    parts = [struct.pack(byte_order + FILE_HEADER, magic, 2, 4, 0, 0, MAX_RECORD, linktype)]
    for record in records:
        seconds, fraction = divmod(record.time_ns, 1_000_000_000)
        if not 0 <= seconds <= 0xFFFFFFFF:
            raise PcapError(f"time {record.time_ns} ns does not fit a pcap record")
        if not len(record.data) <= record.original_length <= 0xFFFFFFFF:
            raise PcapError(f"original length {record.original_length} of {len(record.data)} bytes")
        if len(record.data) > MAX_RECORD:
            raise PcapError(f"{len(record.data)} bytes are above {MAX_RECORD}")
        fraction //= 1 if nanoseconds else 1000
        length = len(record.data)
        parts.append(
            struct.pack(
                byte_order + RECORD_HEADER, seconds, fraction, length, record.original_length
            )
        )
        parts.append(record.data)
    return b"".join(parts)


def write_pcap(
    path: str | Path, records: Iterable[Record], linktype: int = LINKTYPE_ETHERNET
) -> None:
    """Writes a little-endian file with nanoseconds."""
    Path(path).write_bytes(build_pcap(records, linktype))


def records_of(frames: Sequence[bytes], start_ns: int = 0, gap_ns: int = 1000) -> list[Record]:
    """Records of whole frames, `gap_ns` apart."""
    return [
        Record(start_ns + index * gap_ns, frame, len(frame)) for index, frame in enumerate(frames)
    ]
