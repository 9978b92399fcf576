# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each packet of a downstream capture while the configuration changes: by a model
that is told each state, and what came out against it."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from e2e.changes.changed import ChangedReplay, only
from vcmts.witness.model import Config
from witness.classify import Dropped, Model
from witness.epochs import Placed, sequence_of

GONE = "service_flow_removed"


@dataclass(frozen=True)
class Packet:
    """One that is to come out. `epoch` is what was in service when it came."""

    epoch: int
    frame: bytes


Stream = tuple[int, int]  # DSID, and which of those that had this number


@dataclass
class Fates:
    """What has to happen. Flows without a DSID are told by their modem alone."""

    drops: Counter[str] = field(default_factory=Counter)
    streams: dict[Stream, list[Packet]] = field(default_factory=dict)
    plain: dict[bytes, list[Packet]] = field(default_factory=dict)


@dataclass(frozen=True)
class Proof:
    replayed: ChangedReplay

    @cached_property
    def configs(self) -> list[Config]:
        return [only(epoch) for epoch in self.replayed.epochs]

    def life(self, dsid: int, epoch: int) -> int:
        """A DSID that was gone meanwhile, or another modem's, numbers from 0 again."""
        lives, owner = -1, b""
        for config in self.configs[: epoch + 1]:
            found = config.by_dsid.get(dsid)
            now = found[0].mac if found and found[1].active else b""
            lives += now != owner and now != b""
            owner = now
        return lives

    @cached_property
    def expected(self) -> Fates:
        fates = Fates()
        model, present = Model(self.configs[0]), 0
        for record in self.replayed.sent:
            epoch = self.replayed.epoch_of(record)
            while present < epoch:
                present += 1
                model.change(self.configs[present])
            verdict = model.classify(record.data, record.time_ns)
            if isinstance(verdict, Dropped):
                fates.drops[verdict.reason] += 1
                continue
            dsid = next(f.dsid for f in verdict.modem.flows if f.id == verdict.flow)
            packet = Packet(epoch, verdict.frame)
            if dsid is None:
                fates.plain.setdefault(verdict.modem.mac, []).append(packet)
            else:
                stream = (dsid, self.life(dsid, epoch))
                fates.streams.setdefault(stream, []).append(packet)
        return fates

    @cached_property
    def streams(self) -> dict[Stream, list[Placed]]:
        """What came out, by the numbers that the frames carry. One that stood in an open DEPI frame
        when its flow was gone may come out when there is another one: its key tells."""
        found: dict[Stream, list[Placed]] = {}
        for placed in self.replayed.decoded.frames:
            service = placed.record.service
            assert service is not None
            if service.dsid is not None:
                stream = (service.dsid, self.life(service.dsid, placed.epoch))
                found.setdefault(stream, []).append(placed)
        return {stream: sorted(frames, key=sequence_of) for stream, frames in found.items()}

    @cached_property
    def plain(self) -> dict[bytes, list[Placed]]:
        found: dict[bytes, list[Placed]] = {}
        for placed in self.replayed.decoded.frames:
            assert placed.record.service is not None and placed.record.modem is not None
            if placed.record.service.dsid is None:
                found.setdefault(placed.record.modem.mac, []).append(placed)
        return found

    def check_streams(self) -> None:
        """Numbered from 0 without a gap, in order, and of no state that was over when the packet
        came; what is missing at the end was dropped with its flow."""
        assert set(self.streams) <= set(self.expected.streams)
        for stream, frames in self.streams.items():
            packets = self.expected.streams[stream][: len(frames)]
            assert [sequence_of(frame) for frame in frames] == list(range(len(frames))), stream
            assert [f.record.ethernet for f in frames] == [p.frame for p in packets], stream
            for frame, packet in zip(frames, packets, strict=True):
                assert frame.epoch >= packet.epoch, stream

    def check_plain(self) -> None:
        assert set(self.plain) <= set(self.expected.plain)
        for mac, frames in self.plain.items():
            came = Counter(frame.record.ethernet for frame in frames)
            sent = Counter(packet.frame for packet in self.expected.plain[mac])
            assert came <= sent, mac.hex(":")

    def check(self) -> int:
        """All of it. Returns how many packets went with their flow, each of them counted."""
        decoded, expected = self.replayed.decoded, self.expected
        assert decoded.problems == [], [str(problem) for problem in decoded.problems[:3]]
        self.check_streams()
        self.check_plain()
        drops = Counter(self.replayed.counts("downstream", "drops"))
        gone = drops.pop(GONE, 0)
        assert drops == expected.drops
        admitted = len(self.replayed.sent) - expected.drops.total()
        assert len(decoded.frames) == admitted - gone
        stats = self.replayed.stats["downstream"]
        assert stats["balanced"] and stats["held"] == 0
        assert stats["transmitted"] == len(decoded.frames)
        return gone
