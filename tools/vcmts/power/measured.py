# SPDX-License-Identifier: BSD-3-Clause
"""Measures watts: of the processors by RAPL, of the server by a command of the user.

Failures are never exceptions: a Reading without watts has the reason.
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

TIMEOUT = 5.0  # s until a command is killed
REAP_S = 1.0  # s to wait for a killed child
MOST_OUTPUT = 1 << 16  # bytes
MOST_WATTS = 100000.0
# The line with the present power, of ipmitool or FreeIPMI; their other lines have averages.
PRESENT_LINE = re.compile(
    r"^\s*(?:Instantaneous power reading|Current Power)\s*:(.*)$", re.M | re.I
)
WATTS = re.compile(r"(?<![\w.+-])\d{1,6}(?:\.\d{1,6})?(?=[ \t]*(?:W|Watts?)\b)", re.ASCII | re.I)
NUMBER_ALONE = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*", re.ASCII)
COMMAND_HELP = (
    "command that prints the server's watts, such as 'ipmitool dcmi power reading'; run without a "
    "shell"
)


@dataclass(frozen=True)
class Measured:
    cpu: Reading
    platform: Reading


def parse_watts(output: str) -> Reading:
    """Parses a number, a text with one value in W, or IPMI's line of present power."""
    alone = NUMBER_ALONE.fullmatch(output)
    labelled = PRESENT_LINE.findall(output)
    if alone:
        found = [alone[1]]
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
    """The words of a command. Raises MistakeError for none, or an open quote."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise MistakeError(f"--watts-command: found {command!r}: {error}") from error
    if not words:
        raise MistakeError("--watts-command: empty; give a command")
    return words


def read_output(child: subprocess.Popen[bytes], until: float) -> tuple[bytes, str]:
    """Reads a child's stdout to its end, and waits for the child's exit, but does not reap it.

    Both until `until`, s of time.monotonic(). Returns the output, and why it is incomplete or "".
    """
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
    """Kills the process group of a child, and reaps it. The caller must not have reaped it.

    A child of another user, such as sudo, cannot be killed. If it runs on, it is not reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(REAP_S)


def run_command(words: list[str], timeout: float = TIMEOUT) -> Reading:
    """Runs a command, and returns the watts that it prints. Kills it after `timeout` s."""
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
    assert child.stdout is not None
    with child.stdout:
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
    """Samples watts of processors and server. sample() blocks while the command runs."""

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
    """The energy since the first good sample of each key, "cpu" and "platform", in joules.

    "platform" takes the last watts for the whole time since the good sample before. A key is
    missing if the last sample failed, and from then on after a gap in RAPL's counters. `reasons`
    keeps the first failure of a key, or its gap.
    """

    def __init__(self, sampler: Sampler, clock: Callable[[], float] = time.monotonic) -> None:
        self.sampler = sampler
        self.clock = clock
        self.reasons: dict[str, str] = {}
        # By key: clock() of the last good sample, joules until then.
        self._sums: dict[str, tuple[float, float]] = {}
        self._broken: set[str] = set()  # keys with a gap

    def _add(self, key: str, reading: Reading, now: float) -> float | None:
        begins = reading.reason == FIRST_READING if key == "cpu" else reading.watts is not None
        if key not in self._sums and begins:
            self._sums[key] = (now, 0.0)
            return 0.0
        if key in self._sums and reading.reason == FIRST_READING:
            self._broken.add(key)
            self.reasons[key] = "the measurement had a gap"
        if reading.watts is None or key not in self._sums or key in self._broken:
            self.reasons.setdefault(key, reading.reason)
            return None
        since, joules = self._sums[key]
        joules += reading.watts * (now - since)
        self._sums[key] = (now, joules)
        return joules

    def __call__(self) -> dict[str, float]:
        now = self.clock()
        sample_now = self.sampler.sample(now)
        found = {
            "cpu": self._add("cpu", sample_now.cpu, now),
            "platform": self._add("platform", sample_now.platform, now),
        }
        return {key: joules for key, joules in found.items() if joules is not None}
