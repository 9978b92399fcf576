# SPDX-License-Identifier: BSD-3-Clause
"""vcmts monitor: runs a Prometheus that scrapes the vcmtsd of this machine, until Ctrl-C.

Exit status: 0 after Ctrl-C, 1 if Prometheus ended by itself, 2 for an error in the arguments or if
no vcmtsd was found.
"""

import argparse
import re
import subprocess
from pathlib import Path

from vcmts import options
from vcmts.child import stoppable, temporary_folder
from vcmts.control.peer import server_pid
from vcmts.monitor import server
from vcmts.monitor.targets import targets
from vcmts.paths import MistakeError, notify

EPILOG = """For a quick look, not for production: the data are in a temporary folder that is removed
at the end. deploy/prometheus/ has the rules for your own Prometheus, deploy/grafana/ the
dashboards; docs/monitoring.md describes both."""
STOP_SECONDS = 30
MOST_PORT = 65535


def port(text: str) -> int:
    if not re.fullmatch(r"\d{1,5}", text) or not 1 <= int(text) <= MOST_PORT:
        raise argparse.ArgumentTypeError(f"found {text}, allowed: 1 to {MOST_PORT}")
    return int(text)


def target(text: str) -> str:
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})", text)
    if not match or not 1 <= int(match[2]) <= MOST_PORT:
        raise argparse.ArgumentTypeError(
            f"found {text}, allowed: ADDRESS:PORT such as 127.0.0.1:9464 or [::1]:9464"
        )
    return text


def rules(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"found {text}, allowed: an existing file of rules")
    return Path(text)


def interval(text: str) -> int:
    match = re.fullmatch(r"(\d{1,4})s", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"found {text}, allowed: whole seconds, such as 2s")
    return int(match[1])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    options.add_server(parser, "all on this machine")
    parser.add_argument(
        "--target",
        metavar="ADDRESS:PORT",
        action="append",
        type=target,
        help="metrics endpoint of a vcmtsd; may be repeated (default: those of all vcmtsd on this"
        " machine that run with `--metrics`)",
    )
    parser.add_argument(
        "--port",
        type=port,
        help=f"port of Prometheus on {server.HOST} (default: {server.USUAL_PORT}, or a free one)",
    )
    parser.add_argument(
        "--rules",
        metavar="FILE",
        action="append",
        type=rules,
        default=[],
        help="Prometheus rules to load besides the alerts, such as"
        " deploy/prometheus/reference.yaml; may be repeated",
    )
    parser.add_argument(
        "--interval",
        type=interval,
        default=2,
        help="time between two scrapes (default: 2s)",
    )


def scrape_targets(arguments: argparse.Namespace) -> list[str]:
    """The endpoints of --target, --pid or --socket, or all. Raises MistakeError without any."""
    pid = arguments.pid if arguments.socket is None else server_pid(arguments.socket)
    found = arguments.target or targets(pid=pid)
    if not found and pid is not None:
        raise MistakeError(f"vcmtsd {pid} has no metrics: start it with `--metrics 127.0.0.1:9464`")
    if not found:
        raise MistakeError(
            "found no vcmtsd with metrics: start one with `--metrics 127.0.0.1:9464`"
            " (also an option of `vcmts run`), or name its endpoint: --target ADDRESS:PORT"
        )
    return found


def print_addresses(number: int, scraped: list[str]) -> None:
    print(f"scraping {', '.join(scraped)}")
    at = f"http://{server.HOST}:{number}"
    print(f"graphs:  {at}{server.AT}/")
    print(f"alerts:  {at}{server.AT}/alerts.html")
    print(f"queries: {at}/graph")
    print(f"Grafana: import deploy/grafana/*.json; data source {at}\nCtrl-C to stop", flush=True)


def stop_prometheus(child: "subprocess.Popen[bytes]") -> None:
    """Stops Prometheus if it still runs; it must end before its folder is removed."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def main(arguments: argparse.Namespace) -> int:
    server.prometheus_path()
    scraped = scrape_targets(arguments)
    number = server.free_port(arguments.port)
    with (
        temporary_folder() as folder,
        (folder / "said").open("w+b") as stderr,
        stoppable() as stopped,
    ):
        child = server.start_prometheus(
            folder, number, scraped, arguments.rules, arguments.interval, stderr
        )
        try:
            server.wait_until_ready(child, number, stopped, stderr)
            if not stopped.by_signal:
                print_addresses(number, scraped)
            stopped.wait(child)
        finally:
            stop_prometheus(child)
        if not stopped.by_signal:
            notify(f"prometheus ended: {server.last_messages(stderr)}")
            return 1
    return 0
