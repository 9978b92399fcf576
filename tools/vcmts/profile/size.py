# SPDX-License-Identifier: BSD-3-Clause
"""The sizes of a profile that its name does not have: addresses, flows, classifiers, filter rules.

The defaults are the published numbers. The limits are those of vcmtsd (config/schema.json).
"""

import argparse
from dataclasses import dataclass

from vcmts.paths import MistakeError

FLOWS, ACTIVE_FLOWS = 8, 4
CLASSIFIERS, CLASSIFIERS_IPV4 = 16, 12
ADDRESSES = 4

MOST_ADDRESSES = 64
MOST_FLOWS = 32
MOST_RULES = 4096  # per filter group; also classifiers per modem
MOST_FILTER_GROUPS = 1024
MOST_DSIDS = 0xFFFFF  # of all modems


@dataclass(frozen=True)
class Sizes:
    addresses: int = ADDRESSES  # per modem
    flows: int = FLOWS  # downstream, per modem, including inactive ones
    active_flows: int = ACTIVE_FLOWS
    classifiers: int = CLASSIFIERS  # per modem
    filter_groups: int | None = None  # None: the number of the profile's filter set
    filter_rules: int | None = None  # per group; None likewise

    @property
    def ipv6_addresses(self) -> int:
        """A quarter of the addresses; one of two or three; none of one."""
        return max(self.addresses // 4, 1) if self.addresses > 1 else 0

    @property
    def ipv4_addresses(self) -> int:
        return self.addresses - self.ipv6_addresses

    @property
    def ipv4_block(self) -> int:
        """Addresses in a modem's IPv4 prefix: a power of two, including the network address."""
        return max(4, 1 << self.ipv4_addresses.bit_length())

    @property
    def ipv4_prefix(self) -> int:
        return 33 - self.ipv4_block.bit_length()

    @property
    def ipv4_classifiers(self) -> int:
        return self.classifiers - self.classifiers * (CLASSIFIERS - CLASSIFIERS_IPV4) // CLASSIFIERS


AS_PUBLISHED = Sizes()

# Option, minimum, maximum, help text, its default.
OPTIONS = (
    ("addresses", 1, MOST_ADDRESSES, "addresses per modem, a quarter of them IPv6", ADDRESSES),
    ("service-flows", 1, MOST_FLOWS, "downstream service flows per modem", FLOWS),
    ("active-flows", 1, MOST_FLOWS, "active service flows per modem", "half of them"),
    ("classifiers", 0, MOST_RULES, "classifiers per modem", CLASSIFIERS),
    ("filter-groups", 0, MOST_FILTER_GROUPS, "filter groups", "22, or 6 with _2021"),
    ("filter-rules", 1, MOST_RULES, "rules per filter group", "22, or 16 with _2021"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name, low, high, text, default in OPTIONS:
        words = f"{text}, {low} to {high} (default: {default})"
        parser.add_argument(f"--{name}", metavar="N", type=int, help=words)


def checked(values: dict[str, int | None]) -> Sizes:
    """Sizes from options by name; None: the default. Raises MistakeError."""
    for name, low, high, *_ in OPTIONS:
        value = values.get(name)
        if value is not None and not low <= value <= high:
            raise MistakeError(f"--{name}: found {value}, allowed: {low} to {high}")
    flows = values.get("service-flows")
    active = values.get("active-flows")
    flows = FLOWS if flows is None else flows
    active = (flows + 1) // 2 if active is None else active
    if active > flows:
        raise MistakeError(
            f"--active-flows: found {active}, allowed: 1 to {flows}, the service flows per modem; "
            "--service-flows sets more"
        )
    addresses, classifiers = values.get("addresses"), values.get("classifiers")
    return Sizes(
        addresses=ADDRESSES if addresses is None else addresses,
        flows=flows,
        active_flows=active,
        classifiers=CLASSIFIERS if classifiers is None else classifiers,
        filter_groups=values.get("filter-groups"),
        filter_rules=values.get("filter-rules"),
    )


def sizes_of(arguments: argparse.Namespace) -> Sizes:
    return checked({name: getattr(arguments, name.replace("-", "_")) for name, *_ in OPTIONS})


def check_dsids(sizes: Sizes, modems: int) -> None:
    """Raises MistakeError if DSIDs do not suffice for the active flows of bonded modems."""
    needed = sizes.active_flows * modems
    if needed > MOST_DSIDS:
        raise MistakeError(
            f"--active-flows: found {sizes.active_flows} of {modems} modems, which need {needed} "
            f"DSIDs, allowed: {MOST_DSIDS} in all; use fewer modems or active flows"
        )


def size_options(sizes: Sizes) -> str:
    """The options that set these sizes, as words of a command; "" for the published sizes."""
    found = (
        ("addresses", sizes.addresses, ADDRESSES),
        ("service-flows", sizes.flows, FLOWS),
        ("active-flows", sizes.active_flows, (sizes.flows + 1) // 2),
        ("classifiers", sizes.classifiers, CLASSIFIERS),
        ("filter-groups", sizes.filter_groups, None),
        ("filter-rules", sizes.filter_rules, None),
    )
    return "".join(f" --{name} {value}" for name, value, usual in found if value != usual)
