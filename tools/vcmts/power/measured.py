# SPDX-License-Identifier: BSD-3-Clause
"""Measures watts: of the processors by RAPL, of the server by a command of the user.

A reading without watts has a reason instead.
"""

import contextlib
import os
import re
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vcmts.paths import MistakeError
from vcmts.power.rapl import FIRST_READING, POWERCAP, Rapl, Reading

TIMEOUT = 5.0  # s, of a command
MOST_OUTPUT = 1 << 16  # bytes
MOST_WATTS = 100000.0
# The line of ipmitool or FreeIPMI with the present power; others have averages.
NOW = re.compile(r"^\s*(?:Instantaneous power reading|Current Power)\s*:(.*)$", re.M | re.I)
WATTS = re.compile(r"(?<![\w.+-])\d{1,6}(?:\.\d{1,6})?(?=[ \t]*(?:W|Watts?)\b)", re.ASCII | re.I)
PLAIN = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*", re.ASCII)
COMMAND_HELP = (
    "command that prints the server's watts, such as 'ipmitool dcmi power reading'; run without a "
    "shell"
)


@dataclass(frozen=True)
class Measured:
    cpu: Reading
    platform: Reading


def parse_watts(output: str) -> Reading:
    """Parses a command's output: a number, one with its unit, or IPMI's line of present power."""
    plain = PLAIN.fullmatch(output)
    labelled = NOW.findall(output)
    if plain:
        found = [plain[1]]
    elif len(labelled) == 1:
        found = WATTS.findall(labelled[0])
    else:
        found = WATTS.findall(output)
    if len(found) != 1:
        return Reading(None, f"found {len(found)} values in watts, allowed: one")
    watts = float(found[0])
    if not 0 < watts <= MOST_WATTS:
        return Reading(None, f"found {watts:g} W, allowed: above 0, at most {MOST_WATTS:g}")
    return Reading(watts)


def split_command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise MistakeError(f"--watts-command: found {command!r}: {error}") from error
    if not words:
        raise MistakeError("--watts-command: found nothing, allowed: a command")
    return words


def read_output(child: subprocess.Popen[bytes], until: float) -> tuple[bytes, str]:
    """Reads a child's stdout until `until`. Returns it, and why it is incomplete, or ""."""
    assert child.stdout is not None
    output = b""
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
            return output, "took too long"
        part = os.read(child.stdout.fileno(), MOST_OUTPUT)
        if not part:
            break
        output += part
        if len(output) > MOST_OUTPUT:
            return output, "wrote too much"
    while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() >= until:
            return output, "took too long"
        time.sleep(0.005)
    return output, ""


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kills the process group of a child. The child was not reaped, so its ID is still valid."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def run_command(words: list[str], timeout: float = TIMEOUT) -> Reading:
    """Runs the command, and returns the watts that it prints, or why there are none."""
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Reading(None, f"{words[0]}: {getattr(error, 'strerror', None) or error}")
    with child:
        try:
            output, reason = read_output(child, time.monotonic() + timeout)
        finally:
            kill_group(child)
    if reason:
        return Reading(None, f"{words[0]}: {reason}")
    if child.returncode != 0:
        return Reading(None, f"{words[0]}: exit status {child.returncode}")
    reading = parse_watts(output.decode("utf-8", "replace"))
    return reading if reading.watts is not None else Reading(None, f"{words[0]}: {reading.reason}")


class Sampler:
    """Samples watts of processors and server. A command may take seconds."""

    def __init__(self, command: str | None = None, root: Path = POWERCAP) -> None:
        """Raises MistakeError if the command cannot be split into words."""
        self.rapl = Rapl(root)
        self.words = split_command(command) if command is not None else None

    def sample(self, now: float) -> Measured:
        """`now`: seconds of time.monotonic(), or of another clock that only goes forward."""
        cpu = self.rapl.sample(now)
        if self.words is None:
            return Measured(cpu, Reading(None, "no --watts-command"))
        return Measured(cpu, run_command(self.words))


class Joules:
    """The energy used since the first sample, by "cpu" and "platform", in joules.

    A key is missing if its last sample failed, or its measurement had a gap; `reasons` says why.
    """

    def __init__(self, sampler: Sampler, clock: Callable[[], float] = time.monotonic) -> None:
        self.sampler = sampler
        self.clock = clock
        self.reasons: dict[str, str] = {}
        self._sums: dict[
            str, tuple[float, float]
        ] = {}  # time of the last sample, joules until then
        self._broken: set[str] = set()

    def _add(self, what: str, reading: Reading, now: float) -> float | None:
        begins = reading.reason == FIRST_READING if what == "cpu" else reading.watts is not None
        if what not in self._sums and begins:
            self._sums[what] = (now, 0.0)
            return 0.0
        if what in self._sums and reading.reason == FIRST_READING:
            self._broken.add(what)
            self.reasons[what] = "the measurement had a gap"
        if reading.watts is None or what not in self._sums or what in self._broken:
            self.reasons.setdefault(what, reading.reason)
            return None
        since, joules = self._sums[what]
        joules += reading.watts * (now - since)
        self._sums[what] = (now, joules)
        return joules

    def __call__(self) -> dict[str, float]:
        now = self.clock()
        sample_now = self.sampler.sample(now)
        found = {
            "cpu": self._add("cpu", sample_now.cpu, now),
            "platform": self._add("platform", sample_now.platform, now),
        }
        return {what: joules for what, joules in found.items() if joules is not None}
