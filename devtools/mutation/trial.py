# SPDX-License-Identifier: BSD-3-Clause
"""Tries a mutant: writes it into a copy, builds it, and runs the tests of its area. Threads try
several mutants at a time, each in its own copy.

A mutant is also killed if a test exceeds its limits. The main limit is CPU time, which hardly
depends on the machine's load; a limit of wall time stops tests that sleep. An exceeded limit counts
only if the same test then meets the same limits without the mutant.
"""

import contextlib
import filecmp
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from mutation.operators import Mutant
from mutation.trees import Test, Tree

# Limit of a test: its time without a mutant * FACTOR + SECONDS.
PROCESSOR_SECONDS, PROCESSOR_FACTOR = 2, 5
WALL_SECONDS, WALL_FACTOR = 60, 40
ATTEMPTS = 3  # with doubled limits, if the test without the mutant exceeds them too
FIRST_TESTS = 2  # built and run before the others, as they kill most mutants
# Limits of each process of a test, in bytes: its data (RLIMIT_DATA), and the size of a file, as
# servers have their packet memory in files.
LIMITS = ["--core=0", f"--data={4 << 30}", f"--fsize={2 << 30}"]
SKIPPED = 77  # exit status of a skipped test
OUTPUT_BYTES = 4000  # printed of a test that fails without a mutant


class BusyError(RuntimeError):
    """A test exceeds even the largest limits without a mutant."""


@dataclass(frozen=True)
class CommandResult:
    """Result of a command."""

    good: bool  # passed or skipped
    # exceeded a limit, or failed after more than half of its CPU time: a child may have exceeded it
    late: bool = False
    processor: float = 0  # seconds
    wall: float = 0  # seconds


@dataclass
class Verdict:
    """Outcome of a mutant: killed, survived, same (equal programs), unbuilt or undecided."""

    mutant: Mutant
    outcome: str
    by: str = ""  # the test that killed it, or an error
    seconds: float = 0
    reason: str = ""  # from AREA.toml: why no test can kill it

    @property
    def is_unexplained(self) -> bool:
        """Survived or undecided, without a reason. The run then exits with status 1."""
        return self.outcome in ("survived", "undecided") and not self.reason


@dataclass
class Record:
    """By test: seconds without a mutant. By file: how many mutants each test killed."""

    processor: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    kills: dict[str, Counter[str]] = field(default_factory=dict)

    def worth(self, test: Test, mutant: Mutant) -> float:
        """Estimated kills per second of CPU time. The estimate is higher for tests whose names have
        words of the file's name."""
        kills = self.kills.get(mutant.file, Counter())
        stem = Path(mutant.file).stem.split("_")
        named = sum(word in test.name.split("_") for word in stem) / len(stem)
        chance = (kills[test.name] + 0.1 + named) / (kills.total() + 2)
        return chance / (self.processor.get(test.name, 1) + 0.05)

    def killed(self, mutant: Mutant, test: str) -> None:
        self.kills.setdefault(mutant.file, Counter())[test] += 1


def stop(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # the process has ended meanwhile
        os.killpg(group, signal.SIGKILL)


def run_command(
    command: list[str],
    directory: Path,
    environment: dict[str, str],
    processor: float,
    wall: float,
    output: int = subprocess.DEVNULL,
) -> CommandResult:
    """Runs a command with limits in seconds: CPU time of each of its processes, wall time of all.
    `output`: file descriptor for its output."""
    limit = math.ceil(processor)
    start = time.monotonic()
    child = subprocess.Popen(
        ["prlimit", *LIMITS, f"--cpu={limit}:{limit + 1}", "--", *command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    timer = threading.Timer(wall, stop, (child.pid,))
    timer.start()
    _, status, usage = os.wait4(child.pid, 0)
    timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    good = child.returncode in (0, SKIPPED)
    used = usage.ru_utime + usage.ru_stime
    # A command whose child the limit stopped ends with another status, such as 1 of pytest.
    late = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL) or (not good and used > limit / 2)
    return CommandResult(good, late, used, time.monotonic() - start)


@dataclass
class Bench:
    """Runs the tests of one area, on copies with a mutant and on the copy `whole` without one.

    Threads share it and its Record without a lock: a lost count changes only the order of tests.
    """

    whole: Tree
    tests: list[Test]
    record: Record
    environment: dict[str, str]
    end_to_end: Test | None = None  # for mutants that survive the others

    def all(self) -> list[Test]:
        return [*self.tests, *([self.end_to_end] if self.end_to_end else [])]

    def run(
        self, test: Test, tree: Tree, factor: float = 1, output: int = subprocess.DEVNULL
    ) -> CommandResult:
        """Runs a test with its limits times `factor`. `output`: file descriptor."""
        processor = self.record.processor.get(test.name, 20) * PROCESSOR_FACTOR
        wall = self.record.wall.get(test.name, 20) * WALL_FACTOR
        return run_command(
            test.command_line(tree),
            test.working_directory(tree),
            {**self.environment, **test.environment},
            (processor + PROCESSOR_SECONDS) * factor,
            (wall + WALL_SECONDS) * factor,
            output,
        )

    def measure(self, test: Test) -> str | None:
        """Runs a test without a mutant, with generous limits, and records its times. Returns None,
        or the end of its output if it fails."""
        with tempfile.TemporaryFile() as output:
            ended = self.run(test, self.whole, 2**ATTEMPTS, output.fileno())
            if not ended.good:
                output.seek(0)
                return output.read().decode(errors="replace")[-OUTPUT_BYTES:] or "no output"
        self.record.processor[test.name] = ended.processor
        self.record.wall[test.name] = ended.wall
        return None

    def kills(self, test: Test, tree: Tree) -> bool:
        """Whether the test fails or exceeds limits that it meets without the mutant. Raises
        BusyError if it exceeds them without the mutant, too, in all ATTEMPTS."""
        for attempt in range(ATTEMPTS):
            ended = self.run(test, tree, 2**attempt)
            if not ended.late:
                return not ended.good
            if self.run(test, self.whole, 2**attempt).good:
                return True
        raise BusyError(
            f"{test.name} exceeds its time limit without a mutant: the machine is too busy"
        )

    def is_same(self, test: Test, tree: Tree) -> bool:
        """Whether the mutant did not change the test's program."""
        mutated, original = tree.build / test.program, self.whole.build / test.program
        return filecmp.cmp(mutated, original, shallow=False)

    def run_tests(self, mutant: Mutant, tree: Tree, with_end_to_end: bool) -> tuple[str, str]:
        """Builds and runs the tests on a tree with the mutant, until one fails. Does not run a test
        whose program is the same. Returns the outcome, and the test that killed the mutant or an
        empty string."""
        order = sorted(self.tests, key=lambda test: -self.record.worth(test, mutant))
        same = True
        last = [self.end_to_end] if with_end_to_end and self.end_to_end is not None else []
        for tests in (order[:FIRST_TESTS], order[FIRST_TESTS:], last):
            if tests and not tree.ninja([test.program for test in tests]):
                return "unbuilt", ""
            for test in tests:
                if self.is_same(test, tree):
                    continue
                same = False
                if self.kills(test, tree):
                    self.record.killed(mutant, test.name)
                    return "killed", test.name
        return ("same" if same else "survived"), ""

    def try_mutant(
        self, mutant: Mutant, tree: Tree, text: bytes, with_end_to_end: bool = False
    ) -> Verdict:
        """Tries a mutant of `text`, the original contents of its file. Restores the file, even
        after an error. The tree's programs stay those of the mutant."""
        start = time.monotonic()
        tree.write(mutant.file, mutant.apply(text))
        try:
            outcome, by = self.run_tests(mutant, tree, with_end_to_end)
        except BusyError as error:
            outcome, by = "undecided", str(error)
        finally:
            tree.write(mutant.file, text)
        return Verdict(mutant, outcome, by, time.monotonic() - start)
