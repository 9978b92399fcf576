# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the witness needs to know of a service group from the same YAML file.

Every scalar is read as text and converted here: YAML's own guesses would turn a key of digits into
a number. Only what the witness uses is read; judging the rest is the loader's business.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar

import yaml

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
    children,
    mapping,
    number,
    numbers,
    one_of,
    read,
    size,
    strings,
    time_ns,
    truth,
)
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

# Bytes of key and initialization vector.
SIZES = {"none": (0, 0), "aes-128": (16, 16), "aes-256": (32, 16), "des": (8, 8)}

T = TypeVar("T")
BondingGroups = Mapping[int, tuple[int, ...]]

# libyaml reads a group of 300 modems seven times as fast.
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


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


def _match(node: Node, where: str) -> Match:
    def optional(key: str, convert: Callable[[str], T]) -> T | None:
        return read(node, key, where, convert) if key in node else None

    return Match(
        family=read(node, "family", where, one_of("ipv4", "ipv6", "llc")),
        source=optional("source", ip_network),
        destination=optional("destination", ip_network),
        protocol=optional("protocol", _protocol),
        tos=optional("tos", _tos),
        source_ports=read(node, "source_ports", where, _ports, (0, 65535)),
        destination_ports=read(node, "destination_ports", where, _ports, (0, 65535)),
        ethertype=optional("ethertype", number),
    )


def _rule(node: Node, where: str) -> Rule:
    action = read(node, "action", where, one_of("permit", "deny"))
    return Rule(_match(node, where), action == "permit")


def _rphy(root: Node) -> Rphy:
    where = "rphy"
    node = mapping(root.get("rphy", {}), where)

    def address(key: str, default: str) -> Address:
        return read(node, key, where, _address) if key in node else _address(default)

    carrier = Carrier(
        destination_mac=read(node, "rpd_mac", where, _mac, _mac("02:00:00:00:00:02")),
        source_mac=read(node, "core_mac", where, _mac, _mac("02:00:00:00:00:01")),
        source=address("core_ip", "192.168.1.1"),
        destination=address("rpd_ip", "192.168.1.2"),
        dscp=read(node, "dscp", where, number, 0),
        ttl=read(node, "ttl", where, number, 64),
    )
    mtu = read(node, "mtu", where, size, 1500)
    return Rphy(carrier, mtu, read(node, "max_segments", where, number, 16))


def _channel(node: Node, where: str) -> Channel:
    pseudowire = read(
        node, "pseudowire", where, one_of("psp-depi", "psp-legacy"), default="psp-depi"
    )
    kind = read(
        node,
        "psp_extra",
        where,
        one_of("none", "counter", "static"),
        default="counter" if pseudowire == "psp-depi" else "none",
    )
    profile = read(node, "profile", where, number, 0)
    extra = ExtraBytes(0 if kind == "none" else 2, kind == "counter", profile)
    channel = read(node, "id", where, number)
    return Channel(channel, read(node, "session", where, number), extra)


def _security(modem: Node, where: str) -> Security:
    where += ".security"
    node = mapping(modem.get("security"), where)
    cipher = read(node, "cipher", where, one_of(*SIZES), "aes-128")
    encrypted = cipher != "none"

    def secret(key: str, size: int) -> bytes:
        try:
            return _hex(str(node.get(key)), size)
        except ValueError as error:  # which does not tell the key
            raise ConfigError(f"{where}.{key}: not {size} bytes in hexadecimal") from error

    key_size, iv_size = SIZES[cipher]
    following = "next_key" in node or "next_iv" in node
    if following and not encrypted:
        raise ConfigError(f"{where}: a next key without a cipher")
    return Security(
        said=read(node, "said", where, number),
        key=secret("key", key_size) if encrypted else None,
        iv=secret("iv", iv_size) if encrypted else b"",
        key_sequence=read(node, "key_sequence", where, number, 0),
        next_key=secret("next_key", key_size) if following else None,
        next_iv=secret("next_iv", iv_size) if following else b"",
        uses_next=read(node, "use_next_key", where, truth, False),
    )


def _bonding_group(node: Node, where: str, groups: BondingGroups) -> tuple[int, ...]:
    """The channels of the group that a modem or flow names."""
    group = read(node, "bonding_group", where, number)
    if group not in groups:
        raise ConfigError(f"{where}.bonding_group: no group {group}")
    return groups[group]


def _flow(node: Node, where: str, groups: BondingGroups, of_modem: tuple[int, ...]) -> ServiceFlow:
    state = read(node, "state", where, one_of("active", "provisioned"), "active")
    own = "bonding_group" in node
    return ServiceFlow(
        id=read(node, "id", where, number),
        channels=_bonding_group(node, where, groups) if own else of_modem,
        active=state == "active",
        priority=read(node, "priority", where, number, 0),
        dsid=read(node, "dsid", where, number) if "dsid" in node else None,
    )


def _addresses(parent: Node, where: str) -> tuple[Address, ...]:
    try:
        return tuple(_address(text) for text in strings(parent, "addresses", where))
    except ValueError as error:
        raise ConfigError(f"{where}.addresses: {error}") from error


def _modem(node: Node, where: str, groups: BondingGroups) -> Modem:
    channels = _bonding_group(node, where, groups)
    return Modem(
        mac=read(node, "mac", where, _mac),
        addresses=_addresses(node, where),
        cpe_limit=read(node, "cpe_limit", where, number, 16),
        cpe_limit_ipv6=read(
            node, "cpe_limit_ipv6", where, number, read(node, "cpe_limit", where, number, 16)
        ),
        filter_groups=numbers(node, "filter_groups", where),
        security=_security(node, where),
        flows=tuple(
            _flow(child, place, groups, channels)
            for child, place in children(node, "service_flows", where)
        ),
        classifiers=tuple(
            Classifier(_match(child, place), read(child, "service_flow", place, number))
            for child, place in children(node, "classifiers", where)
        ),
        upstream_flows=tuple(
            read_upstream_flow(*child) for child in children(node, "upstream_service_flows", where)
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
    where = f"modem {modem.mac.hex(':')}"
    active = [flow for flow in modem.flows if flow.active]
    if not active or active[0] != modem.flows[0]:
        raise ConfigError(f"{where}: no active primary service flow")
    if not {flow.id for flow in active}.issuperset(item.flow for item in modem.classifiers):
        raise ConfigError(f"{where}: a classifier names a flow that is not active")
    known = {channel.id for channel in config.channels}
    if not all(known.issuperset(flow.channels) for flow in modem.flows):
        raise ConfigError(f"{where}: its bonding group names an unknown channel")
    if not set(config.filter_groups).issuperset(modem.filter_groups):
        raise ConfigError(f"{where}: unknown filter group in {modem.filter_groups}")
    if any(len(flow.channels) > 1 and flow.dsid is None for flow in active):
        raise ConfigError(f"{where}: a bonded flow has no DSID")


def _as_text(node: object) -> object:
    """Of JSON: as YAML's reader would have it, that takes every scalar for text."""
    if isinstance(node, dict):
        return {key: _as_text(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_as_text(value) for value in node]
    return node if isinstance(node, str) else json.dumps(node)


def load_tree(text: str) -> Any:
    """Of texts. What programs write is JSON, which is YAML too; its reader is 20 times as fast."""
    try:
        return _as_text(json.loads(text, parse_int=str, parse_float=str, parse_constant=str))
    except json.JSONDecodeError:
        return yaml.load(text, Loader=LOADER)


def _message_flow(root: Node) -> int:
    upstream = mapping(root.get("upstream", {}), "upstream")
    if "scheduler" not in upstream:
        return 0
    scheduler = mapping(upstream["scheduler"], "upstream.scheduler")
    return read(scheduler, "psp_flow", "upstream.scheduler", number, 1)


@lru_cache(maxsize=64)
def parse_config(text: str) -> Config:
    """Reads a service group. Raises ConfigError and nothing else."""
    try:
        root = mapping(load_tree(text), "file")
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"not YAML: {error}") from error
    bonding_groups = {
        read(node, "id", where, number): numbers(node, "channels", where)
        for node, where in children(root, "bonding_groups", "file")
    }
    filter_groups = {
        read(node, "id", where, number): tuple(
            _rule(*child) for child in children(node, "rules", where)
        )
        for node, where in children(root, "filter_groups", "file")
    }
    default = read(root, "filter_default", "file", one_of("permit", "deny"), "permit")
    config = Config(
        max_frame=read(root, "max_frame", "file", size, 2000),
        cpe_timeout_ns=read(root, "cpe_timeout", "file", time_ns, 300 * 10**9),
        filter_default_permit=default == "permit",
        rphy=_rphy(root),
        channels=tuple(_channel(*child) for child in children(root, "channels", "file")),
        filter_groups=filter_groups,
        modems=tuple(
            _modem(node, where, bonding_groups) for node, where in children(root, "modems", "file")
        ),
        upstream=read_upstream(root),
        message_flow=_message_flow(root),
        control_port="control" in mapping(root.get("ports", {}), "ports"),
        generate_crc=read(
            mapping(root.get("crypto", {}), "crypto"), "generate_crc", "crypto", truth, True
        ),
    )
    _check_unique(config)
    check_upstream(config.upstream, config.modems)
    for modem in config.modems:
        _check_modem(config, modem)
    return config


def load_config(path: str | Path) -> Config:
    """Reads a file; a ConfigError names it."""
    try:
        return parse_config(Path(path).read_text(encoding="utf-8-sig"))
    except (ConfigError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
