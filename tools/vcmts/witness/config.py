# SPDX-License-Identifier: BSD-3-Clause
"""Reads the configuration of a service group for the witness, independently of vcmtsd.

Scalars are read as text and converted here, as YAML would convert a key of digits to a number.
Keys that the witness does not use are neither read nor validated.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar

from vcmts.witness.depi import ExtraBytes
from vcmts.witness.l2tp import Address, Carrier
from vcmts.witness.model import (
    Channel,
    Classifier,
    Match,
    Modem,
    Rphy,
    Rule,
    Security,
    ServiceFlow,
)
from vcmts.witness.model import Config as Config
from vcmts.witness.nodes import ConfigError as ConfigError
from vcmts.witness.nodes import (
    Node,
    boolean,
    children,
    choice,
    mapping,
    number,
    numbers,
    read,
    size,
    strings,
    time_ns,
)
from vcmts.witness.tree import TreeError
from vcmts.witness.tree import load_tree as load_tree
from vcmts.witness.upstream_config import check_upstream, read_upstream, read_upstream_flow

PROTOCOLS = {
    "icmp": 1,
    "igmp": 2,
    "tcp": 6,
    "udp": 17,
    "gre": 47,
    "esp": 50,
    "icmpv6": 58,
}

# Cipher to sizes of key and initialization vector, bytes.
SIZES = {"none": (0, 0), "aes-128": (16, 16), "aes-256": (32, 16), "des": (8, 8)}

T = TypeVar("T")
BondingGroups = Mapping[int, tuple[int, ...]]


def _hex(text: str, size: int) -> bytes:
    value = bytes.fromhex(text)
    if len(value) != size:
        raise ValueError(f"not {size} bytes")
    return value


def _mac(text: str) -> bytes:
    return _hex(text.replace(":", ""), 6)


def _address(text: str) -> Address:
    return ip_address(text)


def _protocol(text: str) -> int:
    return PROTOCOLS[text] if text in PROTOCOLS else number(text)


def _ports(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return number(low), number(high or low)


def _tos(text: str) -> tuple[int, int]:
    value, _, mask = text.partition("/")
    return number(value), number(mask or "0xff")


def _match(node: Node, path: str) -> Match:
    def optional(key: str, convert: Callable[[str], T]) -> T | None:
        return read(node, key, path, convert) if key in node else None

    return Match(
        family=read(node, "family", path, choice("ipv4", "ipv6", "llc")),
        source=optional("source", ip_network),
        destination=optional("destination", ip_network),
        protocol=optional("protocol", _protocol),
        tos=optional("tos", _tos),
        source_ports=read(node, "source_ports", path, _ports, (0, 65535)),
        destination_ports=read(node, "destination_ports", path, _ports, (0, 65535)),
        ethertype=optional("ethertype", number),
    )


def _rule(node: Node, path: str) -> Rule:
    action = read(node, "action", path, choice("permit", "deny"))
    return Rule(_match(node, path), action == "permit")


def _rphy(root: Node) -> Rphy:
    path = "rphy"
    node = mapping(root.get("rphy", {}), path)

    def address(key: str, default: str) -> Address:
        return read(node, key, path, _address) if key in node else _address(default)

    carrier = Carrier(
        destination_mac=read(node, "rpd_mac", path, _mac, _mac("02:00:00:00:00:02")),
        source_mac=read(node, "core_mac", path, _mac, _mac("02:00:00:00:00:01")),
        source=address("core_ip", "192.168.1.1"),
        destination=address("rpd_ip", "192.168.1.2"),
        dscp=read(node, "dscp", path, number, 0),
        ttl=read(node, "ttl", path, number, 64),
    )
    mtu = read(node, "mtu", path, size, 1500)
    return Rphy(carrier, mtu, read(node, "max_segments", path, number, 16))


def _channel(node: Node, path: str) -> Channel:
    pseudowire = read(
        node, "pseudowire", path, choice("psp-depi", "psp-legacy"), default="psp-depi"
    )
    kind = read(
        node,
        "psp_extra",
        path,
        choice("none", "counter", "static"),
        default="counter" if pseudowire == "psp-depi" else "none",
    )
    profile = read(node, "profile", path, number, 0)
    extra = ExtraBytes(0 if kind == "none" else 2, kind == "counter", profile)
    channel = read(node, "id", path, number)
    return Channel(channel, read(node, "session", path, number), extra)


def _security(modem: Node, path: str) -> Security:
    path += ".security"
    node = mapping(modem.get("security"), path)
    cipher = read(node, "cipher", path, choice(*SIZES), "aes-128")
    encrypted = cipher != "none"

    def secret(key: str, size: int) -> bytes:
        try:
            return _hex(str(node.get(key)), size)
        except ValueError as error:  # its text must not contain the key
            raise ConfigError(f"{path}.{key}: not {size} bytes in hexadecimal") from error

    key_size, iv_size = SIZES[cipher]
    following = "next_key" in node or "next_iv" in node
    if following and not encrypted:
        raise ConfigError(f"{path}: a next key without a cipher")
    return Security(
        said=read(node, "said", path, number),
        key=secret("key", key_size) if encrypted else None,
        iv=secret("iv", iv_size) if encrypted else b"",
        key_sequence=read(node, "key_sequence", path, number, 0),
        next_key=secret("next_key", key_size) if following else None,
        next_iv=secret("next_iv", iv_size) if following else b"",
        uses_next=read(node, "use_next_key", path, boolean, False),
    )


def _bonding_group(node: Node, path: str, groups: BondingGroups) -> tuple[int, ...]:
    """The channels of the bonding group of a modem or flow."""
    group = read(node, "bonding_group", path, number)
    if group not in groups:
        raise ConfigError(f"{path}.bonding_group: no group {group}")
    return groups[group]


def _flow(node: Node, path: str, groups: BondingGroups, of_modem: tuple[int, ...]) -> ServiceFlow:
    state = read(node, "state", path, choice("active", "provisioned"), "active")
    own = "bonding_group" in node
    return ServiceFlow(
        id=read(node, "id", path, number),
        channels=_bonding_group(node, path, groups) if own else of_modem,
        active=state == "active",
        priority=read(node, "priority", path, number, 0),
        dsid=read(node, "dsid", path, number) if "dsid" in node else None,
    )


def _addresses(parent: Node, path: str) -> tuple[Address, ...]:
    try:
        return tuple(_address(text) for text in strings(parent, "addresses", path))
    except ValueError as error:
        raise ConfigError(f"{path}.addresses: {error}") from error


def _modem(node: Node, path: str, groups: BondingGroups) -> Modem:
    channels = _bonding_group(node, path, groups)
    return Modem(
        mac=read(node, "mac", path, _mac),
        addresses=_addresses(node, path),
        cpe_limit=read(node, "cpe_limit", path, number, 16),
        cpe_limit_ipv6=read(
            node, "cpe_limit_ipv6", path, number, read(node, "cpe_limit", path, number, 16)
        ),
        filter_groups=numbers(node, "filter_groups", path),
        security=_security(node, path),
        flows=tuple(
            _flow(child, child_path, groups, channels)
            for child, child_path in children(node, "service_flows", path)
        ),
        classifiers=tuple(
            Classifier(_match(child, child_path), read(child, "service_flow", child_path, number))
            for child, child_path in children(node, "classifiers", path)
        ),
        upstream_flows=tuple(
            read_upstream_flow(*child) for child in children(node, "upstream_service_flows", path)
        ),
    )


def _unique(what: str, values: Sequence[object]) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise ConfigError(f"{what} {value!r} is given twice")
        seen.add(value)


def _check_unique(config: Config) -> None:
    modems = config.modems
    flows = [flow for modem in modems for flow in modem.flows]
    upstream_flows = [flow.id for modem in modems for flow in modem.upstream_flows]
    _unique("session", [channel.session for channel in config.channels])
    _unique("modem address", [modem.mac for modem in modems])
    _unique("CPE address", [address for modem in modems for address in modem.addresses])
    associations = {modem.security for modem in modems}
    _unique("SAID with other values", [security.said for security in associations])
    _unique("service flow", [flow.id for flow in flows] + upstream_flows)
    _unique("DSID", [flow.dsid for flow in flows if flow.dsid is not None])


def _check_modem(config: Config, modem: Modem) -> None:
    path = f"modem {modem.mac.hex(':')}"
    active = [flow for flow in modem.flows if flow.active]
    if not active or active[0] != modem.flows[0]:
        raise ConfigError(f"{path}: no active primary service flow")
    if not {flow.id for flow in active}.issuperset(item.flow for item in modem.classifiers):
        raise ConfigError(f"{path}: a classifier names a flow that is not active")
    known = {channel.id for channel in config.channels}
    if not all(known.issuperset(flow.channels) for flow in modem.flows):
        raise ConfigError(f"{path}: its bonding group names an unknown channel")
    if not set(config.filter_groups).issuperset(modem.filter_groups):
        raise ConfigError(f"{path}: unknown filter group in {modem.filter_groups}")
    if any(len(flow.channels) > 1 and flow.dsid is None for flow in active):
        raise ConfigError(f"{path}: a bonded flow has no DSID")


def _message_flow(root: Node) -> int:
    upstream = mapping(root.get("upstream", {}), "upstream")
    if "scheduler" not in upstream:
        return 0
    scheduler = mapping(upstream["scheduler"], "upstream.scheduler")
    return read(scheduler, "psp_flow", "upstream.scheduler", number, 1)


@lru_cache(maxsize=64)
def parse_config(text: str) -> Config:
    """Parses a service group. Raises only ConfigError."""
    try:
        tree = load_tree(text)
    except TreeError as error:
        raise ConfigError(str(error)) from error
    return config_of(tree)


def config_of(tree: Any) -> Config:
    """Reads a service group from the tree of load_tree(). Raises only ConfigError."""
    root = mapping(tree, "file")
    bonding_groups = {
        read(node, "id", path, number): numbers(node, "channels", path)
        for node, path in children(root, "bonding_groups", "file")
    }
    filter_groups = {
        read(node, "id", path, number): tuple(
            _rule(*child) for child in children(node, "rules", path)
        )
        for node, path in children(root, "filter_groups", "file")
    }
    default = read(root, "filter_default", "file", choice("permit", "deny"), "permit")
    config = Config(
        max_frame=read(root, "max_frame", "file", size, 2000),
        cpe_timeout_ns=read(root, "cpe_timeout", "file", time_ns, 300 * 10**9),
        filter_default_permit=default == "permit",
        rphy=_rphy(root),
        channels=tuple(_channel(*child) for child in children(root, "channels", "file")),
        filter_groups=filter_groups,
        modems=tuple(
            _modem(node, path, bonding_groups) for node, path in children(root, "modems", "file")
        ),
        upstream=read_upstream(root),
        message_flow=_message_flow(root),
        control_port="control" in mapping(root.get("ports", {}), "ports"),
        generate_crc=read(
            mapping(root.get("crypto", {}), "crypto"), "generate_crc", "crypto", boolean, True
        ),
    )
    _check_unique(config)
    check_upstream(config.upstream, config.modems)
    for modem in config.modems:
        _check_modem(config, modem)
    return config


def load_config(path: str | Path) -> Config:
    """Reads a file. Raises ConfigError with its name."""
    try:
        return parse_config(Path(path).read_text(encoding="utf-8-sig"))
    except (ConfigError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
