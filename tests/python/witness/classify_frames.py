# SPDX-License-Identifier: BSD-3-Clause
"""A configuration and frames for the witness's model of lookup, filters and classifiers."""

import struct
from ipaddress import ip_address

from vcmts.witness.config import Config
from vcmts.witness.crc import internet_checksum
from witness.classify import Dropped, Model

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
      - {family: llc, action: deny, ethertype: 0x8864}
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


def eth(ethertype: int, payload: bytes, destination: bytes = ROUTER) -> bytes:
    return destination + SENDER + ethertype.to_bytes(2, "big") + payload


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
    sent = frame[:12] + frame[16:] if frame[12:14] == b"\x81\x00" else frame
    assert result.frame == padded(result.modem.mac + sent[6:], 60)
    return result.flow


def padded(data: bytes, size: int) -> bytes:
    return data.ljust(size, b"\0")
