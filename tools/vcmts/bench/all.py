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
from vcmts.paths import MistakeError, notify
from vcmts.profile import crypto
from vcmts.report import figures
from vcmts.run import plane

MISTAKE = 2
# In the order of dependencies: latency needs the measured throughput, goals need stored results.
STEPS = ("pipeline", "cost", "scheduler", "throughput", "latency", "power", "goals")
# Steps whose files a step reads.
NEEDED_FILES = {
    "latency": ("throughput",),
    "goals": ("scheduler", "throughput", "latency", "power"),
}
PROFILE_STEP = "cost"  # needs a profile, as it changes one number of it at a time
FIXED_STEPS = ("scheduler", "goals")  # have their own configurations


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


def result_path(folder: Path, step: str) -> Path:
    return folder / f"bench-{step}.json"


def step_arguments(step: str, given: argparse.Namespace) -> list[str]:
    """The command-line arguments of a step."""
    found = ["--json", str(result_path(given.folder, step))]
    if step == "pipeline":
        found += ["--threads", "both"]
    if step not in FIXED_STEPS:
        found += ["--config", given.config] if given.config else ["--profile", given.profile]
        found += ["--groups", str(given.groups)] if given.groups != 1 else []
        found += crypto.given_options(given)
    found += QUICK[step].split() if given.quick else []
    for kind in NEEDED_FILES.get(step, ()):
        if (path := result_path(given.folder, kind)).exists():
            found += [f"--{kind}", str(path)]
    return found


def run_module(module: ModuleType, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    try:
        status: int = module.main(parser.parse_args(arguments))
    except MistakeError as mistake:
        notify(str(mistake))
        return MISTAKE
    except OSError as error:
        notify(f"{error.filename or 'output'}: {error.strerror}")
        return MISTAKE
    except KeyboardInterrupt:  # outside of child.stoppable()
        return INTERRUPTED
    return status


def selected_steps(given: argparse.Namespace) -> list[str]:
    """The steps to run, in their order. Raises MistakeError."""
    steps = bench_common.selected_parts(STEPS, given)
    if given.config and PROFILE_STEP in steps:
        text = f"{PROFILE_STEP} changes one number of a profile at a time, so it needs --profile"
        if steps == [PROFILE_STEP]:
            raise MistakeError(f"--only {text}, found --config")
        notify(f"{text}: skipped because of --config")
        steps.remove(PROFILE_STEP)
    return steps


def check_requirements(given: argparse.Namespace, steps: list[str]) -> None:
    """Raises MistakeError if the configuration is invalid or matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        figures.load()  # raises; not called otherwise, as its threads would disturb measurements
    if not set(steps) <= set(FIXED_STEPS):
        with child.temporary_folder() as temp:
            plane.facts_of(configuration.configuration_file(given, temp))


def prepare_folder(folder: Path, steps: list[str]) -> None:
    """Creates the folder, and removes earlier results of these steps. Raises MistakeError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for step in steps:
            result_path(folder, step).unlink(missing_ok=True)
    except OSError as error:
        raise MistakeError(f"--folder {folder}: {error.strerror}; choose another one") from error
    kept = [result_path(folder, step).name for step in STEPS if result_path(folder, step).exists()]
    if kept:
        notify(f"{folder}: the report includes earlier results: {', '.join(kept)}")


def report(folder: Path) -> int:
    files = [str(path) for step in STEPS if (path := result_path(folder, step)).exists()]
    if not files:
        notify("nothing was measured, so no report was written")
        return 1
    module = importlib.import_module("vcmts.report.command")
    return run_module(module, [*files, "-o", str(folder / "bench-report.html")])


def lacks_confirmed_rate(folder: Path) -> bool:
    """Whether the throughput was measured, but no rate was confirmed, which latency needs."""
    path = result_path(folder, "throughput")
    if not path.exists():
        return False
    return not any(one.get("repeats") for one in results.read(str(path))["results"])


def only_missed(folder: Path, status: int) -> bool:
    """Whether `bench goals` measured all goals, and failed as one was missed (see the report)."""
    path = result_path(folder, "goals")
    return status == 1 and path.exists() and bool(results.read(str(path))["complete"])


def main(arguments: argparse.Namespace) -> int:
    steps = selected_steps(arguments)
    check_requirements(arguments, steps)
    prepare_folder(arguments.folder, steps)
    statuses = []
    for number, step in enumerate(steps, 1):
        if arguments.quick and step == "latency" and lacks_confirmed_rate(arguments.folder):
            notify("latency: skipped, as the machine was too busy to confirm a rate without loss")
            continue
        print(f"{number} of {len(steps)}: vcmts bench {step}", flush=True)
        module = importlib.import_module(f"vcmts.bench.{step}")
        status = run_module(module, step_arguments(step, arguments))
        statuses.append(0 if step == "goals" and only_missed(arguments.folder, status) else status)
        if statuses[-1] == INTERRUPTED:
            break
    return max(*statuses, report(arguments.folder), 0)
