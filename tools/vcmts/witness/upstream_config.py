# SPDX-License-Identifier: BSD-3-Clause
"""Reads the upstream keys of a service group for the witness."""

from collections import Counter
from collections.abc import Iterable

from vcmts.witness.model import Modem, SidCluster, Upstream, UpstreamChannel, UpstreamFlow
from vcmts.witness.nodes import (
    ConfigError,
    Node,
    boolean,
    children,
    choice,
    mapping,
    number,
    rate,
    read,
    size,
    time_ns,
)

MAX_SID = 0x3FFE  # 0x3fff is broadcast
MAX_CLUSTERS = 8


def _channel(node: Node, path: str) -> UpstreamChannel:
    def optional(key: str) -> int | None:
        return read(node, key, path, number) if key in node else None

    return UpstreamChannel(
        id=read(node, "id", path, number),
        type=read(node, "type", path, choice("sc-qam", "ofdma")),
        rate=read(node, "rate", path, rate),
        session=read(node, "session", path, number),
        request_session=optional("request_session"),
        ranging_session=optional("ranging_session"),
    )


def read_upstream(root: Node) -> Upstream:
    path = "upstream"
    node = mapping(root.get("upstream", {}), path)
    numbering = choice("flow", "session")
    return Upstream(
        verify_source=read(node, "verify_source", path, boolean, True),
        verify_crc=read(node, "verify_crc", path, boolean, False),
        psp_numbering=read(node, "psp_numbering", path, numbering, "flow"),
        reorder_timeout_ns=read(node, "reorder_timeout", path, time_ns, 5 * 10**6),
        frame_timeout_ns=read(node, "frame_timeout", path, time_ns, 2 * 10**9),
        held_by_modem=read(node, "held_by_modem", path, size, 256 * 10**3),
        held=read(node, "held", path, size, 4 * 10**6),
        channels=tuple(_channel(*child) for child in children(root, "upstream_channels", "file")),
    )


def _sid(text: str) -> int:
    value = number(text)
    if not 1 <= value <= MAX_SID:
        raise ValueError(f"not 1 to {MAX_SID:#x}")
    return value


def _cluster_id(text: str) -> int:
    value = number(text)
    if not 0 <= value < MAX_CLUSTERS:
        raise ValueError(f"not 0 to {MAX_CLUSTERS - 1}")
    return value


def _cluster(node: Node, path: str) -> SidCluster:
    sids = tuple(
        (read(child, "channel", child_path, number), read(child, "sid", child_path, _sid))
        for child, child_path in children(node, "sids", path)
    )
    if not sids:
        raise ConfigError(f"{path}.sids: none")
    _check_unique_values(f"{path}: channel", (channel for channel, _ in sids))
    return SidCluster(read(node, "id", path, _cluster_id), sids)


def read_upstream_flow(node: Node, path: str) -> UpstreamFlow:
    clusters = tuple(_cluster(*child) for child in children(node, "sid_clusters", path))
    header = read(node, "segment_header", path, boolean, True)
    if not clusters or (not header and len(clusters) > 1):
        raise ConfigError(f"{path}: {len(clusters)} SID clusters")
    _check_unique_values(f"{path}: SID cluster", (cluster.id for cluster in clusters))
    return UpstreamFlow(read(node, "id", path, number), header, clusters)


def _check_unique_values(what: str, values: Iterable[object]) -> None:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ConfigError(f"{what} {twice[0]!r} is given twice")


def check_upstream(upstream: Upstream, modems: tuple[Modem, ...]) -> None:
    """Raises ConfigError if keys contradict each other."""
    channels = {channel.id for channel in upstream.channels}
    flows = [flow for modem in modems for flow in modem.upstream_flows]
    sids = [sid for flow in flows for cluster in flow.clusters for sid in cluster.sids]
    sessions = [session for channel in upstream.channels for session in channel.sessions.values()]
    _check_unique_values("upstream channel", (channel.id for channel in upstream.channels))
    _check_unique_values("upstream session", sessions)
    _check_unique_values("SID", sids)
    unknown = {channel for channel, _ in sids} - channels
    if unknown:
        raise ConfigError(f"a SID names an unknown upstream channel {min(unknown)}")
    if upstream.held < upstream.held_by_modem:
        raise ConfigError("upstream.held is less than upstream.held_by_modem")
