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


class ServerInfo(TypedDict):
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


class ModemGetServiceFlows(TypedDict):
    # service flow ID
    id: int
    # a provisioned flow carries nothing
    state: Literal["provisioned", "active"]
    # number of its bonding group
    bonding_group: int
    # downstream service ID; not there where it has none
    dsid: NotRequired[int]
    # traffic priority; 7 is the highest
    priority: int
    # share among the modem's flows of the same priority and bonding group
    weight: int
    # bits per second; 0: no limit
    max_sustained_rate: int
    # bits per second; 0: none
    peak_rate: int
    # bits per second; 0: none
    min_reserved_rate: int


class ModemGetUpstreamServiceFlows(TypedDict):
    # service flow ID
    id: int
    # whether its segments have headers: continuous concatenation and fragmentation
    segment_header: bool
    # how many SID clusters it has
    clusters: int


class ModemGet(TypedDict):
    # MAC address
    mac: str
    # number of its service group
    group: int
    # IP addresses of the CPEs behind it
    addresses: list[str]
    # addresses that may be active at a time
    cpe_limit: int
    # number of the bonding group of its flows, but of those that have another
    bonding_group: int
    # numbers of filter groups, in order of evaluation
    filter_groups: list[int]
    # how many classifiers it has
    classifiers: int
    # bits per second of all its downstream flows together; 0: no limit
    max_aggregate_rate: int
    # security association ID
    said: int
    # none: frames go in the clear
    cipher: Literal["none", "aes-128"]
    # sequence number of the key in use
    key_sequence: int
    # whether the following key is there, too
    has_next_key: bool
    # downstream service flows; the first is the primary one
    service_flows: list[ModemGetServiceFlows]
    # upstream service flows
    upstream_service_flows: list[ModemGetUpstreamServiceFlows]


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


class ConfigReload(TypedDict):
    # what has changed, as vcmtsd prints it
    done: str


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
    """A modem with its service flows; not its keys."""
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


def config_reload(client: Client) -> ConfigReload:
    """Reads the file again, and does what differs."""
    result: ConfigReload = client.call("config.reload")
    return result
