# SPDX-License-Identifier: BSD-3-Clause
"""Decodes what came downstream while the configuration changed.

A frame has to be right in one of the states that there were up to its time; the newest that it fits
is told with it. Whether that one is new enough is for the caller to ask.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from vcmts.witness.depi import Whole
from vcmts.witness.downstream import FrameRecord, Problem, Witness
from vcmts.witness.model import Channel, Config
from vcmts.witness.pcapfile import Record


@dataclass(frozen=True)
class State:
    begin_ns: int  # by the times of the capture
    config: Config


@dataclass(frozen=True)
class Placed:
    """A frame, and the number of the newest state in which it is right."""

    record: FrameRecord
    epoch: int


@dataclass
class Decoded:
    frames: list[Placed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def dsid(self, number: int) -> list[Placed]:
        """Its frames as they came."""
        return [frame for frame in self.frames if dsid_of(frame) == number]

    def of_modem(self, mac: bytes) -> list[Placed]:
        return [f for f in self.frames if f.record.modem and f.record.modem.mac == mac]


def dsid_of(frame: Placed) -> int | None:
    return frame.record.service.dsid if frame.record.service else None


def sequence_of(frame: Placed) -> int:
    service = frame.record.service
    assert service is not None and service.sequence is not None
    return service.sequence


@dataclass
class _Epochs(Witness):
    """`config` is the first one, with the channels of all."""

    states: Sequence[State] = ()
    placed: list[Placed] = field(default_factory=list)

    def frame(self, channel: Channel, time_ns: int, whole: Whole) -> None:
        said: list[Problem] = []
        for epoch, state in reversed(list(enumerate(self.states))):
            if state.begin_ns > time_ns:
                continue
            trial = Witness(state.config)
            trial.frame(channel, time_ns, whole)
            if not trial.result.problems:
                self.placed.append(Placed(trial.result.frames[0], epoch))
                return
            said = said or trial.result.problems
        self.result.problems += said


def _all_channels(configs: Sequence[Config]) -> Config:
    """Sessions stay those of one channel here."""
    by_session = {channel.session: channel for config in configs for channel in config.channels}
    return replace(configs[0], channels=tuple(by_session.values()))


def decode_epochs(packets: Iterable[Record], states: Sequence[State]) -> Decoded:
    """`states` are one behind the other in time."""
    witness = _Epochs(_all_channels([state.config for state in states]), states=states)
    for number, record in enumerate(packets, start=1):
        witness.packet(number, record)
    return Decoded(witness.placed, witness.result.problems)
