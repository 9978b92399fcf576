# SPDX-License-Identifier: BSD-3-Clause
"""MAPs of several channels, held against each other and against what was asked for: no overlap, in
order, whole frames, no minislot twice, nothing granted that nobody asked for (MULPI, upstream
bandwidth allocation; docs/upstream-scheduler.md).

    validator = Validator({9: Channel(minislot_bytes=48, frame_minislots=235)},
                          {(9, 100): Flow("upload")})
    validator.ask("upload", 3000)
    for grant in validator.take(read(body, 5)):
        ...
    assert not validator.end_round()
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from witness.map_format import (
    DATA,
    INITIAL,
    REQUEST,
    REQUEST_DATA,
    STATION,
    Element,
    Map,
    MapError,
    read,
    write,
)

__all__ = [
    "Account",
    "Channel",
    "Element",
    "Flow",
    "Grant",
    "Map",
    "MapError",
    "Validator",
    "read",
    "write",
]
WRAP = 1 << 32
FIRST_MULTICAST = 0x3E00


@dataclass(frozen=True)
class Channel:
    """What a minislot is. 0 and None: not looked at."""

    minislot_bytes: int = 0
    burst_minislots: int = 0  # of each grant, for preamble and guard time
    frame_minislots: int = 1  # MAPs describe whole frames
    request_minislots: int = 1  # of an opportunity; a region holds one at least
    max_burst_minislots: int = 0
    ucd_count: int | None = None


@dataclass(frozen=True)
class Flow:
    """Whose a SID is. All SIDs of one `name` are granted from the same requests."""

    name: str
    header_bytes: int = 0  # that each grant carries beside what was asked for
    max_burst: int = 0  # bytes of one grant, without these; 0: no limit
    unsolicited: bool = False  # is granted what it did not ask for


@dataclass(frozen=True)
class Grant:
    """`minislot` does not wrap: it goes on counting beyond 32 bits."""

    flow: str
    channel: int
    sid: int
    minislot: int
    minislots: int
    bytes: int


@dataclass
class _Seen:
    """Of a channel: where its last MAP ended and its acknowledgements are, not wrapped."""

    first: int
    end: int
    ack: int


@dataclass
class Account:
    """What a flow asked for and was not granted. A grant is rounded up to minislots, so how much of
    it is what was asked for is not known: `most` bytes can still be owed, `least` surely are."""

    most: int = 0
    least: int = 0


@dataclass
class Validator:
    """Holds MAPs of several channels against their order and what was asked for; each wrong one is
    a MapError. `gaps` has the minislots between MAPs, `used` those of each kind: data, request,
    initial, station, idle (of SID 0)."""

    channels: Mapping[int, Channel]
    flows: Mapping[tuple[int, int], Flow] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    gaps: int = 0
    maps: int = 0
    used: dict[str, int] = field(default_factory=dict)
    _seen: dict[int, _Seen] = field(default_factory=dict)
    _pending: set[str] = field(default_factory=set)
    _round: set[int] = field(default_factory=set)

    def ask(self, flow: str, size: int) -> None:
        """A request of `size` bytes beside all before, when the scheduler takes it."""
        account = self.accounts.setdefault(flow, Account())
        account.most += size
        account.least += size

    def forget(self, flow: str) -> None:
        """The flow is removed or changed: nothing is owed to it."""
        self.accounts.pop(flow, None)

    def take(self, map_: Map) -> list[Grant]:
        """The next MAP of its channel, in the order in which they are sent; its data grants."""
        channel = self.channels.get(map_.channel)
        if channel is None:
            raise MapError(f"channel {map_.channel} is not there")
        if channel.ucd_count not in (None, map_.ucd_count):
            raise MapError(f"UCD count {map_.ucd_count}, wanted {channel.ucd_count}")
        start = self._follow(map_, channel)
        self.maps += 1
        self._round.add(map_.channel)
        grants: list[Grant] = []
        for element in map_.elements:
            self._count(element)
            if element.iuc in DATA and element.sid:
                grants.append(self._grant(map_.channel, channel, element, start))
            elif element.iuc in (REQUEST, REQUEST_DATA) and element.sid:
                self._region(map_.channel, channel, element)
        _check_once(grants, self.flows)
        for element in map_.pending:
            self._pending.add(self._flow(map_.channel, element.sid).name)
        return grants

    def end_round(self) -> list[str]:
        """All MAPs that are made together were taken. Who is owed something on their channels has a
        grant pending in one of them: to all others there nothing is owed any more. Returns those of
        these to whom something surely is: they were forgotten."""
        there = {flow.name for (number, _), flow in self.flows.items() if number in self._round}
        silent = [name for name in self.accounts if name in there - self._pending]
        forgotten = [name for name in silent if self.accounts[name].least]
        for name in silent:
            del self.accounts[name]
        self._pending.clear()
        self._round.clear()
        return forgotten

    def _follow(self, map_: Map, channel: Channel) -> int:
        """The first minislot, not wrapped: behind all that was described before."""
        if map_.minislots % channel.frame_minislots:
            raise MapError(f"{map_.minislots} minislots, a frame has {channel.frame_minislots}")
        seen = self._seen.get(map_.channel)
        if seen is None:
            start, before = map_.alloc_start, None
            seen = self._seen[map_.channel] = _Seen(start, start, 0)
        else:
            start, before = seen.end + _ahead(seen.end, map_.alloc_start), seen.ack
        if start < seen.end:
            raise MapError(f"begins {seen.end - start} minislots before the MAP before it ends")
        if (start - seen.first) % channel.frame_minislots:
            raise MapError(f"minislot {start} begins no frame")
        ack = start + _ahead(start, map_.ack_time)
        if ack > start:
            raise MapError(f"acknowledges what is {ack - start} minislots ahead")
        if before is not None and ack < before:
            raise MapError(f"ack time goes back by {before - ack}")
        self.gaps += start - seen.end
        seen.end, seen.ack = start + map_.minislots, ack
        return start

    def _count(self, element: Element) -> None:
        kinds = {REQUEST: "request", REQUEST_DATA: "request", INITIAL: "initial"}
        kind = kinds.get(element.iuc, "station" if element.iuc == STATION else "data")
        kind = kind if element.sid else "idle"
        self.used[kind] = self.used.get(kind, 0) + element.minislots

    def _flow(self, channel: int, sid: int) -> Flow:
        flow = self.flows.get((channel, sid))
        if flow is None:
            raise MapError(f"SID {sid} of channel {channel} is nobody's")
        return flow

    def _grant(self, number: int, channel: Channel, element: Element, start: int) -> Grant:
        flow = self._flow(number, element.sid)
        most = channel.max_burst_minislots
        if most and element.minislots > most:
            raise MapError(f"grant of {element.minislots} minislots, allowed {most}")
        size = (element.minislots - channel.burst_minislots) * channel.minislot_bytes
        size -= flow.header_bytes
        if channel.minislot_bytes:
            self._owe(flow, size, channel.minislot_bytes)
        at = start + element.offset
        return Grant(flow.name, number, element.sid, at, element.minislots, size)

    def _owe(self, flow: Flow, size: int, minislot: int) -> None:
        """A grant is what was asked for, rounded up to minislots."""
        least = size - minislot + 1  # bytes that one minislot less would not hold
        if size <= 0:
            raise MapError(f"{flow.name}: a grant without room for a byte")
        if flow.max_burst and least > flow.max_burst:
            raise MapError(f"{flow.name}: grant of {size} bytes, allowed {flow.max_burst}")
        if flow.unsolicited:
            return
        account = self.accounts.get(flow.name, Account())
        if account.most < max(least, 1):
            raise MapError(f"{flow.name}: granted {size} bytes, of {account.most} it asked for")
        account.most -= max(least, 1)
        account.least = max(account.least - size, 0)

    def _region(self, number: int, channel: Channel, element: Element) -> None:
        """For requests of all, of several (multicast), or a poll of one."""
        if element.sid < FIRST_MULTICAST:
            self._flow(number, element.sid)
        if element.minislots < channel.request_minislots:
            raise MapError(
                f"request region of {element.minislots} minislots, "
                f"an opportunity has {channel.request_minislots}"
            )


def _ahead(known: int, wrapped: int) -> int:
    """How far `wrapped`, of 32 bits, is ahead of `known`; behind it is negative."""
    return (wrapped - known + WRAP // 2) % WRAP - WRAP // 2


def _check_once(grants: list[Grant], flows: Mapping[tuple[int, int], Flow]) -> None:
    """Of what was asked for, a SID gets one block in a MAP."""
    asked = [g.sid for g in grants if not flows[g.channel, g.sid].unsolicited]
    for sid in asked:
        if asked.count(sid) > 1:
            raise MapError(f"two grants for SID {sid}")
