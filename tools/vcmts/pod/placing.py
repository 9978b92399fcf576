# SPDX-License-Identifier: BSD-3-Clause
"""Assigns the container's cores to the groups' threads, by the rules of `vcmts layout`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from vcmts.jsons import Json
from vcmts.layout.case import numbered
from vcmts.layout.machine import Machine, cpu_list
from vcmts.layout.propose import (
    LAYOUTS,
    MOST_GROUPS,
    Layout,
    assigned,
    main_core,
    make_pool,
    polling_cores,
)
from vcmts.pod.variables import PodError

LAST_CORE = 1023  # highest core number that config/schema.json allows


@dataclass(frozen=True)
class GroupCores:
    """The cores of a group's threads."""

    upper_mac: int
    lower_mac: int | None  # None: that of the upper MAC
    upstream: int

    def cores(self) -> set[int]:
        lower_mac = self.upper_mac if self.lower_mac is None else self.lower_mac
        return {self.upper_mac, lower_mac, self.upstream}


@dataclass(frozen=True)
class Placement:
    """The cores of all groups."""

    layout: Layout
    main_core: int
    groups: dict[int, GroupCores]  # by id
    workers: frozenset[int]  # cores that got a worker at the start, also of removed groups

    def polling(self) -> list[int]:
        """All cores with a worker, ascending."""
        return sorted(self.workers)


def threads_text(group_cores: GroupCores, main: int, by_layout: bool) -> str:
    """YAML of a group's `threads`. `by_layout`: omits `downstream`, which the key `layout` sets."""
    keys: dict[str, str | int] = {}
    if not by_layout:
        keys["downstream"] = "1ds1t" if group_cores.lower_mac is None else "1ds2t"
    keys |= {
        "main_core": main,
        "upper_mac_core": group_cores.upper_mac,
        "lower_mac_core": group_cores.upper_mac
        if group_cores.lower_mac is None
        else group_cores.lower_mac,
        "upstream_core": group_cores.upstream,
    }
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def provisional_threads(core: int) -> str:
    """YAML of `threads` for a first `vcmtsd check`, which reports what the groups need.

    The cores need not exist, but 1ds2t refuses two equal ones; LAST_CORE is odd."""
    return threads_text(GroupCores(core, LAST_CORE - core, core), core, by_layout=True)


def polling_machine(machine: Machine, split: bool) -> Machine:
    """The machine with the container's cores: the lowest ones, as many as its CPU limit covers.

    Raises PodError for a limit below 1 CPU, and for a core whose hyper-thread sibling belongs to
    others, unless `split`."""
    cores = sorted(machine.usable)
    if machine.quota is not None and machine.quota < len(cores):
        whole = math.floor(machine.quota)
        if whole == 0:
            raise PodError(f"cores: found a limit of {machine.quota:g} CPU, allowed: 1 CPU or more")
        return replace(machine, usable=frozenset(cores[:whole]))
    without_sibling = [core for core in cores if not set(machine.physical(core)) <= machine.usable]
    if without_sibling and not split:
        others = (
            set().union(*(machine.core(core).siblings for core in without_sibling)) - machine.usable
        )
        raise PodError(
            f"cores: found {numbered('core', without_sibling)} without the hyper-thread sibling "
            f"({cpu_list(sorted(others))}), allowed: whole cores (the kubelet's CPU manager option "
            "full-pcpus-only), or --split-siblings"
        )
    return machine


def sharing_warning(machine: Machine) -> str:
    """A warning if the container shares its cores with others; "" if it has its own."""
    if machine.quota is not None and machine.quota < len(machine.usable):
        return (
            f"cores {cpu_list(sorted(machine.usable))} are shared with other containers, with a "
            f"limit of {machine.quota:g} CPUs: a Guaranteed pod with whole CPUs gets its own cores"
        )
    return ""


def cores_of_groups(
    layout: Layout, cores: Sequence[int], upstreams: Sequence[bool]
) -> Iterator[GroupCores]:
    """The cores of each group: assigns `cores` as deal_group() of src/model/layouts.c does.

    `upstreams`: whether each group has an upstream."""
    left = iter(cores)
    downstream: int | None = None
    upstream: int | None = None
    for has_upstream in upstreams:
        shared_core, downstream_core = downstream, 0
        if layout.shared_downstream and shared_core is not None:
            downstream_core, downstream = shared_core, None
        else:
            downstream_core = next(left)
            downstream = downstream_core if layout.shared_downstream else None
        lower = next(left) if layout.downstream == 2 else None
        if not has_upstream or not layout.own_upstream:
            yield GroupCores(downstream_core, lower, downstream_core)
        elif layout.shared_upstream and upstream is not None:
            at, upstream = upstream, None
            yield GroupCores(downstream_core, lower, at)
        else:
            at = next(left)
            upstream = at if layout.shared_upstream else None
            yield GroupCores(downstream_core, lower, at)


def configured_layout(groups: Sequence[Json]) -> Layout | None:
    """`threads.layout` of all groups; None: not set. Raises PodError if groups differ."""
    names = {group["layout"] for group in groups}
    if names == {None}:
        return None
    if len(names) > 1:
        listed = ", ".join(sorted(name or "none" for name in names))
        raise PodError(f"threads.layout: found {listed}, allowed: the same for all groups")
    return next(layout for layout in LAYOUTS if layout.name in names)


def too_few_cores(
    machine: Machine, layout: Layout | None, groups: int, max_groups: int
) -> PodError:
    """The error, to be raised. `max_groups`: the number of groups that the cores suffice for."""
    name = layout.name if layout else f"{LAYOUTS[-1].name}, the layout with the fewest threads"
    polling = len(polling_cores(machine))
    return PodError(
        f"cores: found {len(machine.usable)} ({cpu_list(sorted(machine.usable))}), of which "
        f"{polling} may poll, allowed: enough for {groups} service groups with {name}; "
        f"these suffice for {max_groups}"
    )


def assign_groups(machine: Machine, groups: Sequence[Json], node: int | None) -> Placement:
    """Assigns cores to the groups of `vcmtsd check`, by the first layout that fits.

    Prefers isolated cores, groups on one NUMA node, and `node`, that of the ports (None: unknown).
    Raises PodError if there are too few cores."""
    upstreams = [group["upstream"] is not None for group in groups]
    configured = configured_layout(groups)
    isolated = polling_cores(machine) & machine.isolated()
    for cores, across in product((isolated, polling_cores(machine)), (False, True)):
        for layout in [configured] if configured else LAYOUTS:
            pool = make_pool(machine, cores, node)
            count, used = assigned(layout, pool, upstreams, across=across)
            if count == len(groups):
                ids = [int(group["service_group"]) for group in groups]
                found = dict(zip(ids, cores_of_groups(layout, used, upstreams), strict=True))
                return Placement(layout, main_core(machine), found, frozenset(used))
    last = configured or LAYOUTS[-1]
    like = [any(upstreams)] * MOST_GROUPS
    max_groups = assigned(last, make_pool(machine, polling_cores(machine), node), like)[0]
    raise too_few_cores(machine, configured, len(groups), max_groups)


def with_new_groups(
    before: Placement, groups: Sequence[int], layout: Layout | None = None
) -> Placement:
    """Keeps the cores of known groups. A new group gets the core with the fewest groups.

    In a `layout` with two downstream threads, the lower MAC gets the next core."""
    load = dict.fromkeys(before.polling(), 0)
    found = {group: before.groups[group] for group in groups if group in before.groups}
    for group_cores in found.values():
        for core in group_cores.cores():
            load[core] += 1
    two_threads = layout is not None and layout.downstream == 2
    for group in groups:
        if group not in found:
            least_used = sorted(load, key=lambda core: (load[core], core))
            lower_mac = least_used[1] if two_threads and len(least_used) > 1 else None
            found[group] = GroupCores(least_used[0], lower_mac, least_used[0])
            for core in found[group].cores():
                load[core] += 1
    return replace(before, groups=found)
