# SPDX-License-Identifier: BSD-3-Clause
"""Encodes what an R-PHY device sends for received bursts: UEPI in PSP in L2TPv3."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Psp, Segment, encode_psp
from vcmts.witness.l2tp import Carrier, encode_datagram
from vcmts.witness.model import Config, UpstreamChannel
from vcmts.witness.uepi import (
    OfdmaHeader,
    OfdmaTrailer,
    RequestRecord,
    ScQamHeader,
    ScQamTrailer,
    TrailerFlag,
    encode_request_record,
)

IUC = 5
MINISLOTS = 100  # from one grant to the next
MAX_PIECES = 60  # segments per burst, fewer than a receiver must accept
CODEWORD = 200  # bytes
MEASURED = TrailerFlag.FEC_VALID | TrailerFlag.SNR_VALID


@dataclass
class Pseudowire:
    """The sender of one session. Sequence numbers are per PSP flow, or per session."""

    carrier: Carrier
    session: int
    first: int = 0
    by_flow: bool = True
    sent: dict[int, int] = field(default_factory=dict)

    def packet(self, segments: Sequence[Segment], flow: int = 0) -> bytes:
        key = flow if self.by_flow else 0
        count = self.sent.get(key, 0)
        self.sent[key] = count + 1
        psp = Psp((self.first + count) & 0xFFFF, tuple(segments), flow=flow)
        return encode_datagram(self.carrier, self.session, encode_psp(psp))


@dataclass
class RphyDevice:
    """An R-PHY device. With `random`, it splits bursts and packets at random; else it fills
    packets."""

    config: Config
    random: Random | None = None
    udp: bool = False
    first_sequence: int = 0xFFFE  # so that numbers wrap soon
    pseudowires: dict[int, Pseudowire] = field(default_factory=dict)
    bursts: dict[int, int] = field(default_factory=dict)  # by channel

    def pseudowire(self, session: int) -> Pseudowire:
        carrier = self.config.upstream_carrier(udp=self.udp)
        by_flow = self.config.upstream.psp_numbering == "flow"
        fresh = Pseudowire(carrier, session, self.first_sequence, by_flow)
        return self.pseudowires.setdefault(session, fresh)

    def burst(
        self, channel: UpstreamChannel, sid: int, payload: bytes, *, segmented: bool, lost: int = 0
    ) -> Burst:
        """The next burst of a channel. `lost`: number of uncorrectable codewords."""
        number = self.bursts.get(channel.id, 0)
        self.bursts[channel.id] = number + 1
        common = (IUC, sid, number * MINISLOTS)
        empty = not payload
        good = -(-len(payload) // CODEWORD)
        if channel.type == "sc-qam":
            trailer = ScQamTrailer(good, 1, lost, 0x92, MEASURED)
            return Burst(ScQamHeader(*common, no_burst=empty), payload, trailer)
        grant = max(len(payload), 2048)
        header = OfdmaHeader(*common, number, grant, empty, segmented and not empty)
        return Burst(header, payload, OfdmaTrailer(number, good, 1, lost, 0x92, flags=MEASURED))

    def _free_bytes(self, segments: Sequence[Segment]) -> int:
        """The maximum size of one more segment in the packet, bytes."""
        headers = (20 if self.config.rphy.carrier.source.version == 4 else 40) + 4 + 4
        used = sum(2 + len(segment.data) for segment in segments)
        return self.config.rphy.mtu - headers - (12 if self.udp else 0) - used - 2

    def _split(self, burst: Burst) -> list[Segment]:
        """Splits a burst into segments that fit a packet."""
        size = len(burst.payload)
        most = self._free_bytes(())
        offsets, at = [], 0
        while at < size:
            least = min(-(-size // MAX_PIECES), most)
            at += most if self.random is None else self.random.randint(least, most)
            offsets.append(at)
        return list(encode_burst(burst, offsets))

    def _flush_early(self) -> bool:
        return self.random is not None and self.random.random() < 0.2

    def pack(self, channel: UpstreamChannel, session: int, bursts: Sequence[Burst]) -> list[bytes]:
        """Packs bursts into packets of a session. On SC-QAM, a packet has parts of one burst
        only."""
        packets: list[bytes] = []
        pending: list[Segment] = []

        def flush() -> None:
            if pending:
                packets.append(self.pseudowire(session).packet(pending))
                pending.clear()

        for burst in bursts:
            for segment in self._split(burst):
                if self._flush_early() or len(segment.data) > self._free_bytes(pending):
                    flush()
                pending.append(segment)
            if channel.type == "sc-qam":
                flush()
        flush()
        return packets

    def records(self, session: int, records: Sequence[RequestRecord], ofdma: bool) -> bytes:
        """Request records in one packet."""
        version = 1 if ofdma else 0
        units = [encode_request_record(replace(record, version=version)) for record in records]
        return self.pseudowire(session).packet([Segment(unit) for unit in units])
