# SPDX-License-Identifier: BSD-3-Clause
"""Changes, adds and removes one of several service groups during a replay. The output of each group
must equal that of a replay of this group alone, byte by byte."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from e2e import service_groups as sg
from e2e.changes.replay import MS, Change, ChangeReplay, Epoch, Json, change, replay_changes
from e2e.traffic import START_NS
from vcmts.witness.groups import group_document
from vcmts.witness.pcapfile import Record
from witness.epochs import State, decode_epochs

pytestmark = pytest.mark.replay

GAP_NS = 15_001
T_NS, LATER_NS = 3 * MS + 7, 7 * MS + 7  # times of the first and second change
SECOND_MODEM = "02:01:01:00:00:02"

Server = tuple[Json, list[Json]]


def server_config(groups: int = 3, **keys: object) -> Server:
    server = sg.small_server_config()
    server["service_groups"] = server["service_groups"][:groups]
    return server | keys, [group_document(server, item) for item in server["service_groups"]]


def traffic(groups: Sequence[Json], up: bool) -> list[Record]:
    """Some 12 ms of traffic for all groups."""
    if up:
        return sg.upstream_traffic(groups, 3, 240 // len(groups), GAP_NS)
    return sg.downstream_traffic(groups, 3, 800 // len(groups), GAP_NS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unchanged")


@cache
def unchanged(folders: Path, number: int, up: bool) -> ChangeReplay:
    """Replays group `number` alone, with the traffic of all three. Cached for several tests."""
    _, groups = server_config()
    folder = folders / f"{number}{'up' if up else 'down'}"
    return replay_changes(folder, sg.to_yaml(groups[number - 1]), traffic(groups, up), up=up)


def group_output(replayed: ChangeReplay, group: Json, up: bool) -> list[Record]:
    belongs = sg.sent_by_modems(group) if up else sg.sent_to_channels(group)
    return [record for record in replayed.out if belongs(record)]


def with_group(changes: Sequence[Change], group: int) -> list[Change]:
    return [replace(item, params=item.params | {"group": group}) for item in changes]


def group_2_changes(modems: Sequence[Json]) -> list[Change]:
    """Changes of group 2, without parameter `group`."""
    first, second = modems[0], {"mac": SECOND_MODEM}
    rules = [{"family": "ipv4", "action": "permit"}]
    return [
        change(T_NS, "modem.remove", **second),
        change(T_NS + 101, "modem.set", modem={"mac": first["mac"], "bonding_group": 2}),
        change(T_NS + MS, "key.use", said=int(first["security"]["said"], 0)),
        change(T_NS + 2 * MS, "filter_group.set", filter_group={"id": 1, "rules": rules}),
        change(LATER_NS, "modem.add", modem=modems[1]),
        change(LATER_NS + 9, "key.remove", said=int(first["security"]["said"], 0)),
        change(LATER_NS + MS, "group.set", values={"rate_limit": "3 Gbps"}),
    ]


@pytest.mark.parametrize("up", [False, True], ids=["downstream", "upstream"])
def test_changed_group_is_as_alone(up: bool, folders: Path, tmp_path: Path) -> None:
    server, groups = server_config()
    sent = traffic(groups, up)
    changes = group_2_changes(groups[1]["modems"])
    together = replay_changes(
        tmp_path / "all", sg.to_yaml(server), sent, with_group(changes, 2), up=up
    )
    assert len(together.out) > 150
    total = 0
    for number, group in enumerate(groups, start=1):
        if number == 2:
            one = replay_changes(tmp_path / str(number), sg.to_yaml(group), sent, changes, up=up)
        else:
            one = unchanged(folders, number, up)
        assert group_output(together, group, up) == list(one.out)
        assert len(one.out) > 30
        total += len(one.out)
        direction = "upstream" if up else "downstream"
        [counts] = [g[direction] for g in together.stats["groups"] if g["id"] == number]
        assert counts["balanced"] and counts["transmitted"] == one.stats[direction]["transmitted"]
    assert total == len(together.out)


def balance(replayed: ChangeReplay, way: str) -> tuple[int, int]:
    """Sums over all groups and shared ports: packets sent, and packets transmitted or dropped."""
    stats = replayed.stats
    ports = {port["port"]: port for port in stats["shared_ports"]}
    shared = ports["R-PHY" if way == "upstream" else "network"]
    drops = sum(stats[way]["drops"].values())
    assert stats[way]["balanced"] and shared["balanced"]
    return len(replayed.sent), stats[way]["transmitted"] + drops + sum(shared["drops"].values())


@pytest.mark.parametrize("up", [False, True], ids=["downstream", "upstream"])
def test_removed_group_is_drained(up: bool, folders: Path, tmp_path: Path) -> None:
    """The removed group transmits its queued packets. Later packets for it are dropped."""
    server, groups = server_config()
    sent = traffic(groups, up)
    removal = change(T_NS, "group.remove", group=2)
    together = replay_changes(tmp_path / "all", sg.to_yaml(server), sent, [removal], up=up)
    for number, group in enumerate(groups, start=1):
        if number == 2:
            before = [record for record in sent if record.time_ns < START_NS + T_NS]
            one = replay_changes(tmp_path / str(number), sg.to_yaml(group), before, up=up)
        else:
            one = unchanged(folders, number, up)
        output = group_output(together, group, up)
        if number != 2:
            assert output == list(one.out)
        elif not up:
            assert sorted(r.data for r in output) == sorted(r.data for r in one.out)
        else:  # streams end early
            assert output == list(one.out)[: len(output)]
        assert len(output) > 10
    assert together.stats["removed_groups"] == 1
    if not up:
        received, accounted = balance(together, "downstream")
        assert received == accounted
    assert [group["id"] for group in together.stats["groups"]] == [1, 3]


def prove_group(replayed: ChangeReplay, group: int, epochs: Sequence[Epoch]) -> None:
    """Proves the output of one group: each frame matches the configuration of an epoch."""
    start = replayed.sent[0].time_ns
    states = [State(start + e.begin, e.configs[group]) for e in epochs if group in e.configs]
    channels = {c.session for state in states for c in state.config.channels}
    records = [r for r in replayed.out if session_id(r) in channels]
    decoded = decode_epochs(records, states)
    assert decoded.problems == [] and len(decoded.frames) > 20


def session_id(record: Record) -> int:
    """The L2TPv3 session ID of a packet over IPv4."""
    return int.from_bytes(record.data[34:38], "big")


@pytest.mark.parametrize("present", [1, 2])
@pytest.mark.parametrize("up", [False, True], ids=["downstream", "upstream"])
def test_added_group_is_as_alone(present: int, up: bool, folders: Path, tmp_path: Path) -> None:
    """The present groups have ports of their own (one group) or share them (two). The added group
    transmits as if alone from its first packet on; output of the others does not change."""
    server, groups = server_config(max_groups="3")
    third = groups[2]
    server["service_groups"] = server["service_groups"][:present]
    sent = traffic(groups, up)
    path = sg.write_config(tmp_path, "third.yaml", third)
    addition = change(T_NS, "group.add", file=str(path))
    together = replay_changes(tmp_path / "all", sg.to_yaml(server), sent, [addition], up=up)
    for number, group in enumerate(groups[:present], start=1):
        one = unchanged(folders, number, up)
        assert group_output(together, group, up) == list(one.out)
        assert len(one.out) > 30
    later = [record for record in sent if record.time_ns >= START_NS + T_NS]
    one = replay_changes(tmp_path / "3", sg.to_yaml(third), later, up=up)
    output = group_output(together, third, up)
    assert [record.data for record in output] == [record.data for record in one.out]
    # times of expired timers depend on the start of the capture, by some ns
    assert all(abs(a.time_ns - b.time_ns) < 10 for a, b in zip(output, one.out, strict=True))
    assert len(one.out) > 20
    if not up:
        prove_group(together, 3, together.epochs)
