# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size: cores, memory, ports and servers for service groups, from a profile of cost.

docs/sizing.md tells how it calculates.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from planning.size import cloud, cloud_show
from planning.size import devices as size_devices
from planning.size import files as size_files
from planning.size import measured as size_measured
from planning.size import published as size_published
from planning.size import request as size_request
from planning.size import show as size_show
from planning.size import watts as size_watts
from planning.size.load import (
    RECEIVER_CYCLES,
    REDUNDANCY,
    SHARED_PORTS,
    Kind,
    Question,
    Server,
)
from planning.size.plan import plan
from planning.size.request import Groups
from vcmts import published
from vcmts.child import writable
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.published import Rules

DEFAULT_MACHINE = "published:2023-4th-gen"
DEFAULT_RULES = "2023"
# option, key of Rules, what it is
SHARES = (
    ("--server-cores", "server_cores", "cores set aside on a server"),
    ("--os-cores", "socket_cores", "cores set aside on a socket: system, orchestration, telemetry"),
    ("--downstream-cores", "downstream_cores", "of a service group: 1, or 0.5 for a hyper-thread"),
    ("--upstream-cores", "upstream_cores", "of a service group"),
    ("--control-plane-cores", "control_plane_cores", "of a service group"),
    ("--upstream-scheduler-cores", "scheduler_cores", "of a service group"),
)


def within(least: float, most: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"found {text!r}, allowed: a number from {least:g} to {most:g}"
            )
        return value

    number.__name__ = "number"
    return number


def whole(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"found {text!r}, allowed: {least} to {most}")
        return int(text)

    return number


def a_rate(text: str) -> float:
    try:
        value = size_request.rate(text, "rate")
    except MistakeError as mistake:
        raise argparse.ArgumentTypeError(str(mistake)) from mistake
    if value == 0:
        raise argparse.ArgumentTypeError("found 0, allowed: more than that")
    return value


def gigahertz(text: str) -> float:
    return within(0.1, 10)(text.lower().removesuffix("ghz").strip())


def gibibytes(text: str) -> float:
    return within(0, 65536)(text.lower().removesuffix("gib").strip())


def _request(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("what is to be carried")
    part.add_argument(
        "--groups",
        action="append",
        metavar="SPEC",
        help=f"service groups: {size_request.FORM}, or max for a rate; a file .yaml or .json with "
        "a list of mappings; may be repeated",
    )
    part.add_argument("--mix", default="imix", help="downstream (default: %(default)s)")
    part.add_argument(
        "--upstream-mix", metavar="MIX", default="upstream-imix", help="(default: %(default)s)"
    )
    part.add_argument(
        "--crypto", default="", help=f"{', '.join(size_request.CRYPTO)} (default: as measured)"
    )
    part.add_argument(
        "--modems", type=whole(1, 65535), metavar="N", default=300, help="of each (default: 300)"
    )
    part.add_argument(
        "--service-group-limit",
        metavar="RATE",
        default="10Gbps",
        help="downstream of a service group, or none (default: %(default)s)",
    )
    part.add_argument(
        "--spare-servers", type=whole(0, 10**6), metavar="N", default=0, help="beside the needed"
    )


def _server(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("the server (default: the published machine's)")
    part.add_argument("--sockets", type=whole(1, 64), metavar="N", help="of the server")
    part.add_argument(
        "--cores-per-socket",
        type=whole(1, 1024),
        metavar="N",
        help="cores without counting hyper-threads; needed with measured files",
    )
    part.add_argument("--core-clock", type=gigahertz, metavar="GHz", help="of the cores at work")
    part.add_argument(
        "--threads-per-core", type=whole(1, 2), metavar="N", default=2, help="1 or 2 (default: 2)"
    )
    part.add_argument(
        "--thread-gain",
        type=within(0.5, 2),
        metavar="FACTOR",
        default=1.0,
        help="two hyper-threads over one alone, where one alone was measured (default: 1)",
    )
    part.add_argument("--memory", type=gibibytes, metavar="GiB", help="(default: no limit)")
    part.add_argument(
        "--system-memory", type=gibibytes, metavar="GiB", default=4.0, help="(default: 4)"
    )
    part.add_argument(
        "--memory-per-service-group", type=gibibytes, metavar="GiB", help="(default: the profile's)"
    )
    part.add_argument(
        "--port-speed", type=a_rate, metavar="RATE", default=100.0, help="(default: 100Gbps)"
    )
    part.add_argument(
        "--ports", type=whole(1, 1024), metavar="N", help="at most (default: no limit)"
    )
    part.add_argument("--redundancy", choices=REDUNDANCY, default="none", help="of ports")
    part.add_argument(
        "--ports-per-card", type=whole(1, 16), metavar="N", default=2, help="(default: 2)"
    )
    part.add_argument(
        "--slots", type=whole(1, 256), metavar="N", help="of PCIe, at most (default: no limit)"
    )
    part.add_argument("--slot-speed", type=a_rate, metavar="RATE", help="of a PCIe slot")
    part.add_argument("--crypto-card", type=a_rate, metavar="RATE", help="a card's, in a slot")
    part.add_argument(
        "--crypto-limit", type=a_rate, metavar="RATE", help="of a socket's crypto devices"
    )
    part.add_argument(
        "--interfaces", type=whole(1, 4096), metavar="N", help="virtual functions, at most"
    )
    part.add_argument("--nic-limit", type=a_rate, metavar="RATE", help="both directions together")


def _devices(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("crypto devices that some service groups have")
    part.add_argument(
        "--crypto-devices",
        type=whole(1, 64),
        metavar="N",
        help="of a server; service groups have one each as long as they carry them, the others "
        "stay with software",
    )
    part.add_argument(
        "--crypto-offload",
        choices=size_devices.DOES,
        default="crc",
        help="what such a device does: cipher and CRC, or the cipher alone, of which it carries "
        "more (default: %(default)s)",
    )


def _shared(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("ports that service groups share")
    part.add_argument(
        "--shared-ports",
        choices=SHARED_PORTS,
        default="",
        help="all service groups on two ports, told apart by a worker of each port, or by the card "
        "(default: two ports each)",
    )
    part.add_argument(
        "--receiver-cycles",
        type=within(1, 10000),
        metavar="CYCLES",
        default=RECEIVER_CYCLES,
        help="of such a worker, a packet (default: %(default)g)",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cloud.add_arguments(parser)
    parser.add_argument(
        "--machine",
        action="append",
        metavar="PROFILE",
        help="published:NAME, or a file of `vcmts bench` (pipeline, throughput, cost); files of "
        f"one machine may be repeated (default: {DEFAULT_MACHINE})",
    )
    _request(parser)
    _server(parser)
    _devices(parser)
    _shared(parser)
    part = parser.add_argument_group("what is set aside (default: by the rules of a paper)")
    part.add_argument("--rules", metavar="NAME", help=f"{', '.join(published.load().rules)}")
    for option, key, text in SHARES:
        part.add_argument(option, dest=key, type=within(0, 1024), metavar="CORES", help=text)
    part.add_argument("--headroom", type=within(0, 99), metavar="PERCENT", help="of each core")
    part.add_argument(
        "--standby",
        type=within(0, 1),
        default=0.0,
        metavar="SHARE",
        help="service groups in standby for each active one, on the same server",
    )
    parser.add_argument("--power", metavar="FILE", help=size_watts.HELP)
    parser.add_argument("--json", metavar="FILE", help="where the answer is stored as well")


def rules_of(arguments: argparse.Namespace, name: str) -> Rules:
    known = published.load().rules
    name = arguments.rules or name
    if name not in known:
        raise MistakeError(f"--rules {name}: not known, allowed: {', '.join(known)}")
    rules = known[name]
    for option, key, _ in SHARES:
        value = getattr(arguments, key)
        if value is None:
            continue
        if key in ("downstream_cores", "upstream_cores") and value not in (0.5, 1.0):
            raise MistakeError(f"{option}: found {value:g}, allowed: 0.5 or 1")
        rules = replace(rules, **{key: value})
    if arguments.headroom is not None:
        rules = replace(rules, headroom=arguments.headroom / 100)
    if arguments.threads_per_core == 1:
        rules = replace(
            rules,
            downstream_cores=float(-(-rules.downstream_cores // 1)),
            upstream_cores=float(-(-rules.upstream_cores // 1)),
        )
    return rules


def server_of(
    arguments: argparse.Namespace,
    machine: published.Machine | None,
    clock: float,
    interfaces: int | None,
) -> Server:
    cores = arguments.cores_per_socket or (machine.cores if machine else None)
    if cores is None:
        raise MistakeError("--cores-per-socket: needed, as a measured file does not have it")
    return Server(
        sockets=arguments.sockets or (machine.sockets if machine else 1),
        cores=cores,
        clock=arguments.core_clock or clock,
        threads=arguments.threads_per_core,
        thread_gain=arguments.thread_gain,
        memory_gib=arguments.memory,
        system_memory_gib=arguments.system_memory,
        port_gbps=arguments.port_speed,
        ports=arguments.ports,
        redundancy=arguments.redundancy,
        ports_a_card=arguments.ports_per_card,
        slots=arguments.slots,
        slot_gbps=arguments.slot_speed,
        crypto_card_gbps=arguments.crypto_card,
        crypto_gbps=arguments.crypto_limit,
        crypto_devices=(
            size_devices.Devices(arguments.crypto_devices, arguments.crypto_offload)
            if arguments.crypto_devices
            else None
        ),
        interfaces=arguments.interfaces or interfaces,
        nic_gbps=arguments.nic_limit,
        shared_ports=arguments.shared_ports,
        receiver_cycles=arguments.receiver_cycles,
    )


def limit_of(arguments: argparse.Namespace, kinds: list[Groups]) -> float | None:
    text = arguments.service_group_limit
    if text == "none":
        return None
    limit = size_request.rate(text, "--service-group-limit")
    for groups in kinds:
        if groups.downstream is not None and groups.downstream > limit:
            raise MistakeError(
                f"--groups {groups.name}: {groups.downstream:g} Gbps downstream, and a service "
                f"group's limit is {limit:g} Gbps (--service-group-limit)"
            )
    return limit


def asked(arguments: argparse.Namespace, crypto: str) -> list[Groups]:
    common = Groups(
        ofdm=6,
        mix=arguments.mix,
        upstream_mix=arguments.upstream_mix,
        crypto=arguments.crypto or crypto,
        modems=arguments.modems,
    )
    return [g for text in arguments.groups for g in size_request.from_option(text, common)]


def question_of(arguments: argparse.Namespace) -> tuple[Question, str]:
    """What is asked, and by whose rules."""
    machines: list[str] = arguments.machine or [DEFAULT_MACHINE]
    shipped = [name for name in machines if name.startswith(size_published.PREFIX)]
    if shipped and len(machines) > 1:
        raise MistakeError("--machine: allowed: one published profile, or files of one machine")
    if shipped:
        return _published(arguments, shipped[0])
    files = size_files.read(machines)
    kinds = asked(arguments, "aes")
    limit = limit_of(arguments, kinds)
    found = [Kind(groups, size_measured.costs(files, groups)) for groups in kinds]
    server = server_of(arguments, None, files.clock, None)
    rules = rules_of(arguments, DEFAULT_RULES)
    question = _question(arguments, found, server, rules, limit)
    return question, arguments.rules or DEFAULT_RULES


def _published(arguments: argparse.Namespace, name: str) -> tuple[Question, str]:
    data = published.load()
    profile = size_published.profile_of(data, name)
    kinds = asked(arguments, profile.crypto)
    limit = limit_of(arguments, kinds)
    found = [Kind(groups, size_published.costs(data, name, groups)) for groups in kinds]
    machine = data.machines[profile.machine]
    most = int(data.value(profile.interface_limit)) if profile.interface_limit else None
    server = server_of(arguments, machine, machine.clock, most)
    if profile.crypto_limit and server.crypto_gbps is None:
        server = replace(server, crypto_gbps=data.value(profile.crypto_limit))
    rules = rules_of(arguments, profile.rules)
    return _question(arguments, found, server, rules, limit), arguments.rules or profile.rules


def _question(
    arguments: argparse.Namespace,
    kinds: list[Kind],
    server: Server,
    rules: Rules,
    limit: float | None,
) -> Question:
    gib = arguments.memory_per_service_group
    if gib is not None:
        kinds = [
            replace(k, costs=replace(k.costs, memory_gib=gib, memory_source="as given"))
            for k in kinds
        ]
    return Question(kinds, server, rules, arguments.standby, limit)


def stored(arguments: argparse.Namespace, answer: Json) -> int:
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
        print(f"every value: {arguments.json}")
    return 0


def main(arguments: argparse.Namespace) -> int:
    if arguments.json:
        writable(arguments.json)
    console = Console(file=sys.stdout)
    answer: Json
    if arguments.cloud is not None:
        answer = cloud.answer(arguments, question_of)
        cloud_show.show(answer, console)
        return stored(arguments, answer)
    if not arguments.groups:
        raise MistakeError(f"--groups: missing, allowed: {size_request.FORM}")
    question, rules = question_of(arguments)
    found = plan(question)
    answer = size_show.as_json(found, rules, arguments.spare_servers)
    size_watts.add(answer, found, size_watts.machine_of(arguments.power, arguments.machine))
    size_show.show(answer, console)
    return stored(arguments, answer)
