# SPDX-License-Identifier: BSD-3-Clause
"""Tests windows, parts of captured traffic: decoding one from any packet on has no problems in good
traffic, and finds damage. Also tests pcapng files of windows, and reading single groups of a server
file."""

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
FOLDER = Path()
positions = st.integers(0, 1 << 16)


@cache
def downstream() -> Sequence[bytes]:
    """DEPI packets with a few frames each; frames continue in the next packet."""
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


def window(packets: Sequence[bytes], position: int) -> list[Record]:
    first = position % (len(packets) - WINDOW)
    return records_of(packets[first : first + WINDOW])


def damage(records: list[Record], position: int) -> list[Record]:
    """Flips a bit in the last third of the packet in the middle."""
    middle = records[WINDOW // 2]
    data = bytearray(middle.data)
    data[-1 - position % (len(data) // 3)] ^= 1 << position % 8
    return [*records[: WINDOW // 2], replace(middle, data=bytes(data)), *records[WINDOW // 2 + 1 :]]


@given(positions)
def test_good_downstream_window_has_no_problems(position: int) -> None:
    result = decode_window(window(downstream(), position), SMALL)
    assert not result.problems
    assert result.counters["frames"] >= WINDOW // 2
    assert all(record.ethernet for record in result.frames)


@given(positions, st.integers(1, WINDOW - 1))
def test_lost_packet_in_window_is_no_problem(position: int, lost: int) -> None:
    records = window(downstream(), position)
    del records[lost]
    assert not decode_window(records, SMALL).problems


@given(positions)
def test_late_packet_in_window_is_a_problem(position: int) -> None:
    records = window([p for p in downstream() if b"\x00\x01\x00\x01" in p[:60]], position)
    records[3], records[4] = records[4], records[3]
    assert any("late" in problem.text for problem in decode_window(records, SMALL).problems)


@given(positions, positions)
def test_damage_in_downstream_window_is_found(position: int, bit: int) -> None:
    """A flipped bit is found, unless the window lacks a part of its frame."""
    records = window(downstream(), position)
    before = decode_window(records, SMALL).counters["delivered"]
    result = decode_window(damage(records, bit), SMALL)
    assert result.problems or result.counters["delivered"] == before


def test_most_damage_is_found() -> None:
    actual = sum(
        bool(decode_window(damage(window(downstream(), n), n * 7), SMALL).problems)
        for n in range(100)
    )
    assert actual > 80


@settings(deadline=None)
@given(positions)
def test_good_upstream_window_has_no_problems(position: int) -> None:
    packets = sending(position % 3, UP).packets
    decoded = decode_strictly(window(packets, position), UP, window=True)
    assert not decoded.problems


def test_most_damage_in_upstream_windows_is_found() -> None:
    packets = sending(1, UP).packets
    problems = [
        decode_strictly(damage(window(packets, n), n * 7), UP, window=True).problems
        for n in range(100)
    ]
    assert sum(map(bool, problems)) > 50


def test_windows_decode_at_least_half_of_the_frames() -> None:
    sender = sending(2, UP)
    whole = decode_strictly(records_of(sender.packets), UP)
    parts = [
        decode_strictly(records_of(sender.packets[n : n + WINDOW]), UP, window=True)
        for n in range(0, len(sender.packets), WINDOW)
    ]
    assert not any(part.problems for part in parts)
    actual = sum(part.kinds.total() for part in parts)
    assert whole.kinds.total() / 2 < actual <= whole.kinds.total()


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


def test_file_is_read_as_windows(tmp_path: Path) -> None:
    path = tmp_path / "windows.pcapng"
    path.write_bytes(FILE)
    actual = [
        (window.direction, window.group_index, [record.data for record in window.records])
        for window in read_windows(path)
    ]
    assert actual == [
        ("downstream", 3, [b"one", b"two"]),
        ("downstream", 3, [b"three"]),
        ("upstream", 3, [b"four"]),
    ]
    record = read_windows(path)[0].records[0]
    assert (record.time_ns, record.original_length) == (7, 5)


@pytest.mark.parametrize("size", range(4, len(FILE), 7))
def test_truncated_file_is_refused_or_shorter(tmp_path: Path, size: int) -> None:
    path = tmp_path / "windows.pcapng"
    path.write_bytes(FILE[:size])
    try:
        assert len(read_windows(path)) <= 3
    except WindowsError as error:
        assert str(path) in str(error)


def test_single_groups_are_read() -> None:
    whole = json.dumps(
        {
            "rphy": {"mtu": "1400"},
            "service_groups": [
                {"channels": [{"id": 1, "type": "ofdm", "session": n}], "rphy": {"dscp": n}}
                for n in (1, 2)
            ],
        }
    )
    groups = parse_groups(whole, [0, 1], FOLDER)
    assert [groups[n].rphy.mtu for n in (0, 1)] == [1400, 1400]
    assert [groups[n].channels[0].session for n in (0, 1)] == [1, 2]
    assert [groups[n].rphy.carrier.dscp for n in (0, 1)] == [1, 2]
    assert list(parse_groups(whole, [1], FOLDER).values()) == [groups[1]]
    with pytest.raises(ConfigError):
        parse_groups("service_groups: none", [0], FOLDER)
    with pytest.raises(ConfigError):
        parse_groups(whole, [2], FOLDER)


def test_groups_of_a_profile_are_read() -> None:
    text = vcmts("profile", "2ofdm-0sc-qam_20cms_aes", "--groups", "3").stdout
    all_groups = parse_groups(
        text.replace("service_groups:", "service_groups:  "), [0, 1, 2], FOLDER
    )
    assert len({config.modems[0].mac for config in all_groups.values()}) == 3
    for numbers in ([0], [1], [2], [0, 2]):
        assert parse_groups(text, numbers, FOLDER) == {n: all_groups[n] for n in numbers}


def test_group_may_have_its_own_file(tmp_path: Path) -> None:
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
