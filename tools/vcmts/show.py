# SPDX-License-Identifier: BSD-3-Clause
"""vcmts show: summarizes the configuration of a service group or server on one screen.

vcmtsd checks the file first. Missing keys get the defaults of config/schema.json.
"""

import argparse
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from rich.table import Table

from vcmts.console import out_console
from vcmts.jsons import Json
from vcmts.paths import MistakeError, data, program

SCHEMA = data("config/schema.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="FILE", help="service group or server (YAML)")


def check_configuration(config: str) -> Json | None:
    """The facts that `vcmtsd check` prints; None if it found errors, which it prints to stderr."""
    command = [str(program("vcmtsd")), "check", "--json", "--config", config]
    ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        return None
    facts: Json = json.loads(ended.stdout)
    return facts


def with_defaults(value: Any, schema: Json) -> Any:
    """Adds the schema's defaults for missing keys, recursively."""
    if isinstance(value, list):
        return [with_defaults(item, schema["items"]) for item in value]
    if not isinstance(value, dict):
        return value
    whole: Json = {}
    for key, inner in schema["properties"].items():
        if key in value:
            whole[key] = with_defaults(value[key], inner)
        elif "default" in inner:
            whole[key] = inner["default"]
        elif inner.get("type") == "object":
            whole[key] = with_defaults({}, inner)
        elif inner.get("type") == "array":
            whole[key] = []
    return whole


def read(path: Path) -> Json:
    """Reads a valid configuration: values as written; with defaults if it is one group."""
    if not path.is_file():
        raise MistakeError(f"{path}: not a regular file, which is needed as it is read twice")
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    with path.open(encoding="utf-8-sig") as file:
        document = yaml.load(file, Loader=loader)
    if not is_server(document):
        document = with_defaults(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    whole: Json = document
    return whole


def is_server(document: Json) -> bool:
    return bool(document.get("service_groups"))


def pluralize(count: int | str, noun: str) -> str:
    return (
        f"{count} {noun}"
        if str(count) == "1"
        else f"{count} {noun}{'es' if noun.endswith('s') else 's'}"
    )


def range_text(counts: list[int]) -> str:
    """The range of counts per modem: "4", or "2 to 4"."""
    low, high = min(counts, default=0), max(counts, default=0)
    return str(low) if low == high else f"{low} to {high}"


def tally(names: list[str]) -> str:
    return ", ".join(f"{count} x {name}" for name, count in sorted(Counter(names).items()))


def flows(modems: list[Json]) -> str:
    states = [[flow["state"] for flow in modem["service_flows"]] for modem in modems]
    active = [flow.count("active") for flow in states]
    return f"{range_text([len(flow) for flow in states])} per modem, {range_text(active)} active"


def flow_rates(flow: Json) -> str:
    """The configured rates of a flow, as "sustained 10 Mbps peak 20 Mbps"; "" if there are none."""
    kinds = {
        "sustained": "max_sustained_rate",
        "peak": "peak_rate",
        "reserved": "min_reserved_rate",
    }
    return " ".join(f"{kind} {flow[key]}" for kind, key in kinds.items() if flow[key] != "none")


def flow_aqm(flow: Json) -> str:
    """The flow's AQM algorithm, for DOCSIS-PIE with its latency target."""
    pie = flow["aqm"] == "docsis-pie"
    return f"{flow['aqm']} {flow['latency_target']}" if pie else str(flow["aqm"])


def qos_rows(modems: list[Json]) -> list[tuple[str, str]]:
    """The rows for QoS settings of active flows that differ from the defaults."""
    active = [
        flow for modem in modems for flow in modem["service_flows"] if flow["state"] == "active"
    ]
    priorities = [f"priority {flow['priority']} weight {flow['weight']}" for flow in active]
    rates = [flow_rates(flow) for flow in active]
    control = [flow_aqm(flow) for flow in active]
    limits = [modem["max_aggregate_rate"] for modem in modems]
    settings = [
        ("flow priorities", priorities, "priority 0 weight 1"),
        ("flow rates", [rate or "no limit" for rate in rates], "no limit"),
        ("congestion control", control, "tail-drop"),
        ("modem limits", limits, "none"),
    ]
    return [(name, tally(values)) for name, values, plain in settings if set(values) != {plain}]


def on_off(switch: str | bool) -> str:
    """A boolean as text: `switch` is a YAML scalar or a default of the schema."""
    return "on" if switch in ("true", True) else "off"


def sessions(channels: list[Json]) -> str:
    """The number of UEPI sessions per kind. Without request sessions, requests come in bursts."""
    counts = {
        kind: sum(key in channel for channel in channels)
        for kind, key in (("requests", "request_session"), ("ranging", "ranging_session"))
    }
    settings = [f"{count} for {kind}" for kind, count in counts.items()]
    return ", ".join([f"{len(channels)} for bursts", *settings])


def upstream_rows(document: Json) -> list[tuple[str, str]]:
    """The rows for the upstream of a group."""
    channels = document["upstream_channels"]
    if not channels:
        return [("upstream", "none")]
    checks, modems = document["upstream"], document["modems"]
    flows = [flow for modem in modems for flow in modem["upstream_service_flows"]]
    sids = [sum(len(c["sids"]) for c in flow["sid_clusters"]) for flow in flows]
    per_modem = range_text([len(modem["upstream_service_flows"]) for modem in modems])
    return [
        ("upstream channels", tally([f"{c['type']} {c['rate']}" for c in channels])),
        (
            "upstream service flows",
            f"{per_modem} per modem, {pluralize(range_text(sids), 'SID')} each"
            if flows
            else "none",
        ),
        (
            "upstream checks",
            f"source address {on_off(checks['verify_source'])}, CRC {on_off(checks['verify_crc'])}",
        ),
        ("upstream sessions", sessions(channels)),
        (
            "upstream timers",
            f"reorder {checks['reorder_timeout']}, reassembly {checks['frame_timeout']}",
        ),
        (
            "upstream memory",
            f"{checks['held']} for pending packets, {checks['held_by_modem']} of it per modem",
        ),
    ]


def filters(document: Json, per_modem: str) -> str:
    groups = document["filter_groups"]
    if not groups:
        return "none"
    rules = range_text([len(group["rules"]) for group in groups])
    return (
        f"{pluralize(len(groups), 'group')} of {pluralize(rules, 'rule')}, "
        f"{pluralize(per_modem, 'group')} per modem"
    )


def provider(crypto: Json) -> str:
    """The crypto provider, and settings that differ from the defaults."""
    device = "" if crypto["provider"] != "cryptodev" else f" {crypto['device']}"
    unmade = "" if on_off(crypto["generate_crc"]) == "on" else ", downstream without CRC"
    return f"{crypto['provider']}{device}{unmade}"


def group_rows(document: Json) -> list[tuple[str, str]]:
    modems, rphy = document["modems"], document["rphy"]
    per_modem = {
        key: range_text([len(modem[key]) for modem in modems])
        for key in ("addresses", "filter_groups", "classifiers")
    }
    bonding = [pluralize(len(g["channels"]), "channel") for g in document["bonding_groups"]]
    return [
        ("service group", str(document["service_group"])),
        (
            "downstream channels",
            tally([f"{c['type']} {c['rate']}" for c in document["channels"]]),
        ),
        ("bonding groups", tally(bonding)),
        ("rate limit", document["rate_limit"]),
        (
            "R-PHY",
            f"{rphy['core_ip']} to {rphy['rpd_ip']}, MTU {rphy['mtu']}, flush {rphy['flush']}",
        ),
        ("modems", f"{len(modems)}, {pluralize(per_modem['addresses'], 'address')} each"),
        ("encryption", tally([modem["security"]["cipher"] for modem in modems])),
        ("crypto", provider(document["crypto"])),
        ("filters", filters(document, per_modem["filter_groups"])),
        ("default filter action", document["filter_default"]),
        ("classifiers", f"{per_modem['classifiers']} per modem"),
        ("service flows", flows(modems)),
        *qos_rows(modems),
        *upstream_rows(document),
    ]


def server_table(facts: Json) -> Table:
    """A table with one row per service group of a server."""
    table = Table(title=facts["name"], title_justify="left", box=None)
    for heading in ("group", "name", "channels", "modems", "cores", "network", "R-PHY"):
        table.add_column(heading, overflow="fold")
    for group in facts["groups"]:
        table.add_row(
            *(str(group[key]) for key in ("service_group", "name", "channels", "modems")),
            ", ".join(map(str, group["cores"])),
            *(group[key].split(",")[0] for key in ("network_device", "rphy_device")),
        )
    return table


def server_encryption(groups: list[Json]) -> str:
    """The ciphers and crypto providers of a server, each with its service groups."""
    found: dict[str, list[str]] = {}
    for group in groups:
        settings = f"{', '.join(group['ciphers'])} by {group['crypto'].split(',')[0]}"
        found.setdefault(settings, []).append(str(group["service_group"]))
    every = (f"{settings} (group {', '.join(numbers)})" for settings, numbers in found.items())
    return f"encryption: {'; '.join(every)}"


def main(arguments: argparse.Namespace) -> int:
    facts = check_configuration(arguments.config)
    if facts is None:
        return 2
    document = read(Path(arguments.config))
    if is_server(document):
        table = server_table(facts)
    else:
        table = Table(title=facts["name"], title_justify="left", show_header=False, box=None)
        for name, value in group_rows(document):
            table.add_row(name, value)
    console = out_console(markup=False)
    console.print(table)
    if is_server(document):
        console.print(server_encryption(facts["groups"]), soft_wrap=True, highlight=False)
    return 0
