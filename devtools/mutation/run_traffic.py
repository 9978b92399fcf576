# SPDX-License-Identifier: BSD-3-Clause
"""devtools/mutants-run: breaks the data plane and checks that `vcmts run` fails.

Each mutant is compiled into vcmtsd. The traffic program stays unchanged, unless the mutant is in
code that both programs share. run.toml lists the mutants, with their code found by text:

    ["header fields"."TTL of DEPI"]     # kind of fault, a line of the result table; rule
    file = "src/downstream/depi.c"
    text = ".ttl = r->ttl,"
    becomes = ".ttl = 1,"
    both = true                  # optional: compile it into both programs
    passes = "..."               # optional: why no run can detect it
"""

import argparse
import os
import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutation.choose import LISTS, MistakeError, pattern_of
from mutation.main import CHECKOUT, COPIES, lock_copies, status_of
from mutation.trees import Tree, run, whole_tree, worker_tree

DATA_PLANE, TRAFFIC = "src/vcmtsd", "traffic/vcmts-traffic"
# Every machine can carry this rate, even under load.
# With this seed, sequence numbers start shortly before they wrap.
OPTIONS = ("--rate", "200Mbps", "--upstream-rate", "40Mbps", "--seed", "20")
# Sizes whose requests end anywhere in a minislot.
SIZES = ",".join(f"{size}:1" for size in range(200, 900, 33))
QOS = ("--config", "tests/e2e/run/qos.yaml", "--rate", "40Mbps", "--seed", "20")
# Options of the run that a kind of fault needs.
OPTIONS_OF = {
    "quality of service": QOS,
    "CPE limits": QOS,
    "packet order": ("--seed", "20"),
    "MAPs and requests": ("--grants", "scheduled", "--upstream-traffic", SIZES, *OPTIONS),
}
TIMEOUT_S = 120
TRIES = 3  # runs with a result before a mutant counts as undetected
RESULT = "(PASS|FAIL): "
IDLE = "vcmts: checks without anything to check in this run: "
DETECTED, UNDETECTED, UNBUILT = "detected", "undetected", "not built"
INCONCLUSIVE = "inconclusive"  # a check had no packets to compare, unlike in the unbroken run


@dataclass(frozen=True)
class Mutant:
    kind: str
    rule: str
    file: str
    text: str
    becomes: str
    both: bool = False
    passes: str = ""

    def apply(self, source: str) -> str:
        """The source with the change. The text must occur once, with any white space."""
        found = pattern_of(self.text).findall(source)
        if len(found) != 1:
            raise MistakeError(
                f"run.toml: text occurs {len(found)} times, not once, in {self.file}: {self.text!r}"
            )
        return source.replace(found[0], self.becomes)

    @property
    def programs(self) -> list[str]:
        return [DATA_PLANE, TRAFFIC] if self.both else [DATA_PLANE]


@dataclass(frozen=True)
class RunResult:
    mutant: Mutant
    outcome: str
    message: str = ""  # by its last run

    @property
    def is_unexplained(self) -> bool:
        return self.outcome != DETECTED and not self.mutant.passes


def read_mutants(path: Path = LISTS / "run.toml") -> list[Mutant]:
    try:
        kinds = tomllib.loads(path.read_text(encoding="utf-8"))
        return [
            Mutant(kind, rule, **entry)
            for kind, rules in kinds.items()
            for rule, entry in rules.items()
        ]
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path.name}: {error}") from error


@dataclass(frozen=True)
class Run:
    status: int
    message: str  # its result: whether every packet arrived as expected
    idle: frozenset[str] = frozenset()  # checks that had no packets to compare


def run_traffic(tree: Tree, duration: str, kind: str = "") -> Run:
    """Runs `vcmts run` with the tree's programs."""
    command = [
        "./vcmts",
        "run",
        "--verbose",
        "--duration",
        duration,
        *OPTIONS_OF.get(kind, OPTIONS),
    ]
    environment = {**os.environ, "VCMTS_BUILD": "build"}
    try:
        done = subprocess.run(
            command,
            cwd=tree.path,
            env=environment,
            timeout=TIMEOUT_S,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return Run(1, f"did not end in {TIMEOUT_S} s")
    idle = [
        name
        for line in done.stderr.splitlines()
        if line.startswith(IDLE)
        for name in line.removeprefix(IDLE).split(", ")
    ]
    lines = [line for line in done.stdout.splitlines() if re.match(RESULT, line)]
    lines += [line for line in done.stderr.splitlines() if line.startswith("vcmts: ")]
    message = lines[0] if lines else done.stderr[-200:]
    return Run(done.returncode, message, frozenset(idle))


def run_compiled(mutant: Mutant, tree: Tree, duration: str, unbroken: Run) -> RunResult:
    """Repeats runs with the mutant until one fails, or TRIES runs had packets for all checks."""
    complete = 0
    missing: frozenset[str] = frozenset()
    last = unbroken
    for _ in range(1 if mutant.passes else 2 * TRIES):
        last = run_traffic(tree, duration, mutant.kind)
        if last.status != 0:
            return RunResult(mutant, DETECTED, last.message)
        missing = last.idle - unbroken.idle
        complete += not missing
        if complete == TRIES:
            break
    if complete > 0 or mutant.passes:
        return RunResult(mutant, UNDETECTED, last.message)
    return RunResult(mutant, INCONCLUSIVE, f"nothing to check for: {', '.join(sorted(missing))}")


def try_one(mutant: Mutant, tree: Tree, duration: str, unbroken: Run) -> RunResult:
    """Compiles and runs a mutant. Restores the file, and the traffic program if changed."""
    file = tree.path / mutant.file
    source = file.read_text(encoding="utf-8")
    tree.write(mutant.file, mutant.apply(source).encode())
    try:
        if not tree.ninja(mutant.programs, os.cpu_count() or 1):
            return RunResult(mutant, UNBUILT)
        return run_compiled(mutant, tree, duration, unbroken)
    finally:
        tree.write(mutant.file, source.encode())
        if mutant.both:
            tree.ninja(mutant.programs, os.cpu_count() or 1)


def table(verdicts: Sequence[RunResult]) -> str:
    """A line per kind with the numbers of mutants and of detected ones; then the others."""
    lines = [f"{'kind':32} mutants  detected"]
    for kind in dict.fromkeys(v.mutant.kind for v in verdicts):
        alike = [v for v in verdicts if v.mutant.kind == kind]
        detected = sum(v.outcome == DETECTED for v in alike)
        lines.append(f"{kind:32} {len(alike):7} {detected:9}")
    detected = sum(v.outcome == DETECTED for v in verdicts)
    lines.append(f"{'all':32} {len(verdicts):7} {detected:9}")
    for v in verdicts:
        if v.outcome != DETECTED:
            lines.append(f"{v.outcome}: {v.mutant.rule}: {v.mutant.passes or 'no reason'}")
        elif v.mutant.passes:
            lines.append(f"reason not needed: {v.mutant.rule}")
    return "\n".join(lines)


def try_all(mutants: Sequence[Mutant], duration: str) -> int:
    print(f"mutants-run: building {COPIES.name}/", flush=True)
    whole = whole_tree(CHECKOUT, COPIES)
    run(["ninja", "-C", "build", DATA_PLANE, TRAFFIC], whole.path)
    tree = worker_tree(whole, 0)
    unbroken = {}
    for kind in dict.fromkeys(mutant.kind for mutant in mutants):
        unbroken[kind] = good = run_traffic(tree, duration, kind)
        if good.status != 0:
            raise MistakeError(f"{kind}: the run fails without a mutant: {good.message}")
    verdicts = []
    for number, mutant in enumerate(mutants, 1):
        verdict = try_one(mutant, tree, duration, unbroken[mutant.kind])
        verdicts.append(verdict)
        head = f"[{number:3}/{len(mutants)}] {verdict.outcome:9}"
        print(f"{head} {mutant.kind}: {mutant.rule}: {verdict.message}", flush=True)
    print(table(verdicts))
    return 1 if any(v.is_unexplained for v in verdicts) else 0


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="devtools/mutants-run",
        description="Compiles one mutant at a time into vcmtsd and checks that vcmts run fails. "
        "Exit status 1: a mutant is undetected or inconclusive without a reason in run.toml.",
    )
    add = parser.add_argument
    add("--kind", default="", metavar="PART", help="only kinds that contain PART")
    add("--rule", default="", metavar="PART", help="only rules that contain PART")
    add("--list", action="store_true", help="list the mutants and exit")
    add("--duration", default="5s", metavar="TIME", help="duration of a run (default: %(default)s)")
    return parser.parse_args(argv)


def execute(options: argparse.Namespace) -> int:
    listed = read_mutants()
    mutants = [m for m in listed if options.kind in m.kind and options.rule in m.rule]
    if options.list:
        for mutant in mutants:
            print(f"{mutant.kind}: {mutant.rule} ({mutant.file})")
        return 0
    with lock_copies(COPIES):
        return try_all(mutants, options.duration)


def main(argv: Sequence[str]) -> int:
    options = arguments(argv)
    return status_of("mutants-run", lambda: execute(options))
