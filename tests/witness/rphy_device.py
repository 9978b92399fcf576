# SPDX-License-Identifier: BSD-3-Clause
"""What an R-PHY device sends for the bursts that it receives: UEPI in PSP in L2TPv3."""

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
MINISLOTS = 100  # from grant to grant
MOST_PIECES = 60  # of a burst, less than a receiver has to take
CODEWORD = 200
MEASURED = TrailerFlag.FEC_VALID | TrailerFlag.SNR_VALID


@dataclass
class Pseudowire:
    """Sends packets of one session. Sequence numbers count each PSP flow, or the session."""

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
    """With `random`, payload and packets are cut anywhere; otherwise packets are filled."""

    config: Config
    random: Random | None = None
    udp: bool = False
    first_sequence: int = 0xFFFE  # soon past the end of the number space
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
        """The next burst of a channel; `lost` codewords were uncorrectable."""
        number = self.bursts.get(channel.id, 0)
        self.bursts[channel.id] = number + 1
        place = (IUC, sid, number * MINISLOTS)
        empty = not payload
        good = -(-len(payload) // CODEWORD)
        if channel.type == "sc-qam":
            trailer = ScQamTrailer(good, 1, lost, 0x92, MEASURED)
            return Burst(ScQamHeader(*place, no_burst=empty), payload, trailer)
        grant = max(len(payload), 2048)
        header = OfdmaHeader(*place, number, grant, empty, segmented and not empty)
        return Burst(header, payload, OfdmaTrailer(number, good, 1, lost, 0x92, flags=MEASURED))

    def _room(self, segments: Sequence[Segment]) -> int:
        """Bytes of one more segment."""
        headers = (20 if self.config.rphy.carrier.source.version == 4 else 40) + 4 + 4
        used = sum(2 + len(segment.data) for segment in segments)
        return self.config.rphy.mtu - headers - (12 if self.udp else 0) - used - 2

    def _cut(self, burst: Burst) -> list[Segment]:
        """The segments of a burst, each fit for a packet of its own."""
        size = len(burst.payload)
        most = self._room(())
        cuts, at = [], 0
        while at < size:
            least = min(-(-size // MOST_PIECES), most)
            at += most if self.random is None else self.random.randint(least, most)
            cuts.append(at)
        return list(encode_burst(burst, cuts))

    def _break(self) -> bool:
        return self.random is not None and self.random.random() < 0.2

    def pack(self, channel: UpstreamChannel, session: int, bursts: Sequence[Burst]) -> list[bytes]:
        """Packets of one session. On SC-QAM each holds parts of one burst only."""
        packets: list[bytes] = []
        waiting: list[Segment] = []

        def flush() -> None:
            if waiting:
                packets.append(self.pseudowire(session).packet(waiting))
                waiting.clear()

        for burst in bursts:
            for segment in self._cut(burst):
                if self._break() or len(segment.data) > self._room(waiting):
                    flush()
                waiting.append(segment)
            if channel.type == "sc-qam":
                flush()
        flush()
        return packets

    def records(self, session: int, records: Sequence[RequestRecord], ofdma: bool) -> bytes:
        """Request records in one packet."""
        version = 1 if ofdma else 0
        units = [encode_request_record(replace(record, version=version)) for record in records]
        return self.pseudowire(session).packet([Segment(unit) for unit in units])
