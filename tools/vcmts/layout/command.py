# SPDX-License-Identifier: BSD-3-Clause
"""vcmts layout: shows which core runs which thread, checks this against the machine, and proposes a
layout. `vcmtsd check` gives the placement and its refusals; the tool reads the machine's topology.
"""

import argparse
import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from vcmts import configuration, options, version
from vcmts.child import check_writable, temporary_folder
from vcmts.console import wide_console
from vcmts.jsons import Json
from vcmts.layout import advice, machine, propose
from vcmts.layout.case import REFUSED, Case, Note, Port
from vcmts.layout.machine import Machine
from vcmts.layout.propose import Fit, Proposal
from vcmts.layout.show import show
from vcmts.output import is_stdout, write_json
from vcmts.paths import MistakeError, program
from vcmts.profile import crypto
from vcmts.profile.server import write_server
from vcmts.system.files import Files

SCHEMA = 1
HERE = Path("/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    configuration.add_arguments(parser)
    parser.add_argument(
        "--ports",
        choices=("shared", "own"),
        help="with --profile: service groups share a network port and an R-PHY port, or each has "
        "its own two (default: shared)",
    )
    parser.add_argument(
        "--propose",
        action="store_true",
        help="propose a layout also if the file sets one",
    )
    parser.add_argument(
        "--machine",
        metavar="FOLDER",
        type=Path,
        default=HERE,
        help="check another machine: a folder with a copy of its /sys and /proc",
    )
    options.add_json(parser, "everything")


def configuration_file(arguments: argparse.Namespace, found: Machine, folder_path: Path) -> Path:
    """The configuration file: that of --config, or the profile on the cores that `vcmts run` would
    use on the machine, written to `folder_path`."""
    if arguments.config:
        if arguments.ports is not None:
            raise MistakeError("--ports: not allowed with --config")
        return configuration.configuration_file(arguments, folder_path)
    path = folder_path / "sg.yaml"
    with path.open("w", encoding="utf-8") as out:
        write_server(
            crypto.profile_of(arguments),
            arguments.groups,
            out,
            sharing=arguments.ports or "shared",
            provider=crypto.provider_of(arguments),
            cores=configuration.cores_per_group(
                arguments.groups, found.affinity & found.usable or found.usable or None
            ),
        )
    return path


def check_placement(config: Path, cores: str) -> Json:
    """The facts that `vcmtsd check` prints for a machine with these cores, with refusals.

    `cores`: "here", or as cores_text(). Raises MistakeError for an invalid configuration."""
    command = [str(program("vcmtsd")), "check", "--json", "--cores", cores, "--config", str(config)]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if not done.stdout:
        raise MistakeError(f"{config}: invalid configuration; the errors are printed above")
    facts: Json = json.loads(done.stdout)
    return facts


def ports_of(facts: Json, files: Files) -> tuple[Port, ...]:
    return tuple(
        Port(
            group["service_group"],
            name,
            group[f"{name}_device"],
            machine.node_of_device(files, group[f"{name}_device"]),
        )
        for group in facts["groups"]
        for name in ("network", "rphy")
    )


def cores_text(found: Machine) -> str:
    """PRESENT/ONLINE/USABLE, for the option --cores of `vcmtsd check`."""
    sets = (found.present, found.online, found.usable)
    return "/".join(machine.cpu_list(sorted(cores)) if cores else "" for cores in sets)


def make_proposal(case: Case) -> tuple[list[Fit], Proposal]:
    groups = [group["service_group"] for group in case.groups()]
    upstreams = [group["upstream"] is not None for group in case.groups()]
    node = next((port.node for port in case.ports if port.node is not None), None)
    return (
        propose.fits(case.machine, upstreams, node),
        propose.proposal(case.machine, groups, upstreams, node),
    )


def result_json(case: Case, notes: list[Note], fits: list[Fit], proposal: Proposal | None) -> Json:
    found = case.machine
    return {
        "schema": SCHEMA,
        "version": version.facts(),
        "machine": {
            **{key: sorted(getattr(found, key)) for key in ("present", "online", "usable")},
            "cpuset": sorted(found.cpuset.cores) if found.cpuset else None,
            "quota": found.quota,
            "cores": [asdict(core) for core in found.cores.values()],
        },
        "placement": case.placement,
        "notes": [asdict(note) for note in notes],
        "fits": {fit.layout.name: fit.groups for fit in fits},
        "proposal": asdict(proposal) if proposal else None,
    }


def main(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    files = Files(arguments.machine)
    found = machine.read(files)
    if not found.usable and arguments.machine != HERE:
        raise MistakeError(f"--machine {arguments.machine}: found no core in its sys and proc")
    with temporary_folder() as folder_path:
        config = configuration_file(arguments, found, folder_path)
        facts = check_placement(config, "here" if arguments.machine == HERE else cores_text(found))
    placement = facts["placement"]
    case = Case(
        machine.with_reported_cores(found, files, placement["machine"]),
        placement,
        ports_of(facts, files),
        configured=bool(arguments.config) and any(group["given"] for group in placement["groups"]),
    )
    notes = advice.notes(case)
    fits, proposal = make_proposal(case)
    show_proposal = arguments.propose or not case.configured or placement["refused"]
    offered = proposal if show_proposal else None
    if not is_stdout(arguments.json):
        show(case, notes, fits, offered, wide_console())
    if arguments.json:
        write_json(arguments.json, result_json(case, notes, fits, offered))
    return 2 if any(note.level == REFUSED for note in notes) else 0
