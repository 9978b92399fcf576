# SPDX-License-Identifier: BSD-3-Clause
"""The witness's model of modem lookup, filters and classifiers."""

import struct
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from witness.classify import Admitted, Dropped, Model, expected_flows
from witness.config import Config, parse_config
from witness.crc import internet_checksum

CONFIG = """
max_frame: 1522
cpe_timeout: 10 s
rphy:
  core_mac: "02:00:00:00:00:01"
  rpd_mac: "02:00:00:00:00:02"
  core_ip: 192.168.1.1
  rpd_ip: 192.168.1.2
channels: [{id: 1, session: 1}]
bonding_groups: [{id: 1, channels: [1]}]
filter_groups:
  - id: 1
    rules:
      - {family: ipv4, action: permit, source: 198.51.100.7/32}
      - {family: ipv4, action: deny, source: 198.51.100.0/24, protocol: tcp,
         destination_ports: 135-139}
      - {family: ipv4, action: deny, protocol: udp, source_ports: 7}
  - id: 2
    rules:
      - {family: ipv4, action: deny, protocol: 17, destination_ports: 9}
      - {family: ipv4, action: permit, source: 198.51.100.0/24, destination_ports: 135-139}
      - {family: ipv6, action: deny, source: "2001:db8:1::/48", protocol: 17, tos: 0xb8/0xfc}
      - {family: llc, action: deny, ethertype: 0x88cc}
      - {family: llc, action: deny, ethertype: 0x86dd}
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1, 10.0.0.2, "2001:db8::1", 10.0.0.3, 240.0.0.1, 225.0.0.1]
    cpe_limit: 3
    filter_groups: [1, 2]
    bonding_group: 1
    security: {said: 1, cipher: none}
    service_flows: [{id: 1}, {id: 2, priority: 2}, {id: 3, priority: 3}, {id: 4, priority: 4}]
    classifiers:
      - {family: ipv4, protocol: udp, destination_ports: 5004, service_flow: 2}
      - {family: ipv4, protocol: udp, destination_ports: 5000-5010, tos: 0x20, service_flow: 3}
      - {family: ipv6, protocol: tcp, destination: "2001:db8::/64", service_flow: 4}
      - {family: llc, ethertype: 0x0806, service_flow: 3}
      - {family: ipv4, source: 203.0.113.0/24, service_flow: 4}
  - mac: "02:01:00:00:00:02"
    addresses: [10.0.0.9, "2001:db8::9"]
    cpe_limit: 0
    bonding_group: 1
    security: {said: 2, cipher: none}
    service_flows: [{id: 9}]
"""
MODEM = bytes.fromhex("020100000001")
SENDER = bytes.fromhex("0200000000AA")
ROUTER = bytes.fromhex("0200000000BB")
TCP, UDP = 6, 17


@pytest.fixture(scope="module")
def config() -> Config:
    return parse_config(CONFIG)


def eth(ethertype: int, payload: bytes, destination: bytes = ROUTER) -> bytes:
    return destination + SENDER + ethertype.to_bytes(2, "big") + payload


def ports(source: int, destination: int) -> bytes:
    return struct.pack(">HHHH", source, destination, 8, 0)


def ipv4(
    destination: str = "10.0.0.1",
    payload: bytes = b"",
    *,
    source: str = "192.0.2.1",
    protocol: int = UDP,
    tos: int = 0,
    fragment: int = 0,
    options: bytes = b"",
    length_error: int = 0,
    checksum_error: int = 0,
    first: int | None = None,
    padding: bytes = b"",
) -> bytes:
    size = 20 + len(options)
    total = size + len(payload) + length_error
    header = struct.pack(
        ">BBHHHBBH", first or 0x40 | size // 4, tos, total, 1, fragment, 64, protocol, 0
    )
    header += ip_address(source).packed + ip_address(destination).packed + options
    checksum = internet_checksum(header) ^ checksum_error
    header = header[:10] + checksum.to_bytes(2, "big") + header[12:]
    return eth(0x0800, header + payload + padding)


def ipv6(
    destination: str = "2001:db8::1",
    payload: bytes = b"",
    *,
    source: str = "2001:db8:1::5",
    protocol: int = UDP,
    traffic_class: int = 0,
    length_error: int = 0,
    version: int = 6,
    padding: bytes = b"",
) -> bytes:
    first = version << 28 | traffic_class << 20
    header = struct.pack(">IHBB", first, len(payload) + length_error, protocol, 64)
    addresses = ip_address(source).packed + ip_address(destination).packed
    return eth(0x86DD, header + addresses + payload + padding)


def arp(target: str = "10.0.0.1", head: str = "0001080006040001") -> bytes:
    body = bytes.fromhex(head) + SENDER + bytes(4) + bytes(6) + ip_address(target).packed
    return eth(0x0806, body, b"\xff" * 6)


def verdict(config: Config, frame: bytes) -> str | int:
    """The flow of an admitted frame, otherwise the drop reason."""
    result = Model(config).classify(frame)
    if isinstance(result, Dropped):
        return result.reason
    assert result.frame == result.modem.mac + frame[6:]
    return result.flow


def padded(data: bytes, size: int) -> bytes:
    return data.ljust(size, b"\0")


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "runt"),
        (bytes(13), "runt"),
        (padded(eth(0x8100, b""), 1519), "frame_too_long"),
        (padded(ipv4(), 1519), "frame_too_long"),
        (padded(ipv4(), 1518), 1),
        (eth(0x8100, b""), "vlan"),
        (eth(0x88A8, b"", MODEM), "vlan"),
        (eth(0x0800, bytes([0x45]) + bytes(18)), "ipv4_header"),
        (ipv4(first=0x55), "ipv4_header"),
        (ipv4(first=0x44), "ipv4_header"),
        (ipv4(first=0x46), "ipv4_header"),
        (ipv4(length_error=1), "ipv4_length"),
        (ipv4(length_error=-1), "ipv4_length"),
        (ipv4(length_error=1, checksum_error=1), "ipv4_length"),
        (ipv4(checksum_error=1), "ipv4_checksum"),
        (ipv4("10.7.7.7", checksum_error=1), "ipv4_checksum"),
        (ipv4(options=bytes(8)), 1),
        (ipv4(padding=bytes(26)), 1),
        (eth(0x86DD, bytes([0x60]) + bytes(38)), "ipv6_header"),
        (ipv6(version=4), "ipv6_header"),
        (ipv6(length_error=1), "ipv6_length"),
        (ipv6(payload=b"x", length_error=-1), 1),
        (arp()[:-1], "arp_malformed"),
        (arp(head="0006080006040001"), "arp_malformed"),
        (arp(head="000186DD06100001"), "arp_malformed"),
        (ipv4("224.0.0.1"), "multicast"),
        (ipv4("225.0.0.1"), "multicast"),
        (ipv4("255.255.255.255"), "multicast"),
        (ipv4("239.255.255.255"), "multicast"),
        (ipv4("240.0.0.1"), 1),
        (ipv4("223.255.255.255"), "unknown_destination"),
        (ipv6("ff02::1"), "multicast"),
        (ipv6("::ffff:224.0.0.1"), "unknown_destination"),
        (eth(0x88CC, b"", bytes.fromhex("0180C200000E")), "multicast"),
        (eth(0x0026, bytes(38), bytes.fromhex("0180C2000000")), "multicast"),
        (ipv4("10.0.0.4"), "unknown_destination"),
        (ipv6("2001:db8::2"), "unknown_destination"),
        (arp("10.0.0.4"), "unknown_destination"),
        (eth(0x88B5, b"", ROUTER), "unknown_destination"),
        (eth(0x88B5, b"", MODEM), 1),
        (arp(), 3),
        (ipv4("10.0.0.9"), "cpe_limit"),
        (arp("10.0.0.9"), "cpe_limit"),
        (eth(0x88B5, b"", bytes.fromhex("020100000002")), 9),
    ],
)
def test_lookup(config: Config, frame: bytes, reason: str | int) -> None:
    assert verdict(config, frame) == reason


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (ipv4(source="198.51.100.8", protocol=TCP, payload=ports(1, 135)), "filter_deny"),
        (ipv4(source="198.51.100.8", protocol=TCP, payload=ports(1, 139)), "filter_deny"),
        (ipv4(source="198.51.100.8", protocol=TCP, payload=ports(1, 140)), 1),
        (ipv4(source="198.51.101.8", protocol=TCP, payload=ports(1, 135)), 1),
        (ipv4(source="198.51.100.7", protocol=TCP, payload=ports(1, 135)), 1),
        (ipv4(source="198.51.100.8", payload=ports(1, 135)), 1),
        (ipv4(payload=ports(7, 1)), "filter_deny"),
        (ipv4(payload=ports(8, 9)), "filter_deny"),
        (ipv4(source="198.51.100.7", payload=ports(7, 9)), 1),
        # ports of later fragments, and beyond the IP length, are 0
        (ipv4(payload=ports(7, 1), fragment=0x2000), "filter_deny"),
        (ipv4(payload=ports(7, 1), fragment=1), 1),
        (ipv4(payload=ports(7, 1)[:3]), 1),
        (ipv4(payload=ports(7, 1), length_error=-5), 1),
        # ICMP has none
        (ipv4(payload=ports(7, 9), protocol=1), 1),
        (ipv6(traffic_class=0xB8), "filter_deny"),
        (ipv6(traffic_class=0xBB), "filter_deny"),
        (ipv6(traffic_class=0xBC), 1),
        (ipv6(traffic_class=0xB8, source="2001:db8:2::5"), 1),
        (ipv6(traffic_class=0xB8, protocol=58), 1),
        (eth(0x88CC, b"", MODEM), "filter_deny"),
    ],
)
def test_filter(config: Config, frame: bytes, reason: str | int) -> None:
    assert verdict(config, frame) == reason


def test_filter_default() -> None:
    config = parse_config("filter_default: deny" + CONFIG)
    assert verdict(config, ipv4()) == "filter_deny"
    assert verdict(config, arp()) == "filter_deny"
    assert verdict(config, ipv4(source="198.51.100.7")) == 1
    assert verdict(config, eth(0x88B5, b"", bytes.fromhex("020100000002"))) == "filter_deny"


@pytest.mark.parametrize(
    ("frame", "flow"),
    [
        (ipv4(), 1),
        (ipv4(payload=ports(1, 5004)), 2),
        (ipv4(payload=ports(1, 5004), tos=0x20), 2),
        (ipv4(payload=ports(1, 5005), tos=0x20), 3),
        (ipv4(payload=ports(1, 5005), tos=0x21), 1),
        (ipv4(payload=ports(1, 5011), tos=0x20), 1),
        (ipv4(payload=ports(1, 5004), protocol=TCP), 1),
        (ipv4(source="203.0.113.9"), 4),
        (ipv6(protocol=TCP), 4),
        (ipv6(protocol=UDP), 1),
        (arp(), 3),
        (eth(0x88B5, b"", MODEM), 1),
    ],
)
def test_classifiers(config: Config, frame: bytes, flow: int) -> None:
    assert verdict(config, frame) == flow


def extension(following: int, words: int = 0) -> bytes:
    return bytes([following, words]) + bytes(6 + 8 * words)


@pytest.mark.parametrize(
    ("protocol", "payload", "flow"),
    [
        (0, extension(TCP), 4),
        (43, extension(60, 3) + extension(TCP, 1), 4),
        (44, bytes([TCP, 0, 0, 1]) + bytes(4), 4),
        (44, bytes([TCP, 0, 0, 8]) + bytes(4), 4),
        (44, bytes([60, 0, 0, 8]) + bytes(4) + extension(TCP), 1),
        (60, extension(60) * 7 + extension(TCP), 4),
        (60, extension(60) * 8 + extension(TCP), 1),
        (60, extension(TCP, 1)[:-1], "ipv6_header"),
        (60, bytes([TCP]), "ipv6_header"),
        (44, bytes([TCP, 0, 0, 0, 0, 0, 0]), "ipv6_header"),
        (51, extension(TCP), 1),
    ],
)
def test_extension_headers(config: Config, protocol: int, payload: bytes, flow: str | int) -> None:
    assert verdict(config, ipv6(payload=payload, protocol=protocol)) == flow


PORT_RULE = CONFIG.replace(
    "{family: ipv6, protocol: tcp,", "{family: ipv6, protocol: tcp, destination_ports: 443,"
)


@pytest.mark.parametrize(
    ("protocol", "payload", "flow"),
    [
        (TCP, ports(1, 443), 4),
        (TCP, ports(443, 1), 1),
        (0, extension(TCP) + ports(1, 443), 4),
        (44, bytes([TCP, 0, 0, 1]) + bytes(4) + ports(1, 443), 4),
        (44, bytes([TCP, 0, 0, 8]) + bytes(4) + ports(1, 443), 1),
    ],
)
def test_ipv6_ports(protocol: int, payload: bytes, flow: int) -> None:
    assert verdict(parse_config(PORT_RULE), ipv6(payload=payload, protocol=protocol)) == flow


SECOND = 10**9


def test_cpe_limit(config: Config) -> None:
    model = Model(config)

    def admitted(address: str, seconds: int) -> bool:
        frame = ipv6(address) if ":" in address else ipv4(address)
        return isinstance(model.classify(frame, seconds * SECOND), Admitted)

    assert admitted("10.0.0.1", 0)
    assert admitted("10.0.0.2", 1)
    assert admitted("2001:db8::1", 2)
    assert model.classify(ipv4("10.0.0.3"), 3 * SECOND) == Dropped("cpe_limit")
    assert admitted("10.0.0.1", 4)
    assert model.classify(arp("10.0.0.3"), 5 * SECOND) == Dropped("cpe_limit")
    # 10.0.0.2 has been silent for the timeout, the others have not
    assert not admitted("10.0.0.3", 10)
    assert admitted("10.0.0.3", 11)
    assert not admitted("10.0.0.2", 11)


def test_denied_packets_keep_the_address_active(config: Config) -> None:
    model = Model(config)
    denied = ipv4("10.0.0.1", ports(7, 1))
    assert model.classify(denied) == Dropped("filter_deny")
    for address in ("10.0.0.2", "10.0.0.3"):
        assert isinstance(model.classify(ipv4(address)), Admitted)
    assert model.classify(ipv4("240.0.0.1")) == Dropped("cpe_limit")


def test_expected_flows(config: Config) -> None:
    frames = [ipv4(), ipv4("10.9.9.9"), arp(), ipv4("10.0.0.2"), b""]
    flows, drops = expected_flows([(frame, 0) for frame in frames], config)
    assert flows == {
        (1,): [MODEM + frames[0][6:], MODEM + frames[3][6:]],
        (3,): [MODEM + frames[2][6:]],
    }
    assert drops == {"unknown_destination": 1, "runt": 1}


REASONS = {
    "runt",
    "frame_too_long",
    "vlan",
    "ipv4_header",
    "ipv4_length",
    "ipv4_checksum",
    "ipv6_header",
    "ipv6_length",
    "arp_malformed",
    "multicast",
    "unknown_destination",
    "cpe_limit",
    "filter_deny",
}


@given(
    st.sampled_from(["0800", "0806", "86DD", "8100", "0026"]),
    st.sampled_from([b"", b"\x45", b"\x60"]),
    st.binary(max_size=80),
)
def test_hostile_frames(ethertype: str, first: bytes, data: bytes) -> None:
    config = parse_config(CONFIG)
    result = Model(config).classify(MODEM + SENDER + bytes.fromhex(ethertype) + first + data)
    assert isinstance(result, Admitted) or result.reason in REASONS


@given(st.integers(0, 100), st.binary(max_size=40))
def test_every_truncation(cut: int, payload: bytes) -> None:
    config = parse_config(CONFIG)
    for frame in (ipv4(payload=payload), ipv6(payload=payload, protocol=0), arp()):
        short = frame[: max(0, len(frame) - 1 - cut)]
        result = Model(config).classify(short)
        assert isinstance(result, Dropped)
        assert result.reason in REASONS
