# SPDX-License-Identifier: BSD-3-Clause
"""Computes what service groups use of a server: rates, cores, memory, ports (docs/sizing.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planning.size.curve import Costs, Curve
from planning.size.devices import Devices
from planning.size.request import Groups
from vcmts.published import Rules
from vcmts.run.rates import UPSTREAM_SHARE

# Bytes per packet on the wire in addition to the Ethernet frame without CRC: CRC, preamble, gap.
WIRE = 4 + 8 + 12
# A packet in a DEPI or UEPI tunnel has DEPI_PACKET more bytes: CRC, a MAC header of 17 (privacy and
# DSID), about two segment table entries of 2.
DEPI_PACKET = 4 + 17 + 4
# Tunnel frames are full, MTU 1500: 1,470 bytes of payload need 1,538 bytes on the wire, as IPv4,
# L2TPv3 and PSP take 30 bytes, and Ethernet 14 + WIRE.
DEPI_FRAME = (1500 + 14 + WIRE) / (1500 - 30)
REDUNDANCY = ("none", "n+1", "1+1")
# What distributes the packets of shared ports to service groups.
SHARED_PORTS = ("software", "card")
# Core cycles to receive a packet, find its group by address or session, and enqueue it: 70 TSC
# cycles with a core clock of 3.68 GHz and a TSC of 2.6 GHz (docs/performance.md).
RECEIVER_CYCLES = 100.0


def round_up(value: float) -> int:
    """Rounds up to an integer; ignores floating-point errors."""
    return math.ceil(value - 1e-9)


@dataclass(frozen=True)
class Server:
    """The server. Names of fields are JSON keys. None: no limit, unless a comment says other."""

    sockets: int
    cores: int  # per socket
    clock: float  # GHz
    threads: int = 2  # per core
    thread_gain: float = 1.0  # work of two hyper-threads relative to one, if one was measured
    memory_gib: float | None = None  # total
    system_memory_gib: float = 4.0
    port_gbps: float = 100.0
    ports: int | None = None  # physical, of the server
    redundancy: str = "none"  # one of REDUNDANCY
    ports_a_card: int = 2
    slots: int | None = None  # PCIe slots for port cards and crypto cards
    slot_gbps: float | None = None  # per PCIe slot, shared by the ports of its card
    crypto_card_gbps: float | None = None  # per crypto card in a PCIe slot; None: no such cards
    crypto_gbps: float | None = None  # downstream, of all crypto devices of a socket together
    # Devices that carry the crypto of some groups. Only reported: they save no cores and limit
    # nothing. None: no devices.
    crypto_devices: Devices | None = None
    interfaces: int | None = None  # of the server: virtual functions, or interfaces of a cloud
    nic_gbps: float | None = None  # total of both directions, as clouds limit it
    interface_mpps: float | None = None  # per interface, total of both directions
    shared_ports: str = ""  # one of SHARED_PORTS; "": each service group has its own ports
    receiver_cycles: float = RECEIVER_CYCLES


@dataclass(frozen=True)
class Kind:
    """A requested kind of service group, with its costs."""

    groups: Groups
    costs: Costs


@dataclass(frozen=True)
class Question:
    kinds: Sequence[Kind]
    server: Server
    rules: Rules
    standby: float = 0.0  # standby service groups per active one; they carry no traffic
    # Maximum downstream Gbps of a group without a requested rate. None: channels and core limit it.
    limit: float | None = 10.0


@dataclass(frozen=True)
class Rates:
    """Rates of a service group, and what its share of cores can carry. Gbps. Requested rates may
    exceed the capacities: plan.exceeded_limits() checks them."""

    downstream: float
    upstream: float
    downstream_capacity: float  # beside the upstream, if both directions share a thread
    upstream_capacity: float | None  # None: unknown
    # What determines the downstream: "asked", "core", "channels" or "service group limit".
    bound: str


@dataclass(frozen=True)
class Receivers:
    """The workers that distribute the packets of shared ports, one per port of a pair. If the card
    distributes them, loads and cores are 0."""

    # Total load of network ports, in workers: hyper-threads, or cores without them.
    network: float
    rphy: float  # the same of R-PHY ports
    # Pairs of network and R-PHY ports (DPDK's, not physical), so that each worker fits on its
    # thread and each interface within interface_mpps.
    pairs: int
    cores: float  # of all workers


@dataclass(frozen=True)
class Usage:
    """What the service groups use of a server. Standby groups use cores, memory and, unless ports
    are shared, interfaces."""

    counts: tuple[int, ...]  # active groups per kind
    at_once: int  # active groups per socket, at least 1
    standby: int
    reserved_cores: int  # set aside by the rules, per server and socket
    data_cores: int  # downstream and upstream
    control_cores: int  # control plane and upstream scheduler
    memory_gib: float
    transmit: float  # Gbps of all ports, with overhead if the rules count it
    receive: float
    downstream: float  # Gbps
    carried: float  # Gbps of both directions, without tunnel overhead
    ports: int
    cards: int
    crypto_cards: int
    interfaces: int
    rates: tuple[Rates, ...]
    receivers: Receivers | None = None  # None: ports are not shared

    @property
    def cores(self) -> int:
        return self.reserved_cores + self.data_cores + self.control_cores + self.receiver_cores

    @property
    def receiver_cores(self) -> int:
        return round_up(self.receivers.cores) if self.receivers else 0


def core_share(curve: Curve, share: float, server: Server) -> float:
    """The factor from the curve's Gbps per core to those of `share` cores (0.5: a hyper-thread).
    Above one core it is 1, as a group is not spread. On a part of a core, rates measured with one
    hyper-thread alone change by `thread_gain`."""
    if share >= 1 or curve.both_threads:
        return min(share, 1.0)
    return share * server.thread_gain


def capacity(
    question: Question, curve: Curve, measured_clock: float, share: float, at_once: int
) -> float:
    """Gbps that a share of a core carries at the server's clock, less the headroom.
    `measured_clock`: GHz of the curve. `at_once`: active groups per socket; a curve may have fewer
    Gbps for more."""
    server = question.server
    total = curve.gbps(at_once) * server.clock / measured_clock
    return total * core_share(curve, share, server) * (1 - question.rules.headroom)


def _downstream(
    asked: float | None, core_gbps: float, limits: tuple[tuple[float, str], ...]
) -> tuple[float, str]:
    """Downstream Gbps of a group, and what determines them: the requested rate, unchecked, else the
    lowest limit. `limits`: Gbps and name of each."""
    if asked is not None:
        return asked, "asked"
    return min((core_gbps, "core"), *limits)


def rates(question: Question, kind: Kind, at_once: int) -> Rates:
    """The rates of a group of this kind, with `at_once` active groups per socket. Requested rates
    are not limited."""
    rules, groups, costs = question.rules, kind.groups, kind.costs
    core_gbps = capacity(question, costs.downstream, costs.clock, rules.downstream_cores, at_once)
    upstream_gbps = None
    share = rules.downstream_cores if rules.one_thread else rules.upstream_cores
    if costs.upstream is not None:
        upstream_gbps = capacity(question, costs.upstream, costs.clock, share, at_once)
    upstream_share = costs.upstream_share or UPSTREAM_SHARE
    if rules.one_thread and upstream_gbps:
        # Downstream d and upstream u share the thread: d / core_gbps + u / upstream_gbps = 1.
        core_gbps = (
            1 / (1 / core_gbps + upstream_share / upstream_gbps)
            if groups.upstream is None
            else core_gbps * max(0.0, 1 - groups.upstream / upstream_gbps)
        )
    most = [(groups.channel_rate, "channels")]
    if question.limit is not None:
        most.append((question.limit, "service group limit"))
    down, bound = _downstream(groups.downstream, core_gbps, tuple(most))
    upstream = down * upstream_share if groups.upstream is None else groups.upstream
    if groups.upstream is None and upstream_gbps is not None and not rules.one_thread:
        upstream = min(upstream, upstream_gbps)
    return Rates(down, upstream, core_gbps, upstream_gbps, bound)


def on_the_wire(question: Question, kind: Kind, rate: Rates) -> tuple[float, float]:
    """Gbps that both ports of a service group transmit and receive, with overhead if the rules
    count it."""
    if not question.rules.count_overhead:
        both = rate.downstream + rate.upstream
        return both, both
    down = kind.costs.downstream.mean_bytes
    up_bytes = kind.costs.upstream.mean_bytes if kind.costs.upstream else down

    def ip(size: float) -> float:
        return (size + WIRE) / size

    def tunnel(size: float) -> float:
        return (size + DEPI_PACKET) * DEPI_FRAME / size

    transmit = rate.downstream * tunnel(down) + rate.upstream * ip(up_bytes)
    receive = rate.downstream * ip(down) + rate.upstream * tunnel(up_bytes)
    return transmit, receive


def network_mpps(kind: Kind, rate: Rates) -> float:
    """Mpps of a service group at its network interface, both directions. The R-PHY side has
    fewer."""

    def mpps(gbps: float, size: float) -> float:
        return gbps * 1000 / 8 / size

    curve = kind.costs.upstream or kind.costs.downstream
    return mpps(rate.downstream, kind.costs.downstream.mean_bytes) + mpps(
        rate.upstream, curve.mean_bytes
    )


def port_count(server: Server, load: float) -> int:
    """The number of ports for `load` Gbps, with spare ports for redundancy."""
    gbps = server.port_gbps
    if server.slot_gbps is not None:
        gbps = min(gbps, server.slot_gbps / server.ports_a_card)
    needed = round_up(load / gbps)
    return {"none": needed, "n+1": needed + (needed > 0), "1+1": 2 * needed}[server.redundancy]


def receivers(
    question: Question, counts: Sequence[int], found: Sequence[Rates]
) -> Receivers | None:
    """The workers of shared ports; None without these. Each has a whole hyper-thread, or a core if
    hyper-threads are off."""
    server = question.server
    if not server.shared_ports:
        return None
    each = [network_mpps(kind, rate) for kind, rate in zip(question.kinds, found, strict=True)]
    mpps = sum(n * packets for n, packets in zip(counts, each, strict=True))
    least = max(1, round_up(mpps / server.interface_mpps)) if server.interface_mpps else 1
    if server.shared_ports == "card":
        return Receivers(0.0, 0.0, least, 0.0)

    def packets(gbps: float, size: float) -> float:
        return gbps / 8 / size  # 10^9 packets per second, as clocks are in GHz

    down = up_ = 0.0
    for number, kind, rate in zip(counts, question.kinds, found, strict=True):
        curve = kind.costs.upstream or kind.costs.downstream
        down += number * packets(rate.downstream, kind.costs.downstream.mean_bytes)
        # UEPI packets are filled up to the MTU
        tunnel = (curve.mean_bytes + DEPI_PACKET) / curve.mean_bytes
        up_ += number * packets(rate.upstream * tunnel, 1500 - 30)
    share = 0.5 if server.threads == 2 else 1.0
    thread = server.clock * (server.thread_gain / 2 if server.threads == 2 else 1.0)
    network, rphy = (n * server.receiver_cycles / thread for n in (down, up_))
    pairs = max(least, round_up(network), round_up(rphy))
    return Receivers(network, rphy, pairs, 2 * pairs * share)


def interface_count(question: Question, total: int, shared: Receivers | None) -> int:
    """The interfaces of a server: of its `total` service groups or pairs of shared ports, and for
    administration."""
    rules = question.rules
    groups = total if shared is None else shared.pairs
    return groups * rules.interfaces + rules.interfaces_admin


def usage(question: Question, counts: Sequence[int]) -> Usage:
    """What `counts` active groups, per kind, and their standby groups use of a server."""
    server, rules = question.server, question.rules
    active = sum(counts)
    standby = round_up(active * question.standby)
    total = active + standby
    at_once = max(1, -(-active // server.sockets))
    found = tuple(rates(question, kind, at_once) for kind in question.kinds)
    wires = [on_the_wire(question, k, r) for k, r in zip(question.kinds, found, strict=True)]
    transmit = sum(n * wire[0] for n, wire in zip(counts, wires, strict=True))
    receive = sum(n * wire[1] for n, wire in zip(counts, wires, strict=True))
    memory = [kind.costs.memory_gib or 0.0 for kind in question.kinds]
    used = sum(n * gib for n, gib in zip(counts, memory, strict=True))
    # A standby group may have to replace an active group of any kind on the server.
    each_standby = max((gib for n, gib in zip(counts, memory, strict=True) if n), default=0.0)
    ports = port_count(server, max(transmit, receive))
    down = sum(n * rate.downstream for n, rate in zip(counts, found, strict=True))
    upstream = sum(n * rate.upstream for n, rate in zip(counts, found, strict=True))
    data = rules.downstream_cores + (0 if rules.one_thread else rules.upstream_cores)
    card = server.crypto_card_gbps
    shared = receivers(question, counts, found)
    return Usage(
        counts=tuple(counts),
        at_once=at_once,
        standby=standby,
        reserved_cores=round_up(rules.server_cores + rules.socket_cores * server.sockets),
        data_cores=round_up(total * data),
        control_cores=round_up(total * (rules.control_plane_cores + rules.scheduler_cores)),
        memory_gib=server.system_memory_gib + used + standby * each_standby,
        transmit=transmit,
        receive=receive,
        downstream=down,
        carried=down + upstream,
        ports=ports,
        cards=round_up(ports / server.ports_a_card),
        crypto_cards=round_up(down / card) if card else 0,
        interfaces=interface_count(question, total, shared),
        rates=found,
        receivers=shared,
    )
