# SPDX-License-Identifier: BSD-3-Clause
"""CPE limit of a modem: packets to more addresses are dropped until an active one times out."""

from ipaddress import IPv4Address, ip_address
from pathlib import Path

import pytest

from e2e.frames import arp_frame, udp_frame
from e2e.running import SMALL, replace_values, replay
from e2e.traffic import START_NS
from vcmts.witness.pcapfile import Record, records_of

pytestmark = pytest.mark.replay

ADDRESSES = ["10.0.0.5", "10.0.0.6", "10.0.0.7", "2001:db8:0:2::1", "2001:db8:0:2::2"]
LIMIT = 3
LIMITED = f"cpe_limit: {LIMIT}\n    filter_groups: [2]"
SECOND_NS = 1_000_000_000


def test_addresses_above_limit_are_dropped_until_timeout(tmp_path: Path) -> None:
    """Limit of two IPv4 addresses and one IPv6 address, with a timeout of 10 s. `steps`: time in
    seconds, and index of the address."""
    steps = [
        *((0, address) for address in (0, 1, 3)),
        *((1, address) for address in (2, 4, 0, 1, 3)),  # 2 and 4 exceed the limit
        *((2, address) for address in (2, 0)),
        *((7, address) for address in (4, 0)),
        *((31, address) for address in (2, 4, 0, 1, 3)),  # 1 and 3 exceed the limit
        *((60, address) for address in (1,)),
    ]
    limits = LIMITED.replace("3\n", "2\n    cpe_limit_ipv6: 1\n")
    records = []
    for number, (second, index) in enumerate(steps):
        frame = udp_frame(ip_address(ADDRESSES[index]), 100, number)
        records.append(Record(START_NS + second * SECOND_NS, frame, len(frame)))
    text = replace_values(SMALL.read_text().replace(LIMITED, limits), cpe_timeout="10 s")
    expected = replay(tmp_path, text, records).check()
    assert expected.drops == {"cpe_limit": 2 + 1 + 1 + 2}


def test_arp_counts_as_its_target_address(tmp_path: Path) -> None:
    targets = ["10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.5", "10.0.0.7"]
    frames = [arp_frame(IPv4Address(target)) for target in targets]
    frames.append(udp_frame(ip_address(ADDRESSES[3]), 100))
    text = SMALL.read_text().replace(LIMITED, LIMITED.replace("3", "2", 1))
    expected = replay(tmp_path, text, records_of(frames, START_NS, SECOND_NS)).check()
    assert expected.drops == {"cpe_limit": 2}


def test_dual_stack_cpe_counts_once(tmp_path: Path) -> None:
    """A CPE with IPv4 and IPv6 counts once per family. A second CPE exceeds the limit."""
    text = SMALL.read_text().replace(LIMITED, LIMITED.replace("3", "1", 1))
    frames = [udp_frame(ip_address(ADDRESSES[which]), 100) for which in (3, 0, 3, 0, 4, 1)]
    expected = replay(tmp_path, text, records_of(frames, START_NS, SECOND_NS)).check()
    assert expected.drops == {"cpe_limit": 2}


def test_limit_0_drops_all_cpe_traffic(tmp_path: Path) -> None:
    """With limit 0, only frames to the modem's own MAC address are transmitted."""
    text = SMALL.read_text()
    mac = bytes.fromhex("020100000002")
    text = text.replace(LIMITED, "cpe_limit: 0")
    frames = [udp_frame(ip_address(address), 100) for address in ADDRESSES]
    frames.append(mac + frames[0][6:12] + bytes.fromhex("88cc") + bytes(50))
    expected = replay(tmp_path, text, records_of(frames, START_NS, SECOND_NS)).check()
    assert expected.drops == {"cpe_limit": 5}
    assert [len(frames) for frames in expected.flows.values()] == [1]
