# SPDX-License-Identifier: BSD-3-Clause
"""Decodes the MAC frames of correct modems. Any deviation raises FrameError."""

from collections import Counter
from dataclasses import dataclass, field

from vcmts.witness import bpi
from vcmts.witness.crc import frame_check_sequence
from vcmts.witness.docsis import (
    FC_PARM_CONCATENATION,
    FC_PARM_FRAGMENT,
    FC_PARM_MANAGEMENT,
    FC_TYPE_MAC,
    Frame,
    decode_frame,
    decode_request,
    frame_size,
)
from vcmts.witness.downstream import Problem
from vcmts.witness.ehdr import BpUp, BpUp2, RequestElement
from vcmts.witness.ip import IpFault, read_frame
from vcmts.witness.model import Config, Modem, UpstreamFlow
from vcmts.witness.source import may_send

CRC_LENGTH = 4
MAX_JOINED = 65541
StreamId = tuple[int, int]  # service flow, SID cluster


class FrameError(ValueError):
    """Invalid frame. `reason`: the drop reason of a CMTS; "" if it has none."""

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason


@dataclass
class Decoded:
    """Decoded frames without CRC, by service flow and SID cluster. `kinds` counts frames by kind,
    `inside` those of them that came in fragments."""

    frames: dict[StreamId, list[bytes]] = field(default_factory=dict)
    management: list[bytes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)


def is_padding(rest: bytes) -> bool:
    """Whether the rest of a segment is padding: ones, or zeroes of at least a header's size."""
    return rest.strip(b"\xff") == b"" or (len(rest) >= 6 and rest.strip(b"\0") == b"")


def split_burst(payload: bytes) -> list[bytes]:
    """Splits a burst without segment header into frames. A concatenation counts as one frame."""
    frames = []
    while payload and not is_padding(payload):
        size = frame_size(payload)
        if size is None or size > len(payload):
            raise FrameError("a frame exceeds its burst")
        frames.append(payload[:size])
        payload = payload[size:]
    return frames


def check_crc(pdu: bytes) -> bytes:
    data, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
    if len(pdu) < CRC_LENGTH or crc != frame_check_sequence(data):
        raise FrameError(f"CRC {crc.hex()}, computed {frame_check_sequence(data).hex()}")
    return data


@dataclass
class FlowReader:
    """Decodes the frames of one SID cluster of a service flow, in order."""

    config: Config
    modem: Modem
    flow: UpstreamFlow
    stream: StreamId
    decoded: Decoded
    window: bool = False  # the capture may begin after the first fragment of a frame
    joined: bytes = b""
    next_fragment: int | None = None

    def frame(self, data: bytes, inside: bool = False) -> None:
        if data[0] & 0xFE in (0xC4, 0xC8):
            self._count("request", inside)
            request = decode_request(data)
            if not self.flow.has_sid(request.sid):
                raise FrameError(f"request of SID {request.sid}")
            return
        frame = decode_frame(data)
        parm = frame.fc_parm if frame.fc_type == FC_TYPE_MAC else None
        if parm == FC_PARM_CONCATENATION:
            self._concatenation(frame, inside)
        elif parm == FC_PARM_MANAGEMENT:
            self._count("management", inside)
            if frame.elements:
                raise FrameError("extended header on a management message")
            self.decoded.management.append(check_crc(frame.pdu))
        elif parm == FC_PARM_FRAGMENT:
            self._fragment(frame, inside)
        elif parm is None:
            self._packet(frame, inside)
        else:
            raise FrameError(f"FC_PARM {parm} from a modem")

    def _count(self, kind: str, inside: bool) -> None:
        self.decoded.kinds[kind] += 1
        self.decoded.inside[kind] += inside

    def _privacy(self, frame: Frame) -> BpUp | BpUp2 | None:
        """The privacy element, which must be first. At most a request may follow."""
        first = frame.elements[0] if frame.elements else None
        privacy = first if isinstance(first, (BpUp, BpUp2)) else None
        match frame.elements[privacy is not None :]:
            case ():
                return privacy
            case (RequestElement() as request,) if self.flow.has_sid(request.sid):
                return privacy
        raise FrameError(f"extended header {frame.elements}")

    def _clear(self, frame: Frame, inside: bool, fragment: bool) -> bytes:
        """Returns the decrypted PDU."""
        security, privacy = self.modem.security, self._privacy(frame)
        if privacy is None:
            if security.key is not None and not inside:
                raise FrameError("in the clear from a modem with a key", "privacy_missing")
            return frame.pdu
        if inside:
            raise FrameError("privacy inside a fragment")
        if privacy.version != 1 or not self.flow.has_sid(privacy.said):
            raise FrameError(f"{privacy}", "privacy_sid" if privacy.version == 1 else "")
        if privacy.enabled != (security.key is not None):
            raise FrameError(
                f"EN is {privacy.enabled}", "" if privacy.enabled else "privacy_missing"
            )
        if not privacy.enabled:
            return frame.pdu
        key = security.generations.get((privacy.key_sequence, privacy.toggle))
        if key is None:
            raise FrameError(
                f"no key {privacy.key_sequence}, toggle {privacy.toggle}", "key_unknown"
            )
        return (bpi.decrypt if fragment else bpi.decrypt_pdu)(frame.pdu, *key)

    def _packet(self, frame: Frame, inside: bool) -> None:
        self._count("packet", inside)
        if not 14 + CRC_LENGTH <= len(frame.pdu) <= self.config.max_frame:
            raise FrameError(f"PDU of {len(frame.pdu)} bytes")
        ethernet = check_crc(self._clear(frame, inside, fragment=False))
        try:
            if not may_send(read_frame(ethernet), self.modem.addresses):
                raise FrameError("source address is not the modem's", "source_address")
        except IpFault as fault:
            raise FrameError(str(fault)) from fault
        self.decoded.frames.setdefault(self.stream, []).append(ethernet)

    def _concatenation(self, frame: Frame, inside: bool) -> None:
        self._count("concatenation", inside)
        if self.flow.segment_header:
            raise FrameError("concatenation in segments")
        frames = split_burst(frame.pdu)
        if len(frames) != frame.mac_parm or sum(map(len, frames)) != len(frame.pdu):
            raise FrameError(f"{len(frames)} frames in a concatenation of {frame.mac_parm}")
        for inner in frames:
            self.frame(inner, inside)

    def _fragment(self, frame: Frame, inside: bool) -> None:
        self._count("fragment", inside)
        control = getattr(frame.elements[0], "fragment", None)
        if self.flow.segment_header or inside or len(frame.elements) != 1 or control is None:
            raise FrameError("unexpected fragment")
        first, last, number = control & 0x20, control & 0x10, control & 0x0F
        if self.window and not first:
            return
        self.window = False
        if bool(first) != (self.next_fragment is None) or (
            not first and number != self.next_fragment
        ):
            raise FrameError(f"fragment {number}, first {first}, expected {self.next_fragment}")
        data = check_crc(self._clear(frame, inside, fragment=True))
        if not data:
            raise FrameError("fragment without payload")
        self.joined += data
        self.next_fragment = (number + 1) % 16
        if last:
            joined, self.joined, self.next_fragment = self.joined, b"", None
            if len(joined) > MAX_JOINED:
                raise FrameError(f"{len(joined)} bytes in fragments")
            frames = split_burst(joined)
            if sum(map(len, frames)) != len(joined):
                raise FrameError("padding inside fragments")
            for inner in frames:
                self.frame(inner, inside=True)
