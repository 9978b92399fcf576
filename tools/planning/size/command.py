# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts size`: options and main function. docs/sizing.md describes the calculation."""

import argparse
from collections.abc import Callable
from dataclasses import replace

from planning.size import cloud, cloud_show
from planning.size import devices as size_devices
from planning.size import files as size_files
from planning.size import measured as size_measured
from planning.size import published as size_published
from planning.size import request as size_request
from planning.size import show as size_show
from planning.size import watts as size_watts
from planning.size.load import RECEIVER_CYCLES, REDUNDANCY, SHARED_PORTS, Kind, Question, Server
from planning.size.plan import plan
from planning.size.request import Groups
from vcmts import options, output, published, version
from vcmts.child import check_writable
from vcmts.console import out_console
from vcmts.jsons import Json
from vcmts.output import write_json
from vcmts.paths import MistakeError
from vcmts.published import Rules

DEFAULT_MACHINE = "published:2023-4th-gen"
DEFAULT_RULES = "2023"
# option, field of Rules, help
SHARES = (
    ("--server-cores", "server_cores", "cores reserved per server"),
    ("--os-cores", "socket_cores", "cores reserved per socket: system, orchestration, telemetry"),
    ("--downstream-cores", "downstream_cores", "per service group: 1, or 0.5 for a hyper-thread"),
    ("--upstream-cores", "upstream_cores", "per service group: 1, or 0.5 for a hyper-thread"),
    ("--control-plane-cores", "control_plane_cores", "per service group"),
    ("--upstream-scheduler-cores", "scheduler_cores", "per service group"),
)


def number_in_range(least: float, most: float) -> Callable[[str], float]:
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


def integer_in_range(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"found {text!r}, allowed: {least} to {most}")
        return int(text)

    return number


def positive_rate(text: str) -> float:
    try:
        value = size_request.rate(text, "rate")
    except MistakeError as mistake:
        raise argparse.ArgumentTypeError(str(mistake)) from mistake
    if value == 0:
        raise argparse.ArgumentTypeError("found 0, allowed: more than 0")
    return value


def gigahertz(text: str) -> float:
    return number_in_range(0.1, 10)(text.lower().removesuffix("ghz").strip())


def gibibytes(text: str) -> float:
    return number_in_range(0, 65536)(text.lower().removesuffix("gib").strip())


# option; type, or allowed words; metavar; default; help
Row = tuple[
    str, Callable[[str], float | str] | tuple[str, ...], str | None, float | str | None, str
]
REQUEST: tuple[Row, ...] = (
    ("--mix", str, None, "imix", "downstream packet sizes (default: %(default)s)"),
    ("--upstream-mix", str, "MIX", "upstream-imix", "upstream packet sizes (default: %(default)s)"),
    ("--crypto", str, None, "", f"{', '.join(size_request.CRYPTO)} (default: as measured)"),
    ("--modems", integer_in_range(1, 65535), "N", 300, "modems per service group (default: 300)"),
    (
        "--service-group-limit",
        str,
        "RATE",
        "10Gbps",
        "maximum downstream rate per service group, or none (default: %(default)s)",
    ),
    (
        "--spare-servers",
        integer_in_range(0, 10**6),
        "N",
        0,
        "servers in addition to the needed ones (default: 0)",
    ),
)
SERVER: tuple[Row, ...] = (
    ("--sockets", integer_in_range(1, 64), "N", None, "CPU sockets"),
    (
        "--cores-per-socket",
        integer_in_range(1, 1024),
        "N",
        None,
        "physical cores; needed with measured files",
    ),
    ("--core-clock", gigahertz, "GHz", None, "clock of busy cores"),
    ("--threads-per-core", integer_in_range(1, 2), "N", 2, "1 or 2 (default: 2)"),
    (
        "--thread-gain",
        number_in_range(0.5, 2),
        "FACTOR",
        1.0,
        "work of two hyper-threads relative to one, if one was measured (default: 1)",
    ),
    ("--memory", gibibytes, "GiB", None, "total (default: no limit)"),
    ("--system-memory", gibibytes, "GiB", 4.0, "memory that the system needs (default: 4)"),
    ("--memory-per-service-group", gibibytes, "GiB", None, "(default: the profile's)"),
    ("--port-speed", positive_rate, "RATE", 100.0, "per port (default: 100Gbps)"),
    ("--ports", integer_in_range(1, 1024), "N", None, "maximum (default: no limit)"),
    ("--redundancy", REDUNDANCY, None, "none", "spare ports"),
    ("--ports-per-card", integer_in_range(1, 16), "N", 2, "(default: 2)"),
    ("--slots", integer_in_range(1, 256), "N", None, "maximum of PCIe slots (default: no limit)"),
    ("--slot-speed", positive_rate, "RATE", None, "per PCIe slot"),
    ("--crypto-card", positive_rate, "RATE", None, "per crypto card, in a PCIe slot"),
    ("--crypto-limit", positive_rate, "RATE", None, "of all crypto devices per socket"),
    ("--interfaces", integer_in_range(1, 4096), "N", None, "maximum of virtual functions"),
    ("--nic-limit", positive_rate, "RATE", None, "total of both directions"),
)


def _add_rows(part: argparse._ArgumentGroup, rows: tuple[Row, ...]) -> None:
    for option, kind, metavar, default, text in rows:
        if isinstance(kind, tuple):
            part.add_argument(option, choices=kind, default=default, help=text)
        else:
            part.add_argument(option, type=kind, metavar=metavar, default=default, help=text)


def _request(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("requested service groups")
    part.add_argument(
        "--groups",
        action="append",
        metavar="SPEC",
        help=f"service groups: {size_request.FORM}, or max for a rate; or a .yaml or .json file "
        "with a list of mappings; may be repeated",
    )
    _add_rows(part, REQUEST)


def _server(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("the server (default: the published machine's)")
    _add_rows(part, SERVER)


def _devices(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("crypto devices for some service groups")
    part.add_argument(
        "--crypto-devices",
        type=integer_in_range(1, 64),
        metavar="N",
        help="per server; service groups beyond their capacity use software crypto",
    )
    part.add_argument(
        "--crypto-offload",
        choices=size_devices.DOES,
        default="crc",
        help="work of a device: crc for cipher and CRC, or cipher alone, of which it carries more "
        "(default: %(default)s)",
    )


def _shared(parser: argparse.ArgumentParser) -> None:
    part = parser.add_argument_group("ports that service groups share")
    part.add_argument(
        "--shared-ports",
        choices=SHARED_PORTS,
        default="",
        help="all service groups share two ports; a worker per port, or the card, distributes the "
        "packets (default: two ports per group)",
    )
    part.add_argument(
        "--receiver-cycles",
        type=number_in_range(1, 10000),
        metavar="CYCLES",
        default=RECEIVER_CYCLES,
        help="of such a worker, per packet (default: %(default)g)",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cloud.add_arguments(parser)
    parser.add_argument(
        "--machine",
        action="append",
        metavar="PROFILE",
        help="published:NAME, or a file of `vcmts bench` (pipeline, throughput, cost); may be "
        f"repeated for files of one machine (default: {DEFAULT_MACHINE})",
    )
    _request(parser)
    _server(parser)
    _devices(parser)
    _shared(parser)
    part = parser.add_argument_group("reserves (default: the rules of a paper)")
    part.add_argument("--rules", metavar="NAME", help=f"{', '.join(published.load().rules)}")
    for option, key, text in SHARES:
        part.add_argument(
            option, dest=key, type=number_in_range(0, 1024), metavar="CORES", help=text
        )
    part.add_argument(
        "--headroom", type=number_in_range(0, 99), metavar="PERCENT", help="of each core"
    )
    part.add_argument(
        "--standby",
        type=number_in_range(0, 1),
        default=0.0,
        metavar="SHARE",
        help="standby service groups per active one, on the same server (default: 0)",
    )
    parser.add_argument("--power", metavar="FILE", help=size_watts.HELP)
    options.add_json(parser, "the answer")


def parse_rules(arguments: argparse.Namespace, name: str) -> Rules:
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


def parse_server(
    arguments: argparse.Namespace,
    machine: published.Machine | None,
    clock: float,
    interfaces: int | None,
) -> Server:
    cores = arguments.cores_per_socket or (machine.cores if machine else None)
    if cores is None:
        raise MistakeError("--cores-per-socket: needed with a measured file")
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


def parse_limit(arguments: argparse.Namespace, kinds: list[Groups]) -> float | None:
    text = arguments.service_group_limit
    if text == "none":
        return None
    limit = size_request.rate(text, "--service-group-limit")
    for groups in kinds:
        if groups.downstream is not None and groups.downstream > limit:
            raise MistakeError(
                f"--groups {groups.name}: found {groups.downstream:g} Gbps downstream, allowed: "
                f"{limit:g} Gbps (--service-group-limit)"
            )
    return limit


def requested_groups(arguments: argparse.Namespace, crypto: str) -> list[Groups]:
    common = Groups(
        ofdm=6,
        mix=arguments.mix,
        upstream_mix=arguments.upstream_mix,
        crypto=arguments.crypto or crypto,
        modems=arguments.modems,
    )
    return [g for text in arguments.groups for g in size_request.from_option(text, common)]


def parse_question(arguments: argparse.Namespace) -> tuple[Question, str]:
    """The question that the options pose, and the name of its rules."""
    machines: list[str] = arguments.machine or [DEFAULT_MACHINE]
    shipped = [name for name in machines if name.startswith(size_published.PREFIX)]
    if shipped and len(machines) > 1:
        raise MistakeError(
            "--machine: several machines; needed: one published profile, or files of one machine"
        )
    if shipped:
        return _published(arguments, shipped[0])
    files = size_files.read(machines)
    kinds = requested_groups(arguments, "aes")
    limit = parse_limit(arguments, kinds)
    found = [Kind(groups, size_measured.costs(files, groups)) for groups in kinds]
    server = parse_server(arguments, None, files.clock, None)
    rules = parse_rules(arguments, DEFAULT_RULES)
    question = _question(arguments, found, server, rules, limit)
    return question, arguments.rules or DEFAULT_RULES


def _published(arguments: argparse.Namespace, name: str) -> tuple[Question, str]:
    data = published.load()
    profile = size_published.profile_of(data, name)
    kinds = requested_groups(arguments, profile.crypto)
    limit = parse_limit(arguments, kinds)
    found = [Kind(groups, size_published.costs(data, name, groups)) for groups in kinds]
    machine = data.machines[profile.machine]
    most = int(data.value(profile.interface_limit)) if profile.interface_limit else None
    server = parse_server(arguments, machine, machine.clock, most)
    if profile.crypto_limit and server.crypto_gbps is None:
        server = replace(server, crypto_gbps=data.value(profile.crypto_limit))
    rules = parse_rules(arguments, profile.rules)
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


def store(arguments: argparse.Namespace, answer: Json) -> int:
    """Writes the answer for --json. Returns the exit status."""
    if arguments.json:
        write_json(arguments.json, answer | {"version": version.facts()})
    if output.file_name(arguments.json):
        print(f"every value: {arguments.json}")
    return 0


def main(arguments: argparse.Namespace) -> int:
    if arguments.json:
        check_writable(arguments.json)
    console = out_console()
    answer: Json
    if arguments.cloud is not None:
        answer = cloud.answer(arguments, parse_question)
        if not output.is_stdout(arguments.json):
            cloud_show.show(answer, console)
        return store(arguments, answer)
    if not arguments.groups:
        raise MistakeError(f"--groups: missing; needed: {size_request.FORM}")
    question, rules = parse_question(arguments)
    found = plan(question)
    answer = size_show.as_json(found, rules, arguments.spare_servers)
    size_watts.add(answer, found, size_watts.described_machine(arguments.power, arguments.machine))
    if not output.is_stdout(arguments.json):
        size_show.show(answer, console)
    return store(arguments, answer)
