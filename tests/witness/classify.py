# SPDX-License-Identifier: BSD-3-Clause
"""Model of the downstream classification: finds the modem and service flow of an Ethernet frame, or
its drop reason.

It evaluates one rule after the other. The data plane uses hash tables and compiled rule sets, and
must give the same results.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_network

from vcmts.witness import ip
from vcmts.witness.crc import internet_checksum
from vcmts.witness.l2tp import Address
from vcmts.witness.model import Config, Match, Modem, Network

CRC_LENGTH = 4
GROUP_DESTINATIONS = tuple(
    ip_network(text) for text in ("224.0.0.0/4", "255.255.255.255/32", "ff00::/8")
)
PORT_PROTOCOLS = (6, 17)  # TCP, UDP
ALL_PORTS = (0, 65535)


@dataclass(frozen=True)
class Admitted:
    """An accepted frame: its modem, its service flow ID, and the frame as sent."""

    modem: Modem
    flow: int
    frame: bytes


@dataclass(frozen=True)
class Dropped:
    reason: str


class _DropError(Exception):
    """The frame is dropped; the text is the drop reason."""


@dataclass(frozen=True)
class Headers:
    """The fields that rules match. `family` llc: not IP."""

    family: str
    ethertype: int
    source: Address | None = None
    destination: Address | None = None
    protocol: int = 0
    tos: int = 0
    ports: tuple[int, int] | None = None  # source and destination
    extensions: frozenset[int] = frozenset()  # types of IPv6 extension headers


# A priority tag (VLAN ID 0) has no meaning here (802.1Q, 6.9).
untagged = ip.strip_priority_tag


def _extensions(packet: bytes) -> tuple[frozenset[int], bool]:
    """Types of the extension headers of a valid IPv6 packet, and whether it is a later fragment."""
    passed: set[int] = set()
    kind, data = packet[6], packet[40 : 40 + int.from_bytes(packet[4:6], "big")]
    while kind in ip.EXTENSIONS and len(data) >= 8:
        size = 4 * (2 + data[1]) if kind == ip.AUTHENTICATION else 8 * (1 + data[1])
        size = 8 if kind == ip.FRAGMENT else size
        if size > len(data):
            break  # an experimental header of unknown format
        passed.add(kind)
        if kind == ip.FRAGMENT and int.from_bytes(data[2:4], "big") & 0xFFF8:
            return frozenset(passed), True
        kind, data = data[0], data[size:]
    return frozenset(passed), False


def parse(frame: bytes, max_frame: int) -> Headers:
    """Parses and checks a frame, in the order of the drop reasons."""
    plain = untagged(frame)
    if len(plain) > max_frame - CRC_LENGTH:
        raise _DropError("frame_too_long")
    try:
        found = ip.read_frame(frame)
    except ip.IpFault as fault:
        raise _DropError(str(fault)) from fault
    ethertype, packet = int.from_bytes(plain[12:14], "big"), plain[ip.ETHERNET_HEADER :]
    if found.kind not in ("ipv4", "ipv6"):
        return Headers("llc", ethertype, destination=found.destination)
    if found.kind == "ipv4":
        if internet_checksum(found.header):
            raise _DropError("ipv4_checksum")
        tos, extensions = packet[1], frozenset[int]()
        later = bool(int.from_bytes(packet[6:8], "big") & 0x1FFF)
    else:
        tos = int.from_bytes(packet[:2], "big") >> 4 & 0xFF
        extensions, later = _extensions(packet)
    has_ports = not later and found.protocol in PORT_PROTOCOLS and len(found.payload) >= 4
    ports = found.ports if has_ports else None
    addresses = found.source, found.destination
    return Headers(found.kind, ethertype, *addresses, found.protocol, tos, ports, extensions)


def _in_network(network: Network | None, address: Address | None) -> bool:
    if network is None:
        return True
    return address is not None and address.version == network.version and address in network


def _ports_match(match: Match, ports: tuple[int, int] | None) -> bool:
    """Whether the ports match. A packet without ports matches only if all ports are allowed."""
    wanted = match.source_ports, match.destination_ports
    if wanted == (ALL_PORTS, ALL_PORTS):
        return True
    return ports is not None and all(
        low <= port <= high for port, (low, high) in zip(ports, wanted, strict=True)
    )


def matches(match: Match, headers: Headers) -> bool:
    """Whether all criteria of the rule match."""
    if match.family == "llc":
        return match.ethertype is None or match.ethertype == headers.ethertype
    if match.family != headers.family:
        return False
    value, mask = match.tos if match.tos is not None else (0, 0)
    return (
        _in_network(match.source, headers.source)
        and _in_network(match.destination, headers.destination)
        and (match.protocol is None or match.protocol in {headers.protocol, *headers.extensions})
        and headers.tos & mask == value & mask
        and _ports_match(match, headers.ports)
    )


def _is_multicast(frame: bytes, headers: Headers) -> bool:
    """Whether the frame is multicast: by IP address if it is IP. ARP is not, as its target is one
    address."""
    if headers.ethertype == ip.ETHERTYPE_ARP:
        return False
    if headers.destination is None:
        return bool(frame[0] & 1)
    return any(_in_network(network, headers.destination) for network in GROUP_DESTINATIONS)


@dataclass
class Model:
    """The classifier with its state: the active addresses of each modem."""

    config: Config
    _last_seen: dict[bytes, dict[Address, int]] = field(default_factory=dict)

    def change(self, config: Config) -> None:
        """Applies a new configuration. Keeps the state of modems and addresses that it still
        has."""
        self.config = config
        self._last_seen = {
            mac: {
                address: last
                for address, last in seen.items()
                if address in config.by_mac[mac].addresses
            }
            for mac, seen in self._last_seen.items()
            if mac in config.by_mac
        }

    def _check_cpe_limit(self, modem: Modem, address: Address, time_ns: int) -> None:
        seen = self._last_seen.setdefault(modem.mac, {})
        for other, last in list(seen.items()):
            if time_ns - last >= self.config.cpe_timeout_ns:
                del seen[other]
        limit = modem.cpe_limit if address.version == 4 else modem.cpe_limit_ipv6
        active = sum(other.version == address.version for other in seen)
        if address not in seen and active >= limit:
            raise _DropError("cpe_limit")
        seen[address] = time_ns

    def _look_up(self, frame: bytes, headers: Headers, time_ns: int) -> Modem:
        if _is_multicast(frame, headers):
            raise _DropError("multicast")
        if headers.destination is None:
            modem = self.config.by_mac.get(frame[:6])
        else:
            modem = self.config.by_address.get(headers.destination)
        if modem is None:
            raise _DropError("unknown_destination")
        if headers.destination is not None:
            self._check_cpe_limit(modem, headers.destination, time_ns)
        return modem

    def _permitted(self, modem: Modem, headers: Headers) -> bool:
        for group in modem.filter_groups:
            for rule in self.config.filter_groups[group]:
                if matches(rule.match, headers):
                    return rule.permit
        return self.config.filter_default_permit

    def classify(self, frame: bytes, time_ns: int = 0) -> Admitted | Dropped:
        """Classifies the next frame. Its address stays active for `cpe_timeout`."""
        try:
            headers = parse(frame, self.config.max_frame)
            frame = untagged(frame)
            modem = self._look_up(frame, headers, time_ns)
            if not self._permitted(modem, headers):
                raise _DropError("filter_deny")
        except _DropError as drop:
            return Dropped(str(drop))
        flow = modem.flows[0].id
        for classifier in modem.classifiers:
            if matches(classifier.match, headers):
                flow = classifier.flow
                break
        return Admitted(modem, flow, (modem.mac + frame[6:]).ljust(ip.SHORTEST, b"\0"))


def expected_flows(
    frames: Iterable[tuple[bytes, int]], config: Config
) -> tuple[dict[tuple[int, ...], list[bytes]], dict[str, int]]:
    """Classifies (frame, time in ns) pairs. Returns the frames by the keys of
    downstream.Result.flows, and the number of drops by reason."""
    model = Model(config)
    flows: dict[tuple[int, ...], list[bytes]] = {}
    drops: dict[str, int] = {}
    for frame, time_ns in frames:
        verdict = model.classify(frame, time_ns)
        if isinstance(verdict, Dropped):
            drops[verdict.reason] = drops.get(verdict.reason, 0) + 1
            continue
        target = next(flow for flow in verdict.modem.flows if flow.id == verdict.flow)
        flows.setdefault(verdict.modem.wire_group(target), []).append(verdict.frame)
    return flows, drops
