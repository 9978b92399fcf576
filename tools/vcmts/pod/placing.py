# SPDX-License-Identifier: BSD-3-Clause
"""Assigns the container's cores to the groups' threads, by the rules of `vcmts layout`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from vcmts.jsons import Json
from vcmts.layout.case import named
from vcmts.layout.machine import Machine, written
from vcmts.layout.propose import (
    LAYOUTS,
    MOST_GROUPS,
    Layout,
    dealt,
    main_core,
    polling,
    pool_of,
)
from vcmts.pod.variables import WrongError

LAST_CORE = 1023  # highest core number in a configuration


@dataclass(frozen=True)
class Place:
    """The cores of a group's threads."""

    upper_mac: int
    lower_mac: int | None  # None: that of the upper MAC
    upstream: int

    def cores(self) -> set[int]:
        lower_mac = self.upper_mac if self.lower_mac is None else self.lower_mac
        return {self.upper_mac, lower_mac, self.upstream}


@dataclass(frozen=True)
class Placing:
    """The cores of all groups."""

    layout: Layout
    main_core: int
    groups: dict[int, Place]  # by id

    def polling(self) -> list[int]:
        return sorted(set().union(*(place.cores() for place in self.groups.values())))


def threads_text(place: Place, main: int, by_layout: bool) -> str:
    """YAML of a group's `threads`. `by_layout`: a key `layout` sets the number of threads."""
    keys: dict[str, str | int] = {}
    if not by_layout:
        keys["downstream"] = "1ds1t" if place.lower_mac is None else "1ds2t"
    keys |= {
        "main_core": main,
        "upper_mac_core": place.upper_mac,
        "lower_mac_core": place.upper_mac if place.lower_mac is None else place.lower_mac,
        "upstream_core": place.upstream,
    }
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def provisional(core: int) -> str:
    """YAML of `threads` for a first check by vcmtsd, which reports what the groups need."""
    return threads_text(Place(core, LAST_CORE - core, core), core, by_layout=True)


def own(machine: Machine, split: bool) -> Machine:
    """The machine with the cores that the container may poll on: within its CPU limit, and whole
    physical cores unless `split`. Raises WrongError if there are none."""
    cores = sorted(machine.usable)
    if machine.quota is not None and machine.quota < len(cores):
        whole = math.floor(machine.quota)
        if whole == 0:
            raise WrongError(
                f"cores: found a limit of {machine.quota:g} CPU, allowed: 1 CPU or more"
            )
        return replace(machine, usable=frozenset(cores[:whole]))
    lonely = [core for core in cores if not set(machine.physical(core)) <= machine.usable]
    if lonely and not split:
        others = set().union(*(machine.core(core).siblings for core in lonely)) - machine.usable
        raise WrongError(
            f"cores: found {named('core', lonely)} without the other thread of its physical core "
            f"({written(sorted(others))}), allowed: whole cores (the kubelet's CPU manager option "
            "full-pcpus-only), or --split-siblings"
        )
    return machine


def shared(machine: Machine) -> str:
    """A warning if the container shares its cores with others; "" if it has its own."""
    if machine.quota is not None and machine.quota < len(machine.usable):
        return (
            f"cores {written(sorted(machine.usable))} are shared with other containers, with a CPU "
            f"limit of {machine.quota:g} cores: use a Guaranteed pod with whole CPUs to get cores "
            "of its own"
        )
    return ""


def places(layout: Layout, cores: Sequence[int], upstreams: Sequence[bool]) -> Iterator[Place]:
    """The cores of each group, from `cores` in the order in which vcmtsd's loader assigns them."""
    left = iter(cores)
    downstream: int | None = None
    upstream: int | None = None
    for has_upstream in upstreams:
        waits, downstream_core = downstream, 0
        if layout.shared_downstream and waits is not None:
            downstream_core, downstream = waits, None
        else:
            downstream_core = next(left)
            downstream = downstream_core if layout.shared_downstream else None
        lower = next(left) if layout.downstream == 2 else None
        if not has_upstream or not layout.own_upstream:
            yield Place(downstream_core, lower, downstream_core)
        elif layout.shared_upstream and upstream is not None:
            at, upstream = upstream, None
            yield Place(downstream_core, lower, at)
        else:
            at = next(left)
            upstream = at if layout.shared_upstream else None
            yield Place(downstream_core, lower, at)


def asked(groups: Sequence[Json]) -> Layout | None:
    """The layout that the configuration sets; None: none. Raises WrongError if groups differ."""
    names = {group["layout"] for group in groups}
    if names == {None}:
        return None
    if len(names) > 1:
        listed = ", ".join(sorted(name or "none" for name in names))
        raise WrongError(f"threads.layout: found {listed}, allowed: the same for all groups")
    return next(layout for layout in LAYOUTS if layout.name in names)


def too_few(machine: Machine, layout: Layout | None, groups: int, most: int) -> WrongError:
    name = layout.name if layout else f"{LAYOUTS[-1].name}, the layout with the fewest threads"
    plain = machine.usable - machine.isolated() or machine.usable
    free = machine.usable - {min(plain)} or machine.usable
    return WrongError(
        f"cores: found {len(machine.usable)} ({written(sorted(machine.usable))}), of which "
        f"{len(free)} may poll, allowed: enough for {groups} service groups with {name}; "
        f"these suffice for {most}"
    )


def placing(machine: Machine, groups: Sequence[Json], node: int | None) -> Placing:
    """Assigns cores to `groups`, as printed by `vcmtsd check --json --cores`. Raises WrongError if
    there are too many groups for the cores. `node`: preferred NUMA node."""
    upstreams = [group["upstream"] is not None for group in groups]
    wanted = asked(groups)
    isolated = polling(machine) & machine.isolated()
    for cores, across in product((isolated, polling(machine)), (False, True)):
        for layout in [wanted] if wanted else LAYOUTS:
            pool = pool_of(machine, cores, node)
            count, taken = dealt(layout, pool, upstreams, across=across)
            if count == len(groups):
                ids = [int(group["service_group"]) for group in groups]
                found = dict(zip(ids, places(layout, taken, upstreams), strict=True))
                return Placing(layout, main_core(machine), found)
    last = wanted or LAYOUTS[-1]
    like = [True] * MOST_GROUPS
    most = dealt(last, pool_of(machine, polling(machine), node), like)[0]
    raise too_few(machine, wanted, len(groups), most)


def with_others(before: Placing, groups: Sequence[int]) -> Placing:
    """Keeps the cores of known groups. A new group gets the core with the fewest groups."""
    load = dict.fromkeys(before.polling(), 0)
    found: dict[int, Place] = {}
    for group in groups:
        if group in before.groups:
            found[group] = before.groups[group]
            for core in found[group].cores():
                load[core] += 1
    for group in groups:
        if group not in found:
            core = min(load, key=lambda core: (load[core], core))
            load[core] += 1
            found[group] = Place(core, None, core)
    return replace(before, groups=found)
