# SPDX-License-Identifier: BSD-3-Clause
"""vcmts pod: the first process of a container. It renders the configuration from mounted files,
assigns the container's cores to the groups, runs vcmtsd, reloads changed files, and drains it.

Exit status: that of vcmtsd, 128 + N after signal N; 2 for an error in the configuration or the
container, with one line for the kubelet.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

from vcmts.layout import machine as layout_machine
from vcmts.layout.machine import Machine, cpu_list
from vcmts.paths import program
from vcmts.pod import mounted, pages, traffic
from vcmts.pod.child import exit_status, start, summary_lines, why_ended
from vcmts.pod.placing import polling_machine, sharing_warning
from vcmts.pod.render import RefusedError, Rendered, Source, rendered, write
from vcmts.pod.supervise import Pod, Signals, StoppedError, caught, unforeseen
from vcmts.pod.variables import PodError
from vcmts.pod.voice import Voice, write_termination_message
from vcmts.system.files import Files

MISTAKE = 2
SUMMARY = "summary.json"
TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min)?")
UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, None: 1.0}
EPILOG = """Options after -- are passed to `vcmtsd run`, such as -- --latency.
docs/container.md has the details."""


def seconds(text: str) -> float:
    match = TIME.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f'found "{text}", allowed: a time such as 20s')
    return float(match[1]) * UNITS[match[2]]


def add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=Path("/etc/vcmts/config/vcmts.yaml"),
        help="configuration with ${VARIABLES} (default: %(default)s)",
    )
    parser.add_argument(
        "--secret",
        metavar="FOLDER",
        type=Path,
        default=Path("/etc/vcmts/secret"),
        help="folder of the files that it names, also watched for changes (default: %(default)s)",
    )
    parser.add_argument(
        "--run",
        metavar="FOLDER",
        type=Path,
        default=Path("/run/vcmts"),
        help="the only folder that is written to (default: %(default)s)",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_paths(parser)
    parser.add_argument(
        "--metrics",
        metavar="ADDRESS:PORT",
        default="0.0.0.0:9464",
        help="HTTP endpoint of metrics, /ready and /live (default: %(default)s)",
    )
    parser.add_argument(
        "--drain",
        metavar="TIME",
        type=seconds,
        default=20.0,
        help="time to transmit pending packets before the end (default: 20s)",
    )
    parser.add_argument(
        "--huge-pages",
        choices=("auto", "must"),
        default="auto",
        help="auto: use them if there are enough; must: refuse to start without (default: auto)",
    )
    parser.add_argument(
        "--keep-threads",
        action="store_true",
        help="use the cores that the configuration names, instead of assigning the container's",
    )
    parser.add_argument(
        "--split-siblings",
        action="store_true",
        help="start even if other containers use the hyper-thread siblings of the cores",
    )
    parser.add_argument(
        "--log-format",
        choices=("json", "text", "plain"),
        default="json",
        help="format of messages (default: %(default)s)",
    )
    parser.add_argument(
        "--traffic",
        action="store_true",
        help="run vcmts-traffic at the other ends of the ports, instead of vcmtsd; options after "
        "-- are passed to it",
    )
    parser.add_argument("vcmtsd", metavar="-- OPTION", nargs="*", help=argparse.SUPPRESS)


def prepare_folder(folder: Path) -> None:
    """Creates the folder, and removes files of an earlier container. Raises PodError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("control.sock", "vcmts.yaml", SUMMARY):
            (folder / name).unlink(missing_ok=True)
        for path in folder.glob("*-capture.sock"):
            path.unlink(missing_ok=True)
        for path in (folder / "dpdk").glob("vcmtsd-*"):
            shutil.rmtree(path, ignore_errors=True)
    except OSError as error:
        raise PodError(cannot_write(folder, error)) from error


def cannot_write(folder: Path, error: OSError) -> str:
    return f"{error.filename or folder}: {error.strerror}; mount an emptyDir with space at {folder}"


def usable_machine(arguments: argparse.Namespace, files: Files, voice: Voice) -> Machine:
    found = layout_machine.read(files)
    if not found.usable:
        raise PodError("cores: found none in /sys and /proc, allowed: 1 or more")
    if sharing_warning(found):
        voice.say("warning", sharing_warning(found))
    return found if arguments.keep_threads else polling_machine(found, arguments.split_siblings)


def render_and_write(arguments: argparse.Namespace, voice: Voice) -> tuple[Source, Rendered]:
    """Renders and writes the configuration for vcmtsd. Raises PodError or RefusedError."""
    prepare_folder(arguments.run)
    files = Files()
    source = Source(
        config=arguments.config,
        written=arguments.run / "vcmts.yaml",
        machine=usable_machine(arguments, files, voice),
        files=files,
        environment=os.environ,
        assign=not arguments.keep_threads,
    )
    try:
        found = rendered(source)
        write(source.written, found.text)
    except OSError as error:
        raise PodError(cannot_write(arguments.run, error)) from error
    if arguments.huge_pages == "must":
        pages.check(files, int(found.facts["placement"]["memory_mb"]))
    return source, found


def run_traffic(arguments: argparse.Namespace) -> int:
    """Becomes the traffic program, with the mounted configuration. Raises PodError or RefusedError
    if the configuration cannot be used."""
    prepare_folder(arguments.run)
    files = Files()
    written = arguments.run / "vcmts.yaml"
    machine = layout_machine.read(files)
    source = Source(arguments.config, written, machine, files, os.environ, assign=False)
    try:
        traffic.write_configuration(source)
    except OSError as error:
        raise PodError(cannot_write(arguments.run, error)) from error
    traffic.replace_process(written, arguments.vcmtsd)
    return 0


def command_of(arguments: argparse.Namespace, source: Source, control: Path) -> list[str]:
    return [
        str(program("vcmtsd")),
        "run",
        *("--config", str(source.written)),
        *("--control-socket", str(control)),
        *("--metrics", arguments.metrics),
        *("--log-format", arguments.log_format),
        *("--json", str(arguments.run / SUMMARY)),
        *arguments.vcmtsd,
    ]


def move_to_main_core(found: Rendered, cores: frozenset[int]) -> None:
    """Moves this process to the core of the management thread, away from polling cores."""
    main = int(found.facts["placement"]["main_core"])
    if main in cores:
        os.sched_setaffinity(0, {main})


def stopped_early(voice: Voice) -> int:
    voice.say("notice", "stopped before vcmtsd was started")
    return 0


def start_and_serve(arguments: argparse.Namespace, pod: Pod, signals: Signals) -> int:
    """Runs vcmtsd to its end. Returns its status, negative for a signal."""
    cores = frozenset(os.sched_getaffinity(0))
    if pod.now.placement is not None:
        polling = cpu_list(pod.now.placement.polling())
        pod.voice.say("notice", f"{pod.now.placement.layout.name} on cores {polling}")
    move_to_main_core(pod.now, cores)
    command = command_of(arguments, pod.source, pod.control)
    if signals.stops:
        return stopped_early(pod.voice)
    status = pod.serve(start(command, cores, pod.voice, str(arguments.run)), signals)
    for line in summary_lines(arguments.run / SUMMARY):
        pod.voice.say("notice", line)
    return status


def run(arguments: argparse.Namespace, voice: Voice, signals: Signals) -> int:
    """Prepares and runs vcmtsd, or the traffic program. Raises PodError or RefusedError if it
    cannot be started."""
    if arguments.traffic:
        return run_traffic(arguments)
    folders = list(dict.fromkeys([arguments.config.parent, arguments.secret]))
    seen = mounted.file_states(folders)  # before reading, so that later changes are detected
    try:
        with signals.interrupting():
            source, found = render_and_write(arguments, voice)
    except StoppedError:
        return stopped_early(voice)
    control = arguments.run / "control.sock"
    pod = Pod(source, folders, control, arguments.drain, voice, found, seen)
    return start_and_serve(arguments, pod, signals)


def report_errors(mistakes: list[str], voice: Voice) -> int:
    """Reports errors to the log and the kubelet. Returns the exit status."""
    for mistake in mistakes:
        voice.say("error", mistake)
    more = len(mistakes) - 1
    write_termination_message(mistakes[0] + (f" (and {more} more, see the log)" if more else ""))
    return MISTAKE


def main(arguments: argparse.Namespace) -> int:
    voice = Voice(json=arguments.log_format == "json")
    try:
        with caught() as signals:
            status = run(arguments, voice, signals)
    except RefusedError as error:
        return report_errors(error.mistakes, voice)
    except PodError as error:
        return report_errors([str(error)], voice)
    except Exception as error:
        return report_errors([unforeseen(error)], voice)
    if status != 0:
        why = why_ended(status, voice)
        voice.say("error", f"ended with status {exit_status(status)}: {why}")
        write_termination_message(why)
    sys.stderr.flush()
    return exit_status(status)
