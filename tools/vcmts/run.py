# SPDX-License-Identifier: BSD-3-Clause
"""vcmts run: the data plane and the traffic around it, two processes joined by memif.

vcmtsd serves the service group on one core, vcmts-traffic sends, receives and proves every packet
on another. Their results are put together into one summary.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vcmts.paths import MistakeError, complain, program
from vcmts.profile import write_profile

# 2^13 packets in flight in each direction of a memif: several milliseconds, as the machine may take
# a core away for that long. A buffer holds a whole frame: DPDK 22.11 trips over longer ones.
MEMIF = "net_memif{id},role={role},id={id},socket-abstract=no,socket={socket},rsize=13,bsize={size}"
SMALLEST_BUFFER = 2048
ETHERNET_HEADER = 14
START_SECONDS = 60
STOP_SECONDS = 30


@dataclass(frozen=True)
class Ends:
    """The two ends of one wire, as device arguments."""

    server: str
    client: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--config", metavar="FILE", help="service group (YAML)")
    group.add_argument(
        "--profile",
        metavar="NAME",
        default="6ofdm-0sc-qam_300cms_aes",
        help="published configuration instead of a file (default: %(default)s)",
    )
    parser.add_argument(
        "--traffic", metavar="MIX", default="imix", help="imix, a size, or 84:15,256:10,1280:75"
    )
    parser.add_argument(
        "--rate", default="4Gbps", help="of IP packets to the modems, or max (default: %(default)s)"
    )
    parser.add_argument("--duration", default="10s", help="default: %(default)s")
    parser.add_argument("--core", type=int, help="core of vcmts-traffic (default: a free one)")
    parser.add_argument("--json", metavar="FILE", help="write the summary")


def facts_of(config: Path) -> dict[str, Any]:
    """What vcmtsd's own loader found in the configuration."""
    command = [str(program("vcmtsd")), "check", "--json", "--config", str(config)]
    found = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        raise MistakeError(f"{config}: cannot be used; the mistakes are above")
    facts: dict[str, Any] = json.loads(found.stdout)
    return facts


def wire(folder: Path, number: int, name: str, mtu: int) -> Ends:
    socket = folder / f"{name}.sock"
    size = max(SMALLEST_BUFFER, mtu + ETHERNET_HEADER)
    server, client = (
        MEMIF.format(id=number, role=role, socket=socket, size=size)
        for role in ("server", "client")
    )
    return Ends(server, client)


def free_core(busy: list[int]) -> int:
    """A core for the traffic: none of the data plane's, if the process may use another one."""
    allowed = sorted(os.sched_getaffinity(0))
    return next((core for core in allowed if core not in busy), allowed[0])


def die_with_parent() -> None:
    """For the child: SIGTERM when this tool ends, however it ends (prctl PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def parse_failure(name: str, status: int) -> str:
    return f"{name} ended with status {status}; its messages are above"


@contextmanager
def data_plane(config: Path, network: Ends, rphy: Ends, result: Path) -> Iterator[None]:
    """vcmtsd, stopped by SIGINT at the end and then waited for: it writes `result` last."""
    command = [str(program("vcmtsd")), "run", "--config", str(config), "--json", str(result)]
    command += ["--network", network.server, "--rphy", rphy.server]
    # A session of its own: Ctrl-C is for the traffic, which must collect before vcmtsd stops.
    process = subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, preexec_fn=die_with_parent
    )
    try:
        sockets = [Path(end.server.split("socket=")[1].split(",")[0]) for end in (network, rphy)]
        deadline = time.monotonic() + START_SECONDS
        while not all(socket.exists() for socket in sockets):
            if process.poll() is not None:
                raise MistakeError(parse_failure("vcmtsd", process.returncode))
            if time.monotonic() > deadline:
                raise MistakeError(f"vcmtsd did not open its ports within {START_SECONDS} s")
            time.sleep(0.02)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
    if process.returncode != 0:
        complain(parse_failure("vcmtsd", process.returncode))


def traffic(
    config: Path, network: Ends, rphy: Ends, result: Path, core: int, arguments: argparse.Namespace
) -> int:
    command = [str(program("vcmts-traffic")), "--config", str(config), "--json", str(result)]
    command += ["--network", network.client, "--rphy", rphy.client]
    command += ["--mix", arguments.traffic, "--rate", arguments.rate]
    command += ["--duration", arguments.duration, "--core", str(core), "--main-core", str(core)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=die_with_parent)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # it got the signal too: it stops sending, collects and reports


def merge(plane: dict[str, Any], proven: dict[str, Any]) -> dict[str, Any]:
    """One summary: what the traffic proved, and what it cost the data plane."""
    summary: dict[str, Any] = dict(proven)
    summary["downstream"] = dict(proven["downstream"])
    for key in ("cycles_per_packet", "drops", "counters", "balanced", "held"):
        if key in plane["downstream"]:
            summary["downstream"][key] = plane["downstream"][key]
    for key in ("workers", "ports", "host"):
        summary[key] = plane[key]
    return summary


def table(title: str, columns: tuple[str, str], rows: list[tuple[str, str]]) -> Table:
    drawn = Table(title=title, title_justify="left")
    drawn.add_column(columns[0])
    drawn.add_column(columns[1], justify="right")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def show(summary: dict[str, Any], console: Console) -> None:
    down = summary["downstream"]
    host = summary["host"]
    cycles = down.get("cycles_per_packet", {"total": 0.0, "stages": {}})
    latency = down["latency_us"]
    rows = [(name, f"{value:.1f}") for name, value in cycles["stages"].items()]
    rows.append(("all stages", f"{cycles['total']:.1f}"))
    title = (
        f"cycles a packet, TSC {host['tsc_hz'] / 1e9:.2f} GHz, core {host['core_hz'] / 1e9:.2f} GHz"
    )
    console.print(table(title, ("stage", "cycles"), rows))
    counts = [(key, f"{down[key]:,}") for key in ("sent", "proven", "lost", "duplicated")]
    counts += [(key, f"{down[key]:,}") for key in ("reordered", "corrupted")]
    drops = [(f"dropped: {key}", f"{count:,}") for key, count in down["drops"].items() if count]
    rates = [
        ("throughput", f"{down['gbps']:.2f} Gbps"),
        ("of the data plane's core busy", f"{summary['workers'][0]['busy_share']:.0%}"),
    ]
    delays = [(f"latency {key}", f"{latency[key]:.0f} us") for key in latency]
    console.print(table("downstream", ("", "packets"), counts + drops + rates + delays))
    verdict = "every packet proven" if down["proven"] == down["sent"] else "NOT every packet proven"
    console.print(
        f"{verdict}: {down['proven']:,} of {down['sent']:,} at {down['gbps']:.2f} Gbps, "
        f"{down['lost']:,} lost, in {down['seconds']:.1f} s"
    )


def carry(config: Path, folder: Path, arguments: argparse.Namespace) -> int:
    """Runs both programs on the configuration. Returns the exit status."""
    facts = facts_of(config)
    network = wire(folder, 0, "network", facts["mtu"])
    rphy = wire(folder, 1, "rphy", facts["mtu"])
    core = free_core(facts["cores"]) if arguments.core is None else arguments.core
    plane, proven = folder / "vcmtsd.json", folder / "traffic.json"
    with data_plane(config, network, rphy, plane):
        status = traffic(config, network, rphy, proven, core, arguments)
    if not plane.exists() or not proven.exists():
        complain("no summary: a program ended early; its messages are above")
        return max(status, 1)
    summary = merge(
        json.loads(plane.read_text(encoding="utf-8")),
        json.loads(proven.read_text(encoding="utf-8")),
    )
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    show(summary, Console(file=sys.stdout))
    return status if summary["downstream"].get("balanced", False) else max(status, 1)


def main(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="vcmts-") as name:
        folder = Path(name)
        config = Path(arguments.config) if arguments.config else folder / "sg.yaml"
        if not arguments.config:
            with config.open("w", encoding="utf-8") as out:
                write_profile(arguments.profile, out)
        elif not config.is_file():
            raise MistakeError(f"{config}: no such file; `./vcmts profile NAME > FILE` writes one")
        return carry(config, folder, arguments)
