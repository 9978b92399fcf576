# SPDX-License-Identifier: BSD-3-Clause
"""Formats the answer of `vcmts size` as JSON and text, with each step of the calculation and its
assumptions."""

from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from planning.size import watts
from planning.size.curve import Costs, Curve
from planning.size.devices import step
from planning.size.load import RECEIVER_CYCLES, Question, Rates, Usage, core_share, usage
from planning.size.plan import Filled, Plan
from planning.size.request import Groups
from vcmts.console import print_line
from vcmts.jsons import Json
from vcmts.run.rates import UPSTREAM_SHARE

SCHEMA = 1


def number(value: float, places: int = 2) -> str:
    return f"{value:.{places}f}"


def factor_chain(question: Question, costs: Costs, curve: Curve, share: float, at_once: int) -> str:
    """load.capacity() as text: a chain of its factors. Must change with it."""
    server, gbps = question.server, curve.gbps(at_once)
    parts = [f"{number(gbps)} Gbps"]
    result = gbps
    if server.clock != costs.clock:
        parts.append(f"x {server.clock:.4g} / {costs.clock:.4g} GHz")
        result *= server.clock / costs.clock
    part = core_share(curve, share, server)
    if part != 1:
        parts.append(f"x {part:g} core")
        result *= part
    if question.rules.headroom:
        parts.append(f"x {number(1 - question.rules.headroom)} (headroom)")
        result *= 1 - question.rules.headroom
    return " ".join(parts) + (f" = {number(result)} Gbps" if len(parts) > 1 else "")


def rate_steps(
    question: Question, costs: Costs, groups: Groups, used: Usage, rate: Rates
) -> list[str]:
    """The calculation of a group's rates as texts, one per step. Other *_steps() do so, too."""
    rules, at_once = question.rules, used.at_once
    down = costs.downstream
    beside = f" with {at_once} at once on a socket" if len(down.points) > 1 else ""
    steps = [
        f"downstream, measured: {number(down.gbps(at_once))} Gbps a core at {costs.clock:.4g} GHz"
        f"{beside} = {down.cycles(at_once, costs.clock):.0f} core cycles per packet of "
        f"{down.mean_bytes:.1f} bytes ({down.source})",
        "downstream, on this server: "
        + factor_chain(question, costs, down, rules.downstream_cores, at_once),
    ]
    share = rules.downstream_cores if rules.one_thread else rules.upstream_cores
    if costs.upstream is None:
        steps.append(f"upstream: {rules.upstream_cores:g} cores by rule of thumb, no rate is known")
    else:
        chain = factor_chain(question, costs, costs.upstream, share, at_once)
        steps.append(f"upstream, on this server: {chain} ({costs.upstream.source})")
    if rules.one_thread:
        steps.append(
            f"both directions on one thread: {number(rate.downstream_capacity)} Gbps "
            "downstream is left"
        )
    limits = (
        f"core {number(rate.downstream_capacity)}, {groups.channels} {number(groups.channel_rate)}"
    )
    if question.limit is not None:
        limits += f", limit {question.limit:g}"
    steps.append(
        f"a service group: {number(rate.downstream)} Gbps downstream ({rate.bound}; {limits}) and "
        f"{number(rate.upstream)} Gbps upstream"
    )
    return steps


def core_steps(question: Question, used: Usage) -> list[str]:
    rules, server = question.rules, question.server
    total = sum(used.counts) + used.standby
    all_cores = server.sockets * server.cores
    data = f"{rules.downstream_cores:g}"
    if not rules.one_thread:
        data += f" + {rules.upstream_cores:g}"
    each = rules.downstream_cores + (0 if rules.one_thread else rules.upstream_cores)
    control = rules.control_plane_cores + rules.scheduler_cores
    left = all_cores - used.reserved_cores
    steps = [
        f"set aside: {rules.server_cores:g} cores + {rules.socket_cores:g} x {server.sockets} "
        f"sockets = {used.reserved_cores} of {server.sockets} x {server.cores} = {all_cores}: "
        f"{left} left",
        f"a service group: {data} (data plane) + {rules.control_plane_cores:g} (control plane) + "
        f"{rules.scheduler_cores:g} (upstream scheduler) = {each + control:g} cores: "
        f"{left} / {each + control:g} = {number(left / (each + control))} by cores",
    ]
    if used.standby:
        steps.append(f"standby: {question.standby:g} x {sum(used.counts)}: {used.standby} more")
    steps += receiver_steps(question, used)
    received = f"{used.receiver_cores} (receivers) + " if used.receiver_cores else ""
    steps.append(
        f"cores: {used.reserved_cores} + {received}{total} x {each:g} = {used.data_cores} "
        f"(data plane) + {total} x {control:g} = {used.control_cores} (control plane, upstream "
        f"scheduler): {used.cores} of {all_cores}"
    )
    return steps


def receiver_steps(question: Question, used: Usage) -> list[str]:
    found, server = used.receivers, question.server
    if found is None:
        return []
    if not found.cores:
        return ["shared ports: the card brings each group's packets to a queue of its own"]
    pairs = "" if found.pairs == 1 else f", on {found.pairs} pairs of ports"
    return [
        f"shared ports: {server.receiver_cycles:g} cycles per packet to tell it apart: receivers "
        f"at {number(found.network)} threads (network) and {number(found.rphy)} (R-PHY){pairs}: "
        f"{found.cores:g} cores"
    ]


def port_and_memory_steps(
    question: Question, costs: Costs, used: Usage, downstream: float
) -> list[str]:
    """`downstream`: Gbps of a service group."""
    server = question.server
    counted = "with wire and DEPI overhead" if question.rules.count_overhead else "as throughput"
    port = server.port_gbps
    if server.slot_gbps is not None:
        port = min(port, server.slot_gbps / server.ports_a_card)
    steps = [
        f"ports: {number(used.transmit, 1)} Gbps out and {number(used.receive, 1)} Gbps in "
        f"{counted}, of {port:g} Gbps each, redundancy {server.redundancy}: {used.ports}; "
        f"cards: {used.cards}",
    ]
    if used.crypto_cards:
        steps.append(
            f"slots: {used.cards} for ports + {used.crypto_cards} for crypto cards of "
            f"{server.crypto_card_gbps:g} Gbps = {used.cards + used.crypto_cards}"
        )
    if server.crypto_gbps is not None:
        steps.append(
            f"crypto devices: {number(used.downstream, 1)} Gbps of {server.sockets} x "
            f"{server.crypto_gbps:g} Gbps"
        )
    if server.crypto_devices is not None:
        steps.append(step(server.crypto_devices.as_json(sum(used.counts), downstream), downstream))
    if costs.memory_gib is not None:
        total = sum(used.counts) + used.standby
        steps.append(
            f"memory: {server.system_memory_gib:g} GiB + {total} x {costs.memory_gib:.3g} GiB "
            f"({costs.memory_source}) = {number(used.memory_gib, 1)} GiB"
        )
    if used.interfaces:
        shared = ", shared by all service groups" if used.receivers else ""
        steps.append(f"interfaces: {used.interfaces}, with those for administration{shared}")
    return steps


def beyond_measured(question: Question, costs: Costs, used: Usage, rate: Rates) -> list[str]:
    """Notes on what no measurement covers: values not measured, or other than the request's."""
    texts = list(costs.downstream.outside)
    if costs.upstream is not None:
        texts += costs.upstream.outside
    else:
        texts.append(
            f"no upstream rate is known: whether {rate.upstream:g} Gbps fit is not checked"
        )
    at_once = used.at_once
    most, least = costs.downstream.max_at_once, costs.downstream.points[0][0]
    if at_once > most:
        texts.append(
            f"{at_once} service groups at once on a socket: measured with up to {most}, each taken "
            "to carry as much"
        )
    elif at_once < least:
        texts.append(
            f"{at_once} service groups at once on a socket: measured with {least}, which carry less"
        )
    if question.server.clock != costs.clock:
        texts.append(
            f"a core of {question.server.clock:.4g} GHz: measured at {costs.clock:.4g} GHz, cycles "
            "a packet taken as the same; memory does not get faster with the core"
        )
    if costs.memory_gib is None:
        texts.append("memory: unknown, not a limit here (--memory-per-service-group)")
    return list(dict.fromkeys(texts))  # both directions may have the same note


def assumed(question: Question, costs: Costs, groups: Groups) -> list[str]:
    """Notes on assumptions that no measurement decides, such as --thread-gain and the rules."""
    texts = []
    rules = question.rules
    if groups.upstream is None:
        share = costs.upstream_share or UPSTREAM_SHARE
        texts.append(f"upstream: none asked for, {share:.0%} of the downstream or what is carried")
    if not costs.downstream.both_threads and question.server.threads == 2:
        texts.append(
            f"two hyper-threads do {question.server.thread_gain:g} times the work of one alone "
            "(--thread-gain)"
        )
    if question.server.shared_ports == "software":
        if question.server.receiver_cycles == RECEIVER_CYCLES:
            texts.append("a receiver's cycles are those of the machine of docs/performance.md")
    elif question.server.shared_ports:
        texts.append("the card takes rules for all groups (by VLAN, MAC address or session)")
    if rules.note:
        texts.append(rules.note)
    return texts


def offload_json(question: Question, count: int, downstream: float) -> Json | None:
    """How crypto devices serve `count` groups of `downstream` Gbps each. None without devices."""
    devices = question.server.crypto_devices
    return None if devices is None else devices.as_json(count, downstream)


def filled_json(question: Question, filled: Filled) -> Json:
    """`filled` as JSON. With crypto devices, `on_crypto_devices` has the groups per kind that these
    carry."""
    devices = question.server.crypto_devices
    if devices is None:
        return asdict(filled)
    rates = [rate.downstream for rate in usage(question, filled.counts).rates]
    return asdict(filled) | {"on_crypto_devices": devices.assign(filled.counts, rates)}


def as_json(plan: Plan, rules_name: str, spare_servers: int) -> Json:
    """The answer of `vcmts size`; docs/results.md has its keys. Text output is made from it."""
    question = plan.question
    kinds = []
    for index, kind in enumerate(question.kinds):
        used = plan.alone[index]
        rate = used.rates[index]
        kinds.append(
            {
                "groups": asdict(kind.groups) | {"name": kind.groups.name},
                "per_server": sum(used.counts),
                "bound_by": list(plan.bounds[index]),
                "rate_bound_by": rate.bound,
                "gbps": {"downstream": rate.downstream, "upstream": rate.upstream},
                "server_gbps": {
                    "downstream": rate.downstream * sum(used.counts),
                    "upstream": rate.upstream * sum(used.counts),
                    "total": used.carried,
                },
                "core_gbps": rate.downstream_capacity,
                "core_cycles_per_packet": kind.costs.downstream.cycles(
                    used.at_once, kind.costs.clock
                ),
                "cores": {
                    "reserved": used.reserved_cores,
                    "data_plane": used.data_cores,
                    "control_plane": used.control_cores,
                    "used": used.cores,
                    "all": question.server.sockets * question.server.cores,
                },
                "standby": used.standby,
                "memory_gib": None if kind.costs.memory_gib is None else used.memory_gib,
                "ports": used.ports,
                "slots": used.cards + used.crypto_cards,
                "crypto_devices": offload_json(question, sum(used.counts), rate.downstream),
                "interfaces": used.interfaces,
                "receivers": None if used.receivers is None else asdict(used.receivers),
                "steps": [
                    *rate_steps(question, kind.costs, kind.groups, used, rate),
                    *core_steps(question, used),
                    *port_and_memory_steps(question, kind.costs, used, rate.downstream),
                ],
                "assumed": assumed(question, kind.costs, kind.groups),
                "outside_what_was_measured": beyond_measured(question, kind.costs, used, rate),
            }
        )
    return {
        "schema": SCHEMA,
        "kind": "size",
        "machine": question.kinds[0].costs.machine,
        "rules": {"name": rules_name} | asdict(question.rules),
        "server": asdict(question.server),
        "kinds": kinds,
        "servers": [filled_json(question, filled) for filled in plan.servers],
        "server_count": plan.count,
        "spare_servers": spare_servers,
    }


def table(answer: Json) -> Table:
    """A table with a column per kind of service group."""
    out = Table()
    out.add_column("")
    for kind in answer["kinds"]:
        out.add_column(kind["groups"]["name"], justify="right", overflow="fold")
    cores = "{0[used]} of {0[all]}"
    rows = (
        ("service groups a server", lambda k: str(k["per_server"])),
        ("bound by", lambda k: ", ".join(k["bound_by"]) or "nothing"),
        ("Gbps downstream, each", lambda k: number(k["gbps"]["downstream"])),
        ("  bound by", lambda k: k["rate_bound_by"]),
        ("Gbps upstream, each", lambda k: number(k["gbps"]["upstream"])),
        ("Gbps a server, downstream", lambda k: number(k["server_gbps"]["downstream"], 1)),
        ("Gbps a server, both ways", lambda k: number(k["server_gbps"]["total"], 1)),
        ("cores", lambda k: cores.format(k["cores"])),
        ("memory, GiB", lambda k: "-" if k["memory_gib"] is None else number(k["memory_gib"], 1)),
        ("ports", lambda k: str(k["ports"])),
        ("PCIe slots", lambda k: str(k["slots"])),
    )
    for name, text in rows:
        out.add_row(name, *[text(kind) for kind in answer["kinds"]])
    for name, modelled in watts.rows(answer["kinds"]):
        out.add_row(name, *[modelled(kind) for kind in answer["kinds"]])
    return out


def lines(answer: Json) -> list[str]:
    texts = []
    for kind in answer["kinds"]:
        texts += ["", f"{kind['groups']['name']}, step by step:"]
        texts += [f"  {index}. {step}" for index, step in enumerate(kind["steps"], 1)]
        for title, key in (
            ("Taken for granted", "assumed"),
            ("Outside what was measured", "outside_what_was_measured"),
        ):
            if kind[key]:
                texts += [f"{title}:", *[f"  - {text}" for text in kind[key]]]
    if answer["servers"]:
        texts += ["", "servers:"]
        names = [kind["groups"]["name"] for kind in answer["kinds"]]
        for filled in answer["servers"]:
            inside = [f"{n} x {name}" for n, name in zip(filled["counts"], names, strict=True) if n]
            on_devices = sum(filled.get("on_crypto_devices", ()))
            note = f", {on_devices} of them on crypto devices" if on_devices else ""
            texts.append(f"  {filled['servers']} with {' and '.join(inside)}{note}")
        total = answer["server_count"] + answer["spare_servers"]
        spare = f", {answer['spare_servers']} of them spare" if answer["spare_servers"] else ""
        texts.append(f"{total} server{'s' if total != 1 else ''}{spare}")
    return texts


def show(answer: Json, console: Console) -> None:
    print_line(console, f"{answer['machine']}, set aside by rules {answer['rules']['name']}")
    console.print(table(answer))
    for line in lines(answer):
        print_line(console, line)
