# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts host`: checks, prepares and restores a host for service groups.

Actions: check, plan, apply and undo. docs/host.md describes the changes.
"""

import argparse
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from host.prepare import apply as host_apply
from host.prepare import arguments as kernel_arguments
from host.prepare import check as host_check
from host.prepare import folder as host_folder
from host.prepare import markdown as host_markdown
from host.prepare import pools, stored
from host.prepare.cards import ADDRESS
from host.prepare.decide import Options, decide
from host.prepare.fact import MISSING, Finding, inspect_machine
from host.prepare.requirements import requirements
from host.prepare.system import StepError, System
from vcmts import options, version
from vcmts.console import print_line, wide_console
from vcmts.layout import machine as host_machine
from vcmts.layout.propose import MOST_GROUPS
from vcmts.output import is_stdout, write_json
from vcmts.paths import MistakeError, notify
from vcmts.system.files import Files
from vcmts.terminal import print_wrapped

HERE = Path("/")
PAGE_KB = {"2M": 2048, "1G": 1048576}


def add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--machine",
        metavar="FOLDER",
        type=Path,
        default=HERE,
        help="read /sys, /proc and /etc of another machine from this folder",
    )


def add_check(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser("check", help="show what this host has, lacks and could improve")
    parser.add_argument(
        "--groups", type=int, metavar="N", default=1, help="service groups (default: %(default)s)"
    )
    options.add_json(parser, "the facts")
    parser.add_argument(
        "--kubernetes", action="store_true", help="also check the requirements of a Kubernetes node"
    )
    add_machine(parser)


def add_plan(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "plan", help="write the missing settings as text and files; changes nothing"
    )
    parser.add_argument("--groups", type=int, metavar="N", help="service groups (default: 1)")
    parser.add_argument("--config", metavar="FILE", help="service groups of a configuration file")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, help="write the plan there")
    parser.add_argument(
        "--ports",
        choices=("shared", "own"),
        default="shared",
        help="two ports for all service groups, or two per group; ignored with --config "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--cards", metavar="ADDRESS,..", default="", help="use only these cards (PCI addresses)"
    )
    for role in ("network", "rphy"):
        parser.add_argument(
            f"--{role}-vlan",
            metavar="LIST",
            default="",
            help=f"VLANs that cards add to the {host_markdown.ROLE_WORDS[role]} ports: one for "
            "all, or one per port",
        )
    parser.add_argument(
        "--page-size", choices=tuple(PAGE_KB), default="2M", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--kubernetes",
        action="store_true",
        help="also write pools for the SR-IOV network device plugin and kubelet settings",
    )
    parser.add_argument(
        "--no-iommu",
        action="store_true",
        help="use VFIO without an IOMMU, as in clouds: a port's owner can write to all memory",
    )
    add_machine(parser)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_check(actions)
    add_plan(actions)
    apply = actions.add_parser("apply", help="apply a plan, as root; can be repeated")
    apply.add_argument(
        "folder", metavar="FOLDER", type=Path, help="written by `vcmts host plan -o`"
    )
    apply.add_argument("--dry-run", action="store_true", help="print the changes, make none")
    undo = actions.add_parser("undo", help="restore the state before the plan was applied")
    undo.add_argument(
        "--forget",
        action="store_true",
        help="forget changes that another program overwrote or that the system refuses to undo",
    )
    for action in (apply, undo):
        add_machine(action)


def machine_files(root: Path) -> Files:
    """Reads files below `root`. Programs of this host do not run for another machine."""
    if root == HERE:
        return Files()
    if not root.is_dir():
        raise MistakeError(f"--machine {root}: no such folder")
    return Files(root, lambda command: "")


def machine_system(root: Path) -> System:
    if root != HERE:
        raise MistakeError(f"--machine {root}: allowed only with check and plan")
    if os.geteuid() != 0:
        raise MistakeError("only root can change the system: use sudo")
    return System()


def print_findings(findings: list[Finding], console: Console) -> None:
    table = Table()
    table.add_column("fact")
    table.add_column("found", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for one in findings:
        table.add_row(*(text.replace("[", r"\[") for text in (one.fact, one.found, one.verdict)))
    console.print(table)
    for one in findings:
        if one.todo:
            print_line(console, f"{one.fact}: {one.todo}")


def valid_group_count(groups: int) -> int:
    if not 1 <= groups <= MOST_GROUPS:
        raise MistakeError(f"--groups: found {groups}, allowed: 1 to {MOST_GROUPS}")
    return groups


def check(arguments: argparse.Namespace) -> int:
    groups = valid_group_count(arguments.groups)
    files = machine_files(arguments.machine)
    inspection = inspect_machine(files, host_machine.read(files))
    found = host_check.findings(inspection, groups, kubernetes=arguments.kubernetes)
    ok = all(finding.verdict != MISSING for finding in found)
    if arguments.json:
        facts = [asdict(finding) for finding in found]
        report = {"schema": 1, "version": version.facts(), "ok": ok, "facts": facts}
        write_json(arguments.json, report)
    if not is_stdout(arguments.json):
        print_findings(found, wide_console())
    return 0 if ok else 1


def parse_options(arguments: argparse.Namespace) -> Options:
    cards = tuple(part.strip().lower() for part in arguments.cards.split(",") if part.strip())
    cards = tuple(one if one.count(":") != 1 else f"0000:{one}" for one in cards)
    for one in cards:
        if re.fullmatch(ADDRESS, one) is None:
            raise MistakeError(f"--cards: found {one!r}, allowed: PCI addresses ({ADDRESS})")
    return Options(cards, PAGE_KB[arguments.page_size], arguments.no_iommu)


def plan(arguments: argparse.Namespace) -> int:
    options = parse_options(arguments)
    files = machine_files(arguments.machine)
    machine = host_machine.read(files)
    decided = decide(files, machine, requirements(arguments, machine), options)
    text = host_markdown.plan_text(decided, machine, written=arguments.output is not None)
    if arguments.kubernetes:
        text += "\n" + "\n".join(pools.markdown_lines(decided.plan))
    for line in text.rstrip("\n").split("\n"):
        # Blocks of configuration have indented lines: a line break would change them.
        print(line) if line.startswith(" ") else print_wrapped(line)
    if arguments.output:
        others = pools.plan_files(decided.plan) if arguments.kubernetes else {}
        host_folder.write_plan(arguments.output, decided.plan, text, others)
        print(f"\nwritten to {arguments.output}: {', '.join(host_folder.parts(arguments.output))}")
        print(f"review it, then run `vcmts host apply {arguments.output}`")
    return 0


def apply(arguments: argparse.Namespace) -> int:
    found = stored.read(arguments.folder)
    host_folder.check_files(arguments.folder, found)
    system = machine_system(arguments.machine)
    if arguments.dry_run:
        count = host_apply.dry_run(system, found, print)
        print(f"{count} changes would be made")
        return 0
    count = host_apply.apply(system, found, print)
    print(f"{count} changes made" if count else "everything is as planned")
    if set(found.arguments) - set(kernel_arguments.running(system.files)):
        print("new kernel arguments take effect after a reboot: systemctl reboot")
    return 0


def undo(arguments: argparse.Namespace) -> int:
    left = host_apply.undo(machine_system(arguments.machine), print, forget=arguments.forget)
    if left:
        notify(f"{left} changes were not undone; `vcmts host undo --forget` forgets them")
    return 1 if left else 0


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": check,
    "plan": plan,
    "apply": apply,
    "undo": undo,
}


def main(arguments: argparse.Namespace) -> int:
    try:
        return ACTIONS[arguments.action](arguments)
    except StepError as error:
        notify(str(error))
        return 1
