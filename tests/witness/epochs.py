# SPDX-License-Identifier: BSD-3-Clause
"""Decodes downstream traffic during which the configuration changed.

A frame must be valid in one of the configurations up to its time. The result has the newest such
configuration per frame. The caller checks whether it is new enough.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from vcmts.witness.depi import Whole
from vcmts.witness.downstream import FrameRecord, Problem, Witness
from vcmts.witness.model import Channel, Config
from vcmts.witness.pcapfile import Record


@dataclass(frozen=True)
class State:
    begin_ns: int  # in times of the capture
    config: Config


@dataclass(frozen=True)
class DecodedFrame:
    """A frame, and the index of the newest state in which it is valid."""

    record: FrameRecord
    epoch: int


@dataclass
class Decoded:
    frames: list[DecodedFrame] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def dsid(self, number: int) -> list[DecodedFrame]:
        """The frames of a DSID in the order of the capture."""
        return [frame for frame in self.frames if frame_dsid(frame) == number]

    def by_modem(self, mac: bytes) -> list[DecodedFrame]:
        return [f for f in self.frames if f.record.modem and f.record.modem.mac == mac]


def frame_dsid(frame: DecodedFrame) -> int | None:
    """The frame's DSID, None without one."""
    return frame.record.service.dsid if frame.record.service else None


def frame_sequence(frame: DecodedFrame) -> int:
    """The sequence number of a frame with a DSID."""
    service = frame.record.service
    assert service is not None and service.sequence is not None
    return service.sequence


@dataclass
class _Epochs(Witness):
    """A decoder that tries all states. `config`: the first one, with the channels of all."""

    states: Sequence[State] = ()
    decoded: list[DecodedFrame] = field(default_factory=list)

    def frame(self, channel: Channel, time_ns: int, whole: Whole) -> None:
        problems: list[Problem] = []
        for epoch, state in reversed(list(enumerate(self.states))):
            if state.begin_ns > time_ns:
                continue
            trial = Witness(state.config)
            trial.frame(channel, time_ns, whole)
            if not trial.result.problems:
                self.decoded.append(DecodedFrame(trial.result.frames[0], epoch))
                return
            problems = problems or trial.result.problems
        self.result.problems += problems


def _all_channels(configs: Sequence[Config]) -> Config:
    """The first configuration with the channels of all. A session belongs to one channel only."""
    by_session = {channel.session: channel for config in configs for channel in config.channels}
    return replace(configs[0], channels=tuple(by_session.values()))


def decode_epochs(packets: Iterable[Record], states: Sequence[State]) -> Decoded:
    """Decodes packets. `states`: in order of time."""
    witness = _Epochs(_all_channels([state.config for state in states]), states=states)
    for number, record in enumerate(packets, start=1):
        witness.packet(number, record)
    return Decoded(witness.decoded, witness.result.problems)
