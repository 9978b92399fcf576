# SPDX-License-Identifier: BSD-3-Clause
"""vcmts run: runs vcmtsd and vcmts-traffic as two processes joined by memif.

vcmtsd serves the service groups on its cores. vcmts-traffic sends, receives and checks every packet
of both directions on another core. The results of both are merged into one summary.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from vcmts import configuration, options, output, version
from vcmts.child import INTERRUPTED, Stopped, check_writable, start, stoppable, temporary_folder
from vcmts.control import sockets
from vcmts.jsons import Json
from vcmts.paths import TOOL, MistakeError, notify, program
from vcmts.run import (
    chance,
    checks,
    complaints,
    expected,
    gaps,
    grants,
    groups,
    identities,
    lateness,
    maps,
    planner,
    power,
    qos,
    rates,
    refusals,
    summary,
    witness,
)
from vcmts.run.plane import Ends, data_plane, facts_of, free_core, make_wire
from vcmts.streams import whole_file
from vcmts.system import cores

DURATION = "10s"
# Capture of unexpected frames, if there is no file for the summary.
UNEXPECTED = "unexpected.pcapng"
REFUSE_EVERY = 256
# Replacements in messages of vcmts-traffic: its options by those of this command.
REPLACEMENTS = (
    (r"^(vcmts-)?traffic: ", "vcmts: "),
    (r"--mix\b", "--traffic"),
    (r"--upstream-mix\b", "--upstream-traffic"),
    (r"`vcmts-traffic --help'.*", "`vcmts run --help' for more information."),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    configuration.add_arguments(parser)
    rates.add_arguments(parser)
    planner.add_arguments(parser)
    parser.add_argument(
        "--duration",
        help=f"such as 500ms, 10s, 2min (default: {DURATION}; with --day {planner.DURATION})",
    )
    parser.add_argument(
        "--impair",
        metavar="KIND=SHARE[,..]",
        help="impairments of the upstream, such as psp-loss=0.1%%,wrong-key=0.001; `vcmts "
        "impairments --help` and docs/impairments.md list the kinds",
    )
    parser.add_argument(
        "--grants",
        choices=("open", "scheduled"),
        default="open",
        help="open: each modem gets 2 kB in turn, without requests; scheduled: modems request and "
        "wait for grants of the upstream scheduler, which is added to the configuration if missing "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--latency",
        action="store_true",
        help="also measure latency in the pipeline; costs 2 to 3 %% of its cycles",
    )
    parser.add_argument(
        "--ports",
        choices=("shared", "own"),
        default="shared",
        help="shared: one network port and one R-PHY port for all service groups; own: two ports "
        "per service group (default: %(default)s)",
    )
    parser.add_argument(
        "--control-socket",
        metavar="PATH",
        help="control socket of vcmtsd for `vcmts control`, `vcmts top` and others, or none "
        "(default: one named by its process ID, which is printed)",
    )
    parser.add_argument(
        "--metrics",
        metavar="ADDRESS:PORT",
        help="HTTP endpoint of vcmtsd's metrics, such as 127.0.0.1:9464, for `vcmts monitor` and"
        " others (default: none)",
    )
    power.add_arguments(parser)
    add_proof_arguments(parser)
    parser.add_argument("--core", type=int, help="core of vcmts-traffic (default: a free one)")
    options.add_json(parser, "all figures of the run")
    parser.add_argument("--verbose", action="store_true", help="print all figures of the run")


def add_proof_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=int,
        metavar="NUMBER",
        help="seed of the random numbers (default: a random one, which is printed)",
    )
    parser.add_argument(
        "--refuse-every",
        type=int,
        metavar="NUMBER",
        default=REFUSE_EVERY,
        help="after every NUMBERth packet, in both directions, send one that vcmtsd must drop: "
        "malformed, multicast, unknown destination, denied by a filter, not encrypted, spoofed "
        "source; 0: none (default: %(default)s)",
    )
    witness.add_arguments(parser)
    parser.add_argument(
        "--list-checks",
        action="store_true",
        help="list the checks: what each compares, and how many it checked",
    )


def shape_options(given: argparse.Namespace, requested: rates.Rates) -> list[str]:
    """The options of the rates' shapes. --day needs both, even if nothing is sent upstream."""
    words = ["--shape", given.shape] if given.shape is not None else []
    if given.upstream_shape is not None and (
        given.day is None or requested.upstream != rates.NO_TRAFFIC
    ):
        words += ["--upstream-shape", given.upstream_shape]
    return words


def traffic_command(
    config: Path, ends: list[Ends], result: Path, facts: Json, given: argparse.Namespace
) -> list[str]:
    core = free_core(facts["cores"]) if given.core is None else given.core
    allowed = sorted(os.sched_getaffinity(0))
    if core not in allowed:
        raise MistakeError(f"--core: found {core}, allowed: {', '.join(map(str, allowed))}")
    requested = rates.rates_of(facts, given)
    command = [str(program("vcmts-traffic")), "--config", str(config), "--json", str(result)]
    command += ["--network", ends[0].client, "--rphy", ends[1].client]
    if requested.downstream == rates.NO_TRAFFIC:
        command += ["--no-downstream"]
    else:
        command += ["--mix", given.traffic] if given.traffic is not None else []
        command += ["--replay", given.replay] if given.replay is not None else []
        command += ["--rate", requested.downstream]
        command += ["--flows", given.flows] if given.flows is not None else []
    command += ["--refuse-every", str(given.refuse_every)] if given.refuse_every else []
    if requested.upstream != rates.NO_TRAFFIC:
        command += ["--upstream-mix", given.upstream_traffic, "--upstream-rate", requested.upstream]
    command += shape_options(given, requested)
    if given.impair is not None:
        command += ["--impair", given.impair]
    if given.grants == "scheduled":
        command += ["--grants", "scheduled"]
    command += ["--duration", given.duration or DURATION]
    # The main core follows changes: use a free one, to not take time from sending and receiving.
    main = free_core([*facts["cores"], core])
    busy = main in facts["cores"]
    return [*command, "--core", str(core), "--main-core", str(core if busy else main)]


def control_socket_of(given: argparse.Namespace, pid: int) -> Path | None:
    """The control socket of the vcmtsd with this process ID; None: it has none."""
    if given.control_socket == "none":
        return None
    return (
        sockets.process_socket(pid) if given.control_socket is None else Path(given.control_socket)
    )


def follow_options(given: argparse.Namespace, control: Path | None) -> list[str]:
    """The option to follow changes of the configuration; empty if the traffic cannot."""
    if given.replay is not None or given.flows is not None or given.impair is not None:
        return []
    if given.grants == "scheduled":
        return []
    return [] if control is None else ["--follow", str(control)]


def print_top_hint(given: argparse.Namespace, control: Path | None, pid: int) -> None:
    if control is not None:
        which = f"--pid {pid}" if given.control_socket is None else f"--socket {control}"
        notify(f"`{TOOL} top {which}` in another terminal shows the run live")


def print_shared_cores(shared: cores.Users) -> None:
    """Prints who polls the cores of this run already."""
    for core, holders in sorted(shared.items()):
        notify(f"core {core} is shared with {cores.listed(holders)}")


def print_core_shares(claims: cores.Claims, traffic_core: int) -> None:
    """Prints how much this run got of each core that it shared."""
    for core, holders in sorted(claims.sharing().items()):
        name = "vcmts-traffic" if core == traffic_core else "vcmtsd"
        part = f"{claims.shares[core]:.0%}" if core in claims.shares else "a part"
        notify(f"{name} got {part} of core {core}, shared with {cores.listed(holders)}")


def translate_messages(messages: str) -> str:
    for found, replacement in REPLACEMENTS:
        messages = re.sub(found, replacement, messages, flags=re.MULTILINE)
    return messages


def check_command(command: list[str]) -> int:
    """Checks the command with vcmts-traffic, and prints its errors. Returns its exit status."""
    checked = subprocess.run(
        [*command, "--check"], check=False, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    print(translate_messages(checked.stderr), end="", file=sys.stderr)
    return checked.returncode


def print_summary(day: planner.Plan | None, whole: Json, facts: Json, verbose: bool) -> int:
    """Prints the summary. Adds the results of --day to it. Returns 1 if --day observed nothing."""
    console = Console(file=sys.stdout)
    if day is None:
        shown = summary.show if verbose else summary.show_short
        shown(whole, console, facts["cores"])
        return 0
    observed = day.document()
    console.print(summary.packets_table(whole))
    if observed is not None:
        whole["day"] = observed
        day.show(observed)
    print(summary.verdict(whole), flush=True)
    return 0 if observed is not None else 1


def keep_unexpected(captured: Path, json: str | None, status: int) -> str | None:
    """Copies the capture of unexpected frames beside the summary, or to the current folder. Returns
    its name; None if the run is good, when --impair caused the frames."""
    if not captured.exists() or status == 0:
        return None
    kept = Path(f"{json}.unexpected.pcapng" if json else UNEXPECTED)
    with whole_file(kept) as part:
        shutil.copyfile(captured, part)
    return str(kept)


def has_failed_checks(whole: Json) -> bool:
    """Whether a check failed that the traffic program does not do itself."""
    return summary.has_other_errors(whole) or (
        expected.impaired(whole) and not expected.as_expected(whole)
    )


def report_results(
    whole: Json,
    facts: Json,
    given: argparse.Namespace,
    day: planner.Plan | None,
    status: int,
    kept: str | None,
) -> int:
    """Prints and stores the results. `status`: of the traffic program. Returns the run's."""
    broken = identities.broken_identities(whole)
    whole["identities_broken"] = [str(one) for one in broken]
    whole["checks"] = checks.check_rows(whole)
    excused = gaps.explain_all(whole, facts["capacity"])
    if excused and status == 1:
        status = 0
    status = max(status, print_summary(day, whole, facts, given.verbose))
    if broken or has_failed_checks(whole):
        status = max(status, 1)
    if given.list_checks:
        checks.print_checks(whole["checks"], Console(file=sys.stdout))
    if given.json:
        output.write_json(given.json, whole, indent=2)
    complaints.report_all(whole, facts, kept, excused=excused is not None)
    if excused:
        notify(gaps.excuse_text(whole, excused))
    return status if summary.balanced(whole) else max(status, 1)


def run_programs(
    config: Path,
    folder: Path,
    given: argparse.Namespace,
    stopped: Stopped,
    day: planner.Plan | None,
    claims: cores.Claims,
) -> int:
    """Runs both programs on the configuration, and observes a day. Returns the exit status."""
    facts = facts_of(config)
    several = len(groups.group_facts(facts)) > 1
    own = several and given.ports == "own"
    mtu = groups.largest_mtu(facts)
    ends = [make_wire(folder, n, name, mtu, own=own) for n, name in enumerate(("network", "rphy"))]
    plane, proven = folder / "vcmtsd.json", folder / "traffic.json"
    captured = folder / UNEXPECTED
    command = traffic_command(config, ends, proven, facts, given)
    drawn = chance.draw(given.seed)
    command += ["--unexpected", str(captured), *drawn.traffic()]
    command += witness.options(given, folder)
    mistaken = check_command(command)
    if mistaken != 0:
        return mistaken
    notify(version.first_line())
    notify(checks.first_message(drawn.seed))
    traffic_core = int(command[command.index("--core") + 1])
    print_shared_cores(claims.claim({traffic_core, *facts["cores"]}))
    status = INTERRUPTED
    with data_plane(
        *(config, ends, plane, stopped),
        latency=given.latency,
        several=several,
        control=given.control_socket,
        metrics=given.metrics,
        options=[*power.options(given), *drawn.plane()],
    ) as served:
        if not stopped.by_signal:
            control = control_socket_of(given, served.pid)
            command += follow_options(given, control)
            print_top_hint(given, control, served.pid)
            with day.watched(control) if day else nullcontext() as messages:
                traffic = start(command, quiet=True, stderr=messages)
                polled = dict.fromkeys(facts["cores"], served.pid) | {traffic_core: traffic.pid}
                with claims.watched(polled):
                    status = stopped.wait(traffic)
            print_core_shares(claims, traffic_core)
    if stopped.by_signal:
        notify(stopped.text)
    if not plane.exists() or not proven.exists():
        if stopped.by_signal:
            return INTERRUPTED
        notify("no summary: a program ended early; its messages are printed above")
        return status or 1
    found = json.loads(proven.read_text(encoding="utf-8"))
    requested = {way: found[way]["asked_gbps"] for way in summary.directions(found)}
    whole = summary.merge(json.loads(plane.read_text(encoding="utf-8")), found, requested)
    whole |= {"seed": drawn.seed, "first_number": drawn.first_number}
    witness.add(whole, config, folder, given)
    refusals.add(whole)
    qos.add(whole)
    maps.add(whole)
    lateness.add(whole)
    witness.print_problems(whole, witness.keep_packets(whole, folder, output.file_name(given.json)))
    kept = keep_unexpected(captured, output.file_name(given.json), status)
    return report_results(whole, facts, given, day, status, kept)


def main(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    with temporary_folder() as folder, stoppable() as stopped, cores.Claims() as claims:
        day = planner.plan_day(arguments, folder)
        config = configuration.configuration_file(arguments, folder)
        if arguments.grants == "scheduled":
            config = grants.with_scheduler(config, folder)
        return run_programs(config, folder, arguments, stopped, day, claims)
