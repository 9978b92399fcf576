# SPDX-License-Identifier: BSD-3-Clause
"""vcmts run: runs vcmtsd and vcmts-traffic as two processes joined by memif.

vcmtsd serves the service groups. vcmts-traffic, on another core, sends and checks every packet.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from vcmts import configuration, options, output, version
from vcmts.child import INTERRUPTED, Stopped, check_writable, start, stoppable, temporary_folder
from vcmts.console import out_console
from vcmts.control import sockets
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify, program
from vcmts.run import (
    chance,
    checks,
    complaints,
    expected,
    figures,
    gaps,
    grants,
    groups,
    identities,
    lateness,
    maps,
    messages,
    planner,
    power,
    qos,
    rates,
    refusals,
    summary,
    verdict,
    witness,
)
from vcmts.run.plane import Ends, data_plane, facts_of, free_core, make_wire
from vcmts.streams import whole_file
from vcmts.system import cores
from vcmts.terminal import print_wrapped

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
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="print all figures of the run, and all messages of its programs",
    )


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
        notify(messages.live_hint(which))


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


def print_figures(
    whole: Json, cores: list[int], day: planner.Plan | None, found: verdict.Verdict, verbose: bool
) -> None:
    """Prints the figures, and tables: all with `verbose`, that of packets if packets failed."""
    console = out_console()
    if verbose:
        summary.show(whole, console)
    elif day is not None or not found.passed:
        if found.failures != verdict.rate_texts(whole, failed=True):
            console.print(summary.packets_table(whole))
        if expected.impaired(whole) and not expected.as_expected(whole):
            expected.show(whole, console)
    if "day" in whole and day is not None:
        day.show(whole["day"])
    for line in figures.lines(whole, cores):
        print_wrapped(line)


def keep_unexpected(captured: Path, json: str | None, status: int) -> str | None:
    """Copies the capture of unexpected frames beside the summary, or to the current folder. Returns
    its name; None if the run is good, when --impair caused the frames."""
    if not captured.exists() or status == 0:
        return None
    kept = Path(f"{json}.unexpected.pcapng" if json else UNEXPECTED)
    with whole_file(kept) as part:
        shutil.copyfile(captured, part)
    return str(kept)


def report_results(
    whole: Json,
    facts: Json,
    given: argparse.Namespace,
    day: planner.Plan | None,
    status: int,
    complain: Callable[..., None],
) -> int:
    """Prints and stores the results. `status`: of the traffic program. `complain`: report_all() of
    complaints. Returns the run's status."""
    broken = identities.broken_identities(whole)
    whole["identities_broken"] = [str(one) for one in broken]
    whole["checks"] = checks.check_rows(whole)
    excused = gaps.explain_all(whole, facts["capacity"])
    verdict.set_least_rates(whole, rates.asked(given))
    observed = None if day is None else day.document()
    unobserved = ["vcmtsd was not observed for --day"] if day and observed is None else []
    if observed is not None:
        whole["day"] = observed
    found = verdict.of_run(whole, status, unobserved)
    whole["verdict"] = found.document()
    if given.json:
        output.write_json(given.json, whole, indent=2)
    complain(whole, facts, excused=excused is not None, verbose=given.verbose)
    print_figures(whole, facts["cores"], day, found, given.verbose)
    if given.list_checks:
        checks.print_checks(whole["checks"], out_console())
    if not given.verbose:
        print("(--verbose prints all figures, --json FILE writes them)")
    print_wrapped(found.text())
    return status if status > 1 else int(not found.passed)


def merge_results(plane: Path, proven: Path) -> Json:
    """The summary of the files that vcmtsd and the traffic program wrote."""
    found = json.loads(proven.read_text(encoding="utf-8"))
    requested = {way: found[way]["asked_gbps"] for way in summary.directions(found)}
    return summary.merge(json.loads(plane.read_text(encoding="utf-8")), found, requested)


def wires(facts: Json, folder: Path, *, own: bool) -> list[Ends]:
    """The wires of the network and R-PHY ports; `own`: one per service group."""
    mtu = groups.largest_mtu(facts)
    return [make_wire(folder, n, name, mtu, own=own) for n, name in enumerate(("network", "rphy"))]


def announce(facts: Json, given: argparse.Namespace, seed: int) -> None:
    """Prints the version and what the run does."""
    notify(version.first_line())
    sent = rates.used_directions(rates.rates_of(facts, given))
    notify(messages.first_message(facts, given.duration or DURATION, sent, seed))


def missing_results(stopped: Stopped, status: int) -> int:
    """The exit status of a run of which a program wrote no summary."""
    if stopped.by_signal:
        return INTERRUPTED
    notify("no summary: a program ended early; its messages are printed above")
    return status or 1


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
    ends = wires(facts, folder, own=several and given.ports == "own")
    plane, proven = folder / "vcmtsd.json", folder / "traffic.json"
    captured = folder / UNEXPECTED
    command = traffic_command(config, ends, proven, facts, given)
    drawn = chance.draw(given.seed)
    command += ["--unexpected", str(captured), *drawn.traffic()]
    command += witness.options(given, folder)
    mistaken = check_command(command)
    if mistaken != 0:
        return mistaken
    announce(facts, given, drawn.seed)
    traffic_core = int(command[command.index("--core") + 1])
    print_shared_cores(claims.claim({traffic_core, *facts["cores"]}))
    status = INTERRUPTED
    with (
        messages.filtered(verbose=given.verbose) as shown,
        data_plane(
            *(config, ends, plane, stopped),
            latency=given.latency,
            several=several,
            control=given.control_socket,
            metrics=given.metrics,
            options=[*power.options(given), *drawn.plane()],
            messages=shown.file,
        ) as served,
    ):
        if not stopped.by_signal:
            control = control_socket_of(given, served.pid)
            command += follow_options(given, control)
            print_top_hint(given, control, served.pid)
            with day.watched(control) if day else nullcontext(shown.file) as text:
                traffic = start(command, quiet=True, stderr=text)
                polled = dict.fromkeys(facts["cores"], served.pid) | {traffic_core: traffic.pid}
                with claims.watched(polled):
                    status = stopped.wait(traffic)
            print_core_shares(claims, traffic_core)
    if stopped.by_signal:
        notify(stopped.text)
    if not plane.exists() or not proven.exists():
        return missing_results(stopped, status)
    whole = merge_results(plane, proven) | drawn.document()
    witness.add(whole, config, folder, given)
    for part in (refusals, qos, maps, lateness):
        part.add(whole)
    json_file = output.file_name(given.json)
    witness.print_problems(whole, witness.keep_packets(whole, folder, json_file))
    kept = keep_unexpected(captured, json_file, status)
    complain = partial(complaints.report_all, kept=kept, ordinary_pages=shown.ordinary_pages)
    return report_results(whole, facts, given, day, status, complain)


def main(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    with temporary_folder() as folder, stoppable() as stopped, cores.Claims() as claims:
        day = planner.plan_day(arguments, folder)
        config = configuration.configuration_file(arguments, folder)
        if arguments.grants == "scheduled":
            config = grants.with_scheduler(config, folder)
        return run_programs(config, folder, arguments, stopped, day, claims)
