# SPDX-License-Identifier: BSD-3-Clause
"""What is proposed: vcmtsd takes it, on cores that may be used, each once, and as published."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from python.layout_machines import Recorded, record, server
from vcmts.layout import machine, propose
from vcmts.layout.machine import Core, Machine
from vcmts.layout.propose import Proposal
from vcmts.paths import program
from vcmts.system.files import Files

Json = dict[str, Any]


def made(recorded: Recorded, root: Path) -> Machine:
    return machine.read(Files(record(root, recorded)))


def accepted(found: Machine, proposal: Proposal, upstreams: list[bool], place: Path) -> Json:
    """What vcmtsd makes of it on the machine."""
    path = place / "server.yaml"
    own = {group: f"{threads}, " for group, threads in proposal.own}
    path.write_text(server(proposal.threads, upstreams, own=own), encoding="utf-8")
    sets = (found.present, found.online, found.usable)
    cores = "/".join(machine.written(sorted(one)) for one in sets)
    command = [str(program("vcmtsd")), "check", "--config", str(path), "--cores", cores, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), proposal
    placement: Json = json.loads(done.stdout)["placement"]
    return placement


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    sockets, cores = draw(st.integers(1, 2)), draw(st.integers(1, 6))
    threads = draw(st.integers(1, 3))
    count, physical = sockets * cores * threads, sockets * cores
    online = frozenset(draw(st.sets(st.integers(0, count - 1), min_size=1)))
    usable = frozenset(draw(st.sets(st.sampled_from(sorted(online)), min_size=1)))
    isolated = draw(st.sets(st.integers(0, count - 1)))
    return Machine(
        present=frozenset(range(count)),
        online=online,
        usable=usable,
        affinity=usable,
        cpuset=None,
        quota=None,
        cores={
            n: Core(
                n,
                socket=n % physical // cores,
                node=n % physical // cores,
                siblings=tuple(
                    s for s in sorted(online) if s != n and s % physical == n % physical
                ),
                isolated=n in isolated,
            )
            for n in online
        },
        crypto=(),
    )


@settings(max_examples=40)
@given(machines(), st.lists(st.booleans(), min_size=1, max_size=9), st.sampled_from([None, 0, 1]))
def test_a_proposal_is_taken(
    tmp_path_factory: pytest.TempPathFactory,
    found: Machine,
    upstreams: list[bool],
    node: int | None,
) -> None:
    ids = list(range(1, len(upstreams) + 1))
    proposal = propose.proposal(found, ids, upstreams, node)
    assert len(set(proposal.cores)) == len(proposal.cores)
    assert {proposal.main_core, *proposal.cores} <= found.usable
    assert proposal.main_core not in proposal.cores or len(found.usable) == 1
    placement = accepted(found, proposal, upstreams, tmp_path_factory.getbasetemp())
    assert placement["main_core"] == proposal.main_core
    workers = [worker["core"] for worker in placement["workers"]]
    assert set(workers) <= set(proposal.cores)
    if proposal.layout:
        # none is left over, and the loader gives them as they were meant
        assert sorted(workers) == sorted(proposal.cores)
        check_pairs(found, placement)
    else:
        fits = {fit.layout.name: fit.groups for fit in propose.fits(found, upstreams, node)}
        assert fits["combined2"] < len(upstreams) and set(workers) <= set(proposal.cores)


def check_pairs(found: Machine, placement: Json) -> None:
    """Upper and lower MAC are on two physical cores only where their nodes have no core left with
    two threads for them. Of isolated cores there may be too few."""
    taken = {worker["core"] for worker in placement["workers"]} | {placement["main_core"]}
    left = found.usable - taken
    if found.isolated() & found.usable:
        return
    for group in placement["groups"]:
        macs = (group["upper_mac"], group["lower_mac"])
        if macs[0] != macs[1] and macs[1] not in found.core(macs[0]).siblings:
            nodes = {found.core(core).node for core in macs}
            near = [core for core in left if found.core(core).node in nodes]
            assert not any(len(set(found.physical(core)) & left) >= 2 for core in near)


@settings(max_examples=8)
@given(machines(), st.booleans())
def test_so_many_fit_and_no_more(
    tmp_path_factory: pytest.TempPathFactory, found: Machine, upstream: bool
) -> None:
    """A layout that is said to have room for so many has it, and the loader refuses one more."""
    main = propose.main_core(found)
    polling = sorted(found.usable - {main} or found.usable)
    for fit in propose.fits(found, [upstream], None):
        threads = f'threads: {{layout: {fit.layout.name}, cores: "{machine.written(polling)}"}}'
        for groups in {fit.groups, fit.groups + 1} - {0, propose.MOST_GROUPS + 1}:
            path = tmp_path_factory.getbasetemp() / "fits.yaml"
            path.write_text(server(threads, [upstream] * groups), encoding="utf-8")
            command = [str(program("vcmtsd")), "check", "--config", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode == 0) == (groups == fit.groups), (fit, done.stderr)


def layout_of(found: Machine, groups: int, node: int | None = None) -> tuple[str, tuple[int, ...]]:
    proposal = propose.proposal(found, list(range(1, groups + 1)), [True] * groups, node)
    return proposal.layout, proposal.cores


def test_two_sockets(tmp_path: Path) -> None:
    """The MACs of a group on the threads of one core, two upstreams on those of another, all on the
    node of the port as long as there is room."""
    found = made(Recorded(sockets=2, cores=4, threads=2), tmp_path)
    assert layout_of(found, 1, 1) == ("1us1t_1ds2t", (4, 12, 5))
    assert layout_of(found, 2, 1) == ("1us1t_1ds2t", (4, 12, 5, 6, 14, 13))
    assert layout_of(found, 4, 1)[0] == "1us1t_1ds2t"
    layout, cores = layout_of(found, 6)
    assert layout == "1us1t_1ds1t"
    assert all(b == a + 8 for a, b in zip(cores[::2], cores[1::2], strict=True))
    assert layout_of(found, 15)[0] == "combined"
    assert layout_of(found, 16)[0] == "combined2"
    assert layout_of(found, 30)[0] == "combined2"
    assert layout_of(found, 31)[0] == ""


def test_one_thread_a_core(tmp_path: Path) -> None:
    found = made(Recorded(cores=6), tmp_path)
    assert layout_of(found, 1) == ("1us1t_1ds2t", (1, 2, 3))
    assert layout_of(found, 2) == ("2us1t_1ds2t", (1, 2, 3, 4, 5))
    assert layout_of(found, 3) == ("combined", (1, 2, 3))


def test_isolated_cores_first(tmp_path: Path) -> None:
    """A layout of fewer threads is better than threads on the system's cores."""
    found = made(Recorded(cores=8, isolated="4-7", affinity="0-3"), tmp_path)
    assert found.usable == frozenset(range(8))
    assert layout_of(found, 1) == ("1us1t_1ds2t", (4, 5, 6))
    assert layout_of(found, 2) == ("1us1t_1ds1t", (4, 5, 6, 7))
    assert layout_of(found, 4) == ("combined", (4, 5, 6, 7))
    assert propose.main_core(found) == 0


def test_spread_over_physical_cores(tmp_path: Path) -> None:
    """Threads of all groups alone: first a physical core each."""
    found = made(Recorded(cores=4, threads=2), tmp_path)
    assert layout_of(found, 4)[0] == "combined"
    assert set(layout_of(found, 4)[1]) == {1, 2, 3, 4}


def test_more_groups_than_any_layout_carries(tmp_path: Path) -> None:
    found = made(Recorded(cores=3), tmp_path)
    ids = [7, 8, 9, 4, 5]
    proposal = propose.proposal(found, ids, [True] * 5, None)
    assert proposal.layout == "" and [group for group, _ in proposal.own] == ids
    told = [re.search(r"upper_mac_core: (\d)", text) for _, text in proposal.own]
    assert [match[1] for match in told if match] == ["1", "2", "1", "2", "1"]


def test_quick_on_a_large_machine(tmp_path: Path) -> None:
    """64 groups are told of: a server has no more."""
    found = made(Recorded(sockets=2, cores=64, threads=2), tmp_path)
    fits = {fit.layout.name: fit.groups for fit in propose.fits(found, [True], None)}
    assert fits == dict.fromkeys(fits, 64)
