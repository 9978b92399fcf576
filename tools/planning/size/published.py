# SPDX-License-Identifier: BSD-3-Clause
"""Computes costs of service groups from published figures (config/published.yaml)."""

from planning.size.curve import Costs, Curve
from planning.size.request import Groups
from vcmts.paths import MistakeError
from vcmts.published import Published, SizingProfile

PREFIX = "published:"


def profile_of(published: Published, machine: str) -> SizingProfile:
    name = machine.removeprefix(PREFIX)
    if name not in published.profiles:
        known = ", ".join(PREFIX + known for known in published.profiles)
        raise MistakeError(f"--machine {machine}: not known, allowed: {known}, or a file")
    return published.profiles[name]


def at_once(published: Published, profile: SizingProfile, groups: int) -> int:
    """Converts a figure's number of service groups to groups per socket."""
    if profile.at_once == "socket":
        return groups
    sockets = published.machines[profile.machine].sockets
    return -(-groups // sockets)


def points(published: Published, profile: SizingProfile, share: float) -> dict[int, float]:
    """Gbps of a core by number of groups per socket: `share` of the published figures."""
    names = profile.downstream or profile.total
    out: dict[int, float] = {}
    for groups, name in sorted(names.items()):
        # two counts per server may be one count per socket: the later, lower rate counts
        out[at_once(published, profile, groups)] = published.value(name) * share
    return out


def outside(published: Published, profile: SizingProfile, groups: Groups) -> tuple[str, ...]:
    """Notes on differences between the request and the published setup."""
    notes = []
    setup = published.setups[profile.setup]
    if groups.channels != profile.channels:
        notes.append(f"{groups.channels}: published for {profile.channels}, taken as the same")
    if groups.crypto == "none":
        notes.append(f"crypto none: counted as the published {profile.crypto}, which takes more")
    if groups.modems != setup.modems:
        notes.append(f"{groups.modems} modems: published for {setup.modems}, taken as the same")
    return tuple(notes)


def upstream_curve(
    published: Published, profile: SizingProfile, of_core: dict[int, float]
) -> Curve | None:
    """The upstream of a core: two hyper-threads, each with the published rate."""
    if profile.upstream:
        gbps, figure = 2 * published.value(profile.upstream), published.figures[profile.upstream]
        source = f"{figure.paper}, {figure.where}: {gbps / 2:g} Gbps on a hyper-thread, as applied"
        curve = {1: gbps}
    elif profile.upstream_share:
        # the upstream load during the downstream measurement, as its share of a core is unknown
        curve = {n: 2 * value * profile.upstream_share for n, value in of_core.items()}
        source = f"{profile.upstream_share:.0%} of the downstream, on a hyper-thread, as applied"
    else:
        return None
    year = "2023" if profile.setup == "2023" else "2021"
    mean = published.mixes[f"upstream-imix-{year}"].mean
    return Curve(tuple(curve.items()), mean, source, both_threads=True)


def costs(published: Published, machine: str, groups: Groups) -> Costs:
    """The costs by the profile `machine`. Raises MistakeError if no figure is for such groups."""
    profile = profile_of(published, machine)
    if groups.mix != "imix" or groups.upstream_mix != "upstream-imix":
        raise MistakeError(
            f"--machine {machine}: only the published mixes are known (imix, upstream-imix); "
            "another mix needs a measured profile"
        )
    if groups.crypto != "none" and groups.crypto != profile.crypto:
        raise MistakeError(
            f"--machine {machine}: crypto {groups.crypto}: published with {profile.crypto}"
        )
    share = 1 / (1 + profile.upstream_share) if profile.total else 1.0
    of_core = points(published, profile, share)
    names = list((profile.downstream or profile.total).values())
    mix = published.mixes[profile.mix]
    down = Curve(
        tuple(of_core.items()),
        mix.stated_mean or mix.mean,
        cite(published, *dict.fromkeys(names)),
        both_threads=True,
        outside=outside(published, profile, groups),
    )
    return Costs(
        machine=machine,
        clock=published.machines[profile.machine].clock,
        downstream=down,
        upstream=upstream_curve(published, profile, of_core),
        memory_gib=published.value(profile.memory) / 1024,
        memory_source=cite(published, profile.memory),
        upstream_share=profile.upstream_share or None,
    )


def cite(published: Published, *names: str) -> str:
    """Cites figures, grouped by paper and unit."""
    values: dict[tuple[str, str], list[str]] = {}
    for name in names:
        figure = published.figures[name]
        source = (f"{figure.paper}, {figure.where}", f"{figure.unit} ({figure.how})")
        values.setdefault(source, []).append(f"{figure.value:g}")
    return "; ".join(f"{where}: {', '.join(v)} {unit}" for (where, unit), v in values.items())
