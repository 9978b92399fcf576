# SPDX-License-Identifier: BSD-3-Clause
"""The MAC frames of faultless modems, one after the other; nothing is forgiven."""

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
Place = tuple[int, int]  # service flow, SID cluster


class Wrong(ValueError):
    """A frame is not as it has to be. A CMTS drops it for the reason, where there is one."""

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason


@dataclass
class Decoded:
    """What the modems sent, by service flow and SID cluster, without CRC. `inside` counts those of
    the `kinds` of frames that came in fragments."""

    frames: dict[Place, list[bytes]] = field(default_factory=dict)
    management: list[bytes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)


def is_padding(rest: bytes) -> bool:
    """From a frame's place to the end of the segment: ones, or zeroes where a header has room."""
    return rest.strip(b"\xff") == b"" or (len(rest) >= 6 and rest.strip(b"\0") == b"")


def split_burst(payload: bytes) -> list[bytes]:
    """The frames of a burst without segment header; a concatenation is one of them."""
    frames = []
    while payload and not is_padding(payload):
        size = frame_size(payload)
        if size is None or size > len(payload):
            raise Wrong("a frame goes on behind its burst")
        frames.append(payload[:size])
        payload = payload[size:]
    return frames


def check_crc(pdu: bytes) -> bytes:
    data, crc = pdu[:-CRC_LENGTH], pdu[-CRC_LENGTH:]
    if len(pdu) < CRC_LENGTH or crc != frame_check_sequence(data):
        raise Wrong(f"CRC {crc.hex()}, computed {frame_check_sequence(data).hex()}")
    return data


@dataclass
class FlowReader:
    """Reads the frames of a service flow's SID cluster, in order."""

    config: Config
    modem: Modem
    flow: UpstreamFlow
    place: Place
    decoded: Decoded
    window: bool = False  # may begin behind the first fragment of a frame
    joined: bytes = b""
    next_fragment: int | None = None

    def frame(self, data: bytes, inside: bool = False) -> None:
        if data[0] & 0xFE in (0xC4, 0xC8):
            self._count("request", inside)
            request = decode_request(data)
            if not self.flow.has_sid(request.sid):
                raise Wrong(f"request of SID {request.sid}")
            return
        frame = decode_frame(data)
        parm = frame.fc_parm if frame.fc_type == FC_TYPE_MAC else None
        if parm == FC_PARM_CONCATENATION:
            self._concatenation(frame, inside)
        elif parm == FC_PARM_MANAGEMENT:
            self._count("management", inside)
            if frame.elements:
                raise Wrong("extended header on a management message")
            self.decoded.management.append(check_crc(frame.pdu))
        elif parm == FC_PARM_FRAGMENT:
            self._fragment(frame, inside)
        elif parm is None:
            self._packet(frame, inside)
        else:
            raise Wrong(f"FC_PARM {parm} from a modem")

    def _count(self, kind: str, inside: bool) -> None:
        self.decoded.kinds[kind] += 1
        self.decoded.inside[kind] += inside

    def _privacy(self, frame: Frame) -> BpUp | BpUp2 | None:
        """The element, which comes first; behind it at most a request."""
        first = frame.elements[0] if frame.elements else None
        privacy = first if isinstance(first, (BpUp, BpUp2)) else None
        match frame.elements[privacy is not None :]:
            case ():
                return privacy
            case (RequestElement() as request,) if self.flow.has_sid(request.sid):
                return privacy
        raise Wrong(f"extended header {frame.elements}")

    def _clear(self, frame: Frame, inside: bool, fragment: bool) -> bytes:
        """The PDU decrypted."""
        security, privacy = self.modem.security, self._privacy(frame)
        if privacy is None:
            if security.key is not None and not inside:
                raise Wrong("in the clear from a modem with a key", "privacy_missing")
            return frame.pdu
        if inside:
            raise Wrong("privacy inside a fragment")
        if privacy.version != 1 or not self.flow.has_sid(privacy.said):
            raise Wrong(f"{privacy}", "privacy_sid" if privacy.version == 1 else "")
        if privacy.enabled != (security.key is not None):
            raise Wrong(f"EN is {privacy.enabled}", "" if privacy.enabled else "privacy_missing")
        if not privacy.enabled:
            return frame.pdu
        key = security.generations.get((privacy.key_sequence, privacy.toggle))
        if key is None:
            raise Wrong(f"no key {privacy.key_sequence}, toggle {privacy.toggle}", "key_unknown")
        return (bpi.decrypt if fragment else bpi.decrypt_pdu)(frame.pdu, *key)

    def _packet(self, frame: Frame, inside: bool) -> None:
        self._count("packet", inside)
        if not 14 + CRC_LENGTH <= len(frame.pdu) <= self.config.max_frame:
            raise Wrong(f"PDU of {len(frame.pdu)} bytes")
        ethernet = check_crc(self._clear(frame, inside, fragment=False))
        try:
            if not may_send(read_frame(ethernet), self.modem.addresses):
                raise Wrong("source address is not the modem's", "source_address")
        except IpFault as fault:
            raise Wrong(str(fault)) from fault
        self.decoded.frames.setdefault(self.place, []).append(ethernet)

    def _concatenation(self, frame: Frame, inside: bool) -> None:
        self._count("concatenation", inside)
        if self.flow.segment_header:
            raise Wrong("concatenation in segments")
        frames = split_burst(frame.pdu)
        if len(frames) != frame.mac_parm or sum(map(len, frames)) != len(frame.pdu):
            raise Wrong(f"{len(frames)} frames in a concatenation of {frame.mac_parm}")
        for inner in frames:
            self.frame(inner, inside)

    def _fragment(self, frame: Frame, inside: bool) -> None:
        self._count("fragment", inside)
        control = getattr(frame.elements[0], "fragment", None)
        if self.flow.segment_header or inside or len(frame.elements) != 1 or control is None:
            raise Wrong("a fragment out of place")
        first, last, number = control & 0x20, control & 0x10, control & 0x0F
        if self.window and not first:
            return
        self.window = False
        if bool(first) != (self.next_fragment is None) or (
            not first and number != self.next_fragment
        ):
            raise Wrong(f"fragment {number}, first {first}, expected {self.next_fragment}")
        data = check_crc(self._clear(frame, inside, fragment=True))
        if not data:
            raise Wrong("fragment without payload")
        self.joined += data
        self.next_fragment = (number + 1) % 16
        if last:
            joined, self.joined, self.next_fragment = self.joined, b"", None
            if len(joined) > MAX_JOINED:
                raise Wrong(f"{len(joined)} bytes in fragments")
            frames = split_burst(joined)
            if sum(map(len, frames)) != len(joined):
                raise Wrong("padding inside fragments")
            for inner in frames:
                self.frame(inner, inside=True)
