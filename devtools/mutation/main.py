# SPDX-License-Identifier: BSD-3-Clause
"""devtools/mutants: breaks lines of the data plane and checks that a test of their area fails."""

import argparse
import fcntl
import os
import queue
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

from mutation.choose import AREAS, LINES_PER_MUTANT, Area, MistakeError, choose, read_area
from mutation.operators import Mutant
from mutation.report import (
    Progress,
    difference,
    location,
    read_record,
    read_survivors,
    save_record,
    save_survivors,
    stanza,
    summary,
    survivors_text,
    unneeded_reasons,
)
from mutation.trees import (
    END_TO_END_TESTS,
    Test,
    Tree,
    belongs,
    end_to_end_test,
    environment,
    run,
    tests_of,
    whole_tree,
    worker_tree,
)
from mutation.trial import Bench, Record, Verdict

CHECKOUT = Path(__file__).resolve().parents[2]
COPIES = CHECKOUT / "build-mutants"
Selection = dict[str, tuple[Area, list[Mutant]]]  # by name of the area


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="devtools/mutants",
        description="Breaks one line at a time and checks that a test of its area fails. Exit "
        "status 1: a mutant survived without a reason, or an entry of AREA.toml is stale.",
    )
    add = parser.add_argument
    add("--area", action="append", choices=AREAS, help="may be repeated (default: all)")
    add("--file", default="", metavar="PART", help="only files whose path contains PART")
    add("--function", metavar="NAME", help="only this function")
    add("--chosen", action="store_true", help="only the mutants of AREA.toml")
    add("--list", action="store_true", help="list the mutants and exit")
    add("--survivors", action="store_true", help="list the survivors of the last run and exit")
    add("--again", action="store_true", help="try the survivors of the last run")
    add("--seed", type=int, default=1, help="selects another sample (default: 1)")
    more = f"one mutant per N lines of code (default: {LINES_PER_MUTANT}); 0: all mutants"
    add("--lines", type=int, default=LINES_PER_MUTANT, metavar="N", help=more)
    add("--unit", action="store_true", help="only unit tests")
    jobs = "mutants at a time, each in a copy of the checkout (default: number of cores)"
    add("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help=jobs)
    return parser.parse_args(argv)


def try_all(
    area: Area, bench: Bench, mutants: list[Mutant], trees: list[Tree], progress: Progress
) -> list[Verdict]:
    """Tries all mutants of an area, one per copy of the checkout at a time."""
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(mutant: Mutant) -> Verdict:
        reason = area.reason_for(mutant)
        text = area.texts[mutant.file]
        tree = free.get()
        try:
            verdict = bench.try_mutant(mutant, tree, text, with_end_to_end=reason is None)
        finally:
            free.put(tree)
        if reason is not None and verdict.outcome == "survived":
            verdict.reason = reason.why
        progress.report(verdict)
        return verdict

    with ThreadPoolExecutor(len(trees)) as pool:
        try:
            return list(pool.map(one, mutants))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # mutants in progress end first
            raise


def bench_of(area: str, tests: list[Test], whole: Tree, record: Record, end_to_end: bool) -> Bench:
    """Raises MistakeError if none of the unit tests `tests` is for the area."""
    bench = Bench(whole, [t for t in tests if belongs(t, area)], record, environment(CHECKOUT))
    if not bench.tests:
        raise MistakeError(f"area {area}: no unit tests; see TEST_FOLDERS in mutation/trees.py")
    if end_to_end and area in END_TO_END_TESTS:
        bench.end_to_end = end_to_end_test(area)
    return bench


def build(benches: Iterable[Bench], whole: Tree, jobs: int) -> None:
    """Builds the programs of the benches' tests, and no others."""
    programs = sorted({test.program for bench in benches for test in bench.all()})
    run(["ninja", "-C", "build", "-j", str(jobs), *programs], whole.path)


def measure(bench: Bench) -> None:
    """Runs each test once without a mutant and records its time."""
    for test in bench.all():
        output = bench.measure(test)
        if output is not None:
            raise MistakeError(f"{test.name} fails without a mutant:\n{output}")


def lock_copies(folder: Path) -> TextIO:
    """Locks the copies for one run, until the returned file is closed."""
    folder.mkdir(exist_ok=True)
    lock = (folder / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise MistakeError(f"another run uses {folder.name}/; wait until it ends") from None
    return lock


def try_areas(areas: Selection, options: argparse.Namespace) -> int:
    with lock_copies(COPIES):
        return try_locked(areas, options)


def try_locked(areas: Selection, options: argparse.Namespace) -> int:
    print(f"mutants: building {COPIES.name}/", flush=True)
    whole = whole_tree(CHECKOUT, COPIES)
    tests = tests_of(whole)
    record = read_record(COPIES)
    benches = {name: bench_of(name, tests, whole, record, not options.unit) for name in areas}
    build(benches.values(), whole, options.jobs)
    trees = [worker_tree(whole, number) for number in range(options.jobs)]
    progress = Progress(sum(len(mutants) for _, mutants in areas.values()))
    messages: list[str] = []
    stale: list[str] = []
    survivors: list[Mutant] = []
    for name, (area, mutants) in areas.items():
        start = time.monotonic()
        measure(benches[name])
        verdicts = try_all(area, benches[name], mutants, trees, progress)
        survivors += [v.mutant for v in verdicts if v.is_unexplained]
        stale += area.stale()
        messages += [
            *unneeded_reasons(area, verdicts),
            summary(name, verdicts, time.monotonic() - start),
        ]
        save_survivors(COPIES, area, verdicts)
        save_record(COPIES, record)
    print("\n".join([survivors_text(survivors), *stale, *messages]))
    return 1 if survivors or stale else 0


def select(options: argparse.Namespace) -> Selection:
    """The mutants that the arguments select."""
    survivors = {m.text for m in read_survivors(COPIES)}
    areas: Selection = {}
    for name in options.area or AREAS:
        area = read_area(name, CHECKOUT)
        mutants = choose(area, options.seed, options.lines, options.file)
        if options.again:
            mutants = [m for m in mutants if m.text in survivors]
        if options.chosen:
            mutants = [m for m in mutants if m.rule]
        if options.function:
            mutants = [m for m in mutants if m.function == options.function]
        areas[name] = (area, mutants)
    return areas


def list_all(areas: Selection) -> int:
    for _, mutants in areas.values():
        for mutant in mutants:
            print(f"{location(mutant)}\n{difference(mutant)}")
    return 0


def status_of(program: str, work: Callable[[], int]) -> int:
    """Runs `work` and returns the exit status; prints errors in one line."""
    try:
        return work()
    except MistakeError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130


def execute(options: argparse.Namespace) -> int:
    if options.survivors:
        survivors = read_survivors(COPIES)
        print("\n".join(stanza(mutant) for mutant in survivors))
        return 1 if survivors else 0
    areas = select(options)
    return list_all(areas) if options.list else try_areas(areas, options)


def main(argv: Sequence[str]) -> int:
    options = arguments(argv)
    return status_of("mutants", lambda: execute(options))
