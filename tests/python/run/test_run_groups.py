# SPDX-License-Identifier: BSD-3-Clause
"""Tests runs with several service groups: the results of each group, and the totals."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from vcmts.run import expected, groups, plane, summary, verdict

Json = dict[str, Any]


def traffic_part(packets: int, lost: int = 0) -> Json:
    counts = {"sent": packets, "proven": packets - lost, "lost": lost, "corrupted": 0}
    counts |= {"duplicated": 0, "reordered": 0, "sent_bytes": 1000 * packets}
    return counts | {
        "gbps": 1.5,
        "seconds": 2.0,
        "sent_seconds": 2.0,
        "asked_gbps": 1.5,
        "requests": 3,
    }


def plane_part(dropped: int = 0, *, balanced: bool = True) -> Json:
    return {"balanced": balanced, "drops": {"runt": 0, "vlan": dropped}, "received": 9}


PROVEN: Json = {
    "downstream": traffic_part(3000, 1),
    "upstream": traffic_part(500),
    "groups": [
        {"id": 7, "name": "seven", "downstream": traffic_part(1000), "upstream": traffic_part(500)},
        {"id": 8, "name": "eight", "downstream": traffic_part(2000, 1)},
    ],
}
PLANE: Json = {
    "downstream": plane_part(1),
    "upstream": plane_part(),
    # in another order: groups are matched by their IDs
    "groups": [
        {"id": 8, "name": "eight", "downstream": plane_part(1)},
        {"id": 7, "name": "seven", "downstream": plane_part(), "upstream": plane_part()},
    ],
    "workers": [],
    "power": {"workers": []},
    "ports": {},
    "host": {"tsc_hz": 2e9, "core_hz": 3e9},
}
REQUESTED_GBPS = {"downstream": 3.0, "upstream": None}


def test_group_has_results_of_both_programs() -> None:
    merged = summary.merge(PLANE, PROVEN, REQUESTED_GBPS)
    seven, eight = merged["groups"]
    assert (seven["id"], seven["name"], eight["id"]) == (7, "seven", 8)
    assert (seven["downstream"]["sent"], seven["downstream"]["drops"]["vlan"]) == (1000, 0)
    assert eight["downstream"]["lost"] == eight["downstream"]["drops"]["vlan"] == 1
    assert seven["upstream"]["sent"] == 500
    assert "upstream" not in eight
    assert merged["downstream"]["asked_gbps"] == 3.0
    assert summary.balanced(merged)


def test_groups_without_packets_are_listed() -> None:
    merged = summary.merge(PLANE, PROVEN, REQUESTED_GBPS)
    assert summary.silent(merged) == []
    merged["groups"][0]["upstream"]["sent"] = 0
    assert summary.silent(merged) == [(7, "upstream")]


@pytest.mark.parametrize("group", [0, 1])
def test_unbalanced_group_is_unbalanced_run(group: int) -> None:
    parts = [dict(one) for one in PLANE["groups"]]
    parts[group]["downstream"] = plane_part(balanced=False)
    assert not summary.balanced(summary.merge(PLANE | {"groups": parts}, PROVEN, REQUESTED_GBPS))


def test_group_without_plane_results_does_not_balance() -> None:
    parts = PLANE["groups"][:1]
    assert not summary.balanced(summary.merge(PLANE | {"groups": parts}, PROVEN, REQUESTED_GBPS))


def test_single_group_has_the_totals() -> None:
    alone = {key: value for key, value in PLANE.items() if key != "groups"}
    proven = PROVEN | {"groups": PROVEN["groups"][:1]}
    merged = summary.merge(alone, proven, REQUESTED_GBPS)
    assert merged["groups"][0]["downstream"]["drops"] == merged["downstream"]["drops"]
    assert summary.balanced(merged)


@pytest.mark.parametrize("width", [80, 160])
def test_table_has_a_line_per_group(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    merged = summary.merge(PLANE, PROVEN, REQUESTED_GBPS)
    merged["groups"][1]["name"] = "6ofdm-0sc-qam_300cms_aes-8"
    groups.print_groups(merged["groups"], Console(width=width))
    lines = capsys.readouterr().out.splitlines()
    table = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    [seven] = [row for row in table if row and row[0] == "7"]
    assert seven[2:] == ["1,000", "0", "1.50 Gbps", "500", "0", "1.50 Gbps"]
    [eight] = [row for row in table if row and row[0] == "8"]
    assert eight[2:] == ["2,000", "1", "1.50 Gbps", "", "", ""]
    assert eight[1].startswith("6")
    assert (eight[1] == "6ofdm-0sc-qam_300cms_aes-8") == (width == 160)
    assert len([row for row in table if row]) == 2, "one line per group"
    assert verdict.of_run(merged).text() == (
        "FAIL: 1 lost; 3,499 of 3,500 packets of 2 service groups proven"
    )


def test_group_facts_are_a_single_group() -> None:
    facts = {"name": "one", "mtu": 1500, "cores": [1]}
    assert groups.group_facts(facts) == [facts]
    assert groups.largest_mtu(facts) == 1500
    assert groups.largest_mtu({"groups": [{"mtu": 2000}, {"mtu": 9000}, {"mtu": 1500}]}) == 9000


def test_memif_names_and_sockets_differ_per_group(tmp_path: Path) -> None:
    shared, own = (plane.make_wire(tmp_path, 1, "rphy", 1500, own=own) for own in (False, True))
    assert shared.server.startswith("net_memif1,role=server,id=1,")
    assert f"socket={tmp_path}/rphy.sock," in shared.client
    assert own.client.startswith("net_memif{group}1,role=client,id=1,")
    assert f"socket={tmp_path}/rphy{{group}}.sock," in own.server
    names = {f"net_memif{group}{number}" for group in range(64) for number in range(2)}
    assert len(names) == 128


def test_expected_foreign_frames_may_be_unmatched() -> None:
    upstream = traffic_part(10) | {"astray": 0, "drops": {}, "counters": {"management": 0}}
    upstream["unexpected"] = {"foreign": 2, "no_group": 3}
    due: Json = {"lost": 0, "corrupted": 0, "foreign": 5, "drops": {}}
    upstream["expected"] = due | {"counters": {"management": 0}}
    assert expected.as_expected({"upstream": upstream})
    upstream["unexpected"]["no_group"] = 4
    assert not expected.as_expected({"upstream": upstream})
