# SPDX-License-Identifier: BSD-3-Clause
"""Replays a capture of a real network. Each destination address in it belongs to a modem."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

import captures
from e2e.running import SMALL, replay, vcmts
from vcmts.witness.config import parse_config
from vcmts.witness.pcapfile import Capture, read_pcap
from witness.classify import Model, parse

pytestmark = pytest.mark.replay

PER_MODEM = 3  # addresses
BONDING_GROUPS = [1, 2, 5]  # bonding groups of sg-small.yaml with several channels


@pytest.fixture(scope="module")
def capture() -> Capture:
    return read_pcap(captures.capture("rpd-session.pcap"))


def destinations(capture: Capture) -> list[IPv4Address | IPv6Address]:
    """Destination addresses of the capture, in the order of their first packet."""
    config = parse_config(SMALL.read_text())
    model = Model(config)
    addresses: dict[IPv4Address | IPv6Address, None] = {}
    for record in capture.records:
        verdict = model.classify(record.data)
        if getattr(verdict, "reason", None) != "unknown_destination":
            continue
        destination = parse(record.data, config.max_frame).destination
        if destination is not None and not destination.is_unspecified:
            addresses[destination] = None
    return list(addresses)


def modem_lines(addresses: list[IPv4Address | IPv6Address]) -> Iterator[str]:
    for number, first in enumerate(range(0, len(addresses), PER_MODEM), start=1):
        own = ", ".join(f'"{address}"' for address in addresses[first : first + PER_MODEM])
        flow = 2 * number
        yield f'  - mac: "02:02:00:00:00:{number:02x}"'
        yield f"    addresses: [{own}]"
        yield f"    bonding_group: {BONDING_GROUPS[number % len(BONDING_GROUPS)]}"
        yield (
            f'    security: {{said: {number}, cipher: aes-128, key: "{number:032x}", '
            f'iv: "{number << 64:032x}", key_sequence: {number % 16}}}'
        )
        yield "    service_flows:"
        yield f"      - {{id: {flow}, dsid: {flow}, buffer: 8 MB}}"
        yield f"      - {{id: {flow + 1}, dsid: {flow + 1}, priority: 5, buffer: 8 MB}}"
        yield "    classifiers:"
        yield f"      - {{family: ipv4, protocol: tcp, service_flow: {flow + 1}}}"
        yield f"      - {{family: ipv4, protocol: 115, service_flow: {flow + 1}}}"
        yield f"      - {{family: ipv6, protocol: icmpv6, service_flow: {flow + 1}}}"


def test_captured_traffic_is_transmitted_to_modems(capture: Capture, tmp_path: Path) -> None:
    head = SMALL.read_text().partition("modems:\n")[0] + "modems:\n"
    addresses = destinations(capture)
    assert len(addresses) > PER_MODEM
    text = head + "".join(f"{line}\n" for line in modem_lines(addresses))
    replayed = replay(tmp_path, text, list(capture.records))
    expected = replayed.check()
    assert expected.counters["transmitted"] > 0.95 * len(capture.records)
    assert set(expected.drops) <= {"frame_too_long", "multicast", "unknown_destination"}
    assert expected.counters["classifier_matched"] > 1000
    assert len(expected.flows) > len(addresses) // PER_MODEM


def test_traffic_without_modems_is_dropped_and_counted(capture: Capture, tmp_path: Path) -> None:
    """The profile has no modem with an address of the capture: every packet is dropped."""
    profile = vcmts("profile", "6ofdm-0sc-qam_300cms_aes")
    replayed = replay(tmp_path, profile.stdout, list(capture.records))
    expected = replayed.check()
    assert expected.drops.total() == len(capture.records)
    assert expected.drops["unknown_destination"] > 0.9 * len(capture.records)
    assert replayed.out.records == ()
