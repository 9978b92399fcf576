# SPDX-License-Identifier: BSD-3-Clause
"""A bench for the upstream's model: packets are put in by hand, with time between them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from witness.config import parse_config
from witness.depi import Psp, Segment, encode_psp
from witness.l2tp import encode_datagram
from witness.model import Config
from witness.pcapfile import Record
from witness.rphy_device import RphyDevice, upstream_carrier
from witness.sample import UPSTREAM
from witness.upstream import Model, Result, expect_upstream

GAP_NS = 1000


@dataclass
class Rig:
    config: Config = field(default_factory=lambda: parse_config(UPSTREAM))
    records: list[Record] = field(default_factory=list)
    now: int = 0

    def __post_init__(self) -> None:
        self.device = RphyDevice(self.config)

    def put(self, packet: bytes) -> None:
        self.now += GAP_NS
        self.records.append(Record(self.now, packet, len(packet)))

    def wait(self, time_ns: int) -> None:
        self.now += time_ns

    def l2tp(self, session: int, payload: bytes, *, udp: bool = False) -> bytes:
        return encode_datagram(upstream_carrier(self.config, udp=udp), session, payload)

    def psp(self, session: int, number: int | None, *segments: Segment, flow: int = 0) -> None:
        """A packet with this sequence number; None: S = 0."""
        psp = Psp(number or 0, segments, flow=flow, sequenced=number is not None)
        self.put(self.l2tp(session, encode_psp(psp)))

    def burst(self, channel: int, sid: int, payload: bytes, *, segmented: bool = False) -> None:
        """A faultless burst on a channel's data session, in packets of its own."""
        found = self.config.upstream.channels[channel - 1]
        burst = self.device.burst(found, sid, payload, segmented=segmented)
        for packet in self.device.pack(found, found.session, [burst]):
            self.put(packet)

    def result(self) -> Result:
        """After all timeouts."""
        return expect_upstream(self.records, self.config)

    def model(self) -> Model:
        """Right behind the last packet."""
        model = Model(self.config)
        for record in self.records:
            model.packet(record.data, record.time_ns)
        return model


@dataclass(frozen=True)
class Case:
    """What to put in, and what must be counted: all drops, and these counters (0: not at all)."""

    name: str
    build: Callable[[Rig], object]
    drops: Mapping[str, int]
    counters: Mapping[str, int]


@dataclass
class Cases:
    cases: list[Case] = field(default_factory=list)

    def __call__(
        self, drops: Mapping[str, int], **counters: int
    ) -> Callable[[Callable[[Rig], object]], Callable[[Rig], object]]:
        def keep(build: Callable[[Rig], object]) -> Callable[[Rig], object]:
            self.cases.append(Case(build.__name__, build, drops, counters))
            return build

        return keep

    @property
    def reasons(self) -> set[str]:
        return {reason for case in self.cases for reason in case.drops}


def check(case: Case, rig: Rig) -> Result:
    case.build(rig)
    result = rig.result()
    assert result.drops == dict(case.drops)
    assert {name: result.counters[name] for name in case.counters} == dict(case.counters)
    assert not any(result.held.values())
    return result
