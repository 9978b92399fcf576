# SPDX-License-Identifier: BSD-3-Clause
"""Checks the MAPs of several channels against each other and against the bandwidth requests.

MAPs must be in order, without overlap, of whole frames, and grant only what was requested (MULPI,
upstream bandwidth allocation; docs/upstream-scheduler.md).

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
    """Properties of a channel. 0 and None: not checked."""

    minislot_bytes: int = 0
    burst_minislots: int = 0  # per grant, for preamble and guard time
    frame_minislots: int = 1  # MAPs describe whole frames
    request_minislots: int = 1  # per request opportunity; a region has one or more
    max_burst_minislots: int = 0
    ucd_count: int | None = None


@dataclass(frozen=True)
class Flow:
    """The flow of a SID. All SIDs of one `name` share its requests."""

    name: str
    header_bytes: int = 0  # per grant, in addition to the request
    max_burst: int = 0  # bytes per grant, without header_bytes; 0: no limit
    unsolicited: bool = False  # grants need no request


@dataclass(frozen=True)
class Grant:
    """A data grant. `minislot` does not wrap at 32 bits."""

    flow: str
    channel: int
    sid: int
    minislot: int
    minislots: int
    bytes: int


@dataclass
class _Seen:
    """State of a channel, in minislots that do not wrap: begin of the first MAP, end of the last
    one, ack time."""

    first: int
    end: int
    ack: int


@dataclass
class Account:
    """Requested bytes of a flow that are not granted yet: between `least` and `most`, as grants are
    rounded up to minislots."""

    most: int = 0
    least: int = 0


@dataclass
class Validator:
    """Checks MAPs in the order of transmission; raises MapError. `gaps`: minislots between MAPs.
    `used`: minislots per kind: data, request, initial, station, idle (SID 0)."""

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
        """Adds a request of `size` bytes. Call it when the scheduler gets the request."""
        account = self.accounts.setdefault(flow, Account())
        account.most += size
        account.least += size

    def forget(self, flow: str) -> None:
        """Discards the requests of a flow that was removed or changed."""
        self.accounts.pop(flow, None)

    def take(self, map_: Map) -> list[Grant]:
        """Checks the next MAP of its channel. Returns its data grants."""
        channel = self.channels.get(map_.channel)
        if channel is None:
            raise MapError(f"channel {map_.channel} is unknown")
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
        """Ends a MAP round: MAPs that were made together. A flow with ungranted requests must have
        a pending grant in one of them. Returns the flows that violate this, and discards the
        requests of all flows without one."""
        in_round = {flow.name for (number, _), flow in self.flows.items() if number in self._round}
        without_grant = [name for name in self.accounts if name in in_round - self._pending]
        forgotten = [name for name in without_grant if self.accounts[name].least]
        for name in without_grant:
            del self.accounts[name]
        self._pending.clear()
        self._round.clear()
        return forgotten

    def _follow(self, map_: Map, channel: Channel) -> int:
        """Checks that the MAP follows the previous one. Returns its first minislot, not wrapped."""
        if map_.minislots % channel.frame_minislots:
            raise MapError(f"{map_.minislots} minislots, a frame has {channel.frame_minislots}")
        seen = self._seen.get(map_.channel)
        if seen is None:
            start, before = map_.alloc_start, None
            seen = self._seen[map_.channel] = _Seen(start, start, 0)
        else:
            start, before = seen.end + _ahead(seen.end, map_.alloc_start), seen.ack
        if start < seen.end:
            raise MapError(f"begins {seen.end - start} minislots before the previous MAP ends")
        if (start - seen.first) % channel.frame_minislots:
            raise MapError(f"minislot {start} begins no frame")
        ack = start + _ahead(start, map_.ack_time)
        if ack > start:
            raise MapError(f"ack time is {ack - start} minislots ahead of the alloc start")
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
            raise MapError(f"SID {sid} of channel {channel} is unknown")
        return flow

    def _grant(self, number: int, channel: Channel, element: Element, start: int) -> Grant:
        flow = self._flow(number, element.sid)
        most = channel.max_burst_minislots
        if most and element.minislots > most:
            raise MapError(f"grant of {element.minislots} minislots, allowed {most}")
        size = (element.minislots - channel.burst_minislots) * channel.minislot_bytes
        size -= flow.header_bytes
        if channel.minislot_bytes:
            self._settle(flow, size, channel.minislot_bytes)
        at = start + element.offset
        return Grant(flow.name, number, element.sid, at, element.minislots, size)

    def _settle(self, flow: Flow, size: int, minislot: int) -> None:
        """Subtracts a grant from the requests of a flow."""
        least = size - minislot + 1  # the smallest request that needs as many minislots
        if size <= 0:
            raise MapError(f"{flow.name}: a grant too small for one byte")
        if flow.max_burst and least > flow.max_burst:
            raise MapError(f"{flow.name}: grant of {size} bytes, allowed {flow.max_burst}")
        if flow.unsolicited:
            return
        account = self.accounts.get(flow.name, Account())
        if account.most < max(least, 1):
            raise MapError(f"{flow.name}: granted {size} bytes, requested {account.most}")
        account.most -= max(least, 1)
        account.least = max(account.least - size, 0)

    def _region(self, number: int, channel: Channel, element: Element) -> None:
        """Checks a request region: broadcast, multicast, or a poll of one SID."""
        if element.sid < FIRST_MULTICAST:
            self._flow(number, element.sid)
        if element.minislots < channel.request_minislots:
            raise MapError(
                f"request region of {element.minislots} minislots, "
                f"an opportunity has {channel.request_minislots}"
            )


def _ahead(known: int, wrapped: int) -> int:
    """The distance from `known` to `wrapped`, which has 32 bits; negative if it is before."""
    return (wrapped - known + WRAP // 2) % WRAP - WRAP // 2


def _check_once(grants: list[Grant], flows: Mapping[tuple[int, int], Flow]) -> None:
    """Checks that a SID has only one solicited grant per MAP."""
    asked = [g.sid for g in grants if not flows[g.channel, g.sid].unsolicited]
    for sid in asked:
        if asked.count(sid) > 1:
            raise MapError(f"two grants for SID {sid}")
