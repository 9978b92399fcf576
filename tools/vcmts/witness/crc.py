# SPDX-License-Identifier: BSD-3-Clause
"""Checksums: HCS (CRC-16) and Ethernet CRC-32 of DOCSIS, and the checksum of IP and UDP."""

from zlib import crc32

CRC16_X25_POLYNOMIAL = 0x8408  # x16 + x12 + x5 + 1, least significant bit first
CRC16_X25_RESIDUE = 0x0F47  # crc16_x25() over data with its check sequence


def _table_entry(byte: int) -> int:
    register = byte
    for _ in range(8):
        low_bit = register & 1
        register >>= 1
        if low_bit:
            register ^= CRC16_X25_POLYNOMIAL
    return register


_TABLE = tuple(_table_entry(byte) for byte in range(256))


def crc16_x25(data: bytes) -> int:
    """CRC-16/X-25: preset to ones, reflected, inverted at the end."""
    register = 0xFFFF
    for byte in data:
        register = (register >> 8) ^ _TABLE[(register ^ byte) & 0xFF]
    return register ^ 0xFFFF


def header_check_sequence(header: bytes) -> bytes:
    """The HCS of a MAC or segment header, as sent: low byte first (MULPI)."""
    return crc16_x25(header).to_bytes(2, "little")


def frame_check_sequence(data: bytes) -> bytes:
    """The Ethernet CRC-32 as sent: low byte first (IEEE 802.3)."""
    return crc32(data).to_bytes(4, "little")


def internet_checksum(data: bytes) -> int:
    """The checksum of RFC 1071; 0 over data that contains its checksum."""
    if len(data) % 2:
        data += b"\0"
    # As a number to the base 65536, the data has the same remainder modulo 0xFFFF as the sum of its
    # digits. A sum that is not 0 never folds to 0.
    number = int.from_bytes(data, "big")
    folded = number % 0xFFFF or (0xFFFF if number else 0)
    return folded ^ 0xFFFF
