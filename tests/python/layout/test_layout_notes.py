# SPDX-License-Identifier: BSD-3-Clause
"""Tests each note on a placement: a described machine that causes it, its text and its advice."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from python.layout_machines import HostSpec, run_layout, server_yaml
from vcmts.layout import advice

ONE_SOCKET = HostSpec()
THREADS = HostSpec(cores=4, threads=2)  # 0-3, and their siblings 4-7
TWO_SOCKETS = HostSpec(sockets=2, cores=4, threads=2)  # 0-3,8-11 and 4-7,12-15
ISOLATED = HostSpec(isolated="2-7", tickless="2-7", affinity="0-1")
CARD = "0000:3b:00.0"


@dataclass(frozen=True)
class Case:
    """A machine, a placement, and the one note expected for it (`text` and `todo` are patterns)."""

    kind: str
    level: str
    machine: HostSpec
    threads: str
    text: str
    todo: str
    groups: int = 1
    network: str = ""


BY_KEY = (
    "threads: {{main_core: {}, downstream: 1ds2t, upper_mac_core: {}, lower_mac_core: {}, "
    "upstream_core: {}}}"
)
CASES = (
    Case(
        *("missing", "refused", ONE_SOCKET, 'threads: {layout: combined, cores: "7-9"}'),
        "service group 2: threads.cores: found cores 8-9, allowed: 0-7, the cores of this machine",
        "name existing cores",
        groups=3,
    ),
    Case(
        *("offline", "refused", HostSpec(offline="4-7"), BY_KEY.format(0, 1, 4, 2)),
        "service group 1: threads.lower_mac_core: found core 4, allowed: 0-3, the cores that",
        "bring them online",
    ),
    Case(
        *(
            "not allowed",
            "refused",
            HostSpec(cpuset="2-4", affinity="2-4"),
            BY_KEY.format(2, 3, 4, 6),
        ),
        "service group 1: threads.upstream_core: found core 6, allowed: 2-4, the cores",
        r"/sys/fs/cgroup/box/cpuset.cpus.effective allows 2-4: allow more",
    ),
    Case(
        *(
            "not allowed",
            "refused",
            HostSpec(cpuset="0-7", affinity="0-3"),
            BY_KEY.format(5, 1, 2, 3),
        ),
        "threads.main_core: found core 5, allowed: 0-3,",
        "start it with taskset -c 0-3,5, or name others",
    ),
    Case(
        *("main core", "better", ONE_SOCKET, BY_KEY.format(1, 1, 2, 3)),
        "main_core 1 also runs upper MAC",
        "^main_core: 0$",
    ),
    Case(
        *("main core", "known", HostSpec(cores=1), "threads: {layout: combined, cores: 0}"),
        "main_core 0 also runs upper and lower MAC, upstream",
        "nothing",
    ),
    Case(
        *("main core isolated", "better", ISOLATED, BY_KEY.format(5, 2, 3, 4)),
        "main_core 5 is isolated",
        "^main_core: 0$",
    ),
    Case(
        *(
            "siblings",
            "better",
            THREADS,
            "threads: {layout: combined, cores: [1, 5], main_core: 0}",
        ),
        "cores 1,5 share physical cores with polling threads of other groups",
        "use cores 2-3,6-7, whose siblings are idle",
        groups=2,
    ),
    Case(
        *("siblings", "known", HostSpec(cores=2, threads=2)),
        "threads: {layout: combined, cores: [1, 3], main_core: 0}",
        "cores 1,3 share physical cores",
        "fewer groups",
        groups=2,
    ),
    Case(
        *("MACs apart", "better", THREADS, BY_KEY.format(0, 1, 2, 5)),
        "service group 1: upper and lower MAC are on two physical cores",
        "put both on the two threads of one core",
    ),
    Case(
        *("port node", "better", HostSpec(2, 4, pci_devices=((CARD, "0x020000", 1),))),
        BY_KEY.format(0, 1, 2, 4),
        f"core 1 is not on NUMA node 1 of port {CARD}",
        "use cores of node 1: 4-7",
        network=CARD,
    ),
    Case(
        *(
            "port node",
            "better",
            HostSpec(2, 4, interface_node=1, affinity="0-3"),
            BY_KEY.format(0, 1, 2, 3),
        ),
        "cores 1,3 are not on NUMA node 1 of port net_af_packet0",
        "allow cores of node 1",
        network="net_af_packet0,iface=enp1s0",
    ),
    Case(
        *("group nodes", "better", TWO_SOCKETS, BY_KEY.format(0, 1, 9, 4)),
        "service group 1: threads are on several NUMA nodes",
        "keep all threads of a group on one node",
    ),
    Case(
        *("crowded", "better", ONE_SOCKET),
        "threads: {main_core: 0, upper_mac_core: 1, upstream_core: 1}",
        "several service groups share core 1, while cores 2-7 are free",
        "use the free cores",
        groups=2,
    ),
    Case(
        *("core 0", "better", ONE_SOCKET, BY_KEY.format(1, 0, 2, 3)), "core 0 polls", "use core 7"
    ),
    Case(
        *("not isolated", "better", ISOLATED, BY_KEY.format(0, 1, 2, 3)),
        "core 1 is not isolated",
        "cores 4-7 are isolated and free",
    ),
    Case(
        *("not isolated", "better", ONE_SOCKET, BY_KEY.format(0, 1, 2, 3)),
        "cores 1-3 are not isolated",
        "isolcpus=1-3 nohz_full=1-3 rcu_nocbs=1-3 on the kernel's command line",
    ),
    Case(
        *("ticks", "better", HostSpec(isolated="2-7", tickless="2", affinity="0-1")),
        BY_KEY.format(0, 2, 3, 4),
        "cores 3-4 are isolated, but the kernel's timer",
        "nohz_full=3-4 on",
    ),
    Case(
        *("time limit", "better", HostSpec(quota="250000 100000"), BY_KEY.format(0, 1, 2, 3)),
        "CPU limit is 2.5 cores, but 3 threads poll",
        "remove the limit, use a cpuset",
    ),
    Case(
        *("shared port", "known", ONE_SOCKET, "threads: {layout: combined, cores: 1-2}"),
        "core 1 receives from the network port for all its groups, .* rings to service group 2$",
        "docs/sharing.md",
        groups=2,
    ),
    Case(
        *("affinity", "known", HostSpec(cpuset="0-5", affinity="0-3"), BY_KEY.format(0, 1, 2, 3)),
        r"cores 4-5 are in the cpuset \(/sys/fs/cgroup/box/cpuset.cpus.effective\), not in",
        "to use all of them: taskset -c 0-5",
    ),
    Case(
        *("offline cores", "known", HostSpec(offline="4-7"), BY_KEY.format(0, 1, 2, 3)),
        "cores 4-7 are offline",
        "nothing",
    ),
    Case(
        *("crypto devices", "known", HostSpec(pci_devices=(("0000:6b:00.0", "0x0b4000", 0),))),
        BY_KEY.format(0, 1, 2, 3),
        r"found: 0000:6b:00.0 \(node 0\)",
        "crypto.provider: cryptodev",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.level}")
def test_note_and_its_advice(case: Case, tmp_path: Path) -> None:
    text = server_yaml(case.threads, [True] * case.groups, network=case.network)
    status, answer = run_layout(tmp_path, case.machine, text)
    assert status == (2 if case.level == "refused" else 0)
    notes = [
        note for note in answer["notes"] if (note["kind"], note["level"]) == (case.kind, case.level)
    ]
    assert notes, answer["notes"]
    assert len(notes) == (2 if case.kind == "shared port" else 1)
    assert re.search(case.text, notes[0]["text"]), notes[0]["text"]
    assert re.search(case.todo, notes[0]["todo"]), notes[0]["todo"]


def test_all_rules_have_a_case() -> None:
    """The first rule reports errors of vcmtsd, which have three kinds."""
    assert len({case.kind for case in CASES}) == len(advice.RULES) + 2


def test_published_layout_has_no_complaints(tmp_path: Path) -> None:
    threads = 'threads: {layout: 1us1t_1ds2t, cores: "1,5,2,3,7,6", main_core: 0}'
    _, answer = run_layout(tmp_path, THREADS, server_yaml(threads, [True, True]))
    kinds = {note["kind"] for note in answer["notes"]}
    assert not kinds & {"siblings", "MACs apart", "crowded", "group nodes"}
