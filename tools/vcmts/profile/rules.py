# SPDX-License-Identifier: BSD-3-Clause
"""Filter groups and classifiers of the published profiles. Their sources and ports are disjoint."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Literal

from vcmts.profile.size import Sizes

FilterSet = Literal["2023", "2021"]

PORTS_PER_RULE = 100  # fewer if the rules would need more ports than their range has
FILTER_PORTS = range(10000, 40000)
CLASSIFIER_PORTS = range(20000, 40000)


@dataclass(frozen=True)
class Filters:
    groups: int
    ipv4_rules: int  # per group
    ipv6_rules: int
    groups_a_modem: int

    @property
    def rules(self) -> int:
        return self.ipv4_rules + self.ipv6_rules


FILTERS: dict[FilterSet, Filters] = {"2023": Filters(22, 18, 4, 1), "2021": Filters(6, 12, 4, 2)}


def filters_of(filters: Filters, sizes: Sizes) -> Filters:
    """Filters with the numbers of groups and rules in `sizes`; the share of IPv6 rules stays."""
    groups = filters.groups if sizes.filter_groups is None else sizes.filter_groups
    rules = filters.rules if sizes.filter_rules is None else sizes.filter_rules
    ipv6 = rules * filters.ipv6_rules // filters.rules
    return Filters(groups, rules - ipv6, ipv6, min(filters.groups_a_modem, groups))


def filter_groups_of(filters: Filters, modem: int) -> list[int]:
    """The filter groups of a modem, from 1. Modems are spread evenly over the groups."""
    if filters.groups_a_modem == 0:
        return []
    step = filters.groups // filters.groups_a_modem
    return [
        (modem - 1 + index * step) % filters.groups + 1 for index in range(filters.groups_a_modem)
    ]


def source_of(benchmark: int, shared: int, number: int) -> str:
    """A source network: 198.`benchmark`.`number`.0/24; above 255 in 100.`shared`.0.0."""
    if number <= 255:
        return f"198.{benchmark}.{number}.0/24"
    high, low = divmod(number - 256, 256)
    return f"100.{shared + high}.{low}.0/24"


def port_range(ports_free: range, rule: int, rules: int) -> str:
    """The destination ports of rule number `rule` (from 0) of `rules`, from the given range."""
    width = min(PORTS_PER_RULE, len(ports_free) // rules)
    low = ports_free.start + width * rule
    return f"{low}-{low + width - 1}"


def filter_lines(filters: Filters) -> Iterator[str]:
    """YAML of the filter groups. Rules alternate: permit UDP, deny UDP, permit TCP, deny TCP."""
    if filters.groups == 0:
        yield "filter_groups: []"
        return
    yield "filter_groups:"
    for group in range(1, filters.groups + 1):
        yield f"  - id: {group}"
        yield "    rules:"
        for rule in range(filters.rules):
            ipv4 = rule < filters.ipv4_rules
            number_in_family = rule if ipv4 else rule - filters.ipv4_rules
            source = source_of(18, 64, group) if ipv4 else f'"2001:db8:fffe:{group:x}::/64"'
            yield (
                f"      - {{family: {'ipv4' if ipv4 else 'ipv6'}, "
                f"action: {('permit', 'deny')[number_in_family % 2]}, source: {source}, "
                f"protocol: {('udp', 'tcp')[number_in_family // 2 % 2]}, "
                f'destination_ports: "{port_range(FILTER_PORTS, rule, filters.rules)}"}}'
            )


def classifier_lines(
    modem: int, network: IPv4Address, ipv6_prefix: str, sizes: Sizes
) -> Iterator[str]:
    """YAML of a modem's classifiers to active flows: three for UDP, three for TCP in turn."""
    if sizes.classifiers == 0:
        yield "    classifiers: []"
        return
    first_flow = (modem - 1) * sizes.flows + 1
    others = sizes.active_flows - 1
    yield "    classifiers:"
    for number in range(sizes.classifiers):
        ipv4 = number < sizes.ipv4_classifiers
        number_in_family = number if ipv4 else number - sizes.ipv4_classifiers
        rule = number + 1
        source = source_of(19, 96, rule) if ipv4 else f'"2001:db8:fffd:{rule:x}::/64"'
        prefix = f"{network}/{sizes.ipv4_prefix}"
        destination = prefix if ipv4 else f'"{ipv6_prefix}::/64"'
        flow = first_flow + 1 + number_in_family % others if others > 0 else first_flow
        yield (
            f"      - {{family: {'ipv4' if ipv4 else 'ipv6'}, source: {source}, "
            f"destination: {destination}, protocol: {('udp', 'tcp')[number_in_family // 3 % 2]}, "
            f'destination_ports: "{port_range(CLASSIFIER_PORTS, number, sizes.classifiers)}", '
            f"service_flow: {flow}}}"
        )
