# SPDX-License-Identifier: BSD-3-Clause
"""Every note on a placement: a machine on which it is made, what it says and what is to be done."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from python.layout_machines import Recorded, explained, server
from vcmts.layout import advice

ONE_SOCKET = Recorded()
THREADS = Recorded(cores=4, threads=2)  # 0-3, and their siblings 4-7
TWO_SOCKETS = Recorded(sockets=2, cores=4, threads=2)  # 0-3,8-11 and 4-7,12-15
ISOLATED = Recorded(isolated="2-7", tickless="2-7", affinity="0-1")
CARD = "0000:3b:00.0"


@dataclass(frozen=True)
class Said:
    """A machine and a placement of which one thing is to be said."""

    kind: str
    level: str
    recorded: Recorded
    threads: str
    text: str
    todo: str
    groups: int = 1
    network: str = ""


BY_KEY = (
    "threads: {{main_core: {}, downstream: 1ds2t, upper_mac_core: {}, lower_mac_core: {}, "
    "upstream_core: {}}}"
)
SAID = (
    Said(
        *("missing", "refused", ONE_SOCKET, 'threads: {layout: combined, cores: "7-9"}'),
        "service group 2: threads.cores: found cores 8-9, allowed: 0-7, the cores of this machine",
        "name cores that are there",
        groups=3,
    ),
    Said(
        *("offline", "refused", Recorded(offline="4-7"), BY_KEY.format(0, 1, 4, 2)),
        "service group 1: threads.lower_mac_core: found core 4, allowed: 0-3, the cores that",
        "bring them online",
    ),
    Said(
        *(
            "not allowed",
            "refused",
            Recorded(cpuset="2-4", affinity="2-4"),
            BY_KEY.format(2, 3, 4, 6),
        ),
        "service group 1: threads.upstream_core: found core 6, allowed: 2-4, the cores",
        r"/sys/fs/cgroup/box/cpuset.cpus.effective has 2-4: give the container more",
    ),
    Said(
        *(
            "not allowed",
            "refused",
            Recorded(cpuset="0-7", affinity="0-3"),
            BY_KEY.format(5, 1, 2, 3),
        ),
        "threads.main_core: found core 5, allowed: 0-3,",
        "start it by taskset -c 0-3,5, or name others",
    ),
    Said(
        *("main core", "better", ONE_SOCKET, BY_KEY.format(1, 1, 2, 3)),
        "main_core 1 also runs upper MAC",
        "^main_core: 0$",
    ),
    Said(
        *("main core", "known", Recorded(cores=1), "threads: {layout: combined, cores: 0}"),
        "main_core 0 also runs upper and lower MAC, upstream",
        "nothing",
    ),
    Said(
        *("main core isolated", "better", ISOLATED, BY_KEY.format(5, 2, 3, 4)),
        "main_core 5 is isolated",
        "^main_core: 0$",
    ),
    Said(
        *(
            "siblings",
            "better",
            THREADS,
            "threads: {layout: combined, cores: [1, 5], main_core: 0}",
        ),
        "cores 1,5 are threads of physical cores where other groups poll as well",
        "use cores 2-3,6-7, whose siblings are idle",
        groups=2,
    ),
    Said(
        *("siblings", "known", Recorded(cores=2, threads=2)),
        "threads: {layout: combined, cores: [1, 3], main_core: 0}",
        "cores 1,3 are threads of physical cores",
        "fewer groups",
        groups=2,
    ),
    Said(
        *("MACs apart", "better", THREADS, BY_KEY.format(0, 1, 2, 5)),
        "service group 1: upper and lower MAC are on two physical cores",
        "put both on the two threads of one core",
    ),
    Said(
        *("port node", "better", Recorded(2, 4, devices=((CARD, "0x020000", 1),))),
        BY_KEY.format(0, 1, 2, 4),
        f"core 1 is not on NUMA node 1, where port {CARD} is",
        "use cores of node 1: 4-7",
        network=CARD,
    ),
    Said(
        *(
            "port node",
            "better",
            Recorded(2, 4, interface=1, affinity="0-3"),
            BY_KEY.format(0, 1, 2, 3),
        ),
        "cores 1,3 are not on NUMA node 1, where port net_af_packet0 is",
        "allow cores of node 1",
        network="net_af_packet0,iface=enp1s0",
    ),
    Said(
        *("group nodes", "better", TWO_SOCKETS, BY_KEY.format(0, 1, 9, 4)),
        "service group 1: threads are on several NUMA nodes",
        "keep all threads of a group on one node",
    ),
    Said(
        *("crowded", "better", ONE_SOCKET),
        "threads: {main_core: 0, upper_mac_core: 1, upstream_core: 1}",
        "several service groups are on core 1, while cores 2-7 are free",
        "spread them",
        groups=2,
    ),
    Said(
        *("core 0", "better", ONE_SOCKET, BY_KEY.format(1, 0, 2, 3)),
        "core 0 polls",
        "use core 7",
    ),
    Said(
        *("not isolated", "better", ISOLATED, BY_KEY.format(0, 1, 2, 3)),
        "core 1 is not isolated",
        "cores 4-7 are isolated and free",
    ),
    Said(
        *("not isolated", "better", ONE_SOCKET, BY_KEY.format(0, 1, 2, 3)),
        "cores 1-3 are not isolated",
        "isolcpus=1-3 nohz_full=1-3 rcu_nocbs=1-3 on the kernel's command line",
    ),
    Said(
        *("ticks", "better", Recorded(isolated="2-7", tickless="2", affinity="0-1")),
        BY_KEY.format(0, 2, 3, 4),
        "cores 3-4 are isolated, but the kernel's clock",
        "nohz_full=3-4 on",
    ),
    Said(
        *("time limit", "better", Recorded(quota="250000 100000"), BY_KEY.format(0, 1, 2, 3)),
        "2.5 cores' worth of time, and 3 threads poll",
        "no limit beside a cpuset",
    ),
    Said(
        *("shared port", "known", ONE_SOCKET, "threads: {layout: combined, cores: 1-2}"),
        "core 1 receives from the network port for all its groups, .* by ring to service group 2$",
        "docs/sharing.md",
        groups=2,
    ),
    Said(
        *("affinity", "known", Recorded(cpuset="0-5", affinity="0-3"), BY_KEY.format(0, 1, 2, 3)),
        r"cores 4-5 are in the cpuset \(/sys/fs/cgroup/box/cpuset.cpus.effective\), but not in",
        "taskset -c 0-5 gives it all of them",
    ),
    Said(
        *("offline cores", "known", Recorded(offline="4-7"), BY_KEY.format(0, 1, 2, 3)),
        "cores 4-7 are offline",
        "nothing",
    ),
    Said(
        *("crypto devices", "known", Recorded(devices=(("0000:6b:00.0", "0x0b4000", 0),))),
        BY_KEY.format(0, 1, 2, 3),
        r"not used: 0000:6b:00.0 \(node 0\)",
        "encrypt and decrypt by themselves",
    ),
)


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said.kind} {said.level}")
def test_each_note(said: Said, tmp_path: Path) -> None:
    text = server(said.threads, [True] * said.groups, network=said.network)
    status, found = explained(tmp_path, said.recorded, text)
    assert status == (2 if said.level == "refused" else 0)
    mine = [
        note for note in found["notes"] if (note["kind"], note["level"]) == (said.kind, said.level)
    ]
    assert mine, found["notes"]
    assert len(mine) == (2 if said.kind == "shared port" else 1)
    assert re.search(said.text, mine[0]["text"]), mine[0]["text"]
    assert re.search(said.todo, mine[0]["todo"]), mine[0]["todo"]


def test_no_note_without_a_test() -> None:
    """Every rule is tried; the first says what vcmtsd says, for three reasons."""
    assert len({said.kind for said in SAID}) == len(advice.RULES) + 2


def test_what_is_no_mistake(tmp_path: Path) -> None:
    """What stands beside each other as published is no mistake."""
    threads = 'threads: {layout: 1us1t_1ds2t, cores: "1,5,2,3,7,6", main_core: 0}'
    _, found = explained(tmp_path, THREADS, server(threads, [True, True]))
    kinds = {note["kind"] for note in found["notes"]}
    assert not kinds & {"siblings", "MACs apart", "crowded", "group nodes"}
