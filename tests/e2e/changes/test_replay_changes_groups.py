# SPDX-License-Identifier: BSD-3-Clause
"""Several service groups in one replay, of which one changes, comes, goes or rests: each gives byte
for byte what it gives alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from e2e import grouped
from e2e.changes.changed import MS, Change, ChangedReplay, Epoch, Json, change, replay_changed
from e2e.traffic import START_NS
from vcmts.witness.groups import alone
from vcmts.witness.pcapfile import Record
from witness.epochs import State, decode_epochs

pytestmark = pytest.mark.replay

GAP_NS = 15_001
T, LATER = 3 * MS + 7, 7 * MS + 7
SECOND = "02:01:01:00:00:02"

Server = tuple[Json, list[Json]]


def served(groups: int = 3, **keys: object) -> Server:
    whole = grouped.small_server()
    whole["service_groups"] = whole["service_groups"][:groups]
    return whole | keys, [alone(whole, item) for item in whole["service_groups"]]


def traffic(groups: Sequence[Json], up: bool) -> list[Record]:
    """Of some 12 ms."""
    if up:
        return grouped.up_traffic(groups, 3, 240 // len(groups), GAP_NS)
    return grouped.down_traffic(groups, 3, 800 // len(groups), GAP_NS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unchanged")


@cache
def unchanged(folders: Path, number: int, up: bool) -> ChangedReplay:
    """A group of three alone, with what is sent to all of them: the same for several tests."""
    _, groups = served()
    folder = folders / f"{number}{'up' if up else 'down'}"
    return replay_changed(folder, grouped.dump(groups[number - 1]), traffic(groups, up), up=up)


def mine(replayed: ChangedReplay, group: Json, up: bool) -> list[Record]:
    is_mine = grouped.comes_from_modems(group) if up else grouped.goes_to_channels(group)
    return [record for record in replayed.out if is_mine(record)]


def of_group(changes: Sequence[Change], group: int) -> list[Change]:
    return [replace(item, params=item.params | {"group": group}) for item in changes]


def in_group_2(modems: Sequence[Json]) -> list[Change]:
    """As that group alone is told."""
    first, second = modems[0], {"mac": SECOND}
    rules = [{"family": "ipv4", "action": "permit"}]
    return [
        change(T, "modem.remove", modem=second),
        change(T + 101, "modem.set", modem={"mac": first["mac"], "bonding_group": 2}),
        change(T + MS, "key.use", said=int(first["security"]["said"], 0)),
        change(T + 2 * MS, "filter_group.set", filter_group={"id": 1, "rules": rules}),
        change(LATER, "modem.add", modem=modems[1]),
        change(LATER + 9, "key.remove", said=int(first["security"]["said"], 0)),
        change(LATER + MS, "group.set", values={"rate_limit": "3 Gbps"}),
    ]


@pytest.mark.parametrize("up", [False, True], ids=["downstream", "upstream"])
def test_a_group_changes(up: bool, folders: Path, tmp_path: Path) -> None:
    whole, groups = served()
    sent = traffic(groups, up)
    told = in_group_2(groups[1]["modems"])
    together = replay_changed(tmp_path / "all", grouped.dump(whole), sent, of_group(told, 2), up=up)
    assert len(together.out) > 150
    total = 0
    for number, group in enumerate(groups, start=1):
        if number == 2:
            one = replay_changed(tmp_path / str(number), grouped.dump(group), sent, told, up=up)
        else:
            one = unchanged(folders, number, up)
        assert mine(together, group, up) == list(one.out)
        assert len(one.out) > 30
        total += len(one.out)
        way = "upstream" if up else "downstream"
        [counted] = [g[way] for g in together.stats["groups"] if g["id"] == number]
        assert counted["balanced"] and counted["transmitted"] == one.stats[way]["transmitted"]
    assert total == len(together.out)


def left(replayed: ChangedReplay, way: str) -> tuple[int, int]:
    """Of all groups and shared ports: packets that came, and that went or were counted."""
    stats = replayed.stats
    ports = {port["port"]: port for port in stats["shared_ports"]}
    shared = ports["R-PHY" if way == "upstream" else "network"]
    drops = sum(stats[way]["drops"].values())
    assert stats[way]["balanced"] and shared["balanced"]
    return len(replayed.sent), stats[way]["transmitted"] + drops + sum(shared["drops"].values())


@pytest.mark.parametrize("up", [False, True], ids=["downstream", "upstream"])
def test_a_group_goes(up: bool, folders: Path, tmp_path: Path) -> None:
    """What it had is sent; what comes for it later is nobody's."""
    whole, groups = served()
    sent = traffic(groups, up)
    gone = change(T, "group.remove", group=2)
    together = replay_changed(tmp_path / "all", grouped.dump(whole), sent, [gone], up=up)
    for number, group in enumerate(groups, start=1):
        if number == 2:
            before = [record for record in sent if record.time_ns < START_NS + T]
            one = replay_changed(tmp_path / str(number), grouped.dump(group), before, up=up)
        else:
            one = unchanged(folders, number, up)
        came = mine(together, group, up)
        if number != 2:
            assert came == list(one.out)
        elif not up:
            assert sorted(r.data for r in came) == sorted(r.data for r in one.out)
        else:  # streams that were cut off
            assert came == list(one.out)[: len(came)]
        assert len(came) > 10
    assert together.stats["removed_groups"] == 1
    if not up:
        came_in, accounted = left(together, "downstream")
        assert came_in == accounted
    assert [group["id"] for group in together.stats["groups"]] == [1, 3]


def proof_of(replayed: ChangedReplay, group: int, epochs: Sequence[Epoch]) -> None:
    """Of what came out of one group: each frame right in one of its states."""
    start = replayed.sent[0].time_ns
    states = [State(start + e.begin, e.configs[group]) for e in epochs if group in e.configs]
    channels = {c.session for state in states for c in state.config.channels}
    records = [r for r in replayed.out if session_of(r) in channels]
    decoded = decode_epochs(records, states)
    assert decoded.problems == [] and len(decoded.frames) > 20


def session_of(record: Record) -> int:
    return int.from_bytes(record.data[34:38], "big")


@pytest.mark.parametrize("groups_before", [1, 2])
@pytest.mark.parametrize("up", [False, True], ids=["downstream", "upstream"])
def test_a_group_comes(groups_before: int, up: bool, folders: Path, tmp_path: Path) -> None:
    """Beside one that had the ports for itself, or two that shared them: it gives what it gives
    alone from its first packet on, and the others notice nothing."""
    whole, groups = served(max_groups="3")
    third = groups[2]
    whole["service_groups"] = whole["service_groups"][:groups_before]
    sent = traffic(groups, up)
    path = grouped.write(tmp_path, "third.yaml", third)
    come = change(T, "group.add", file=str(path))
    together = replay_changed(tmp_path / "all", grouped.dump(whole), sent, [come], up=up)
    for number, group in enumerate(groups[:groups_before], start=1):
        one = unchanged(folders, number, up)
        assert mine(together, group, up) == list(one.out)
        assert len(one.out) > 30
    later = [record for record in sent if record.time_ns >= START_NS + T]
    one = replay_changed(tmp_path / "3", grouped.dump(third), later, up=up)
    came = mine(together, third, up)
    assert [record.data for record in came] == [record.data for record in one.out]
    # where a timeout ended a wait, its time is by the capture's begin, to some ns
    assert all(abs(a.time_ns - b.time_ns) < 10 for a, b in zip(came, one.out, strict=True))
    assert len(one.out) > 20
    if not up:
        proof_of(together, 3, together.epochs)
