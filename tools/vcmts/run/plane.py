# SPDX-License-Identifier: BSD-3-Clause
"""Runs vcmtsd as a child process, and makes the memif pairs that join it to the traffic program."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from vcmts.child import Stopped, start
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify, program
from vcmts.system import cores

# Packets per direction of a memif: several milliseconds, as the kernel may take a core away for so
# long. A buffer must have the size of a whole frame: DPDK 22.11 fails with longer ones.
WIRE = 2**13
MEMIF = (
    "net_memif{name},role={role},id={id},socket-abstract=no,socket={socket}"
    ",rsize={log},bsize={size}"
)
SMALLEST_BUFFER = 2048
ETHERNET_HEADER = 18  # with a VLAN tag
# In a device: replaced by the index of the service group, if each group has its own ports.
GROUP = "{group}"
# The port for management messages: it discards and counts them.
CONTROL, CONTROLS = "net_null0", f"net_null{GROUP}"
START_SECONDS = 600  # tables of 30,000 modems take a minute
STOP_SECONDS = 30


@dataclass(frozen=True)
class Ends:
    """The two ends of one wire, as device arguments."""

    server: str
    client: str


def facts_of(config: Path) -> Json:
    """The facts that `vcmtsd check` prints. Raises MistakeError for an invalid configuration."""
    command = [str(program("vcmtsd")), "check", "--json", "--config", str(config)]
    found = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if found.returncode != 0:
        raise MistakeError(f"{config}: invalid configuration; the errors are printed above")
    facts: Json = json.loads(found.stdout)
    return facts


def make_wire(
    folder: Path, number: int, name: str, mtu: int, *, own: bool = False, packets: int = WIRE
) -> Ends:
    """A memif for up to `packets`, a power of two, per direction; `own`: one per service group."""
    suffix = GROUP if own else ""
    socket = folder / f"{name}{suffix}.sock"
    size, log = max(SMALLEST_BUFFER, mtu + ETHERNET_HEADER), packets.bit_length() - 1
    server, client = (
        MEMIF.format(
            name=f"{suffix}{number}", id=number, role=role, socket=socket, log=log, size=size
        )
        for role in ("server", "client")
    )
    return Ends(server, client)


def free_core(busy: list[int]) -> int:
    """A core for the traffic program: not in `busy`, if this process may use another one. Without a
    free one, it shares one of another program."""
    allowed = [*cores.usable(), *sorted(os.sched_getaffinity(0))]
    return next((core for core in allowed if core not in busy), allowed[0])


def ended_text(name: str, status: int) -> str:
    return f"{name} ended with status {status}; its messages are printed above"


def wait_until_ready(ready: Path, plane: subprocess.Popen[bytes], stopped: Stopped) -> None:
    """Waits until vcmtsd creates the file `ready`, or a signal asks to stop. Raises MistakeError if
    vcmtsd ends or takes longer than START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    while not stopped.by_signal and not ready.exists():
        if plane.poll() is not None:
            raise MistakeError(ended_text("vcmtsd", plane.returncode))
        if time.monotonic() > deadline:
            raise MistakeError(f"vcmtsd was not ready within {START_SECONDS} s")
        time.sleep(0.02)


@contextmanager
def data_plane(
    config: Path,
    ends: list[Ends],
    result: Path,
    stopped: Stopped,
    stderr: IO[bytes] | None = None,
    *,
    latency: bool = False,
    several: bool = False,
    control: str | None = "none",
    metrics: str | None = None,
    options: Sequence[str] = (),
    messages: IO[bytes] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs vcmtsd during the context; SIGINT stops it at the end, and it writes `result`.

    Its messages go to the file `stderr`, and are printed if it fails; else to `messages`; None for
    both: to the tool's stderr.
    `several`: each service group has its own port for management messages. `control`: its control
    socket; None: vcmtsd chooses one. `metrics`: its HTTP endpoint; None: none. `options`: more
    options."""
    command = [str(program("vcmtsd")), "run", "--config", str(config), "--json", str(result)]
    ready = result.with_suffix(".ready")
    command += ["--network", ends[0].server, "--rphy", ends[1].server]
    command += ["--control", CONTROLS if several else CONTROL]
    command += ["--ready", str(ready)]
    command += ["--latency"] if latency else []
    command += ["--control-socket", control] if control is not None else []
    command += ["--metrics", metrics] if metrics is not None else []
    command += options
    plane = start(command, quiet=True, stderr=stderr or messages)
    try:
        wait_until_ready(ready, plane, stopped)
        yield plane
    finally:
        plane.send_signal(signal.SIGINT)
        try:
            plane.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            plane.kill()
            plane.wait()
        if plane.returncode != 0 and stderr is not None:
            stderr.seek(0)
            print(stderr.read().decode(errors="replace"), end="", file=sys.stderr)
    if plane.returncode != 0:
        notify(ended_text("vcmtsd", plane.returncode))
