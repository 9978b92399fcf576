# SPDX-License-Identifier: BSD-3-Clause
"""A window into good traffic has no problems, wherever it begins and ends, and shows what is wrong
within it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from e2e.running import vcmts
from vcmts.witness.config import parse_config
from vcmts.witness.downstream import decode_window
from vcmts.witness.groups import parse_groups
from vcmts.witness.nodes import ConfigError
from vcmts.witness.pcapfile import Record, records_of
from vcmts.witness.strict_upstream import decode_strictly
from vcmts.witness.windows import WindowsError, read_windows
from witness.sample import CONFIG, UPSTREAM
from witness.sender import Sender
from witness.upstream_traffic import sending
from witness.windows_file import SECTION, interface, packet

SMALL = parse_config(CONFIG)
UP = parse_config(UPSTREAM)
WINDOW = 16
FLOWS = {1: (1, 2), 2: (1, 2), 10: (3,), 11: (3,)}  # channels of service flows
HERE = Path()
places = st.integers(0, 1 << 16)


@cache
def downstream() -> Sequence[bytes]:
    """DEPI of frames that lie across packets, a few in each."""
    random, sender, packets = Random(1), Sender(SMALL), []
    for _ in range(400):
        flow = random.choice(list(FLOWS))
        modem = SMALL.modems[flow >= 10]
        frame = modem.mac + bytes(6) + random.randbytes(random.choice((60, 300, 1300)))
        packets += sender.send(flow, frame, random.choice(FLOWS[flow]))
    return packets


@cache
def upstream() -> Sequence[bytes]:
    return [packet for seed in range(3) for packet in sending(seed, UP).packets]


def window(packets: Sequence[bytes], place: int) -> list[Record]:
    at = place % (len(packets) - WINDOW)
    return records_of(packets[at : at + WINDOW])


def damaged(records: list[Record], place: int) -> list[Record]:
    """One bit of the last third of a packet in the middle is another."""
    middle = records[WINDOW // 2]
    data = bytearray(middle.data)
    data[-1 - place % (len(data) // 3)] ^= 1 << place % 8
    return [*records[: WINDOW // 2], replace(middle, data=bytes(data)), *records[WINDOW // 2 + 1 :]]


@given(places)
def test_a_window_of_the_downstream_has_no_problems(place: int) -> None:
    result = decode_window(window(downstream(), place), SMALL)
    assert not result.problems
    assert result.counters["frames"] >= WINDOW // 2
    assert all(record.ethernet for record in result.frames)


@given(places, st.integers(1, WINDOW - 1))
def test_packets_that_the_machine_lost_are_no_problem(place: int, lost: int) -> None:
    records = window(downstream(), place)
    del records[lost]
    assert not decode_window(records, SMALL).problems


@given(places)
def test_a_packet_that_is_late_is_one(place: int) -> None:
    records = window([p for p in downstream() if b"\x00\x01\x00\x01" in p[:60]], place)
    records[3], records[4] = records[4], records[3]
    assert any("late" in problem.text for problem in decode_window(records, SMALL).problems)


@given(places, places)
def test_damage_in_a_window_of_the_downstream_is_seen(place: int, at: int) -> None:
    """Where the packet ends a frame, of which the window has all."""
    records = window(downstream(), place)
    before = decode_window(records, SMALL).counters["delivered"]
    result = decode_window(damaged(records, at), SMALL)
    assert result.problems or result.counters["delivered"] == before


def test_damage_is_seen_as_a_rule() -> None:
    seen = sum(
        bool(decode_window(damaged(window(downstream(), n), n * 7), SMALL).problems)
        for n in range(100)
    )
    assert seen > 80


@settings(deadline=None)
@given(places)
def test_a_window_of_the_upstream_has_no_problems(place: int) -> None:
    at = place % 3
    packets = sending(at, UP).packets
    decoded = decode_strictly(window(packets, place), UP, window=True)
    assert not decoded.problems


def test_damage_in_windows_of_the_upstream_is_seen() -> None:
    packets = sending(1, UP).packets
    seen = [
        decode_strictly(damaged(window(packets, n), n * 7), UP, window=True).problems
        for n in range(100)
    ]
    assert sum(map(bool, seen)) > 50


def test_windows_hold_most_of_what_was_sent() -> None:
    sender = sending(2, UP)
    whole = decode_strictly(records_of(sender.packets), UP)
    parts = [
        decode_strictly(records_of(sender.packets[at : at + WINDOW]), UP, window=True)
        for at in range(0, len(sender.packets), WINDOW)
    ]
    assert not any(part.problems for part in parts)
    found = sum(part.kinds.total() for part in parts)
    assert whole.kinds.total() / 2 < found <= whole.kinds.total()


# Files


FILE = b"".join(
    (
        SECTION,
        interface("downstream 3"),
        interface("upstream 3"),
        packet(0, 0, b"one"),
        packet(0, 0, b"two"),
        packet(0, 1, b"three"),
        packet(1, 0, b"four"),
    )
)


def test_a_file_is_read_as_its_windows(tmp_path: Path) -> None:
    path = tmp_path / "windows.pcapng"
    path.write_bytes(FILE)
    found = [
        (window.direction, window.place, [record.data for record in window.records])
        for window in read_windows(path)
    ]
    assert found == [
        ("downstream", 3, [b"one", b"two"]),
        ("downstream", 3, [b"three"]),
        ("upstream", 3, [b"four"]),
    ]
    record = read_windows(path)[0].records[0]
    assert (record.time_ns, record.original_length) == (7, 5)


@pytest.mark.parametrize("size", range(4, len(FILE), 7))
def test_what_is_no_such_file_is_refused_or_shorter(tmp_path: Path, size: int) -> None:
    path = tmp_path / "windows.pcapng"
    path.write_bytes(FILE[:size])
    try:
        assert len(read_windows(path)) <= 3
    except WindowsError as error:
        assert str(path) in str(error)


def test_groups_of_a_server_are_read_alone() -> None:
    whole = json.dumps(
        {
            "rphy": {"mtu": "1400"},
            "service_groups": [
                {"channels": [{"id": 1, "type": "ofdm", "session": n}], "rphy": {"dscp": n}}
                for n in (1, 2)
            ],
        }
    )
    groups = parse_groups(whole, [0, 1], HERE)
    assert [groups[place].rphy.mtu for place in (0, 1)] == [1400, 1400]
    assert [groups[place].channels[0].session for place in (0, 1)] == [1, 2]
    assert [groups[place].rphy.carrier.dscp for place in (0, 1)] == [1, 2]
    assert list(parse_groups(whole, [1], HERE).values()) == [groups[1]]
    with pytest.raises(ConfigError):
        parse_groups("service_groups: none", [0], HERE)
    with pytest.raises(ConfigError):
        parse_groups(whole, [2], HERE)


def test_of_a_large_file_only_the_groups_that_are_needed_are_read() -> None:
    written = vcmts("profile", "2ofdm-0sc-qam_20cms_aes", "--groups", "3").stdout
    of_all = parse_groups(written.replace("service_groups:", "service_groups:  "), [0, 1, 2], HERE)
    assert len({config.modems[0].mac for config in of_all.values()}) == 3
    for places in ([0], [1], [2], [0, 2]):
        assert parse_groups(written, places, HERE) == {place: of_all[place] for place in places}


def test_a_group_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    own = {"service_group": "9", "channels": [{"id": 1, "type": "ofdm", "session": 7}]}
    (tmp_path / "own.yaml").write_text(json.dumps(own | {"rphy": {"dscp": 5, "ttl": 9}}))
    whole = {"rphy": {"mtu": "1400"}}
    item = {"file": "own.yaml", "service_group": 3, "rphy": {"ttl": 8}}
    text = json.dumps(whole | {"service_groups": [item]})
    group = parse_groups(text, [0], tmp_path)[0]
    assert (group.rphy.mtu, group.rphy.carrier.dscp, group.rphy.carrier.ttl) == (1400, 5, 8)
    assert group.channels[0].session == 7
    with pytest.raises(ConfigError, match=r"own\.yaml"):
        parse_groups(text, [0], tmp_path / "elsewhere")
