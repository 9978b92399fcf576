# SPDX-License-Identifier: BSD-3-Clause
"""A modem over its CPE limit: further addresses wait until one has been silent for long."""

from ipaddress import IPv4Address, ip_address
from pathlib import Path

import pytest

from e2e.frames import arp_frame, udp_frame
from e2e.running import SMALL, replay, vary
from e2e.traffic import START_NS
from vcmts.witness.pcapfile import Record, records_of

pytestmark = pytest.mark.replay

ADDRESSES = ["10.0.0.5", "10.0.0.6", "10.0.0.7", "2001:db8:0:2::1", "2001:db8:0:2::2"]
LIMIT = 3
LIMITED = f"cpe_limit: {LIMIT}\n    filter_groups: [2]"
SECOND = 1_000_000_000


def test_limit_and_timeout(tmp_path: Path) -> None:
    """Two IPv4 addresses and one IPv6 address at a time. Times are well inside or well beyond the
    timeout of 10 s."""
    steps = [
        *((0, address) for address in (0, 1, 3)),
        *((1, address) for address in (2, 4, 0, 1, 3)),  # 2 and 4 are too many
        *((2, address) for address in (2, 0)),
        *((7, address) for address in (4, 0)),
        *((31, address) for address in (2, 4, 0, 1, 3)),  # now 1 and 3 are
        *((60, address) for address in (1,)),
    ]
    limits = LIMITED.replace("3\n", "2\n    cpe_limit_ipv6: 1\n")
    sent = []
    for number, (second, which) in enumerate(steps):
        frame = udp_frame(ip_address(ADDRESSES[which]), 100, number)
        sent.append(Record(START_NS + second * SECOND, frame, len(frame)))
    text = vary(SMALL.read_text().replace(LIMITED, limits), cpe_timeout="10 s")
    expected = replay(tmp_path, text, sent).check()
    assert expected.drops == {"cpe_limit": 2 + 1 + 1 + 2}


def test_arp_counts_as_the_address(tmp_path: Path) -> None:
    targets = ["10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.5", "10.0.0.7"]
    frames = [arp_frame(IPv4Address(target)) for target in targets]
    frames.append(udp_frame(ip_address(ADDRESSES[3]), 100))
    text = SMALL.read_text().replace(LIMITED, LIMITED.replace("3", "2", 1))
    expected = replay(tmp_path, text, records_of(frames, START_NS, SECOND)).check()
    assert expected.drops == {"cpe_limit": 2}


def test_a_dual_stack_cpe_is_one(tmp_path: Path) -> None:
    """Its two addresses are of two families, each with a limit; a second CPE has no room."""
    text = SMALL.read_text().replace(LIMITED, LIMITED.replace("3", "1", 1))
    frames = [udp_frame(ip_address(ADDRESSES[which]), 100) for which in (3, 0, 3, 0, 4, 1)]
    expected = replay(tmp_path, text, records_of(frames, START_NS, SECOND)).check()
    assert expected.drops == {"cpe_limit": 2}


def test_limit_of_none(tmp_path: Path) -> None:
    """A modem that may have no CPE still gets what is for itself."""
    text = SMALL.read_text()
    mac = bytes.fromhex("020100000002")
    text = text.replace(LIMITED, "cpe_limit: 0")
    frames = [udp_frame(ip_address(address), 100) for address in ADDRESSES]
    frames.append(mac + frames[0][6:12] + bytes.fromhex("88cc") + bytes(50))
    expected = replay(tmp_path, text, records_of(frames, START_NS, SECOND)).check()
    assert expected.drops == {"cpe_limit": 5}
    assert [len(frames) for frames in expected.flows.values()] == [1]
