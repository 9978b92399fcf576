# SPDX-License-Identifier: BSD-3-Clause
"""vcmts bench all: runs all other benchmarks one after the other, and writes a report."""

import argparse
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from vcmts import child, configuration, results
from vcmts.bench import common as bench_common
from vcmts.child import INTERRUPTED
from vcmts.paths import MistakeError, complain
from vcmts.profile import crypto
from vcmts.report import figures
from vcmts.run import plane

MISTAKE = 2
# In the order of dependencies: latency needs the measured throughput, goals need stored results.
STEPS = ("pipeline", "cost", "scheduler", "throughput", "latency", "power", "goals")
# Steps whose files a step reads.
TAKEN = {"latency": ("throughput",), "goals": ("scheduler", "throughput", "latency", "power")}
OF_PROFILES = "cost"  # needs a profile, as it changes one number of it at a time
OF_THEIR_OWN = ("scheduler", "goals")  # have their own configurations


# Options that --quick adds: one run of minimum length.
QUICK = {
    "pipeline": "--runs 1 --milliseconds 30 --mix imix",
    "cost": "--runs 1 --milliseconds 20 --what classifiers",
    "scheduler": "--runs 1 --milliseconds 20 --case 6ofdm --load 50",
    "throughput": "--repeats 1 --confirmations 1 --trial-seconds 0.5 --point imix "
    "--resolution 0.5 --accepted-loss 0.5",
    "latency": "--trial-seconds 0.5 --attempts 1 --load 50",
    "power": "--runs 1 --trial-seconds 0.5 --only steps --steps 1 --rate 100Mbps",
    "goals": "--runs 1 --milliseconds 20 --only downstream",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    configuration.add_arguments(parser)
    bench_common.add_only(parser, STEPS)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one short run of each, to test that everything works; the figures are meaningless",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("bench-results"),
        help="folder for bench-WHAT.json and bench-report.html, .md, .json (default: %(default)s)",
    )


def stored(folder: Path, step: str) -> Path:
    return folder / f"bench-{step}.json"


def words(step: str, given: argparse.Namespace) -> list[str]:
    """The command-line arguments of a step."""
    found = ["--json", str(stored(given.folder, step))]
    if step == "pipeline":
        found += ["--threads", "both"]
    if step not in OF_THEIR_OWN:
        found += ["--config", given.config] if given.config else ["--profile", given.profile]
        found += ["--groups", str(given.groups)] if given.groups != 1 else []
        found += crypto.given(given)
    found += QUICK[step].split() if given.quick else []
    for kind in TAKEN.get(step, ()):
        if (path := stored(given.folder, kind)).exists():
            found += [f"--{kind}", str(path)]
    return found


def call(module: ModuleType, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    try:
        status: int = module.main(parser.parse_args(arguments))
    except MistakeError as mistake:
        complain(str(mistake))
        return MISTAKE
    except OSError as error:
        complain(f"{error.filename or 'output'}: {error.strerror}")
        return MISTAKE
    except KeyboardInterrupt:  # outside of child.stoppable()
        return INTERRUPTED
    return status


def chosen(given: argparse.Namespace) -> list[str]:
    """The steps to run, in their order. Raises MistakeError."""
    steps = bench_common.chosen(STEPS, given)
    if given.config and OF_PROFILES in steps:
        text = f"{OF_PROFILES} changes one number of a profile at a time, so it needs --profile"
        if steps == [OF_PROFILES]:
            raise MistakeError(f"--only {text}, found --config")
        complain(f"{text}: skipped because of --config")
        steps.remove(OF_PROFILES)
    return steps


def check(given: argparse.Namespace, steps: list[str]) -> None:
    """Raises MistakeError if the configuration is invalid or matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        figures.load()  # raises; not called otherwise, as its threads would disturb measurements
    if not set(steps) <= set(OF_THEIR_OWN):
        with child.folder() as place:
            plane.facts_of(configuration.chosen(given, place))


def fresh(folder: Path, steps: list[str]) -> None:
    """Creates the folder, and removes earlier results of these steps. Raises MistakeError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for step in steps:
            stored(folder, step).unlink(missing_ok=True)
    except OSError as error:
        raise MistakeError(f"--folder {folder}: {error.strerror}; choose another one") from error
    kept = [stored(folder, step).name for step in STEPS if stored(folder, step).exists()]
    if kept:
        complain(f"{folder}: the report includes earlier results: {', '.join(kept)}")


def report(folder: Path) -> int:
    files = [str(path) for step in STEPS if (path := stored(folder, step)).exists()]
    if not files:
        complain("nothing was measured, so no report was written")
        return 1
    module = importlib.import_module("vcmts.report.command")
    return call(module, [*files, "-o", str(folder / "bench-report.html")])


def disturbed(folder: Path) -> bool:
    """Whether the throughput was measured, but no rate was confirmed, which latency needs."""
    path = stored(folder, "throughput")
    if not path.exists():
        return False
    return not any(one.get("repeats") for one in results.read(str(path))["results"])


def main(arguments: argparse.Namespace) -> int:
    steps = chosen(arguments)
    check(arguments, steps)
    fresh(arguments.folder, steps)
    statuses = []
    for number, step in enumerate(steps, 1):
        if arguments.quick and step == "latency" and disturbed(arguments.folder):
            complain("latency: skipped, as the machine was too busy to confirm a rate without loss")
            continue
        print(f"{number} of {len(steps)}: vcmts bench {step}", flush=True)
        module = importlib.import_module(f"vcmts.bench.{step}")
        statuses.append(call(module, words(step, arguments)))
        if statuses[-1] == INTERRUPTED:
            break
    return max(*statuses, report(arguments.folder), 0)
