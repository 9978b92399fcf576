# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size: costs from the published figures."""

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
    """Service groups of a socket, where the figure counts those of a server."""
    if profile.at_once == "socket":
        return groups
    sockets = published.machines[profile.machine].sockets
    return -(-groups // sockets)


def points(published: Published, profile: SizingProfile, share: float) -> dict[int, float]:
    names = profile.downstream or profile.total
    out: dict[int, float] = {}
    for groups, name in sorted(names.items()):
        # two places of a server may be one of a socket: the smaller figure counts
        out[at_once(published, profile, groups)] = published.value(name) * share
    return out


def outside(published: Published, profile: SizingProfile, groups: Groups) -> tuple[str, ...]:
    """What is asked for, and not what was measured."""
    said = []
    setup = published.setups[profile.setup]
    if groups.channels != profile.channels:
        said.append(f"{groups.channels}: published for {profile.channels}, taken as the same")
    if groups.crypto == "none":
        said.append(f"crypto none: counted as the published {profile.crypto}, which takes more")
    if groups.modems != setup.modems:
        said.append(f"{groups.modems} modems: published for {setup.modems}, taken as the same")
    return tuple(said)


def upstream_curve(
    published: Published, profile: SizingProfile, of_core: dict[int, float]
) -> Curve | None:
    """Two hyper-threads of a core, each with the published rate."""
    if profile.upstream:
        gbps, figure = 2 * published.value(profile.upstream), published.figures[profile.upstream]
        source = f"{figure.paper}, {figure.where}: {gbps / 2:g} Gbps on a hyper-thread, as applied"
        curve = {1: gbps}
    elif profile.upstream_share:
        # what ran beside the downstream, whatever share of a core it had
        curve = {n: 2 * value * profile.upstream_share for n, value in of_core.items()}
        source = f"{profile.upstream_share:.0%} of the downstream, on a hyper-thread, as applied"
    else:
        return None
    year = "2023" if profile.setup == "2023" else "2021"
    mean = published.mixes[f"upstream-imix-{year}"].mean
    return Curve(tuple(curve.items()), mean, source, both_threads=True)


def costs(published: Published, machine: str, groups: Groups) -> Costs:
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
        _told(published, *dict.fromkeys(names)),
        both_threads=True,
        outside=outside(published, profile, groups),
    )
    return Costs(
        machine=machine,
        clock=published.machines[profile.machine].clock,
        downstream=down,
        upstream=upstream_curve(published, profile, of_core),
        memory_gib=published.value(profile.memory) / 1024,
        memory_source=_told(published, profile.memory),
        upstream_share=profile.upstream_share or None,
    )


def _told(published: Published, *names: str) -> str:
    """The figures, with what they have in common said once."""
    values: dict[tuple[str, str], list[str]] = {}
    for name in names:
        figure = published.figures[name]
        place = (f"{figure.paper}, {figure.where}", f"{figure.unit} ({figure.how})")
        values.setdefault(place, []).append(f"{figure.value:g}")
    return "; ".join(f"{where}: {', '.join(v)} {unit}" for (where, unit), v in values.items())
