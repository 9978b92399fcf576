# SPDX-License-Identifier: BSD-3-Clause
"""Tests identities.py: counters of vcmtsd and of the traffic program that must be equal."""

import re
from copy import deepcopy
from typing import Any

import pytest

from vcmts.paths import CHECKOUT
from vcmts.run import identities

Json = dict[str, Any]


def part(direction: str) -> Json:
    """A direction in which all counters are 0, and so equal."""
    names = {
        name for one in identities.IDENTITIES[direction] for side in one.sides for name in side
    }
    return {
        **{name[1:]: 0 for name in names if name.startswith(".")},
        "lost": 0,
        "drops": {"runt": 0},
        "counters": {
            name: 0
            for name in (*names, "fragments")
            if "." not in name and not name.startswith("refused_")
        },
        "scheduler": {"channels": [{"packets": 0}, {"packets": 0}]},
        "requests": {
            "by_kind": {"record": 0, "frame": 0},
            "by_modem": {"02:01": {"record": 0}},
            "of_left": 0,
        },
    }


def run() -> Json:
    both = {direction: part(direction) for direction in ("downstream", "upstream")}
    return {**deepcopy(both), "groups": [{"id": 7, **deepcopy(both)}], "follow": {"changes": 0}}


def test_equal_counters_break_no_identity() -> None:
    assert identities.broken_identities(run()) == []


@pytest.mark.parametrize(
    ("direction", "name"),
    sorted(
        (direction, name)
        for direction in identities.IDENTITIES
        for name in part(direction)["counters"].keys() - {"fragments", *identities.REQUESTS}
    ),
)
def test_higher_counter_breaks_identity(direction: str, name: str) -> None:
    merged = run()
    merged["groups"][0][direction]["counters"][name] += 1
    result = identities.broken_identities(merged)
    assert result
    assert {one.where for one in result} == {f"service group 7, {direction}"}
    assert any(name in str(one) for one in result)


@pytest.mark.parametrize("name", ["sent", "sent_bytes", "proven", "depi_frames", "depi_bytes"])
def test_counts_of_traffic_are_compared(name: str) -> None:
    merged = run()
    merged["downstream"][name] += 1
    assert identities.broken_identities(merged)[0].where == "downstream"


def test_requests_are_those_of_modems() -> None:
    merged = run()
    merged["upstream"]["requests"]["by_modem"]["02:01"]["record"] = 3
    [result] = identities.broken_identities(merged)
    assert str(result) == "upstream: requests = by_modem + of_left: found 0 and 3"


@pytest.mark.parametrize("reason", ["lost", "drops", "messages", "changes"])
def test_losses_explain_sums_of_several_stages(reason: str) -> None:
    merged = run()
    down = merged["downstream"]
    down["sent"] = 5
    assert identities.broken_identities(merged)
    match reason:
        case "lost":
            down["lost"] = 5
        case "drops":
            down["drops"]["runt"] = 5
        case "messages":
            down["counters"] |= {"messages": 1, "messages_sent": 1}
        case _:
            merged["follow"]["changes"] = 1
    assert identities.broken_identities(merged) == []
    down["counters"]["encrypted_des"] = 1  # counted by one stage: losses do not explain it
    assert len(identities.broken_identities(merged)) == 1


def test_one_side_may_count_vlan_tags() -> None:
    merged = run()
    down = merged["downstream"]
    down["counters"] |= {"depi_frames": 10, "depi_full": 10, "depi_segments_1": 10}
    down |= {"depi_frames": 10, "depi_bytes": 960}
    down["counters"]["transmitted_bytes"] = 1000
    assert identities.broken_identities(merged) == []
    down["counters"]["transmitted_bytes"] = 1004
    assert len(identities.broken_identities(merged)) == 1


def test_impairments_have_their_own_account() -> None:
    merged = run()
    merged["upstream"]["counters"]["psp_reordered"] = 7
    assert len(identities.broken_identities(merged)) == 1
    merged["upstream"]["impairments"] = {"psp-reorder": 7}
    assert identities.broken_identities(merged) == []
    merged["upstream"]["counters"]["psp_segments"] = 1
    assert [one.identity.text for one in identities.broken_identities(merged)] == [
        ".uepi_segments = psp_segments"
    ]


def test_removed_group_has_no_counters() -> None:
    merged = run()
    merged["groups"].append({"id": 8, "downstream": {"sent": 3, "proven": 3, "lost": 0}})
    assert identities.broken_identities(merged) == []


def test_all_counters_have_an_identity_or_a_reason() -> None:
    names: set[str] = set()
    for table in ("downstream", "upstream"):
        text = (CHECKOUT / f"src/pipeline/{table}.def").read_text()
        names |= set(re.findall(r'^COUNTER\(\w+, "(\w+)"', text, re.MULTILINE))
    compared = {
        name
        for side_identities in identities.IDENTITIES.values()
        for one in side_identities
        for side in one.sides
        for name in side
    }
    assert len(names) > 80
    assert names - compared == set(identities.ALONE)
