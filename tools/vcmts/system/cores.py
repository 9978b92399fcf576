# SPDX-License-Identifier: BSD-3-Clause
"""Finds the cores that other programs poll, so that a run takes free ones first and names whom it
shares a core with.

A run claims its cores by datagram sockets with abstract names, which end with the process. They are
visible to all users of the network namespace. Other programs are found by their threads in /proc.
"""

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Set

from vcmts.system.processes import PROC, Process, process, user_name

CLAIM = "vcmts-core-{core}-{pid}"
CLAIMED = re.compile(r"@vcmts-core-(\d+)-(\d+)$", re.MULTILINE)
CHOICE = "\0vcmts-choice-of-cores"  # bound by the run that chooses at the moment
CHOICE_SECONDS = 10  # longer than a run needs to choose
POLLER = "rte-worker"  # names of DPDK's polling threads begin so
KERNEL_THREAD = 0x00200000  # flag in /proc/PID/stat
LISTED = 3  # processes in a message
DATAGRAM_MAX = 20  # bytes of a process ID

Users = dict[int, dict[int, str]]  # by core: processes by ID, as text


def text_of(one: Process) -> str:
    user = "" if one.user == os.geteuid() else f" of {user_name(one.user)}"
    return f"{one.name} (process {one.pid}{user})"


def listed(holders: dict[int, str]) -> str:
    """Lists processes, at most LISTED of them."""
    texts = list(holders.values())
    more = f" and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
    return ", ".join(texts[:LISTED]) + more


def polled_core(folder: str, thread: str) -> int | None:
    """The core of a polling thread: one of DPDK's, or one that runs now and may use no other core.
    None: it does not poll."""
    try:
        with open(f"{folder}/{thread}/stat", encoding="utf-8", errors="replace") as line:
            name, _, rest = line.read().partition("(")[2].rpartition(")")
        fields = rest.split()
        if int(fields[6]) & KERNEL_THREAD or not (name.startswith(POLLER) or fields[0] == "R"):
            return None
        cores = os.sched_getaffinity(int(thread))
    except (OSError, ValueError, IndexError):
        return None
    return next(iter(cores)) if len(cores) == 1 else None


def polled() -> Users:
    """The cores that programs poll."""
    found: Users = {}
    for name in filter(str.isdecimal, os.listdir(PROC)):
        folder = f"{PROC}/{name}/task"
        with contextlib.suppress(OSError):
            for core in {polled_core(folder, thread) for thread in os.listdir(folder)} - {None}:
                one = process(int(name))
                if core is not None and one is not None:
                    found.setdefault(core, {})[one.pid] = text_of(one)
    return found


def run_text(pid: int) -> str:
    return f"`vcmts run` (process {pid})"


def claimed() -> Users:
    """The cores that runs of the tool have claimed, also before their programs poll."""
    found: Users = {}
    try:
        names = (PROC / "net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return found
    for core, pid in CLAIMED.findall(names):
        one = process(int(pid))
        if one is not None:
            found.setdefault(int(core), {})[one.pid] = run_text(one.pid)
    return found


def parents(pid: int) -> Iterator[int]:
    """The process and its parents."""
    while pid > 0:
        yield pid
        try:
            stat = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        pid = int(stat.rpartition(")")[2].split()[1])


def users() -> Users:
    """The cores in use by other programs than this process and its children. Programs of a run are
    named by the run."""
    found, polling = claimed(), polled()
    runs = {pid for holders in found.values() for pid in holders}
    for core, others in polling.items():
        for pid, text in others.items():
            above = set(parents(pid))
            if os.getpid() not in above and not above & runs:
                found.setdefault(core, {})[pid] = text
    for holders in found.values():
        holders.pop(os.getpid(), None)
    return {core: holders for core, holders in found.items() if holders}


def free_first(allowed: Iterable[int], taken: Set[int]) -> list[int]:
    """The cores for a program that polls, of those allowed: the free ones, if it can poll one and
    another remains for the rest. With one free core it polls that, which is the last."""
    cores = sorted(allowed)
    free = [core for core in cores if core not in taken]
    if len(free) >= 2 or not free:
        return free or cores
    return [*(core for core in cores if core in taken)][:1] + free


def usable() -> list[int]:
    """The cores that this process may use, the free ones if there are enough."""
    return free_first(os.sched_getaffinity(0), users().keys())


def share_of(pid: int, core: int) -> float | None:
    """The share of a core that the polling thread of a process got, of the time in which it could
    run. None: not known."""
    for thread in (PROC / str(pid) / "task").glob("*"):
        try:
            name = (thread / "comm").read_text(encoding="utf-8", errors="replace")
            if not name.startswith(POLLER) or os.sched_getaffinity(int(thread.name)) != {core}:
                continue
            ran, waited, _ = map(int, (thread / "schedstat").read_text(encoding="utf-8").split())
        except (OSError, ValueError):
            continue
        return ran / (ran + waited) if ran + waited > 0 else None
    return None


class Claims:
    """The cores of a run: those that it claims, whom it shared them with, and its share of them.

    From the start of the context until claim(), no other run chooses cores, as both would choose
    the same free ones."""

    def __init__(self) -> None:
        self._choosing = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sockets: dict[int, socket.socket] = {}
        self._sharing: Users = {}
        self.shares: dict[int, float] = {}

    def __enter__(self) -> "Claims":
        """Waits until no other run chooses, for at most CHOICE_SECONDS."""
        deadline = time.monotonic() + CHOICE_SECONDS
        while time.monotonic() < deadline:
            try:
                self._choosing.bind(CHOICE)
                break
            except OSError:
                time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        for held in (self._choosing, *self._sockets.values()):
            held.close()

    def claim(self, cores: Iterable[int]) -> Users:
        """Claims cores. Returns who uses them already, and tells other runs about this one."""
        for core in cores:
            held = self._sockets[core] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            with contextlib.suppress(OSError):  # this process has another run
                held.bind("\0" + CLAIM.format(core=core, pid=os.getpid()))
        self._choosing.close()
        found = self._add(users())
        for core, holders in found.items():
            for pid in holders:
                name = "\0" + CLAIM.format(core=core, pid=pid)
                with contextlib.suppress(OSError):  # not a run, or it has ended
                    self._sockets[core].sendto(str(os.getpid()).encode(), name)
        return found

    def _add(self, found: Users) -> Users:
        """Adds users of cores to those known. Returns those of claimed cores."""
        own = {core: holders for core, holders in found.items() if core in self._sockets}
        for core, holders in own.items():
            self._sharing.setdefault(core, {}).update(holders)
        return own

    def sharing(self) -> Users:
        """Whom this run shared its cores with until now, also runs that have ended."""
        self._add(users())
        for core, held in self._sockets.items():
            with contextlib.suppress(OSError, ValueError):
                while True:
                    pid = int(held.recv(DATAGRAM_MAX, socket.MSG_DONTWAIT))
                    self._sharing.setdefault(core, {})[pid] = run_text(pid)
        return self._sharing

    @contextlib.contextmanager
    def watched(self, pids: dict[int, int]) -> Iterator[None]:
        """Reads the shares of this run's processes (by core) once per second in the context."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(1):
                found = {core: share_of(pid, core) for core, pid in pids.items()}
                self.shares |= {core: share for core, share in found.items() if share is not None}

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
