# SPDX-License-Identifier: BSD-3-Clause
"""vcmts host: what this machine is, and what it lacks for service groups: planned, applied, undone.

docs/host.md says what is done, and what never is.
"""

import argparse
import json
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
from host.prepare import pools, stored
from host.prepare import words as host_words
from host.prepare.cards import ADDRESS
from host.prepare.decide import Options, decide
from host.prepare.fact import MISSING, Row, look
from host.prepare.system import StepError, System
from host.prepare.wish import wish
from vcmts.console import wide_console
from vcmts.layout import machine as host_machine
from vcmts.layout.propose import MOST_GROUPS
from vcmts.paths import MistakeError, complain
from vcmts.system.files import Files

HERE = Path("/")
PAGE_KB = {"2M": 2048, "1G": 1048576}


def add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--machine",
        metavar="FOLDER",
        type=Path,
        default=HERE,
        help="a folder with the /sys, /proc and /etc of another machine, instead of this one's",
    )


def add_check(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser("check", help="what this machine is, and what could be better")
    parser.add_argument("--groups", type=int, metavar="N", default=1, help="that it is to serve")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--kubernetes", action="store_true", help="also what Kubernetes needs of a node"
    )
    add_machine(parser)


def add_plan(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "plan", help="what it lacks, in words and as files; changes nothing"
    )
    parser.add_argument("--groups", type=int, metavar="N", help="service groups (default: 1)")
    parser.add_argument("--config", metavar="FILE", help="those of a configuration instead")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, help="for plan and files")
    parser.add_argument(
        "--ports",
        choices=("shared", "own"),
        default="shared",
        help="two ports for all service groups, or two for each; a configuration says it itself "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--cards", metavar="ADDRESS,..", default="", help="these alone, by PCI address"
    )
    for role in ("network", "rphy"):
        parser.add_argument(
            f"--{role}-vlan",
            metavar="LIST",
            default="",
            help=f"VLAN that cards give the {host_words.ROLE_WORDS[role]} ports: one, or one for "
            "each",
        )
    parser.add_argument(
        "--page-size", choices=tuple(PAGE_KB), default="2M", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--kubernetes",
        action="store_true",
        help="also pools for the SR-IOV network device plugin, and what the kubelet is told",
    )
    parser.add_argument(
        "--no-iommu",
        action="store_true",
        help="VFIO without an IOMMU, as in clouds: a port's owner can then write to all memory",
    )
    add_machine(parser)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_check(actions)
    add_plan(actions)
    apply = actions.add_parser("apply", help="carry a plan out: as root, and as often as wanted")
    apply.add_argument("folder", metavar="FOLDER", type=Path, help="of `vcmts host plan -o`")
    apply.add_argument("--dry-run", action="store_true", help="say what would be done")
    undo = actions.add_parser("undo", help="make everything what it was before")
    undo.add_argument(
        "--forget",
        action="store_true",
        help="give up what others have changed, or the machine refuses",
    )
    for one in (apply, undo):
        add_machine(one)


def files_of(root: Path) -> Files:
    """The programs of this machine tell nothing of another one."""
    if root == HERE:
        return Files()
    if not root.is_dir():
        raise MistakeError(f"--machine {root}: no such folder")
    return Files(root, lambda command: "")


def system_of(root: Path) -> System:
    if root != HERE:
        raise MistakeError(f"--machine {root}: allowed: with check and plan; changes are made here")
    if os.geteuid() != 0:
        raise MistakeError("changes to the system are root's: call it by sudo")
    return System()


def show_rows(rows: list[Row], console: Console) -> None:
    table = Table()
    table.add_column("fact")
    table.add_column("found", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        table.add_row(*(text.replace("[", r"\[") for text in (row.fact, row.found, row.verdict)))
    console.print(table)
    for row in rows:
        if row.todo:
            console.print(f"{row.fact}: {row.todo}", soft_wrap=True, markup=False)


def number_of_groups(groups: int) -> int:
    if not 1 <= groups <= MOST_GROUPS:
        raise MistakeError(f"--groups: found {groups}, allowed: 1 to {MOST_GROUPS}")
    return groups


def check(arguments: argparse.Namespace) -> int:
    groups = number_of_groups(arguments.groups)
    files = files_of(arguments.machine)
    found = look(files, host_machine.read(files))
    rows = host_check.rows(found, groups, kubernetes=arguments.kubernetes)
    good = all(row.verdict != MISSING for row in rows)
    if arguments.json:
        print(
            json.dumps({"schema": 1, "ok": good, "facts": [asdict(row) for row in rows]}, indent=1)
        )
    else:
        show_rows(rows, wide_console())
    return 0 if good else 1


def options_of(arguments: argparse.Namespace) -> Options:
    cards = tuple(part.strip().lower() for part in arguments.cards.split(",") if part.strip())
    cards = tuple(one if one.count(":") != 1 else f"0000:{one}" for one in cards)
    for one in cards:
        if re.fullmatch(ADDRESS, one) is None:
            raise MistakeError(f"--cards: found {one!r}, allowed: PCI addresses ({ADDRESS})")
    return Options(cards, PAGE_KB[arguments.page_size], arguments.no_iommu)


def plan(arguments: argparse.Namespace) -> int:
    options = options_of(arguments)
    files = files_of(arguments.machine)
    machine = host_machine.read(files)
    decided = decide(files, machine, wish(arguments, machine), options)
    text = host_words.words(decided, machine)
    if arguments.kubernetes:
        text += "\n" + "\n".join(pools.words(decided.plan))
    print(text, end="")
    if arguments.output:
        others = pools.files_of(decided.plan) if arguments.kubernetes else {}
        host_folder.write_plan(arguments.output, decided.plan, text, others)
        print(f"\n{arguments.output}: read it, keep it, and `vcmts host apply {arguments.output}`")
    return 0


def apply(arguments: argparse.Namespace) -> int:
    found = stored.read(arguments.folder)
    host_folder.same_files(arguments.folder, found)
    system = system_of(arguments.machine)
    if arguments.dry_run:
        count = host_apply.rehearse(system, found, print)
        print(f"{count} changes would be made")
        return 0
    count = host_apply.apply(system, found, print)
    print(f"{count} changes made" if count else "everything is as planned")
    if set(found.arguments) - set(kernel_arguments.running(system.files)):
        print("kernel arguments hold after a restart of the machine: systemctl reboot")
    return 0


def undo(arguments: argparse.Namespace) -> int:
    left = host_apply.undo(system_of(arguments.machine), print, forget=arguments.forget)
    if left:
        complain(f"{left} changes are left; `vcmts host undo --forget` gives them up")
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
        complain(str(error))
        return 1
