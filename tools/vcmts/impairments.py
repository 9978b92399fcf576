# SPDX-License-Identifier: BSD-3-Clause
"""vcmts impairments: applies each upstream impairment in turn, and compares the drops and counters
that it must cause with those of the data plane. The program vcmts-impairments does the work."""

import argparse
import re
from tempfile import TemporaryFile

from vcmts import options, watch
from vcmts.child import INTERRUPTED, check_writable, stoppable, temporary_folder
from vcmts.output import replace_file
from vcmts.paths import data, notify, program
from vcmts.progress import progress

CONFIG = data("bench/impairments/service-group.yaml")
LIST = data("traffic/impairments/impairment.def")
ENTRY = re.compile(r'^IMPAIRMENT\(\w+, "([\w-]+)", \w+,\s+"([^"]+)"\)', re.MULTILINE)


def kinds() -> dict[str, str]:
    """Descriptions of the impairments by their names in --impair, from vcmts-traffic's source."""
    return dict(ENTRY.findall(LIST.read_text(encoding="utf-8")))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    lines = [f"  {name:21} {meaning}" for name, meaning in kinds().items()]
    parser.epilog = "\n".join(["impairments, as in --impair of `vcmts run`:", *lines])
    parser.add_argument(
        "--config",
        metavar="FILE",
        default=str(CONFIG),
        help="configuration of the service group (default: %(default)s)",
    )
    parser.add_argument(
        "--packets", type=int, default=20000, help="packets per impairment (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the random numbers (default: %(default)s)"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print all quantities of each impairment"
    )
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    command = [str(program("vcmts-impairments")), "--config", arguments.config]
    command += ["--packets", str(arguments.packets), "--seed", str(arguments.seed)]
    command += ["--verbose"] if arguments.verbose else []
    # Print the table at the end: its lines would mix with the progress bar.
    with temporary_folder() as folder, stoppable() as stopped, TemporaryFile() as table:
        found = folder / "matrix.json"
        if arguments.json is not None:
            command += ["--json", str(found)]
        with progress("impairments", 1) as shown:
            status = watch.run_watched(command, watch.whole_progress(shown), stopped, stdout=table)
        table.seek(0)
        print(table.read().decode(), end="", flush=True)
        if found.exists():
            replace_file(arguments.json, found.read_text(encoding="utf-8"))
    if stopped.by_signal:
        notify(stopped.text)
        return INTERRUPTED
    return status
