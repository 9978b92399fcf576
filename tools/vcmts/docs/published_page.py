# SPDX-License-Identifier: BSD-3-Clause
"""Generates the page on published figures from config/published.yaml."""

from collections.abc import Iterator
from pathlib import Path

from planning.size.published import PREFIX
from vcmts.docs.configdoc import table
from vcmts.published import BOUNDS, Figure, Published

HEAD = Path(__file__).with_name("published.md.in")
MACHINES = "machine | CPU | clock, GHz: | cores per socket: | sockets in use: | software, NICs | "
MACHINES += "source"
MIXES = "mix | frame bytes: share of packets | mean, bytes: | source"
SETUPS = "setup | modems: | addresses per modem: | filters | classifiers | queues | CRC | crypto | "
SETUPS += "source"
RULES = "rules | per server: | per socket: | per service group: downstream: | upstream: | "
RULES += "control plane: | note"
PROFILES = "`--machine` | machine | rules | channels, crypto | figures"
Row = tuple[str, ...]


def row(figure: Figure) -> Row:
    origin = figure.how
    if figure.formula:
        names = ", ".join(f"{name}: `{source}`" for name, source in figure.names.items())
        origin += f": `{figure.formula}`" + (f" ({names})" if names else "")
    conditions = "; ".join(text for text in (figure.conditions, figure.note) if text)
    return (
        f"`{figure.id}`",
        f"{BOUNDS[figure.bound]}{figure.value:g} {figure.unit}",
        conditions,
        figure.machine,
        f"{figure.paper}: {figure.where}",
        origin,
    )


def quantities(published: Published) -> Iterator[str]:
    """A table per quantity, in the order of the file."""
    for quantity in dict.fromkeys(f.quantity for f in published.figures.values()):
        yield f"### {quantity[0].upper()}{quantity[1:]}\n"
        heads = "figure | value: | conditions | machine | source | origin"
        yield from table(heads, map(row, published.of(quantity)))
        yield ""


def machines(published: Published) -> Iterator[Row]:
    for name, m in published.machines.items():
        parts = (m.software, f"DPDK {m.dpdk}" if m.dpdk else "", m.nics)
        what = ", ".join(part for part in parts if part)
        yield name, m.cpu, f"{m.clock:g}", str(m.cores), str(m.sockets), what, m.source


def mixes(published: Published) -> Iterator[Row]:
    for name, mix in published.mixes.items():
        packets = ", ".join(f"{size}: {share:g} %" for size, share in mix.packets.items())
        stated = f" ({mix.stated_mean:g} stated)" if mix.stated_mean else ""
        yield name, packets, f"{mix.mean:.1f}{stated}", mix.source


def setups(published: Published) -> Iterator[Row]:
    for name, s in published.setups.items():
        cells = (s.filters, s.classifiers, s.queues, s.crc, s.crypto, s.source)
        yield name, str(s.modems), str(s.addresses), *cells


def rules(published: Published) -> Iterator[Row]:
    """The sizing rules of each paper."""
    for name, r in published.rules.items():
        cores = (r.server_cores, r.socket_cores, r.downstream_cores, r.upstream_cores)
        yield name, *(f"{value:g}" for value in (*cores, r.control_plane_cores)), r.note


def profiles(published: Published) -> Iterator[Row]:
    for name, p in published.profiles.items():
        figures = dict.fromkeys([*p.downstream.values(), *p.total.values(), p.upstream])
        names = ", ".join(f"`{figure}`" for figure in figures if figure)
        yield f"`{PREFIX}{name}`", p.machine, p.rules, f"{p.channels}, {p.crypto}", names


def render(published: Published) -> str:
    def part(title: str, *lines: str) -> str:
        return f"## {title}\n\n" + "\n".join(lines).rstrip() + "\n"

    papers = (
        f"- {name}: *{p.title}*, {p.publisher}, {p.year}" for name, p in published.papers.items()
    )
    notes = (
        f"- {c.note} ({', '.join(f'`{name}`' for name in c.figures)})"
        for c in published.contradictions
    )
    return "\n".join(
        (
            HEAD.read_text(encoding="utf-8"),
            part("Papers", *papers),
            part("Machines", *table(MACHINES, machines(published))),
            part("Mixes", *table(MIXES, mixes(published))),
            part("Test configurations", *table(SETUPS, setups(published))),
            part("Contradictions", *notes),
            part("Cores set aside", *table(RULES, rules(published))),
            part("Profiles for sizing", *table(PROFILES, profiles(published))),
            part("Figures", *quantities(published)),
        )
    )
