# SPDX-License-Identifier: BSD-3-Clause
"""Encodes and decodes UEPI headers, trailers and request records (docs/uepi-formats.md).

SC-QAM is in the format of pre-standard receivers, OFDMA in the project's own. Reserved bits must be
0.
"""

import struct
from dataclasses import dataclass
from enum import IntFlag

OFDMA_VERSION = 1
EQUALIZER_COEFFICIENTS = 96  # bytes


class UepiError(ValueError):
    """Malformed UEPI data, or values that do not fit its fields."""


class TrailerFlag(IntFlag):
    RANGING_REQUIRED = 0x1000
    SNR_LOW = 0x0800
    PHY_ERROR = 0x0400
    HIGH_ENERGY = 0x0200
    LOW_ENERGY = 0x0100
    POWER_VALID = 0x0020  # OFDMA
    TIMING_VALID = 0x0010  # OFDMA
    FEC_VALID = 0x0008
    SNR_VALID = 0x0004
    EQUALIZER = 0x0002  # SC-QAM
    VENDOR = 0x0001  # SC-QAM


NO_FLAGS = TrailerFlag(0)
_COMMON_FLAGS = 0x1F0C
_SC_QAM_FLAGS = _COMMON_FLAGS | 0x0003
_OFDMA_FLAGS = _COMMON_FLAGS | 0x0030


@dataclass(frozen=True)
class ScQamHeader:
    iuc: int
    sid: int
    start_minislot: int
    no_burst: bool = False
    version: int = 0


@dataclass(frozen=True)
class OfdmaHeader:
    iuc: int
    sid: int
    start_minislot: int
    burst_id: int
    grant_size: int  # bytes
    no_burst: bool = False
    segment_header: bool = False


@dataclass(frozen=True)
class Equalizer:
    """Values of unknown scale."""

    power: int
    frequency_error: int
    timing_error: int
    coefficients: bytes


@dataclass(frozen=True)
class Vendor:
    vendor_id: int
    data: bytes


@dataclass(frozen=True)
class ScQamTrailer:
    """The VENDOR flag follows from the vendor field.

    The flag EQUALIZER is independent of the equaliser block.
    """

    good: int
    corrected: int
    uncorrectable: int
    snr: int
    flags: TrailerFlag = NO_FLAGS
    equalizer: Equalizer | None = None
    vendor: Vendor | None = None
    version: int = 0


@dataclass(frozen=True)
class OfdmaTrailer:
    burst_id: int
    good: int
    corrected: int
    uncorrectable: int
    mer: int = 0  # 0.25 dB
    power: int = 0  # 0.1 dB from the target
    timing: int = 0  # 1/204.8 MHz, late is positive
    flags: TrailerFlag = NO_FLAGS


@dataclass(frozen=True)
class RequestRecord:
    iuc: int
    size: int
    scheduled_sid: int
    sid: int
    start_minislot: int
    session: int
    sid_cluster: int | None = None
    n_bytes: bool = False
    piggyback: bool = False
    version: int = 0


def _pack(layout: str, *values: int) -> bytes:
    try:
        return struct.pack(">" + layout, *values)
    except struct.error as error:
        raise UepiError(f"a value does not fit its field: {error}") from None


def _checked_field(name: str, value: int, bits: int) -> int:
    if not 0 <= value < 1 << bits:
        raise UepiError(f"{name} {value} does not fit {bits} bits")
    return value


def _check_zero(name: str, bits: int) -> None:
    if bits:
        raise UepiError(f"{name}: reserved bits are {bits:#x}, not 0")


def _check_size(name: str, data: bytes, size: int) -> None:
    if len(data) != size:
        raise UepiError(f"{name} of {len(data)} bytes, must be {size}")


def _ofdma_version(first: int) -> None:
    if first >> 6 != OFDMA_VERSION:
        raise UepiError(f"OFDMA version {first >> 6}")


def encode_header(header: ScQamHeader | OfdmaHeader) -> bytes:
    sid = _checked_field("SID", header.sid, 14)
    first = header.no_burst << 5
    if isinstance(header, ScQamHeader):
        first |= _checked_field("version", header.version, 2) << 6
        return _pack("BBHI", first, header.iuc, sid, header.start_minislot)
    first |= OFDMA_VERSION << 6 | header.segment_header << 4
    grant = (header.start_minislot, header.burst_id, header.grant_size)
    return _pack("BBHIII", first, header.iuc, sid, *grant)


def decode_sc_qam_header(data: bytes) -> ScQamHeader:
    _check_size("SC-QAM header", data, 8)
    first, iuc, sid, start = struct.unpack(">BBHI", data)
    _check_zero("SC-QAM header", first & 0x1F)
    _check_zero("SID", sid >> 14)
    return ScQamHeader(iuc, sid, start, bool(first & 0x20), first >> 6)


def decode_ofdma_header(data: bytes) -> OfdmaHeader:
    _check_size("OFDMA header", data, 16)
    first, iuc, sid, start, burst_id, grant_size = struct.unpack(">BBHIII", data)
    _ofdma_version(first)
    _check_zero("OFDMA header", first & 0x0F)
    _check_zero("SID", sid >> 14)
    flags = (bool(first & 0x20), bool(first & 0x10))
    return OfdmaHeader(iuc, sid, start, burst_id, grant_size, *flags)


def _encode_flags(flags: TrailerFlag, allowed: int, version: int) -> int:
    _check_zero("trailer flags", flags & ~allowed)
    return _checked_field("version", version, 2) << 14 | flags


def _encode_sc_qam_trailer(trailer: ScQamTrailer) -> bytes:
    flags = trailer.flags | (TrailerFlag.VENDOR if trailer.vendor else 0)
    if flags & TrailerFlag.VENDOR and trailer.vendor is None:
        raise UepiError("VENDOR is set without a vendor field")
    word = _encode_flags(flags, _SC_QAM_FLAGS, trailer.version)
    counts = (trailer.good, trailer.corrected, trailer.uncorrectable)
    data = _pack("HHBBH", word, *counts, trailer.snr)
    if block := trailer.equalizer:
        _check_size("equaliser coefficients", block.coefficients, EQUALIZER_COEFFICIENTS)
        data += _pack("HHI", block.power, block.frequency_error, block.timing_error)
        data += block.coefficients
    if vendor := trailer.vendor:
        data += _checked_field("vendor ID", vendor.vendor_id, 24).to_bytes(3, "big")
        data += _pack("B", len(vendor.data)) + vendor.data
    if _has_equalizer(data, flags) != (trailer.equalizer is not None):
        raise UepiError("the trailer is ambiguous: its equaliser block would be decoded wrongly")
    return data


def encode_trailer(trailer: ScQamTrailer | OfdmaTrailer) -> bytes:
    if isinstance(trailer, ScQamTrailer):
        return _encode_sc_qam_trailer(trailer)
    word = _encode_flags(trailer.flags, _OFDMA_FLAGS, OFDMA_VERSION)
    counts = (trailer.good, trailer.corrected, trailer.uncorrectable)
    return _pack(
        "HHIHHHhi", word, trailer.mer, trailer.burst_id, *counts, trailer.power, trailer.timing
    )


def _has_equalizer(data: bytes, flags: int) -> bool:
    """Whether there is an equaliser block. The size decides; the flag if both sizes are
    possible."""
    if not flags & TrailerFlag.VENDOR:
        if len(data) not in (8, 112):
            raise UepiError(f"SC-QAM trailer of {len(data)} bytes without vendor field")
        return len(data) == 112
    without = len(data) >= 12 and data[11] == len(data) - 12
    with_block = len(data) >= 116 and data[115] == len(data) - 116
    if not without and not with_block:
        raise UepiError(f"SC-QAM trailer of {len(data)} bytes: no vendor field fits")
    if without and with_block:
        return bool(flags & TrailerFlag.EQUALIZER)
    return with_block


def decode_sc_qam_trailer(data: bytes) -> ScQamTrailer:
    if len(data) < 8:
        raise UepiError(f"SC-QAM trailer of {len(data)} bytes, at least 8")
    word, good, corrected, uncorrectable, snr = struct.unpack_from(">HHBBH", data)
    flags = word & 0x3FFF
    _check_zero("SC-QAM trailer", flags & ~_SC_QAM_FLAGS)
    equalizer, vendor, at = None, None, 8
    if _has_equalizer(data, flags):
        power, frequency_error, timing_error = struct.unpack_from(">HHI", data, 8)
        equalizer = Equalizer(power, frequency_error, timing_error, data[16:112])
        at = 112
    if flags & TrailerFlag.VENDOR:
        vendor = Vendor(int.from_bytes(data[at : at + 3], "big"), data[at + 4 :])
    counts = (good, corrected, uncorrectable)
    return ScQamTrailer(*counts, snr, TrailerFlag(flags), equalizer, vendor, word >> 14)


def decode_ofdma_trailer(data: bytes) -> OfdmaTrailer:
    _check_size("OFDMA trailer", data, 20)
    word, mer, burst_id, *rest = struct.unpack(">HHIHHHhi", data)
    _ofdma_version(word >> 8)
    flags = word & 0x3FFF
    _check_zero("OFDMA trailer", flags & ~_OFDMA_FLAGS)
    good, corrected, uncorrectable, power, timing = rest
    measured = (mer, power, timing)
    return OfdmaTrailer(
        burst_id, good, corrected, uncorrectable, *measured, flags=TrailerFlag(flags)
    )


def encode_request_record(record: RequestRecord) -> bytes:
    cluster = (
        0 if record.sid_cluster is None else _checked_field("SID cluster", record.sid_cluster, 3)
    )
    first = _checked_field("version", record.version, 2) << 6 | cluster << 3
    first |= (record.sid_cluster is not None) << 2 | record.n_bytes << 1 | record.piggyback
    sids = (_checked_field("SID", record.scheduled_sid, 14), _checked_field("SID", record.sid, 14))
    return _pack(
        "BBHHHII", first, record.iuc, record.size, *sids, record.start_minislot, record.session
    )


def decode_request_record(data: bytes, ofdma: bool = False) -> RequestRecord:
    _check_size("request record", data, 16)
    first, iuc, size, scheduled, sid, start, session = struct.unpack(">BBHHHII", data)
    if ofdma:
        _ofdma_version(first)
    _check_zero("SIDs", scheduled >> 14 | sid >> 14)
    cluster = first >> 3 & 7 if first & 4 else None
    if cluster is None:
        _check_zero("SID cluster that is not valid", first & 0x38)
    flags = (bool(first & 2), bool(first & 1), first >> 6)
    return RequestRecord(iuc, size, scheduled, sid, start, session, cluster, *flags)
