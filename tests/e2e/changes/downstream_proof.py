# SPDX-License-Identifier: BSD-3-Clause
"""Proves a downstream replay with changes. A model with the configuration of each epoch predicts
what happens to each packet. The decoded output must match."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from e2e.changes.replay import ChangeReplay, single_config
from vcmts.witness.model import Config
from witness.classify import Dropped, Model
from witness.epochs import DecodedFrame, frame_sequence

FLOW_REMOVED = "service_flow_removed"


@dataclass(frozen=True)
class Packet:
    """A packet that must be transmitted. `epoch`: index of the epoch in which it is received."""

    epoch: int
    frame: bytes


Stream = tuple[int, int]  # DSID, and number of its incarnation


@dataclass
class ExpectedPackets:
    """Expected drops, and transmitted packets per stream, or per modem for flows without a DSID."""

    drops: Counter[str] = field(default_factory=Counter)
    streams: dict[Stream, list[Packet]] = field(default_factory=dict)
    without_dsid: dict[bytes, list[Packet]] = field(default_factory=dict)


@dataclass(frozen=True)
class DownstreamProof:
    replay: ChangeReplay

    @cached_property
    def configs(self) -> list[Config]:
        return [single_config(epoch) for epoch in self.replay.epochs]

    def incarnation(self, dsid: int, epoch: int) -> int:
        """Number of flows, from 0, that had this DSID up to the epoch. A DSID that is removed or
        moves to another modem begins a new incarnation, whose sequence numbers restart at 0."""
        number, owner = -1, b""
        for config in self.configs[: epoch + 1]:
            entry = config.by_dsid.get(dsid)
            modem = entry[0].mac if entry and entry[1].active else b""
            number += modem != owner and modem != b""
            owner = modem
        return number

    @cached_property
    def expected(self) -> ExpectedPackets:
        expected = ExpectedPackets()
        model, current = Model(self.configs[0]), 0
        for record in self.replay.sent:
            epoch = self.replay.find_epoch(record)
            while current < epoch:
                current += 1
                model.change(self.configs[current])
            verdict = model.classify(record.data, record.time_ns)
            if isinstance(verdict, Dropped):
                expected.drops[verdict.reason] += 1
                continue
            dsid = next(f.dsid for f in verdict.modem.flows if f.id == verdict.flow)
            packet = Packet(epoch, verdict.frame)
            if dsid is None:
                expected.without_dsid.setdefault(verdict.modem.mac, []).append(packet)
            else:
                stream = (dsid, self.incarnation(dsid, epoch))
                expected.streams.setdefault(stream, []).append(packet)
        return expected

    @cached_property
    def streams(self) -> dict[Stream, list[DecodedFrame]]:
        """Transmitted frames per stream, by sequence number. A frame in an open DEPI frame may be
        sent after its flow was replaced; the key of the frame shows its epoch."""
        streams: dict[Stream, list[DecodedFrame]] = {}
        for placed in self.replay.decoded.frames:
            service = placed.record.service
            assert service is not None
            if service.dsid is not None:
                stream = (service.dsid, self.incarnation(service.dsid, placed.epoch))
                streams.setdefault(stream, []).append(placed)
        return {stream: sorted(frames, key=frame_sequence) for stream, frames in streams.items()}

    @cached_property
    def without_dsid(self) -> dict[bytes, list[DecodedFrame]]:
        frames: dict[bytes, list[DecodedFrame]] = {}
        for placed in self.replay.decoded.frames:
            assert placed.record.service is not None and placed.record.modem is not None
            if placed.record.service.dsid is None:
                frames.setdefault(placed.record.modem.mac, []).append(placed)
        return frames

    def check_streams(self) -> None:
        """Sequence numbers begin with 0 and have no gaps, and no frame has the configuration of an
        epoch before its packet. Frames missing at the end were dropped with their flow."""
        assert set(self.streams) <= set(self.expected.streams)
        for stream, frames in self.streams.items():
            packets = self.expected.streams[stream][: len(frames)]
            assert [frame_sequence(frame) for frame in frames] == list(range(len(frames))), stream
            assert [f.record.ethernet for f in frames] == [p.frame for p in packets], stream
            for frame, packet in zip(frames, packets, strict=True):
                assert frame.epoch >= packet.epoch, stream

    def check_without_dsid(self) -> None:
        assert set(self.without_dsid) <= set(self.expected.without_dsid)
        for mac, frames in self.without_dsid.items():
            received = Counter(frame.record.ethernet for frame in frames)
            sent = Counter(packet.frame for packet in self.expected.without_dsid[mac])
            assert received <= sent, mac.hex(":")

    def check(self) -> int:
        """Checks all of it. Returns how many packets were dropped with their flow."""
        decoded, expected = self.replay.decoded, self.expected
        assert decoded.problems == [], [str(problem) for problem in decoded.problems[:3]]
        self.check_streams()
        self.check_without_dsid()
        drops = Counter(self.replay.counts("downstream", "drops"))
        removed = drops.pop(FLOW_REMOVED, 0)
        assert drops == expected.drops
        admitted = len(self.replay.sent) - expected.drops.total()
        assert len(decoded.frames) == admitted - removed
        stats = self.replay.stats["downstream"]
        assert stats["balanced"] and stats["held"] == 0
        assert stats["transmitted"] == len(decoded.frames)
        return removed
