# SPDX-License-Identifier: BSD-3-Clause
"""The witness's model of IPv6 extension headers, fragments and EtherTypes in rules."""

import pytest

from python.witness.classify_frames import CONFIG, TCP, UDP, extension, ipv4, ipv6, ports, verdict
from vcmts.witness.config import Config, parse_config


@pytest.fixture(scope="module")
def config() -> Config:
    return parse_config(CONFIG)


@pytest.mark.parametrize(
    ("protocol", "payload", "flow"),
    [
        (0, extension(TCP), 4),
        (43, extension(60, 3) + extension(TCP, 1), 4),
        (44, bytes([TCP, 0, 0, 1]) + bytes(8), 4),
        (44, bytes([TCP, 0, 0, 8]) + bytes(4), 4),
        (44, bytes([60, 0, 0, 8]) + bytes(4) + extension(TCP), 1),
        (60, extension(60) * 15 + extension(TCP), 4),
        (60, extension(60) * 16 + extension(TCP), "ipv6_extensions"),
        (60, extension(TCP, 1)[:-1], "ipv6_header"),
        (60, bytes([TCP]), "ipv6_header"),
        (44, bytes([TCP, 0, 0, 0, 0, 0, 0]), "ipv6_header"),
        (51, extension(TCP), 4),
        (51, bytes([TCP, 4]) + bytes(22), 4),
        (51, bytes([TCP, 4]) + bytes(21), "ipv6_header"),
        *((kind, extension(TCP, 1), 4) for kind in (135, 139, 140, 253, 254)),
        *((kind, extension(TCP, 1)[:-1], "ipv6_header") for kind in (135, 139, 140)),
        *((kind, extension(TCP, 1)[:-1], 1) for kind in (253, 254)),
        (50, extension(TCP), 1),
        (59, extension(TCP), 1),
        # the first fragment ends before the ports: RFC 7112
        (44, bytes([TCP, 0, 0, 1]) + bytes(7), "ipv6_header"),
        (44, bytes([58, 0, 0, 1]) + bytes(7), 1),
    ],
)
def test_extension_headers(config: Config, protocol: int, payload: bytes, flow: str | int) -> None:
    assert verdict(config, ipv6(payload=payload, protocol=protocol)) == flow


@pytest.mark.parametrize("kind", [0, 43, 44, 51, 60, 135, 139, 140, 253, 254])
def test_a_rule_for_any_header(kind: int) -> None:
    """MULPI: the next header type of any header of the packet."""
    rule = f"family: ipv6, protocol: {kind}, destination"
    config = parse_config(CONFIG.replace("family: ipv6, protocol: tcp, destination", rule))
    for before, behind in ((b"", b""), (extension(kind), b""), (b"", extension(60))):
        payload = before + extension(60 if behind else UDP) + behind
        payload = payload[:-8] + bytes([UDP]) + payload[-7:]
        assert verdict(config, ipv6(payload=payload, protocol=60 if before else kind)) == 4
    assert verdict(config, ipv6(payload=extension(UDP), protocol=60)) == (4 if kind == 60 else 1)
    assert verdict(config, ipv6(protocol=UDP)) == 1


PORT_RULE = CONFIG.replace(
    "{family: ipv6, protocol: tcp,", "{family: ipv6, protocol: tcp, destination_ports: 443,"
)


@pytest.mark.parametrize(
    ("protocol", "payload", "flow"),
    [
        (TCP, ports(1, 443), 4),
        (TCP, ports(443, 1), 1),
        (0, extension(TCP) + ports(1, 443), 4),
        (51, extension(TCP) + ports(1, 443), 4),
        (44, bytes([TCP, 0, 0, 1]) + bytes(4) + ports(1, 443), 4),
        (44, bytes([TCP, 0, 0, 8]) + bytes(4) + ports(1, 443), 1),
    ],
)
def test_ipv6_ports(protocol: int, payload: bytes, flow: int) -> None:
    assert verdict(parse_config(PORT_RULE), ipv6(payload=payload, protocol=protocol)) == flow


@pytest.mark.parametrize(("low", "flow"), [(0, 1), (1, 1)])
def test_no_ports_meet_no_criterion(low: int, flow: int) -> None:
    text = CONFIG.replace("source: 203.0.113.0/24,", f"destination_ports: {low}-1023,")
    config = parse_config(text)
    assert verdict(config, ipv4(payload=ports(7, 80), fragment=1)) == flow
    assert verdict(config, ipv4(payload=ports(7, 80), protocol=1)) == flow
    assert verdict(config, ipv4(payload=ports(8, 80))) == 4
    every = parse_config(CONFIG.replace("source: 203.0.113.0/24,", "destination_ports: 0-65535,"))
    assert verdict(every, ipv4(payload=ports(7, 80), fragment=1)) == 4


def test_ethertype_of_ip() -> None:
    """It is a criterion of every frame, that of IPv4 and IPv6 too."""
    config = parse_config(CONFIG.replace("0x8864", "0x86dd"))
    assert verdict(config, ipv6()) == "filter_deny"
    assert verdict(config, ipv4()) == 1
    config = parse_config(CONFIG.replace("0x8864", "0x0800"))
    assert verdict(config, ipv6()) == 1
    assert verdict(config, ipv4()) == "filter_deny"
