# SPDX-License-Identifier: BSD-3-Clause
"""Proposes a published thread layout for service groups on a machine, and assigns cores.

Upper and lower MAC of a group use the two threads of one physical core, as in the published
layouts, and so do the upstreams of two groups. Without hyper-threads they use cores of one node.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from vcmts.layout.machine import Machine, cpu_list

MOST_GROUPS = 64  # of a server file


@dataclass(frozen=True)
class Layout:
    """A value of `threads.layout` (docs/configuration.md)."""

    name: str
    threads: float  # per group
    downstream: int = 1  # threads
    own_upstream: bool = True
    shared_downstream: bool = False  # two groups share a thread
    shared_upstream: bool = False


# In order of throughput per group: the first layout that fits is proposed.
LAYOUTS = (
    Layout("1us1t_1ds2t", 3, downstream=2),
    Layout("2us1t_1ds2t", 2.5, downstream=2, shared_upstream=True),
    Layout("1us1t_1ds1t", 2),
    Layout("combined", 1, own_upstream=False),
    Layout("combined2", 0.5, own_upstream=False, shared_downstream=True),
)


COMBINED = LAYOUTS[3]


@dataclass
class Physical:
    """A physical core: its free threads, and the number of assigned ones."""

    node: int
    free: list[int]
    used: int = 0


@dataclass
class Pool:
    """The cores for polling, and the state of the assignment."""

    physical: list[Physical]
    second_downstream: bool = False  # the next group shares the thread of the previous one
    second_upstream: bool = False
    node: int | None = None  # of the previous group
    dealt: list[int] = field(default_factory=list)  # assigned cores in the order of groups


@dataclass(frozen=True)
class Proposal:
    layout: str  # "" if no layout fits so many groups
    threads: str  # YAML for the file
    own: tuple[tuple[int, str], ...] = ()  # group id, YAML of its own `threads`
    cores: tuple[int, ...] = ()
    main_core: int = 0


@dataclass(frozen=True)
class Fit:
    layout: Layout
    groups: int  # maximum


def main_core(machine: Machine) -> int:
    """The core of the management thread, which does not poll: if possible not an isolated one."""
    plain = machine.usable - machine.isolated()
    return min(plain or machine.usable)


def make_pool(machine: Machine, cores: Iterable[int], node: int | None) -> Pool:
    """A pool of these cores. Cores of the NUMA node come first, and on each node isolated ones."""
    whole: dict[tuple[int, ...], list[int]] = {}
    cores = frozenset(cores)
    for core in sorted(cores):
        whole.setdefault(machine.physical(core), []).append(core)

    def order_key(threads: tuple[int, ...]) -> tuple[bool, int, bool, int]:
        first = machine.core(whole[threads][0])
        return first.node != node, first.node or 0, not first.isolated, first.number

    return Pool(
        [
            Physical(machine.core(threads[0]).node or 0, whole[threads])
            for threads in sorted(whole, key=order_key)
        ]
    )


def assign(physical: Physical) -> int:
    physical.used += 1
    return physical.free.pop(0)


def assign_thread(cores: Sequence[Physical], *, fill_up: bool) -> list[int]:
    """Assigns a thread; empty if none is free. `fill_up`: leave whole cores to pairs."""
    free = [core for core in cores if core.free]
    if not free:
        return []
    if fill_up:
        return [assign(min(free, key=lambda core: len(core.free)))]
    return [assign(min(free, key=lambda core: core.used))]


def assign_pair(cores: Sequence[Physical]) -> list[int]:
    """Assigns two threads, on one physical core if possible; empty if two are not free."""
    for core in cores:
        if len(core.free) >= 2:
            return [assign(core), assign(core)]
    free = [core for core in cores if core.free]
    return [assign(core) for core in free[:2]] if len(free) >= 2 else []


def assign_group(layout: Layout, pool: Pool, cores: Sequence[Physical], upstream: bool) -> bool:
    """Assigns the cores of one more group. False if there are too few; some may be assigned."""
    own_upstream = upstream and layout.own_upstream
    if layout.shared_downstream:
        pool.second_downstream = not pool.second_downstream
        if not pool.second_downstream:
            return True
    if layout.downstream == 1 and not own_upstream:
        found = assign_thread(cores, fill_up=False)
        pool.dealt += found
        return bool(found)
    found = assign_pair(cores)
    pool.dealt += found
    if not found or layout.downstream == 1 or not own_upstream:
        return bool(found)
    if layout.shared_upstream:
        pool.second_upstream = not pool.second_upstream
        if not pool.second_upstream:
            return True
    found = assign_thread(cores, fill_up=True)
    pool.dealt += found
    return bool(found)


def copy_pool(pool: Pool) -> Pool:
    physical = [Physical(core.node, core.free.copy(), core.used) for core in pool.physical]
    halves = (pool.second_downstream, pool.second_upstream, pool.node)
    return Pool(physical, *halves, pool.dealt.copy())


def add_group(layout: Layout, pool: Pool, upstream: bool, across: bool) -> Pool | None:
    """The pool after one more group, on the first node that fits; None if none does."""
    waiting = pool.second_downstream or pool.second_upstream
    nodes = [pool.node] if waiting else list(dict.fromkeys(p.node for p in pool.physical))
    for node in [*nodes, None] if across else nodes:
        attempt = copy_pool(pool)
        cores = [core for core in attempt.physical if node is None or core.node == node]
        if assign_group(layout, attempt, cores, upstream):
            attempt.node = pool.node if waiting else node
            return attempt
    return None


def assigned(
    layout: Layout, pool: Pool, upstreams: Sequence[bool], *, across: bool = True
) -> tuple[int, tuple[int, ...]]:
    """The number of groups that fit, and their cores. `across`: a group may use several nodes."""
    for count, upstream in enumerate(upstreams):
        after = add_group(layout, pool, upstream, across)
        if after is None:
            return count, tuple(pool.dealt)
        pool = after
    return len(upstreams), tuple(pool.dealt)


def polling_cores(machine: Machine) -> frozenset[int]:
    """The cores on which threads may poll: without the management core, if there is another one."""
    return machine.usable - {main_core(machine)} or machine.usable


def fits(machine: Machine, upstreams: Sequence[bool], node: int | None) -> list[Fit]:
    """The maximum number of groups per layout. `node`: preferred NUMA node."""
    like = [any(upstreams)] * MOST_GROUPS
    pool = make_pool(machine, polling_cores(machine), node)
    return [Fit(layout, assigned(layout, pool, like)[0]) for layout in LAYOUTS]


def propose_layout(
    machine: Machine, upstreams: Sequence[bool], node: int | None
) -> Proposal | None:
    """The first layout that fits: with isolated cores only, and groups on one node, if possible."""
    main = main_core(machine)
    isolated = polling_cores(machine) & machine.isolated()
    for cores, across in product((isolated, polling_cores(machine)), (False, True)):
        for layout in LAYOUTS:
            pool = make_pool(machine, cores, node)
            count, used_cores = assigned(layout, pool, upstreams, across=across)
            if count == len(upstreams):
                listed = f'cores: "{cpu_list(used_cores)}", main_core: {main}'
                threads = f"threads: {{layout: {layout.name}, {listed}}}"
                return Proposal(layout.name, threads, cores=used_cores, main_core=main)
    return None


def propose_shared_cores(machine: Machine, groups: Sequence[int], node: int | None) -> Proposal:
    """For more groups than fit any layout: assigns cores to groups in turn, several per core."""
    main = main_core(machine)
    pool = make_pool(machine, polling_cores(machine), node)
    cores = assigned(COMBINED, pool, [True] * MOST_GROUPS)[1]
    keys = [f"upper_mac_core: {core}, upstream_core: {core}" for core in cores]
    if len(keys) == 1:
        threads = f"threads: {{downstream: 1ds1t, main_core: {main}, {keys[0]}}}"
        return Proposal("", threads, cores=cores, main_core=main)
    own = [(n, f"threads: {{{keys[at % len(keys)]}}}") for at, n in enumerate(groups)]
    threads = f"threads: {{downstream: 1ds1t, main_core: {main}}}"
    return Proposal("", threads, tuple(own), cores, main)


def proposal(
    machine: Machine, groups: Sequence[int], upstreams: Sequence[bool], node: int | None
) -> Proposal:
    """A proposal for these group ids; `upstreams`: which have an upstream. Needs a usable core."""
    return propose_layout(machine, upstreams, node) or propose_shared_cores(machine, groups, node)
