# SPDX-License-Identifier: BSD-3-Clause
"""One mutant at a time: written into a copy, built, and given to the tests of its room.

A test that takes too long has seen the mutant, too. What is too long is counted in processor time,
which others on the machine do not use up, and the unbroken program must keep the limit just then.
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

PROCESSOR_SECONDS, PROCESSOR_FACTOR = 2, 5
WALL_SECONDS, WALL_FACTOR = 60, 40
ATTEMPTS = 3  # with twice the time each, where the unbroken program was late as well
FIRST_TESTS = 2  # are built alone: most mutants get no further
# A mutant is not to fill the machine: bytes of memory, and of a file, where servers have theirs.
LIMITS = ["--core=0", f"--data={4 << 30}", f"--fsize={2 << 30}"]
SKIPPED = 77
SAID_BYTES = 4000  # are shown of a test that fails unbroken


class BusyError(RuntimeError):
    """The unbroken program is late as well, however long it is given."""


@dataclass(frozen=True)
class Ended:
    good: bool
    late: bool = False
    processor: float = 0
    wall: float = 0


@dataclass
class Verdict:
    """What became of a mutant: killed, survived, same (code), unbuilt or undecided."""

    mutant: Mutant
    outcome: str
    by: str = ""
    seconds: float = 0
    reason: str = ""

    @property
    def is_open(self) -> bool:
        return self.outcome in ("survived", "undecided") and not self.reason


@dataclass
class Record:
    """How long each test takes unbroken, and how often it killed what in which file."""

    processor: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    kills: dict[str, Counter[str]] = field(default_factory=dict)

    def worth(self, test: Test, mutant: Mutant) -> float:
        """Chance of a kill by second. Before anything is known, names tell."""
        kills = self.kills.get(mutant.file, Counter())
        stem = Path(mutant.file).stem.split("_")
        named = sum(word in test.name.split("_") for word in stem) / len(stem)
        chance = (kills[test.name] + 0.1 + named) / (kills.total() + 2)
        return chance / (self.processor.get(test.name, 1) + 0.05)

    def killed(self, mutant: Mutant, test: str) -> None:
        self.kills.setdefault(mutant.file, Counter())[test] += 1


def stop(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended just now
        os.killpg(group, signal.SIGKILL)


def run_command(
    command: list[str],
    directory: Path,
    environment: dict[str, str],
    processor: float,
    wall: float,
    said: int = subprocess.DEVNULL,
) -> Ended:
    """Runs a command under limits, in seconds. `said`: a file for what it says."""
    allowed = math.ceil(processor)
    start = time.monotonic()
    child = subprocess.Popen(
        ["prlimit", *LIMITS, f"--cpu={allowed}:{allowed + 1}", "--", *command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        start_new_session=True,
    )
    clock = threading.Timer(wall, stop, (child.pid,))
    clock.start()
    _, status, usage = os.wait4(child.pid, 0)
    clock.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    late = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    used = usage.ru_utime + usage.ru_stime
    return Ended(child.returncode in (0, SKIPPED), late, used, time.monotonic() - start)


@dataclass
class Bench:
    """The unbroken copy, the tests of one room, and what is known of them."""

    whole: Tree
    tests: list[Test]
    record: Record
    environment: dict[str, str]
    outside: Test | None = None  # for those that the others do not see

    def all(self) -> list[Test]:
        return [*self.tests, *([self.outside] if self.outside else [])]

    def run(
        self, test: Test, tree: Tree, factor: float = 1, said: int = subprocess.DEVNULL
    ) -> Ended:
        processor = self.record.processor.get(test.name, 20) * PROCESSOR_FACTOR
        wall = self.record.wall.get(test.name, 20) * WALL_FACTOR
        return run_command(
            test.line(tree),
            test.place(tree),
            {**self.environment, **test.environment},
            (processor + PROCESSOR_SECONDS) * factor,
            (wall + WALL_SECONDS) * factor,
            said,
        )

    def measure(self, test: Test) -> str | None:
        """None: the test is good on what is not broken, and how long that takes is kept; else the
        end of what it said. Nothing is known of it before, so that it has all the time there is."""
        with tempfile.TemporaryFile() as said:
            ended = self.run(test, self.whole, 2**ATTEMPTS, said.fileno())
            if not ended.good:
                said.seek(0)
                return said.read().decode(errors="replace")[-SAID_BYTES:] or "it said nothing"
        self.record.processor[test.name] = ended.processor
        self.record.wall[test.name] = ended.wall
        return None

    def kills(self, test: Test, tree: Tree) -> bool:
        for attempt in range(ATTEMPTS):
            ended = self.run(test, tree, 2**attempt)
            if not ended.late:
                return not ended.good
            if self.run(test, self.whole, 2**attempt).good:
                return True
        raise BusyError(f"{test.name} is late unbroken: the machine is too busy")

    def is_same(self, test: Test, tree: Tree) -> bool:
        """Whether the test's program came out as if nothing were broken."""
        ours, theirs = tree.build / test.program, self.whole.build / test.program
        return filecmp.cmp(ours, theirs, shallow=False)

    def look(self, mutant: Mutant, tree: Tree, with_outside: bool) -> tuple[str, str]:
        """Outcome and the test that saw it, of what is written in the tree already."""
        order = sorted(self.tests, key=lambda test: -self.record.worth(test, mutant))
        same = True
        last = [self.outside] if with_outside and self.outside is not None else []
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

    def judge(self, mutant: Mutant, tree: Tree, text: bytes, with_outside: bool = False) -> Verdict:
        """What becomes of the mutant; the tree's file is as it was, whatever happens."""
        start = time.monotonic()
        tree.write(mutant.file, mutant.apply(text))
        try:
            outcome, by = self.look(mutant, tree, with_outside)
        except BusyError as error:
            outcome, by = "undecided", str(error)
        finally:
            tree.write(mutant.file, text)
        return Verdict(mutant, outcome, by, time.monotonic() - start)
