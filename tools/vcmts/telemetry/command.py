# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts telemetry`: prints the state of a running vcmtsd as tables.

It uses the control socket. Commands of DPDK such as /ethdev/list use DPDK's telemetry socket; it
prints their answers as JSON.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from vcmts import options
from vcmts.console import figures_table, out_console
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.output import write_json
from vcmts.paths import MistakeError
from vcmts.telemetry import delay, latency
from vcmts.telemetry.dpdk import vcmtsd
from vcmts.telemetry.plane import Plane, plane

COMMANDS = {
    "groups": "the service groups in service",
    "delay": "delay in the queues, by priority; WHICH: a priority for its histogram",
    "channels": "rate and utilisation of the downstream channels",
    "bonding": "bonding groups: packets out of order, and how long modems delay packets for this",
    "flow": "a downstream service flow, by its SFID",
    "modem": "a modem's downstream service flows, by its MAC address",
    "latency": "time of packets in the pipeline, if it is measured (`vcmts control measure.set "
    "latency=true`); WHICH: a direction for its histogram, or reset",
    "reload": "make vcmtsd reload its configuration",
}
NEEDS_WHICH = ("flow", "modem")  # too many to print all
OF_GROUP = ("delay", "channels", "bonding", "latency")  # each service group has its own


def add_arguments(parser: argparse.ArgumentParser) -> None:
    listed = "; ".join(f"{name}: {text}" for name, text in COMMANDS.items())
    parser.add_argument(
        "what", metavar="WHAT", help=f"{listed}; or a command of DPDK such as /help"
    )
    parser.add_argument(
        "which", metavar="WHICH", nargs="?", help="SFID, MAC address, priority, direction"
    )
    options.add_server(parser)
    parser.add_argument("--group", type=int, metavar="ID", help="service group (default: all)")
    parser.add_argument(
        "--interval",
        type=float,
        default=1.0,
        help="seconds over which rates are measured (default: %(default)s)",
    )
    options.add_json(parser, "the answer")


def number(which: str, most: int, allowed: str) -> int:
    if not (which.isascii() and which.isdigit()) or int(which) > most:
        raise MistakeError(f"WHICH: found {which}, allowed: {allowed}")
    return int(which)


def delays(source: Plane, which: str | None) -> list[Json]:
    """Delays of all priorities, or of the given one."""
    found = source.scheduler("delay")
    if which is None:
        return found
    priority = number(which, 7, "a priority, 0 to 7")
    return [one for one in found if one["priority"] == priority]


def latencies(source: Plane, which: str | None) -> Json:
    if which not in (None, latency.RESET, *DIRECTIONS):
        raise MistakeError(f"WHICH: found {which}, allowed: downstream, upstream or reset")
    return latency.answer(source, reset=which == latency.RESET)


def answer(source: Plane, what: str, which: str | None) -> Any:
    """The answer of vcmtsd to a command."""
    asks: dict[str, Callable[[], Any]] = {
        "groups": lambda: source.ask("group.list")["groups"],
        "delay": lambda: delays(source, which),
        "channels": lambda: source.scheduler("channels"),
        "bonding": lambda: source.scheduler("bonding_groups"),
        "flow": lambda: source.flow(number(str(which), 2**32 - 1, "a service flow ID")),
        "modem": lambda: source.of_group("modem.flows", mac=which),
        "latency": lambda: latencies(source, which),
    }
    return asks[what]()


def mbps(before: Json, after: Json, seconds: float) -> float:
    moved: int = after["bytes"] - before["bytes"]
    return moved * 8e-6 / seconds


def channel_table(before: list[Json], after: list[Json], seconds: float) -> Table:
    drawn = figures_table(
        ("id", "Mbps", "now", "full", "since the start", "packets"), title="channels"
    )
    first = {one["id"]: one for one in before}
    for channel in after:
        rate = channel["rate"] / 1e6
        now = mbps(first.get(channel["id"], channel), channel, seconds)
        found = (
            f"{rate:,.2f}",
            f"{now:,.2f}",
            f"{now / rate:.1%}",
            f"{channel['utilisation']:.1%}",
        )
        drawn.add_row(str(channel["id"]), *found, f"{channel['packets']:,}")
    return drawn


def service_group_table(groups: list[Json]) -> Table:
    keys = ("modems", "channels", "upstream_channels")
    drawn = figures_table(("id", *keys, "name"), title="service groups")
    for group in groups:
        drawn.add_row(str(group["id"]), *(f"{group[key]:,}" for key in keys), group["name"])
    return drawn


def bonding_table(groups: list[Json]) -> Table:
    drawn = figures_table(
        ("id", "channels", "packets", "early", "mean us", "max us"), title="bonding groups"
    )
    for group in groups:
        drawn.add_row(
            str(group["id"]),
            str(group["channels"]),
            f"{group['packets']:,}",
            f"{group['early_share']:.1%}",
            f"{group['mean_skew_us']:.1f}",
            f"{group['max_skew_us']:.1f}",
        )
    return drawn


def drop_lines(flows: list[Json]) -> list[str]:
    """A line for each flow with drops, by reason."""
    lines = []
    for flow in flows:
        dropped = ", ".join(f"{count:,} {name}" for name, count in flow["drops"].items())
        lines += [f"service flow {flow['id']} dropped {dropped}"] if dropped else []
    return lines or ["no drops"]


def flow_table(before: list[Json], after: list[Json], seconds: float) -> Group:
    """A table without lines, to fit 80 columns, and the drops."""
    columns = ("prio", "group", "Mbps", "now", "packets", "waiting", "bytes", "aqm")
    drawn = figures_table(("SFID", *columns), title="service flows")
    drawn.box = None
    first = {one["id"]: one for one in before}
    for flow in after:
        limit = flow["max_sustained_rate"] / 1e6
        drawn.add_row(
            str(flow["id"]),
            str(flow["priority"]),
            str(flow["bonding_group"]),
            f"{limit:,.2f}" if limit else "any",
            f"{mbps(first.get(flow['id'], flow), flow, seconds):,.2f}",
            f"{flow['packets']:,}",
            f"{flow['waiting_packets']:,}",
            f"{flow['waiting_bytes']:,}",
            flow["aqm"],
        )
    return Group(drawn, *drop_lines(after))


def flow_list(what: str, result: Json) -> list[Json]:
    found: list[Json] = [result] if what == "flow" else result["service_flows"]
    return found


def rate_table(source: Plane, what: str, which: str | None, interval: float) -> RenderableType:
    """A table with rates, from two answers."""
    before, begun = answer(source, what, which), time.monotonic()
    time.sleep(interval)
    after, seconds = answer(source, what, which), time.monotonic() - begun
    if what == "channels":
        return channel_table(before, after, seconds)
    return flow_table(flow_list(what, before), flow_list(what, after), seconds)


def drawn_table(source: Plane, what: str, which: str | None, interval: float) -> RenderableType:
    """The answer as a table, or a sentence if there are no figures."""
    if what in ("channels", *NEEDS_WHICH):
        return rate_table(source, what, which, interval)
    found = answer(source, what, which)
    if what == "groups":
        return service_group_table(found)
    if what == "bonding":
        return bonding_table(found)
    if what == "latency":
        return latency.table(found, which)
    if not found:
        return "no packet has left a queue yet"
    return delay.delay_table(found) if which is None else delay.delay_histogram(which, found)


def select_groups(source: Plane) -> list[Plane]:
    """The service groups, if there are several; empty for a single one."""
    groups = source.ask("group.list")["groups"]
    return [Plane(source.client, one["id"]) for one in groups] if len(groups) > 1 else []


def print_answers(arguments: argparse.Namespace, source: Plane) -> None:
    """Prints the answer, of each service group if there are several and none was chosen."""
    what, which = arguments.what, arguments.which
    several = select_groups(source) if what in OF_GROUP and source.group is None else []
    if arguments.json:
        answers = [{"group": one.group, what: answer(one, what, which)} for one in several]
        write_json(arguments.json, answers or answer(source, what, which), indent=2)
        return
    console = out_console(markup=False, highlight=False)
    for one in several or [source]:
        if several:
            print(f"service group {one.group}")
        console.print(drawn_table(one, what, which, arguments.interval))


def main(arguments: argparse.Namespace) -> int:
    what, which = arguments.what, arguments.which
    if what.startswith("/"):
        with vcmtsd(arguments.pid) as dpdk:
            print(json.dumps(dpdk.ask(what, which), indent=2))
        return 0
    if what not in COMMANDS:
        allowed = ", ".join(COMMANDS)
        raise MistakeError(f"WHAT: found {what}, allowed: {allowed}, or a command of DPDK")
    if what in NEEDS_WHICH and which is None:
        raise MistakeError(f"{what}: WHICH is missing, see `vcmts telemetry --help`")
    if not arguments.interval > 0:
        raise MistakeError(f"--interval: found {arguments.interval}, allowed: more than 0")
    with plane(arguments.pid, arguments.socket) as source:
        source.group = arguments.group
        if what == "reload":
            print(f"done: {source.ask('config.reload')['done']}")
        else:
            print_answers(arguments, source)
    return 0
