# SPDX-License-Identifier: BSD-3-Clause
# Written by `make docs` from `vcmtsd describe --rpc`
"""The methods of the control socket, each a function: what it takes and returns is typed.

A parameter that is None is left out. RefusedError tells why nothing was done, ClosedError that
vcmtsd has gone.
"""

from typing import Any, Literal, NotRequired, TypedDict

from vcmts.control.client import Client


def _given(**params: Any) -> dict[str, Any]:
    return {key: value for key, value in params.items() if value is not None}


class ServerInfoGroups(TypedDict):
    # number of the service group
    id: int
    # its name
    name: str
    # how many it has
    modems: int
    # core of the upper MAC
    upper_mac_core: int
    # core of the lower MAC, which may be the same
    lower_mac_core: int
    # core of the upstream; not there without one
    upstream_core: NotRequired[int]
    # device of the port towards the core network
    network: str
    # device of the port towards the R-PHY device
    rphy: str
    # device of the port for management messages; not there without one
    control: NotRequired[str]


class ServerInfoWorkers(TypedDict):
    # its core
    core: int
    # what it runs, for people
    runs: str


class ServerInfoPorts(TypedDict):
    # which port of its groups it is
    port: str
    # as DPDK calls it
    device: str
    # up; down: without a link; gone: its device was taken away
    state: str
    # who uses it
    groups: list[int]


class ServerInfoSharedPorts(TypedDict):
    # which port of its groups it is
    port: str
    # what DPDK opened
    device: str
    # how many use it
    groups: int
    # how many of them have a queue of their own to which the device brings their packets
    steered: int
    # what is done, for people
    steering: str


class ServerInfo(TypedDict):
    # changes since the start
    generation: int
    # of OpenVCMTS
    version: str
    # number of the process
    pid: int
    # path of the configuration, as it was given
    config: str
    # service groups, and where they run
    groups: list[ServerInfoGroups]
    # polling threads
    workers: list[ServerInfoWorkers]
    # ports, and what has become of them
    ports: list[ServerInfoPorts]
    # ports that groups share, and who tells their packets apart
    shared_ports: list[ServerInfoSharedPorts]


class GroupListGroups(TypedDict):
    # number of the service group
    id: int
    # its name
    name: str
    # cable modems
    modems: int
    # downstream channels
    channels: int
    # upstream channels
    upstream_channels: int


class GroupList(TypedDict):
    # in the order of the file
    groups: list[GroupListGroups]


class GroupGetChannels(TypedDict):
    # number of the channel
    id: int
    # bits per second that it carries in MAC frames
    rate: int
    # L2TPv3 session ID
    session: int


class GroupGetUpstreamChannels(TypedDict):
    # number of the channel
    id: int
    # bits per second
    rate: int
    # L2TPv3 session ID of its bursts
    session: int


class GroupGetBondingGroups(TypedDict):
    # number of the bonding group
    id: int
    # numbers of its channels
    channels: list[int]


class GroupGetFilterGroups(TypedDict):
    # number of the filter group
    id: int
    # how many rules it has
    rules: int


class GroupGet(TypedDict):
    # number of the service group
    id: int
    # its name
    name: str
    # cable modems
    modems: int
    # bits per second of the whole group; 0: no limit
    rate_limit: int
    # downstream channels
    channels: list[GroupGetChannels]
    # upstream channels
    upstream_channels: list[GroupGetUpstreamChannels]
    # downstream bonding groups
    bonding_groups: list[GroupGetBondingGroups]
    # filter groups
    filter_groups: list[GroupGetFilterGroups]


class ModemListModems(TypedDict):
    # MAC address
    mac: str
    # how many addresses of CPEs
    addresses: int
    # how many downstream service flows
    service_flows: int
    # how many upstream service flows
    upstream_service_flows: int


class ModemList(TypedDict):
    # number of the service group
    group: int
    # the modems
    modems: list[ModemListModems]
    # where to go on; not there when these were the last
    next: NotRequired[int]


class ModemGetSecurity(TypedDict):
    # security association ID; modems may share one with all of its values
    said: int
    # none sends frames in the clear; des has 56 bits, and is for modems before DOCSIS 3.0
    cipher: Literal["none", "aes-128", "aes-256", "des"]
    # sequence number of the key; its lowest bit is the toggle
    key_sequence: int
    # whether downstream frames have next_key; only beside it
    use_next_key: bool


class ModemGetServiceFlowsWred(TypedDict):
    # average queue from where on packets are dropped at random; where not given, one quarter of
    # buffer
    min_threshold: int
    # average queue from where on all packets are dropped, above min_threshold; where not given,
    # three quarters of buffer
    max_threshold: int
    # just below max_threshold, one packet in so many is dropped
    max_probability_inverse: int
    # w: each arrival moves the average by 1/2^w of the difference
    weight: int


class ModemGetServiceFlows(TypedDict):
    # service flow ID, unique in the service group
    id: int
    # a provisioned flow carries nothing and no classifier may name it
    state: Literal["provisioned", "active"]
    # id of the flow's bonding group; where not given, the modem's
    bonding_group: int
    # downstream service ID, unique in the service group; needed by active flows on a bonding group
    # of two or more channels
    dsid: NotRequired[int]
    # traffic priority; 7 is the highest
    priority: int
    # share among the modem's flows of the same priority and bonding group
    weight: int
    # maximum sustained traffic rate, of Ethernet frames with their CRCs
    max_sustained_rate: str
    # bytes that may pass at once at max_sustained_rate, at least max_frame; where not given, what
    # passes in 10 ms, and at least 3044
    max_traffic_burst: NotRequired[int]
    # peak traffic rate, also within a burst; beside max_sustained_rate, and not less
    peak_rate: str
    # minimum reserved traffic rate: up to here the flow goes before all priorities; at most
    # max_sustained_rate
    min_reserved_rate: str
    # assumed minimum packet size at min_reserved_rate: a shorter packet counts as so long; at most
    # max_frame
    min_reserved_packet: NotRequired[int]
    # bytes that may wait while memory is short, at most buffer; where not given, one eighth of
    # buffer, or 3044 bytes of it where that is more
    min_buffer: int
    # bytes that may wait in the queue of the flow
    buffer: int
    # bytes that may wait while much memory is free, at least buffer; where not given, buffer
    max_buffer: int
    # active queue management: none but the buffer's end, weighted random early detection, or PIE
    # with DOCSIS's settings (RFC 8034)
    aqm: Literal["tail-drop", "wred", "docsis-pie"]
    # delay that aqm: docsis-pie aims at; only there
    latency_target: NotRequired[str]
    # settings of aqm: wred; only there
    wred: NotRequired[ModemGetServiceFlowsWred]


class ModemGetClassifiers(TypedDict):
    # what the rule looks at: IPv4, IPv6 or the Ethernet type
    family: Literal["ipv4", "ipv6", "llc"]
    # source prefix of the rule's family; where not given, any
    source: NotRequired[str]
    # destination prefix of the rule's family; where not given, any
    destination: NotRequired[str]
    # IPv4 protocol, or the type of any header of an IPv6 packet; where not given, any
    protocol: NotRequired[int]
    # IPv4 TOS or IPv6 traffic class, and the mask of the bits that count
    tos: NotRequired[int | str]
    # source ports of TCP and UDP; packets without ports, such as later fragments, match 0-65535
    # only
    source_ports: NotRequired[int | str]
    # destination ports of TCP and UDP; packets without ports match 0-65535 only
    destination_ports: NotRequired[int | str]
    # Ethernet type, also that of IP; needed by rules of family llc, and only there
    ethertype: NotRequired[int]
    # id of an active service flow of this modem
    service_flow: int


class ModemGetUpstreamServiceFlowsSidClustersSids(TypedDict):
    # id of an upstream channel
    channel: int
    # service ID that is granted to, unique on its channel
    sid: int


class ModemGetUpstreamServiceFlowsSidClusters(TypedDict):
    # number of the cluster in segment headers, unique in the service flow
    id: int
    # its SIDs, at most one a channel
    sids: list[ModemGetUpstreamServiceFlowsSidClustersSids]


class ModemGetUpstreamServiceFlows(TypedDict):
    # service flow ID, unique in the service group, also among downstream flows
    id: int
    # continuous concatenation and fragmentation: every grant is filled with a segment that has a
    # header
    segment_header: bool
    # SID clusters of the flow; without segment headers exactly one
    sid_clusters: list[ModemGetUpstreamServiceFlowsSidClusters]
    # upstream scheduling service
    scheduling: Literal[
        "best-effort",
        "non-real-time-polling",
        "real-time-polling",
        "unsolicited-grant",
        "unsolicited-grant-activity",
        "proactive-grant",
    ]
    # traffic priority of requests; 7 is the highest
    priority: int
    # maximum sustained traffic rate, of Ethernet frames with their CRCs
    max_sustained_rate: str
    # bytes that may be granted at once at max_sustained_rate; where not given, what passes in 10
    # ms, and at least 3044
    max_traffic_burst: NotRequired[int]
    # peak traffic rate; beside max_sustained_rate, and not less
    peak_rate: str
    # minimum reserved traffic rate: up to here the flow goes before all priorities; at most
    # max_sustained_rate
    min_reserved_rate: str
    # bytes of one grant, at most; where not given, no limit
    max_concatenated_burst: NotRequired[int]
    # N: bytes that a request of flows with segment headers counts by: 1, 2, 4, 8 or 16
    request_multiplier: int
    # time between two request opportunities of its own; of polling and, while it is silent,
    # unsolicited-grant-activity
    nominal_polling_interval: NotRequired[str]
    # time between two unsolicited grants, or of proactive ones
    nominal_grant_interval: NotRequired[str]
    # time that an unsolicited grant may be late
    tolerated_grant_jitter: str
    # bytes of an unsolicited grant, with MAC headers
    unsolicited_grant_size: NotRequired[int]
    # unsolicited grants in each interval
    grants_per_interval: NotRequired[int]
    # time without use until unsolicited-grant-activity gets request opportunities instead
    active_timeout: NotRequired[str]
    # rate of proactive grants
    guaranteed_grant_rate: NotRequired[str]
    # how many SID clusters it has
    clusters: int


class ModemGet(TypedDict):
    # MAC address of the modem, unique in the service group
    mac: str
    # IP addresses of the CPEs behind the modem, unique in the service group
    addresses: list[str]
    # IPv4 addresses that may be active at a time
    cpe_limit: int
    # IPv6 addresses that may be active at a time; where not given, as cpe_limit
    cpe_limit_ipv6: int
    # ids of filter groups, in order of evaluation
    filter_groups: list[int]
    # id of the bonding group of its service flows, but of those that name another
    bonding_group: int
    # limit of all downstream service flows of the modem together
    max_aggregate_rate: str
    # bytes that may pass at once at max_aggregate_rate, at least max_frame; where not given, what
    # passes in 10 ms, and at least 3044
    max_aggregate_burst: NotRequired[int]
    # BPI+ security association
    security: ModemGetSecurity
    # the first is the primary flow: it is active and takes what no classifier takes
    service_flows: list[ModemGetServiceFlows]
    # classifiers in order: the first that matches decides
    classifiers: list[ModemGetClassifiers]
    # what the modem sends on
    upstream_service_flows: list[ModemGetUpstreamServiceFlows]
    # number of its service group
    group: int
    # security.said
    said: int
    # security.cipher
    cipher: Literal["none", "aes-128", "aes-256", "des"]
    # security.key_sequence
    key_sequence: int
    # whether there is a security.next_key, which is not told
    has_next_key: bool


class CountersGetGroupsDownstream(TypedDict):
    # by drop reason, as docs/counters.md has them
    drops: dict[str, int]
    # by name, as docs/counters.md has them
    counters: dict[str, int]


class CountersGetGroupsUpstream(TypedDict):
    # by drop reason, as docs/counters.md has them
    drops: dict[str, int]
    # by name, as docs/counters.md has them
    counters: dict[str, int]


class CountersGetGroups(TypedDict):
    # number of the service group
    id: int
    # towards the modems
    downstream: CountersGetGroupsDownstream
    # from the modems; not there where the group has no upstream
    upstream: NotRequired[CountersGetGroupsUpstream]


class CountersGetSharedPorts(TypedDict):
    # its name
    port: str
    # by drop reason: packets of no group
    drops: dict[str, int]
    # by name
    counters: dict[str, int]


class CountersGet(TypedDict):
    # service groups
    groups: list[CountersGetGroups]
    # ports that groups share; none where a group is named
    shared_ports: list[CountersGetSharedPorts]


class MetricsGetSamples(TypedDict):
    # of the metric; of a histogram with _bucket, _sum or _count behind it
    name: str
    # those of the metric by name; of a _bucket also le, its upper bound in seconds
    labels: dict[str, str]
    # in the unit of the metric
    value: float


class MetricsGet(TypedDict):
    # seconds since the start; 0 in a replay
    uptime: float
    # those of a metric one behind the other
    samples: list[MetricsGetSamples]
    # where to go on; not there when these were the last
    next: NotRequired[int]


class MeasureGet(TypedDict):
    # whether the cycles of the stages are measured
    cycles: bool
    # for how long they were, when they were last: the figures are of that time
    cycles_ms: int
    # whether it is measured how long packets stay in the pipeline
    latency: bool
    # for how long it was, likewise
    latency_ms: int


class MeasureSet(TypedDict):
    # whether the cycles of the stages are measured
    cycles: bool
    # for how long they were, when they were last: the figures are of that time
    cycles_ms: int
    # whether it is measured how long packets stay in the pipeline
    latency: bool
    # for how long it was, likewise
    latency_ms: int


class PowerGetCores(TypedDict):
    # number of the core
    core: int
    # that run on it
    workers: list[int]
    # its frequency as the driver told when it was set; 0: it is not governed
    hertz: int
    # what was asked for last
    wished_hertz: int
    # the lowest that is asked for
    min_hertz: int
    # the highest
    max_hertz: int
    # share of its time that packets took at the last look
    busy: float


class PowerGet(TypedDict):
    # that is in force now: that of busy hours in these
    policy: Literal["none", "performance", "balanced", "saving"]
    # what changes frequencies: cpufreq, simulated or none
    driver: str
    # what workers are to do while nothing comes
    idle: Literal["auto", "poll", "spin", "tpause-c0.1", "tpause-c0.2", "mwaitx", "umwait", "sleep"]
    # in a row before a pause
    empty_rounds: int
    # no pause is longer
    longest_pause_us: float
    # that lower frequencies may add
    latency_us: float
    # time between two looks of the governor
    look_us: float
    # time by which looks came late since the start, of those by more than 1 ms: the system kept the
    # governor from its core
    late_us: float
    # how long a change of a simulated frequency takes
    transition_us: float
    # whether a queue that grows takes its core to the maximum at once
    queues: bool
    # of the workers
    cores: list[PowerGetCores]


class PowerSetCores(TypedDict):
    # number of the core
    core: int
    # that run on it
    workers: list[int]
    # its frequency as the driver told when it was set; 0: it is not governed
    hertz: int
    # what was asked for last
    wished_hertz: int
    # the lowest that is asked for
    min_hertz: int
    # the highest
    max_hertz: int
    # share of its time that packets took at the last look
    busy: float


class PowerSet(TypedDict):
    # that is in force now: that of busy hours in these
    policy: Literal["none", "performance", "balanced", "saving"]
    # what changes frequencies: cpufreq, simulated or none
    driver: str
    # what workers are to do while nothing comes
    idle: Literal["auto", "poll", "spin", "tpause-c0.1", "tpause-c0.2", "mwaitx", "umwait", "sleep"]
    # in a row before a pause
    empty_rounds: int
    # no pause is longer
    longest_pause_us: float
    # that lower frequencies may add
    latency_us: float
    # time between two looks of the governor
    look_us: float
    # time by which looks came late since the start, of those by more than 1 ms: the system kept the
    # governor from its core
    late_us: float
    # how long a change of a simulated frequency takes
    transition_us: float
    # whether a queue that grows takes its core to the maximum at once
    queues: bool
    # of the workers
    cores: list[PowerSetCores]


class ModemAdd(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ModemReplace(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ModemSet(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ModemRemove(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class FilterGroupAdd(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class FilterGroupReplace(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class FilterGroupSet(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class FilterGroupRemove(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ChannelAdd(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ChannelReplace(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ChannelSet(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class ChannelRemove(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class UpstreamChannelAdd(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class UpstreamChannelReplace(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class UpstreamChannelSet(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class UpstreamChannelRemove(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class BondingGroupAdd(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class BondingGroupReplace(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class BondingGroupSet(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class BondingGroupRemove(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class GroupSet(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class GroupAdd(TypedDict):
    # changes since the start, this one included
    generation: int


class GroupRemove(TypedDict):
    # changes since the start, this one included
    generation: int


class GroupDrain(TypedDict):
    # packets and parts of packets that it still holds; 0: it is empty
    held: int
    # of these, parts whose rest has not come: they wait until the group is resumed
    waiting: int


class GroupResume(TypedDict):
    # changes since the start, this one included
    generation: int


class KeyInstall(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class KeyUse(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class KeyRemove(TypedDict):
    # what has changed
    done: str
    # changes since the start, this one included
    generation: int


class WorkerDrain(TypedDict):
    # changes since the start, this one included
    generation: int


class WorkerResume(TypedDict):
    # changes since the start, this one included
    generation: int


class EventsSubscribe(TypedDict):
    # number of the next event of the server
    sequence: int
    # changes since the start
    generation: int


class ConfigGet(TypedDict):
    # changes since the start
    generation: int
    # number of the first event that is not in it
    sequence: int
    # what is in service, with the keys of a server's file
    config: dict[str, Any]


class ConfigReload(TypedDict):
    # what has changed, as vcmtsd prints it
    done: str


class ConfigRefuse(TypedDict):
    # changes that were refused since the start, this one included
    refused: int


def server_info(client: Client) -> ServerInfo:
    """What is in service: version, process, groups, threads and ports."""
    result: ServerInfo = client.call("server.info")
    return result


def group_list(client: Client) -> GroupList:
    """The service groups, and how much is in them."""
    result: GroupList = client.call("group.list")
    return result


def group_get(
    client: Client,
    *,
    # service group; may be left out where there is but one
    group: int | None = None,
) -> GroupGet:
    """A service group: its channels, and what modems refer to."""
    params = _given(
        group=group,
    )
    result: GroupGet = client.call("group.get", **params)
    return result


def modem_list(
    client: Client,
    *,
    # service group; may be left out where there is but one
    group: int | None = None,
    # where to begin: 0, or what the answer before told as next
    first: int | None = None,
    # how many modems at the most
    count: int | None = None,
) -> ModemList:
    """Modems of a service group, some at a time."""
    params = _given(
        group=group,
        first=first,
        count=count,
    )
    result: ModemList = client.call("modem.list", **params)
    return result


def modem_get(
    client: Client,
    *,
    # MAC address of the modem
    mac: str,
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ModemGet:
    """A modem as the configuration has it; not its traffic encryption keys."""
    params = _given(
        group=group,
        mac=mac,
    )
    result: ModemGet = client.call("modem.get", **params)
    return result


def counters_get(
    client: Client,
    *,
    # service group; where it is left out, all of them, and the ports that they share
    group: int | None = None,
) -> CountersGet:
    """Drops and counters since the start, by service group and direction."""
    params = _given(
        group=group,
    )
    result: CountersGet = client.call("counters.get", **params)
    return result


def metrics_get(
    client: Client,
    *,
    # metrics whose names begin so, where there are any; where it is left out, all
    names: list[str] | None = None,
    # service group; where it is left out, all of them, and what is of none
    group: int | None = None,
    # MAC address: also what is of this modem and its service flows, and of no other
    modem: str | None = None,
    # also what is of each modem
    modems: bool | None = None,
    # also what is of each downstream service flow
    flows: bool | None = None,
    # where to begin: 0, or what the answer before told as next, to the same other parameters
    first: int | None = None,
    # how many samples at the most
    count: int | None = None,
) -> MetricsGet:
    """Samples of the metrics that docs/metrics.md lists."""
    params = _given(
        names=names,
        group=group,
        modem=modem,
        modems=modems,
        flows=flows,
        first=first,
        count=count,
    )
    result: MetricsGet = client.call("metrics.get", **params)
    return result


def measure_get(client: Client) -> MeasureGet:
    """Whether cycles of stages and latencies are measured, and for how long."""
    result: MeasureGet = client.call("measure.get")
    return result


def measure_set(
    client: Client,
    *,
    # whether the cycles of the stages are to be measured; as it is where not given
    cycles: bool | None = None,
    # whether it is to be measured how long packets stay in the pipeline, likewise
    latency: bool | None = None,
) -> MeasureSet:
    """Switches these on or off; figures are those since it was switched on."""
    params = _given(
        cycles=cycles,
        latency=latency,
    )
    result: MeasureSet = client.call("measure.set", **params)
    return result


def power_get(client: Client) -> PowerGet:
    """Pauses of the workers, and frequencies of their cores."""
    result: PowerGet = client.call("power.get")
    return result


def power_set(
    client: Client,
    *,
    # of frequencies; each key is as it is where not given
    policy: Literal["none", "performance", "balanced", "saving"] | None = None,
    # what workers do while nothing comes
    idle: Literal["auto", "poll", "spin", "tpause-c0.1", "tpause-c0.2", "mwaitx", "umwait", "sleep"]
    | None = None,
    # in a row before a pause
    empty_rounds: int | None = None,
    # no pause is longer
    longest_pause_us: int | None = None,
    # that lower frequencies may add
    latency_us: int | None = None,
    # how long a change of a simulated frequency takes
    transition_us: int | None = None,
    # whether a queue that grows takes its core to the maximum at once; false to compare with a
    # governor that does not see queues
    queues: bool | None = None,
) -> PowerSet:
    """Changes these until the file is read again."""
    params = _given(
        policy=policy,
        idle=idle,
        empty_rounds=empty_rounds,
        longest_pause_us=longest_pause_us,
        latency_us=latency_us,
        transition_us=transition_us,
        queues=queues,
    )
    result: PowerSet = client.call("power.set", **params)
    return result


def modem_add(
    client: Client,
    *,
    # the keys of an item of `modems` in the configuration; set: mac and those that are to differ (a
    # merge patch, RFC 7396, in which an object for a list names its items by their ids)
    modem: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ModemAdd:
    """Adds a cable modem, which is in service when this is answered."""
    params = _given(
        group=group,
        modem=modem,
    )
    result: ModemAdd = client.call("modem.add", **params)
    return result


def modem_replace(
    client: Client,
    *,
    # the keys of an item of `modems` in the configuration; set: mac and those that are to differ (a
    # merge patch, RFC 7396, in which an object for a list names its items by their ids)
    modem: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ModemReplace:
    """Makes a cable modem another one."""
    params = _given(
        group=group,
        modem=modem,
    )
    result: ModemReplace = client.call("modem.replace", **params)
    return result


def modem_set(
    client: Client,
    *,
    # the keys of an item of `modems` in the configuration; set: mac and those that are to differ (a
    # merge patch, RFC 7396, in which an object for a list names its items by their ids)
    modem: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ModemSet:
    """Changes some keys of a cable modem."""
    params = _given(
        group=group,
        modem=modem,
    )
    result: ModemSet = client.call("modem.set", **params)
    return result


def modem_remove(
    client: Client,
    *,
    # its mac alone
    modem: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ModemRemove:
    """Removes a cable modem; what waits for it goes out, or is dropped by name."""
    params = _given(
        group=group,
        modem=modem,
    )
    result: ModemRemove = client.call("modem.remove", **params)
    return result


def filter_group_add(
    client: Client,
    *,
    # the keys of an item of `filter_groups` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    filter_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> FilterGroupAdd:
    """Adds a filter group, which is in service when this is answered."""
    params = _given(
        group=group,
        filter_group=filter_group,
    )
    result: FilterGroupAdd = client.call("filter_group.add", **params)
    return result


def filter_group_replace(
    client: Client,
    *,
    # the keys of an item of `filter_groups` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    filter_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> FilterGroupReplace:
    """Makes a filter group another one."""
    params = _given(
        group=group,
        filter_group=filter_group,
    )
    result: FilterGroupReplace = client.call("filter_group.replace", **params)
    return result


def filter_group_set(
    client: Client,
    *,
    # the keys of an item of `filter_groups` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    filter_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> FilterGroupSet:
    """Changes some keys of a filter group."""
    params = _given(
        group=group,
        filter_group=filter_group,
    )
    result: FilterGroupSet = client.call("filter_group.set", **params)
    return result


def filter_group_remove(
    client: Client,
    *,
    # its id alone
    filter_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> FilterGroupRemove:
    """Removes a filter group; what waits for it goes out, or is dropped by name."""
    params = _given(
        group=group,
        filter_group=filter_group,
    )
    result: FilterGroupRemove = client.call("filter_group.remove", **params)
    return result


def channel_add(
    client: Client,
    *,
    # the keys of an item of `channels` in the configuration; set: id and those that are to differ
    # (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ChannelAdd:
    """Adds a downstream channel, which is in service when this is answered."""
    params = _given(
        group=group,
        channel=channel,
    )
    result: ChannelAdd = client.call("channel.add", **params)
    return result


def channel_replace(
    client: Client,
    *,
    # the keys of an item of `channels` in the configuration; set: id and those that are to differ
    # (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ChannelReplace:
    """Makes a downstream channel another one."""
    params = _given(
        group=group,
        channel=channel,
    )
    result: ChannelReplace = client.call("channel.replace", **params)
    return result


def channel_set(
    client: Client,
    *,
    # the keys of an item of `channels` in the configuration; set: id and those that are to differ
    # (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ChannelSet:
    """Changes some keys of a downstream channel."""
    params = _given(
        group=group,
        channel=channel,
    )
    result: ChannelSet = client.call("channel.set", **params)
    return result


def channel_remove(
    client: Client,
    *,
    # its id alone
    channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> ChannelRemove:
    """Removes a downstream channel; what waits for it goes out, or is dropped by name."""
    params = _given(
        group=group,
        channel=channel,
    )
    result: ChannelRemove = client.call("channel.remove", **params)
    return result


def upstream_channel_add(
    client: Client,
    *,
    # the keys of an item of `upstream_channels` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    upstream_channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> UpstreamChannelAdd:
    """Adds an upstream channel, which is in service when this is answered."""
    params = _given(
        group=group,
        upstream_channel=upstream_channel,
    )
    result: UpstreamChannelAdd = client.call("upstream_channel.add", **params)
    return result


def upstream_channel_replace(
    client: Client,
    *,
    # the keys of an item of `upstream_channels` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    upstream_channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> UpstreamChannelReplace:
    """Makes an upstream channel another one."""
    params = _given(
        group=group,
        upstream_channel=upstream_channel,
    )
    result: UpstreamChannelReplace = client.call("upstream_channel.replace", **params)
    return result


def upstream_channel_set(
    client: Client,
    *,
    # the keys of an item of `upstream_channels` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    upstream_channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> UpstreamChannelSet:
    """Changes some keys of an upstream channel."""
    params = _given(
        group=group,
        upstream_channel=upstream_channel,
    )
    result: UpstreamChannelSet = client.call("upstream_channel.set", **params)
    return result


def upstream_channel_remove(
    client: Client,
    *,
    # its id alone
    upstream_channel: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> UpstreamChannelRemove:
    """Removes an upstream channel; what waits for it goes out, or is dropped by name."""
    params = _given(
        group=group,
        upstream_channel=upstream_channel,
    )
    result: UpstreamChannelRemove = client.call("upstream_channel.remove", **params)
    return result


def bonding_group_add(
    client: Client,
    *,
    # the keys of an item of `bonding_groups` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    bonding_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> BondingGroupAdd:
    """Adds a bonding group, which is in service when this is answered."""
    params = _given(
        group=group,
        bonding_group=bonding_group,
    )
    result: BondingGroupAdd = client.call("bonding_group.add", **params)
    return result


def bonding_group_replace(
    client: Client,
    *,
    # the keys of an item of `bonding_groups` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    bonding_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> BondingGroupReplace:
    """Makes a bonding group another one."""
    params = _given(
        group=group,
        bonding_group=bonding_group,
    )
    result: BondingGroupReplace = client.call("bonding_group.replace", **params)
    return result


def bonding_group_set(
    client: Client,
    *,
    # the keys of an item of `bonding_groups` in the configuration; set: id and those that are to
    # differ (a merge patch, RFC 7396, in which an object for a list names its items by their ids)
    bonding_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> BondingGroupSet:
    """Changes some keys of a bonding group."""
    params = _given(
        group=group,
        bonding_group=bonding_group,
    )
    result: BondingGroupSet = client.call("bonding_group.set", **params)
    return result


def bonding_group_remove(
    client: Client,
    *,
    # its id alone
    bonding_group: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> BondingGroupRemove:
    """Removes a bonding group; what waits for it goes out, or is dropped by name."""
    params = _given(
        group=group,
        bonding_group=bonding_group,
    )
    result: BondingGroupRemove = client.call("bonding_group.remove", **params)
    return result


def group_set(
    client: Client,
    *,
    # rate_limit, cpe_timeout or both, as in the configuration
    values: dict[str, Any],
    # service group; may be left out where there is but one
    group: int | None = None,
) -> GroupSet:
    """Changes what a service group has but once."""
    params = _given(
        group=group,
        values=values,
    )
    result: GroupSet = client.call("group.set", **params)
    return result


def group_add(
    client: Client,
    *,
    # configuration of one service group, as vcmtsd sees the path
    file: str,
) -> GroupAdd:
    """Takes a service group of a file into service."""
    params = _given(
        file=file,
    )
    result: GroupAdd = client.call("group.add", **params)
    return result


def group_remove(
    client: Client,
    *,
    # service group; may be left out where there is but one
    group: int | None = None,
    # how long what it holds may take to go out
    limit: str | None = None,
) -> GroupRemove:
    """Takes a service group out of service."""
    params = _given(
        group=group,
        limit=limit,
    )
    result: GroupRemove = client.call("group.remove", **params)
    return result


def group_drain(
    client: Client,
    *,
    # service group; may be left out where there is but one
    group: int | None = None,
    # how long what it holds may take to go out
    limit: str | None = None,
) -> GroupDrain:
    """Receives nothing more for a service group, and waits until nothing in it can go on."""
    params = _given(
        group=group,
        limit=limit,
    )
    result: GroupDrain = client.call("group.drain", **params)
    return result


def group_resume(
    client: Client,
    *,
    # service group; may be left out where there is but one
    group: int | None = None,
) -> GroupResume:
    """Receives again for a service group."""
    params = _given(
        group=group,
    )
    result: GroupResume = client.call("group.resume", **params)
    return result


def key_install(
    client: Client,
    *,
    # security association ID
    said: int,
    # the next traffic encryption key, as long as the association's cipher asks
    key: str,
    # its initialisation vector
    iv: str,
    # service group; may be left out where there is but one
    group: int | None = None,
) -> KeyInstall:
    """Installs the next traffic encryption key of a security association."""
    params = _given(
        group=group,
        said=said,
        key=key,
        iv=iv,
    )
    result: KeyInstall = client.call("key.install", **params)
    return result


def key_use(
    client: Client,
    *,
    # security association ID
    said: int,
    # service group; may be left out where there is but one
    group: int | None = None,
) -> KeyUse:
    """Has downstream frames encrypted by the next key; upstream both are taken."""
    params = _given(
        group=group,
        said=said,
    )
    result: KeyUse = client.call("key.use", **params)
    return result


def key_remove(
    client: Client,
    *,
    # security association ID
    said: int,
    # service group; may be left out where there is but one
    group: int | None = None,
) -> KeyRemove:
    """Removes the old key, when the next one is used."""
    params = _given(
        group=group,
        said=said,
    )
    result: KeyRemove = client.call("key.remove", **params)
    return result


def worker_drain(
    client: Client,
    *,
    # of the worker that is to run nothing
    core: int,
    # of the worker that takes over what it runs
    to: int,
) -> WorkerDrain:
    """Has another worker run all that a worker runs."""
    params = _given(
        core=core,
        to=to,
    )
    result: WorkerDrain = client.call("worker.drain", **params)
    return result


def worker_resume(
    client: Client,
    *,
    # of the worker that is to run again what it ran at first
    core: int,
) -> WorkerResume:
    """Gives a worker back what it ran at first."""
    params = _given(
        core=core,
    )
    result: WorkerResume = client.call("worker.resume", **params)
    return result


def events_subscribe(
    client: Client,
    *,
    # with the traffic encryption keys of modems
    keys: bool | None = None,
    # service groups whose events are wanted; where it is left out, those of all
    groups: list[int] | None = None,
) -> EventsSubscribe:
    """Has every change of the configuration told on this connection, see Events."""
    params = _given(
        keys=keys,
        groups=groups,
    )
    result: EventsSubscribe = client.call("events.subscribe", **params)
    return result


def config_get(
    client: Client,
    *,
    # with the traffic encryption keys, without which it cannot be read as a file
    keys: bool | None = None,
    # service group; where it is left out, all of them
    group: int | None = None,
) -> ConfigGet:
    """What is in service, as a configuration."""
    params = _given(
        keys=keys,
        group=group,
    )
    result: ConfigGet = client.call("config.get", **params)
    return result


def config_reload(client: Client) -> ConfigReload:
    """Reads the file again, and does what differs."""
    result: ConfigReload = client.call("config.reload")
    return result


def config_refuse(client: Client) -> ConfigRefuse:
    """Counts a change as refused: the file could not be made from what it is of."""
    result: ConfigRefuse = client.call("config.refuse")
    return result
