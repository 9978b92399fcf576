# SPDX-License-Identifier: BSD-3-Clause
"""The witness's model of modem lookup, filters and classifiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from python.witness.classify_frames import (
    CONFIG,
    MODEM,
    ROUTER,
    SENDER,
    arp,
    eth,
    ipv4,
    ipv6,
    padded,
    verdict,
)
from vcmts.witness.config import Config, parse_config
from witness.classify import Admitted, Dropped, Model


@pytest.fixture(scope="module")
def config() -> Config:
    return parse_config(CONFIG)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "runt"),
        (bytes(13), "runt"),
        (padded(eth(0x8100, b"\0\5"), 1519), "frame_too_long"),
        (padded(eth(0x8100, b"\xe0\0\x08\0"), 1523), "frame_too_long"),
        (padded(ipv4(), 1519), "frame_too_long"),
        (padded(ipv4(), 1518), 1),
        (eth(0x8100, b""), "vlan"),
        (eth(0x88A8, b"", MODEM), "vlan"),
        # a tag without a VLAN, of any priority; but no second tag
        (padded(eth(0x8100, b"\0\0" + ipv4()[12:]), 1522), 1),
        (eth(0x8100, b"\xe0\0" + ipv4()[12:]), 1),
        (eth(0x8100, b"\xf0\0" + ipv4("10.9.9.9")[12:]), "unknown_destination"),
        (eth(0x8100, b"\0\1" + ipv4()[12:]), "vlan"),
        (eth(0x8100, b"\0\0\x81\0\0\0" + ipv4()[12:]), "vlan"),
        (eth(0x88A8, b"\0\0" + ipv4()[12:]), "vlan"),
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


def test_filter_default() -> None:
    config = parse_config("filter_default: deny" + CONFIG)
    assert verdict(config, ipv4()) == "filter_deny"
    assert verdict(config, arp()) == "filter_deny"
    assert verdict(config, ipv4(source="198.51.100.7")) == 1
    assert verdict(config, eth(0x88B5, b"", bytes.fromhex("020100000002"))) == "filter_deny"


SECOND = 10**9


def test_cpe_limit(config: Config) -> None:
    model = Model(config)

    def admitted(address: str, seconds: int) -> bool:
        frame = ipv6(address) if ":" in address else ipv4(address)
        return isinstance(model.classify(frame, seconds * SECOND), Admitted)

    assert admitted("10.0.0.1", 0)
    assert admitted("10.0.0.2", 1)
    assert admitted("240.0.0.1", 2)
    assert admitted("2001:db8::1", 2)  # the other family's
    assert model.classify(ipv4("10.0.0.3"), 3 * SECOND) == Dropped("cpe_limit")
    assert admitted("10.0.0.1", 4)
    assert model.classify(arp("10.0.0.3"), 5 * SECOND) == Dropped("cpe_limit")
    # 10.0.0.2 has been silent for the timeout, the others have not
    assert not admitted("10.0.0.3", 10)
    assert admitted("10.0.0.3", 11)
    assert not admitted("10.0.0.2", 11)


REASONS = {
    "runt",
    "frame_too_long",
    "vlan",
    "ipv4_header",
    "ipv4_length",
    "ipv4_checksum",
    "ipv6_header",
    "ipv6_length",
    "ipv6_extensions",
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
