# SPDX-License-Identifier: BSD-3-Clause
"""vcmts run: counters of both programs are held against each other."""

import re
from copy import deepcopy
from typing import Any

import pytest

from vcmts.paths import CHECKOUT
from vcmts.run import identities

Json = dict[str, Any]


def part(direction: str) -> Json:
    """Everything is 0, and so equal."""
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
    both = {way: part(way) for way in ("downstream", "upstream")}
    return {**deepcopy(both), "groups": [{"id": 7, **deepcopy(both)}], "follow": {"changes": 0}}


def test_equal_counters_are_good() -> None:
    assert identities.broken(run()) == []


@pytest.mark.parametrize(
    ("way", "name"),
    sorted(
        (way, name)
        for way in identities.IDENTITIES
        for name in part(way)["counters"].keys() - {"fragments", *identities.REQUESTS}
    ),
)
def test_no_counter_may_be_higher(way: str, name: str) -> None:
    whole = run()
    whole["groups"][0][way]["counters"][name] += 1
    found = identities.broken(whole)
    assert found
    assert {one.where for one in found} == {f"service group 7, {way}"}
    assert any(name in str(one) for one in found)


@pytest.mark.parametrize("name", ["sent", "sent_bytes", "proven", "depi_frames", "depi_bytes"])
def test_what_the_traffic_counts_is_held_against_it(name: str) -> None:
    whole = run()
    whole["downstream"][name] += 1
    assert identities.broken(whole)[0].where == "downstream"


def test_requests_are_those_of_the_modems() -> None:
    whole = run()
    whole["upstream"]["requests"]["by_modem"]["02:01"]["record"] = 3
    [found] = identities.broken(whole)
    assert str(found) == "upstream: requests = by_modem + of_left: found 0 and 3"


@pytest.mark.parametrize("reason", ["lost", "drops", "messages", "changes"])
def test_what_is_lost_explains_sums_of_several_stages(reason: str) -> None:
    whole = run()
    down = whole["downstream"]
    down["sent"] = 5
    assert identities.broken(whole)
    match reason:
        case "lost":
            down["lost"] = 5
        case "drops":
            down["drops"]["runt"] = 5
        case "messages":
            down["counters"] |= {"messages": 1, "messages_sent": 1}
        case _:
            whole["follow"]["changes"] = 1
    assert identities.broken(whole) == []
    down["counters"]["encrypted_des"] = 1  # of one stage: nothing explains it
    assert len(identities.broken(whole)) == 1


def test_a_side_may_count_vlan_tags() -> None:
    whole = run()
    down = whole["downstream"]
    down["counters"] |= {"depi_frames": 10, "depi_full": 10, "depi_segments_1": 10}
    down |= {"depi_frames": 10, "depi_bytes": 960}
    down["counters"]["transmitted_bytes"] = 1000
    assert identities.broken(whole) == []
    down["counters"]["transmitted_bytes"] = 1004
    assert len(identities.broken(whole)) == 1


def test_with_impair_its_own_account_has_what_came_late() -> None:
    whole = run()
    whole["upstream"]["counters"]["psp_reordered"] = 7
    assert len(identities.broken(whole)) == 1
    whole["upstream"]["impairments"] = {"psp-reorder": 7}
    assert identities.broken(whole) == []
    whole["upstream"]["counters"]["psp_segments"] = 1
    assert [one.identity.text for one in identities.broken(whole)] == [
        ".uepi_segments = psp_segments"
    ]


def test_a_removed_group_has_no_counters_of_its_own() -> None:
    whole = run()
    whole["groups"].append({"id": 8, "downstream": {"sent": 3, "proven": 3, "lost": 0}})
    assert identities.broken(whole) == []


def test_every_counter_has_an_identity_or_a_reason() -> None:
    names: set[str] = set()
    for table in ("downstream", "upstream"):
        text = (CHECKOUT / f"src/pipeline/{table}.def").read_text()
        names |= set(re.findall(r'^COUNTER\(\w+, "(\w+)"', text, re.MULTILINE))
    held = {
        name
        for way in identities.IDENTITIES.values()
        for one in way
        for side in one.sides
        for name in side
    }
    assert len(names) > 80
    assert names - held == set(identities.ALONE)
