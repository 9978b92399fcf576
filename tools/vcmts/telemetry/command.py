# SPDX-License-Identifier: BSD-3-Clause
"""vcmts telemetry: asks a vcmtsd in service over DPDK's telemetry socket.

Rates are those of the time between two answers. What is asked for in DPDK's own words, as
/ethdev/list, is shown as it is answered.
"""

import argparse
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts.control import trust
from vcmts.control.place import believed, matching
from vcmts.paths import MistakeError, complain
from vcmts.telemetry import latency as telemetry_latency

Json = dict[str, Any]

SOCKET = "dpdk_telemetry.v2"
SERVICE_GROUPS = "/vcmts/groups"
GREETING_MAX = 1024
COMMANDS = {
    "service-groups": "the service groups in service",
    "delay": "delay in the queues, by priority",
    "channels": "rate and fill of the downstream channels",
    "groups": "bonding groups: packets out of order, and how long modems wait for the order",
    "flow": "a downstream service flow, by its SFID",
    "modem": "a modem's downstream service flows, by its MAC address or place in the file",
    "latency": "how long packets stay in the pipeline, where vcmtsd runs with --latency; WHICH: a "
    "direction for its histogram, or reset",
    "reload": "have the configuration read again, for changes of the quality of service",
}
NEEDS_ONE = ("flow", "modem")  # of what there are too many to tell of all
PARTS = ("channels", "groups")  # come 64 at a time
TOLD_BY_ALL = {
    *("modem", "priority", "bonding_group", "max_sustained_rate", "aqm", "drop_probability_ppm"),
    *("packets", "bytes", "waiting_packets", "waiting_bytes"),
}
REFUSED = "refused: "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    told = "; ".join(f"{name}: {text}" for name, text in COMMANDS.items())
    parser.add_argument("what", metavar="WHAT", help=f"{told}; or a command of DPDK, as /help")
    parser.add_argument(
        "which", metavar="WHICH", nargs="?", help="SFID, MAC address, priority, direction"
    )
    parser.add_argument("--pid", type=int, help="which vcmtsd, where several are in service")
    parser.add_argument(
        "--group", type=int, metavar="ID", help="which service group, where it has several"
    )
    parser.add_argument(
        "--interval", type=float, default=1.0, help="seconds for rates (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as it came")


class Vcmtsd:
    """The telemetry of one vcmtsd."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.group: int | None = None  # that scheduler() and ask_group() ask about
        greeting: Json = json.loads(connection.recv(GREETING_MAX))
        self.pid: int = greeting["pid"]
        self._most: int = greeting["max_output_len"]

    def ask(self, command: str, parameter: str | None = None) -> Any:
        """The answer, whatever it is; a mistake where there is none."""
        asked = command if parameter is None else f"{command},{parameter}"
        self._connection.send(asked.encode())
        answered = self._connection.recv(self._most)
        if not answered:
            raise MistakeError("vcmtsd ended before it answered")
        answer = json.loads(answered)[command]
        if answer is None:
            raise MistakeError(f"{asked}: vcmtsd has no answer to this")
        if isinstance(answer, dict) and "error" in answer:
            raise MistakeError(f"{asked}: {answer['error']}")
        return answer

    def ask_group(self, command: str, parameter: str | None = None) -> Any:
        """As `ask`, of the service group `group`."""
        if self.group is None:
            return self.ask(command, parameter)
        named = f"group={self.group}"
        return self.ask(command, named if parameter is None else f"{named},{parameter}")

    def scheduler(self, what: str, which: str | None) -> Json:
        """As `ask_group`; lists that come in parts are put together."""
        whole: Json = {}
        if what == "latency":
            whole = self.ask_group(telemetry_latency.COMMAND, which)
            return whole
        if what == "service-groups":
            whole = self.ask(SERVICE_GROUPS, which)
            return whole
        command = f"/vcmts/scheduler/{what}"
        if which is not None or what not in PARTS:
            whole = self.ask_group(command, which)
            return whole
        while part := self.ask_group(command, str(len(whole))):
            whole |= part
        return whole


def folders() -> list[Path]:
    """Where DPDK keeps the sockets of a process, by who started it."""
    named = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    bases = ["/var/run", "/run/vcmts", *named, "/tmp"]  # the second is the service's
    return [Path(base) / "dpdk" for base in dict.fromkeys(bases) if base]


def found(pid: int | None) -> Iterator[Path]:
    for place in believed(folders()):
        yield from matching(place, f"vcmtsd-{pid or '*'}/{SOCKET}")


def connect(path: Path) -> socket.socket | None:
    """None where nobody listens any more, or we may not ask, or another user does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(str(path))
        trust.check_peer(connection, path)
    except (ConnectionRefusedError, PermissionError) as error:
        connection.close()
        if isinstance(error, trust.UntrustedError):
            complain(f"{path}: {error.strerror}; it was passed over")
        return None
    return connection


@contextmanager
def vcmtsd(pid: int | None = None) -> Iterator[Vcmtsd]:
    """The one that is in service, or that of the process ID."""
    alive = [connection for path in found(pid) if (connection := connect(path)) is not None]
    try:
        if not alive:
            raise MistakeError("no vcmtsd in service was found; `vcmtsd run` has telemetry")
        served = [Vcmtsd(connection) for connection in alive]
        if len(served) > 1:
            pids = ", ".join(str(one.pid) for one in served)
            raise MistakeError(f"several are in service: choose one by --pid: {pids}")
        yield served[0]
    finally:
        for connection in alive:
            connection.close()


def mbps(before: Json, after: Json, seconds: float) -> float:
    moved: int = after["bytes"] - before["bytes"]
    return moved * 8e-6 / seconds


def table(title: str, *columns: str) -> Table:
    drawn = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        drawn.add_column(column, justify="right" if number else "left")
    return drawn


def delay_table(delays: Json) -> Table:
    keys = ("mean", "p50", "p99", "p99_9")
    drawn = table("delay in the queues, us", "priority", "packets", *keys)
    for priority, delay in sorted(delays.items(), reverse=True):
        if delay["packets"]:
            told = (f"{delay[f'{key}_ns'] / 1000:.1f}" for key in keys)
            drawn.add_row(priority, f"{delay['packets']:,}", *told)
    return drawn


def channel_table(before: Json, after: Json, seconds: float) -> Table:
    drawn = table("channels", "id", "Mbps", "now", "full", "since the start", "packets")
    for number, channel in after.items():
        rate, now = channel["rate"] / 1e6, mbps(before[number], channel, seconds)
        since = channel["utilisation_ppm"] / 1e6
        told = (f"{rate:,.2f}", f"{now:,.2f}", f"{now / rate:.1%}", f"{since:.1%}")
        drawn.add_row(number, *told, f"{channel['packets']:,}")
    return drawn


def service_group_table(groups: Json) -> Table:
    keys = ("modems", "channels", "upstream_channels")
    drawn = table("service groups", "id", *keys, "name")
    for number, group in groups.items():
        drawn.add_row(number, *(f"{group[key]:,}" for key in keys), group["name"])
    return drawn


def group_table(groups: Json) -> Table:
    drawn = table("bonding groups", "id", "channels", "packets", "early", "mean us", "max us")
    for number, group in groups.items():
        packets = max(group["packets"], 1)
        drawn.add_row(
            number,
            str(group["channels"]),
            f"{group['packets']:,}",
            f"{group['early_packets'] / packets:.1%}",
            f"{group['skew_ns'] / packets / 1000:.1f}",
            f"{group['max_skew_ns'] / 1000:.1f}",
        )
    return drawn


def drops(flow: Json) -> str:
    """By reason: what a flow tells beside what every flow tells."""
    counts = {name: count for name, count in flow.items() if name not in TOLD_BY_ALL}
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def flow_table(before: Json, after: Json, seconds: float) -> Table:
    columns = ("priority", "group", "Mbps", "now", "packets", "waiting", "bytes", "aqm", "drops")
    drawn = table("service flows", "SFID", *columns)
    for number, flow in after.items():
        limit = flow["max_sustained_rate"] / 1e6
        drawn.add_row(
            number,
            str(flow["priority"]),
            str(flow["bonding_group"]),
            f"{limit:,.2f}" if limit else "any",
            f"{mbps(before[number], flow, seconds):,.2f}",
            f"{flow['packets']:,}",
            f"{flow['waiting_packets']:,}",
            f"{flow['waiting_bytes']:,}",
            flow["aqm"],
            drops(flow),
        )
    return drawn


def flows_of(what: str, which: str, answer: Json) -> Json:
    """By SFID, of either question."""
    if what == "flow":
        return {which: answer}
    return {key: value for key, value in answer.items() if isinstance(value, dict)}


def show(asked: Vcmtsd, what: str, which: str | None, interval: float, console: Console) -> None:
    if what == "latency":
        console.print(telemetry_latency.table(asked.ask_group, which))
        return
    before, begun = asked.scheduler(what, which), time.monotonic()
    if what == "delay" and which is not None:
        drawn = table(f"delay of priority {which}", "from us", "packets")
        for floor, packets in before.items():
            drawn.add_row(f"{int(floor) / 1000:.1f}", f"{packets:,}")
    elif what == "delay":
        drawn = delay_table(before)
    elif what == "service-groups":
        drawn = service_group_table(before)
    elif what == "groups":
        drawn = group_table(before)
    else:
        time.sleep(interval)
        after, seconds = asked.scheduler(what, which), time.monotonic() - begun
        if what == "channels":
            drawn = channel_table(before, after, seconds)
        else:
            first, second = (flows_of(what, which or "", answer) for answer in (before, after))
            drawn = flow_table(first, second, seconds)
    console.print(drawn)


def reload(asked: Vcmtsd) -> int:
    line = str(asked.ask("/vcmts/reload"))
    if line.startswith(REFUSED):
        complain(line.removeprefix(REFUSED))
        return 2
    print(line)
    return 0


def main(arguments: argparse.Namespace) -> int:
    what, which = arguments.what, arguments.which
    if what not in COMMANDS and not what.startswith("/"):
        allowed = ", ".join(COMMANDS)
        raise MistakeError(f"WHAT: found {what}, allowed: {allowed}, or a command of DPDK")
    if what in NEEDS_ONE and which is None:
        raise MistakeError(f"{what}: which one? `vcmts telemetry --help` says more")
    if not arguments.interval > 0:
        raise MistakeError(f"--interval: found {arguments.interval}, allowed: more than 0")
    with vcmtsd(arguments.pid) as asked:
        asked.group = arguments.group
        if what == "reload":
            return reload(asked)
        if what.startswith("/"):
            print(json.dumps(asked.ask_group(what, which), indent=2))
        elif arguments.json:
            print(json.dumps(asked.scheduler(what, which), indent=2))
        else:
            show(asked, what, which, arguments.interval, Console(markup=False))
    return 0
