# SPDX-License-Identifier: BSD-3-Clause
"""vcmts show: a service group's configuration on one screen."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from vcmts.paths import MistakeError

Mapping = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="FILE", help="configuration of a service group (YAML)")


def read(path: Path) -> Mapping:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with path.open(encoding="utf-8") as file:
            document = yaml.load(file, Loader=loader)
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MistakeError(f"{path}: not YAML: {error}") from error
    if not isinstance(document, dict):
        raise MistakeError(f"{path}: not a service group's configuration")
    return document


def items(document: Mapping, key: str) -> list[Mapping]:
    value = document.get(key) or []
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def counted(count: int | str, noun: str) -> str:
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def spread(counts: list[int]) -> str:
    """How many a modem has: one number when all have the same."""
    if not counts:
        return "0"
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def tallied(names: list[str]) -> str:
    return (
        ", ".join(f"{count} x {name}" for name, count in sorted(Counter(names).items())) or "none"
    )


def channels(document: Mapping) -> str:
    return tallied(
        [f"{c.get('type', '?')} {c.get('rate', '')}" for c in items(document, "channels")]
    )


def flows(modems: list[Mapping]) -> str:
    states = [
        [flow.get("state", "active") for flow in items(modem, "service_flows")] for modem in modems
    ]
    active = [sum(state == "active" for state in flow) for flow in states]
    return f"{spread([len(s) for s in states])} a modem, {spread(active)} active"


def ciphers(modems: list[Mapping]) -> str:
    securities = [modem.get("security") for modem in modems]
    return tallied(
        [str(s.get("cipher", "?")) if isinstance(s, dict) else "none" for s in securities]
    )


def rows(document: Mapping) -> list[tuple[str, str]]:
    modems = items(document, "modems")
    rules = [len(items(group, "rules")) for group in items(document, "filter_groups")]
    per_modem = {
        key: spread([length(modem.get(key)) for modem in modems])
        for key in ("addresses", "filter_groups", "classifiers")
    }
    rphy = document.get("rphy")
    rphy = rphy if isinstance(rphy, dict) else {}
    return [
        ("service group", f"{document.get('service_group', '?')}"),
        ("downstream channels", channels(document)),
        (
            "bonding groups",
            tallied(
                [
                    counted(length(group.get("channels")), "channel")
                    for group in items(document, "bonding_groups")
                ]
            ),
        ),
        ("rate limit", str(document.get("rate_limit", "none"))),
        (
            "R-PHY",
            f"{rphy.get('core_ip', '?')} to {rphy.get('rpd_ip', '?')}, "
            f"MTU {rphy.get('mtu', 'default')}, flush {rphy.get('flush', 'default')}",
        ),
        ("modems", f"{len(modems)}, {per_modem['addresses']} addresses each"),
        ("encryption", ciphers(modems)),
        (
            "filters",
            f"{counted(len(rules), 'group')} of {counted(spread(rules), 'rule')}, "
            f"{counted(per_modem['filter_groups'], 'group')} a modem",
        ),
        ("classifiers", f"{per_modem['classifiers']} a modem"),
        ("service flows", flows(modems)),
    ]


def main(arguments: argparse.Namespace) -> int:
    document = read(Path(arguments.config))
    table = Table(
        title=str(document.get("name", arguments.config)),
        title_justify="left",
        show_header=False,
        box=None,
    )
    for name, value in rows(document):
        table.add_row(name, value)
    Console().print(table)
    return 0
