# SPDX-License-Identifier: BSD-3-Clause
"""The upstream's part of a service group, as the witness reads it."""

from collections import Counter
from collections.abc import Iterable

from vcmts.witness.model import Modem, SidCluster, Upstream, UpstreamChannel, UpstreamFlow
from vcmts.witness.nodes import (
    ConfigError,
    Node,
    children,
    mapping,
    number,
    one_of,
    rate,
    read,
    size,
    time_ns,
    truth,
)

MOST_SID = 0x3FFE  # 0x3fff is broadcast
MOST_CLUSTERS = 8


def _channel(node: Node, where: str) -> UpstreamChannel:
    def optional(key: str) -> int | None:
        return read(node, key, where, number) if key in node else None

    return UpstreamChannel(
        id=read(node, "id", where, number),
        type=read(node, "type", where, one_of("sc-qam", "ofdma")),
        rate=read(node, "rate", where, rate),
        session=read(node, "session", where, number),
        request_session=optional("request_session"),
        ranging_session=optional("ranging_session"),
    )


def read_upstream(root: Node) -> Upstream:
    where = "upstream"
    node = mapping(root.get("upstream", {}), where)
    numbering = one_of("flow", "session")
    return Upstream(
        verify_source=read(node, "verify_source", where, truth, True),
        verify_crc=read(node, "verify_crc", where, truth, False),
        psp_numbering=read(node, "psp_numbering", where, numbering, "flow"),
        reorder_timeout_ns=read(node, "reorder_timeout", where, time_ns, 5 * 10**6),
        frame_timeout_ns=read(node, "frame_timeout", where, time_ns, 2 * 10**9),
        held_by_modem=read(node, "held_by_modem", where, size, 256 * 10**3),
        held=read(node, "held", where, size, 4 * 10**6),
        channels=tuple(_channel(*child) for child in children(root, "upstream_channels", "file")),
    )


def _sid(text: str) -> int:
    value = number(text)
    if not 1 <= value <= MOST_SID:
        raise ValueError(f"not 1 to {MOST_SID:#x}")
    return value


def _cluster_id(text: str) -> int:
    value = number(text)
    if not 0 <= value < MOST_CLUSTERS:
        raise ValueError(f"not 0 to {MOST_CLUSTERS - 1}")
    return value


def _cluster(node: Node, where: str) -> SidCluster:
    sids = tuple(
        (read(child, "channel", place, number), read(child, "sid", place, _sid))
        for child, place in children(node, "sids", where)
    )
    if not sids:
        raise ConfigError(f"{where}.sids: none")
    _once(f"{where}: channel", (channel for channel, _ in sids))
    return SidCluster(read(node, "id", where, _cluster_id), sids)


def read_upstream_flow(node: Node, where: str) -> UpstreamFlow:
    clusters = tuple(_cluster(*child) for child in children(node, "sid_clusters", where))
    header = read(node, "segment_header", where, truth, True)
    if not clusters or (not header and len(clusters) > 1):
        raise ConfigError(f"{where}: {len(clusters)} SID clusters")
    _once(f"{where}: SID cluster", (cluster.id for cluster in clusters))
    return UpstreamFlow(read(node, "id", where, number), header, clusters)


def _once(what: str, values: Iterable[object]) -> None:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ConfigError(f"{what} {twice[0]!r} is given twice")


def check_upstream(upstream: Upstream, modems: tuple[Modem, ...]) -> None:
    """What the values mean together."""
    channels = {channel.id for channel in upstream.channels}
    flows = [flow for modem in modems for flow in modem.upstream_flows]
    places = [place for flow in flows for cluster in flow.clusters for place in cluster.sids]
    sessions = [session for channel in upstream.channels for session in channel.sessions.values()]
    _once("upstream channel", (channel.id for channel in upstream.channels))
    _once("upstream session", sessions)
    _once("SID", places)
    unknown = {channel for channel, _ in places} - channels
    if unknown:
        raise ConfigError(f"a SID names an unknown upstream channel {min(unknown)}")
    if upstream.held < upstream.held_by_modem:
        raise ConfigError("upstream.held is less than upstream.held_by_modem")
