# SPDX-License-Identifier: BSD-3-Clause
"""Tests proposed placements on generated machines: vcmtsd accepts them, no core is reused."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from python.layout_machines import HostSpec, server_yaml, write_host
from vcmts.layout import machine, propose
from vcmts.layout.machine import Core, Machine
from vcmts.layout.propose import Proposal
from vcmts.paths import program
from vcmts.system.files import Files

Json = dict[str, Any]


def read_machine(spec: HostSpec, root: Path) -> Machine:
    return machine.read(Files(write_host(root, spec)))


def check_layout(result: Machine, proposal: Proposal, upstreams: list[bool], folder: Path) -> Json:
    """Returns the placement that vcmtsd makes of the proposal on the machine."""
    path = folder / "server.yaml"
    own = {group: f"{threads}, " for group, threads in proposal.own}
    path.write_text(server_yaml(proposal.threads, upstreams, own=own), encoding="utf-8")
    sets = (result.present, result.online, result.usable)
    cores = "/".join(machine.cpu_list(sorted(one)) for one in sets)
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
def test_vcmtsd_accepts_the_proposal(
    tmp_path_factory: pytest.TempPathFactory,
    result: Machine,
    upstreams: list[bool],
    node: int | None,
) -> None:
    ids = list(range(1, len(upstreams) + 1))
    proposal = propose.proposal(result, ids, upstreams, node)
    assert len(set(proposal.cores)) == len(proposal.cores)
    assert {proposal.main_core, *proposal.cores} <= result.usable
    assert proposal.main_core not in proposal.cores or len(result.usable) == 1
    placement = check_layout(result, proposal, upstreams, tmp_path_factory.getbasetemp())
    assert placement["main_core"] == proposal.main_core
    workers = [worker["core"] for worker in placement["workers"]]
    assert set(workers) <= set(proposal.cores)
    if proposal.layout:
        # the loader uses all cores, and as intended
        assert sorted(workers) == sorted(proposal.cores)
        check_pairs(result, placement)
    else:
        fits = {fit.layout.name: fit.groups for fit in propose.fits(result, upstreams, node)}
        assert fits["combined2"] < len(upstreams) and set(workers) <= set(proposal.cores)


def check_pairs(result: Machine, placement: Json) -> None:
    """Upper and lower MAC may be on two physical cores only if no core of their nodes has two free
    threads. Isolated cores are not checked: there may be too few."""
    used = {worker["core"] for worker in placement["workers"]} | {placement["main_core"]}
    left = result.usable - used
    if result.isolated() & result.usable:
        return
    for group in placement["groups"]:
        macs = (group["upper_mac"], group["lower_mac"])
        if macs[0] != macs[1] and macs[1] not in result.core(macs[0]).siblings:
            nodes = {result.core(core).node for core in macs}
            near = [core for core in left if result.core(core).node in nodes]
            assert not any(len(set(result.physical(core)) & left) >= 2 for core in near)


@settings(max_examples=8)
@given(machines(), st.booleans())
def test_layout_carries_its_groups_and_no_more(
    tmp_path_factory: pytest.TempPathFactory, result: Machine, upstream: bool
) -> None:
    """The loader accepts the number of groups that fit, and refuses one more."""
    main = propose.main_core(result)
    polling = sorted(result.usable - {main} or result.usable)
    for fit in propose.fits(result, [upstream], None):
        threads = f'threads: {{layout: {fit.layout.name}, cores: "{machine.cpu_list(polling)}"}}'
        for groups in {fit.groups, fit.groups + 1} - {0, propose.MOST_GROUPS + 1}:
            path = tmp_path_factory.getbasetemp() / "fits.yaml"
            path.write_text(server_yaml(threads, [upstream] * groups), encoding="utf-8")
            command = [str(program("vcmtsd")), "check", "--config", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode == 0) == (groups == fit.groups), (fit, done.stderr)


def layout_of(result: Machine, groups: int, node: int | None = None) -> tuple[str, tuple[int, ...]]:
    """The proposed layout and cores of this many groups."""
    proposal = propose.proposal(result, list(range(1, groups + 1)), [True] * groups, node)
    return proposal.layout, proposal.cores


def test_threads_of_a_group_share_cores_and_nodes(tmp_path: Path) -> None:
    """Both MACs of a group are on the threads of one core, two upstreams on those of another, all
    on the node of the port while it has free cores."""
    result = read_machine(HostSpec(sockets=2, cores=4, threads=2), tmp_path)
    assert layout_of(result, 1, 1) == ("1us1t_1ds2t", (4, 12, 5))
    assert layout_of(result, 2, 1) == ("1us1t_1ds2t", (4, 12, 5, 6, 14, 13))
    assert layout_of(result, 4, 1)[0] == "1us1t_1ds2t"
    layout, cores = layout_of(result, 6)
    assert layout == "1us1t_1ds1t"
    assert all(b == a + 8 for a, b in zip(cores[::2], cores[1::2], strict=True))
    assert layout_of(result, 15)[0] == "combined"
    assert layout_of(result, 16)[0] == "combined2"
    assert layout_of(result, 30)[0] == "combined2"
    assert layout_of(result, 31)[0] == ""


def test_layouts_on_single_thread_cores(tmp_path: Path) -> None:
    result = read_machine(HostSpec(cores=6), tmp_path)
    assert layout_of(result, 1) == ("1us1t_1ds2t", (1, 2, 3))
    assert layout_of(result, 2) == ("2us1t_1ds2t", (1, 2, 3, 4, 5))
    assert layout_of(result, 3) == ("combined", (1, 2, 3))


def test_isolated_cores_are_preferred(tmp_path: Path) -> None:
    """A layout of fewer threads is better than threads on cores of the system."""
    result = read_machine(HostSpec(cores=8, isolated="4-7", affinity="0-3"), tmp_path)
    assert result.usable == frozenset(range(8))
    assert layout_of(result, 1) == ("1us1t_1ds2t", (4, 5, 6))
    assert layout_of(result, 2) == ("1us1t_1ds1t", (4, 5, 6, 7))
    assert layout_of(result, 4) == ("combined", (4, 5, 6, 7))
    assert propose.main_core(result) == 0


def test_groups_spread_over_physical_cores(tmp_path: Path) -> None:
    """Each group gets a physical core before second threads are used."""
    result = read_machine(HostSpec(cores=4, threads=2), tmp_path)
    assert layout_of(result, 4)[0] == "combined"
    assert set(layout_of(result, 4)[1]) == {1, 2, 3, 4}


def test_too_many_groups_get_cores_round_robin(tmp_path: Path) -> None:
    result = read_machine(HostSpec(cores=3), tmp_path)
    ids = [7, 8, 9, 4, 5]
    proposal = propose.proposal(result, ids, [True] * 5, None)
    assert proposal.layout == "" and [group for group, _ in proposal.own] == ids
    cores = [re.search(r"upper_mac_core: (\d)", text) for _, text in proposal.own]
    assert [match[1] for match in cores if match] == ["1", "2", "1", "2", "1"]


def test_fits_are_limited_to_64_groups(tmp_path: Path) -> None:
    """A server has at most 64 groups."""
    result = read_machine(HostSpec(sockets=2, cores=64, threads=2), tmp_path)
    fits = {fit.layout.name: fit.groups for fit in propose.fits(result, [True], None)}
    assert fits == dict.fromkeys(fits, 64)
