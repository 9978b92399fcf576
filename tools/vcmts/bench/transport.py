# SPDX-License-Identifier: BSD-3-Clause
"""Starts the data plane and the traffic program for trials, joined by one of three transports.

rings: one process with both, joined by rings. memif: two processes, joined by shared memory. ports:
two processes on given devices.
"""

import argparse
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vcmts.bench import trials
from vcmts.bench.verdict import RING
from vcmts.child import Stopped
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.paths import TOOL, MistakeError, RefusalError, notify, program
from vcmts.run.plane import Ends, data_plane, ended_text, free_core, make_wire
from vcmts.telemetry import latency as telemetry_latency
from vcmts.telemetry.plane import Plane
from vcmts.telemetry.plane import plane as opened_plane

Ask = Callable[[Json], Json]

TRANSPORTS = ("rings", "memif", "ports")
CORES_NEEDED = 2
CONFIGURED_RING = 4096  # packets, default of queue_size


@dataclass(frozen=True)
class Programs:
    """Both programs, ready for trials."""

    ask: Ask
    host: Json
    ring: int  # packets that a wire buffers per direction


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transport",
        choices=TRANSPORTS,
        default="rings",
        help="rings: data plane and traffic in one process; memif: vcmtsd and vcmts-traffic joined "
        "by memif; ports: both on the devices of --network and --rphy (default: %(default)s)",
    )
    for port in ("network", "rphy"):
        parser.add_argument(
            f"--{port}",
            nargs=2,
            metavar=("VCMTSD", "TRAFFIC"),
            help=f"DPDK devices of both ends of the {port} wire, with --transport ports",
        )
    parser.add_argument("--core", type=int, help="core of the traffic (default: a free one)")


def wire_ends(given: argparse.Namespace, folder: Path, mtu: int) -> list[Ends]:
    """The ends of the network wire and the R-PHY wire; empty for rings. Raises MistakeError."""
    named = {"--network": given.network, "--rphy": given.rphy}
    if given.transport == "ports":
        for option, devices in named.items():
            if devices is None:
                raise MistakeError(f"{option}: missing; needed: two devices, VCMTSD TRAFFIC")
        return [Ends(*devices) for devices in named.values()]
    for option, devices in named.items():
        if devices is not None:
            raise MistakeError(f"{option}: allowed only with --transport ports")
    if given.transport == "rings":
        return []
    return [make_wire(folder, n, name, mtu) for n, name in enumerate(("network", "rphy"))]


def traffic_core(facts: Json, core: int | None) -> int:
    """The core of the traffic program. Raises MistakeError if the data plane uses it too."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < CORES_NEEDED:
        raise MistakeError(
            f"found {len(allowed)} usable core, needed: {CORES_NEEDED}, as data plane and traffic "
            f"each poll on one; `{TOOL} bench pipeline` needs only one"
        )
    chosen = free_core(facts["cores"]) if core is None else core
    result = ", ".join(map(str, allowed))
    if chosen not in allowed:
        raise MistakeError(f"--core: found {chosen}, allowed: {result}")
    if chosen in facts["cores"]:
        raise MistakeError(
            f"--core: found {chosen}, which the configuration assigns to the data plane, allowed: "
            f"another of {result}; change the configuration, or --core"
        )
    return chosen


def read_counters(telemetry: Plane | None) -> Json:
    """Counters of vcmtsd. The longest gap is that since the last reading. Empty without
    `telemetry`."""
    if telemetry is None:
        return {}
    counts = telemetry.counts()
    drops = {way: counts[way]["drops"] for way in DIRECTIONS if way in counts}
    return {"workers": telemetry.workers(anew=True), "drops": drops}


def worker_difference(before: Json, after: Json) -> Json:
    busy, idle = (after[key] - before[key] for key in ("busy_cycles", "idle_cycles"))
    count = after["descheduled"] - before["descheduled"]
    return {
        "name": after["name"],
        "descheduled": {"count": count, "longest_us": after["longest_since_ns"] / 1e3},
        "busy_share": busy / (busy + idle) if busy + idle else 0.0,
        "busy_cycles": busy,
    }


def difference(before: Json, after: Json) -> Json:
    """The differences of two readings, in the form of vcmts-bench-throughput's answers."""
    if not before:
        return {}
    workers = after["workers"]
    drops = {
        way: {
            reason: count - before["drops"][way][reason]
            for reason, count in after["drops"][way].items()
            if count != before["drops"][way][reason]
        }
        for way in DIRECTIONS
        if way in after["drops"]
    }
    result = [worker_difference(*both) for both in zip(before["workers"], workers, strict=True)]
    return {"workers": result, "drops": drops}


def latencies_begin(telemetry: Plane | None, request: Json) -> None:
    """Resets the latencies of vcmtsd, if the trial measures them."""
    if telemetry is not None and request["latency"]:
        telemetry_latency.answer(telemetry, reset=True)


def latencies_end(telemetry: Plane | None, request: Json) -> Json:
    """The latencies since latencies_begin(), in the form of vcmts-bench-throughput's answers."""
    if telemetry is None or not request["latency"]:
        return {}
    measured = telemetry_latency.read(telemetry, reset=False)
    result = {way: one if one["histogram"] else None for way, one in measured.items()}
    return {"pipeline_latency_us": result}


@contextmanager
def connect(control: Path) -> Iterator[Plane | None]:
    """Connects to the control socket of a vcmtsd; None if there is none."""
    with ExitStack() as stack:
        try:
            telemetry = stack.enter_context(opened_plane(given=control))
        except (MistakeError, RefusalError):
            notify(
                "vcmtsd has no control socket: losses by lost cores cannot be recognized, and the "
                "limiting part is unknown"
            )
            yield None
            return
        yield telemetry


def ask_both(
    serving: trials.Server, plane: subprocess.Popen[bytes], telemetry: Plane | None
) -> Ask:
    """A function that makes a trial with the traffic program, and adds the counters of vcmtsd."""

    def ask(request: Json) -> Json:
        try:
            before = read_counters(telemetry)
            latencies_begin(telemetry, request)
            answer = serving.ask(request)
            after = read_counters(telemetry)
            answer |= latencies_end(telemetry, request)
        except (MistakeError, RefusalError, OSError) as error:
            if plane.poll() is None:
                raise
            raise trials.ProgramError(ended_text("vcmtsd", plane.returncode)) from error
        if plane.poll() is not None:
            raise trials.ProgramError(ended_text("vcmtsd", plane.returncode))
        return answer | difference(before, after)

    return ask


@contextmanager
def open_programs(
    config: Path, facts: Json, folder: Path, given: argparse.Namespace, stopped: Stopped
) -> Iterator[Programs]:
    """Runs the programs of a transport. vcmtsd measures latency if `given.latency` is set."""
    core = traffic_core(facts, given.core)
    wires = wire_ends(given, folder, facts["mtu"])
    cores = ["--core", str(core), "--main-core", str(core)]
    if not wires:
        command = [str(program("vcmts-bench-throughput")), "--config", str(config), *cores[:2]]
        with trials.start_server(command, folder, stopped) as serving:
            ring = serving.ready.get("depth", CONFIGURED_RING)
            yield Programs(serving.ask, serving.ready["host"], ring)
        return
    command = [str(program("vcmts-traffic")), "--config", str(config), "--trials", *cores]
    command += ["--network", wires[0].client, "--rphy", wires[1].client]
    control, result = folder / "control.sock", folder / "vcmtsd.json"
    with (
        (folder / "vcmtsd.said").open("w+b") as stderr,
        data_plane(
            config, wires, result, stopped, stderr, latency=given.latency, control=str(control)
        ) as plane,
    ):
        if stopped.by_signal:
            raise trials.StopError(stopped.text)
        with (
            trials.start_server(command, folder, stopped) as serving,
            connect(control) as telemetry,
        ):
            yield Programs(ask_both(serving, plane, telemetry), serving.ready["host"], RING)
