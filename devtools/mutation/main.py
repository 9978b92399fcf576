# SPDX-License-Identifier: BSD-3-Clause
"""The command line of devtools/mutants."""

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

from mutation.choose import LINES_A_MUTANT, ROOMS, MistakeError, Room, choose, read_room
from mutation.operators import Mutant
from mutation.report import (
    Progress,
    difference,
    keep_record,
    keep_survivors,
    last_survivors,
    not_needed,
    read_record,
    show,
    stanza,
    summary,
    survivors_text,
)
from mutation.trees import (
    OUTSIDE,
    Test,
    Tree,
    belongs,
    environment,
    outside_test,
    run,
    tests_of,
    whole_tree,
    worker_tree,
)
from mutation.trial import Bench, Record, Verdict

CHECKOUT = Path(__file__).resolve().parents[2]
PLACE = CHECKOUT / "build-mutants"
Rooms = dict[str, tuple[Room, list[Mutant]]]


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="devtools/mutants",
        description="Breaks one line at a time and looks whether a test of its room sees it. "
        "Exit status 1: one survived without a reason, or something in a list is stale.",
    )
    add = parser.add_argument
    add("--room", action="append", choices=ROOMS, help="this alone; may be repeated")
    add("--file", default="", metavar="PART", help="files whose path holds this")
    add("--function", metavar="NAME", help="this function alone")
    add("--chosen", action="store_true", help="those chosen by hand alone")
    add("--list", action="store_true", help="say what would be tried")
    add("--survivors", action="store_true", help="say again what survived")
    add("--again", action="store_true", help="try those that survived last")
    add("--seed", type=int, default=1, help="another choice (1)")
    more = f"a mutant for N lines of code ({LINES_A_MUTANT}); 0: all there are"
    add("--lines", type=int, default=LINES_A_MUTANT, metavar="N", help=more)
    add("--unit", action="store_true", help="unit tests alone")
    add("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args(argv)


def try_all(
    room: Room, bench: Bench, mutants: list[Mutant], trees: list[Tree], progress: Progress
) -> list[Verdict]:
    """All mutants of a room, on as many copies as there are."""
    free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(mutant: Mutant) -> Verdict:
        reason = room.reason_for(mutant)
        text = room.texts[mutant.file]
        tree = free.get()
        try:
            verdict = bench.judge(mutant, tree, text, with_outside=reason is None)
        finally:
            free.put(tree)
        if reason is not None and verdict.outcome == "survived":
            verdict.reason = reason.why
        progress.tell(verdict)
        return verdict

    with ThreadPoolExecutor(len(trees)) as pool:
        try:
            return list(pool.map(one, mutants))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # those in work end first
            raise


def bench_of(room: str, tests: list[Test], whole: Tree, record: Record, outside: bool) -> Bench:
    bench = Bench(whole, [t for t in tests if belongs(t, room)], record, environment(CHECKOUT))
    if outside and room in OUTSIDE:
        bench.outside = outside_test(room)
    return bench


def build(benches: Iterable[Bench], whole: Tree, jobs: int) -> None:
    """What any of the rooms' tests runs, and nothing else."""
    programs = sorted({test.program for bench in benches for test in bench.all()})
    run(["ninja", "-C", "build", "-j", str(jobs), *programs], whole.path)


def measure(bench: Bench) -> None:
    """Each test is tried unbroken first."""
    for test in bench.all():
        said = bench.measure(test)
        if said is not None:
            raise MistakeError(f"{test.name} fails although nothing is broken:\n{said}")


def only_one(place: Path) -> TextIO:
    """Two runs at a time would break each other's copies."""
    place.mkdir(exist_ok=True)
    lock = (place / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise MistakeError(f"another run is at work in {place.name}/") from None
    return lock


def try_rooms(rooms: Rooms, options: argparse.Namespace) -> int:
    with only_one(PLACE):
        return try_alone(rooms, options)


def try_alone(rooms: Rooms, options: argparse.Namespace) -> int:
    print(f"mutants: building {PLACE.name}/", flush=True)
    whole = whole_tree(CHECKOUT, PLACE)
    tests = tests_of(whole)
    record = read_record(PLACE)
    benches = {name: bench_of(name, tests, whole, record, not options.unit) for name in rooms}
    build(benches.values(), whole, options.jobs)
    trees = [worker_tree(whole, number) for number in range(options.jobs)]
    progress = Progress(sum(len(mutants) for _, mutants in rooms.values()))
    said: list[str] = []
    stale: list[str] = []
    survivors: list[Mutant] = []
    for name, (room, mutants) in rooms.items():
        start = time.monotonic()
        measure(benches[name])
        verdicts = try_all(room, benches[name], mutants, trees, progress)
        survivors += [v.mutant for v in verdicts if v.is_open]
        stale += room.stale()
        said += [*not_needed(room, verdicts), summary(name, verdicts, time.monotonic() - start)]
        keep_survivors(PLACE, room, verdicts)
        keep_record(PLACE, record)
    print("\n".join([survivors_text(survivors), *stale, *said]))
    return 1 if survivors or stale else 0


def wanted(options: argparse.Namespace) -> Rooms:
    """What the arguments ask for."""
    again = {m.text for m in last_survivors(PLACE)}
    rooms: Rooms = {}
    for name in options.room or ROOMS:
        room = read_room(name, CHECKOUT)
        mutants = choose(room, options.seed, options.lines, options.file)
        if options.again:
            mutants = [m for m in mutants if m.text in again]
        if options.chosen:
            mutants = [m for m in mutants if m.rule]
        if options.function:
            mutants = [m for m in mutants if m.function == options.function]
        rooms[name] = (room, mutants)
    return rooms


def list_all(rooms: Rooms) -> int:
    for _, mutants in rooms.values():
        for mutant in mutants:
            print(f"{show(mutant)}\n{difference(mutant)}")
    return 0


def status_of(program: str, work: Callable[[], int]) -> int:
    """The exit status of the program, which tells of mistakes in a line."""
    try:
        return work()
    except MistakeError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130


def asked(options: argparse.Namespace) -> int:
    if options.survivors:
        survivors = last_survivors(PLACE)
        print("\n".join(stanza(mutant) for mutant in survivors))
        return 1 if survivors else 0
    rooms = wanted(options)
    return list_all(rooms) if options.list else try_rooms(rooms, options)


def main(argv: Sequence[str]) -> int:
    options = arguments(argv)
    return status_of("mutants", lambda: asked(options))
