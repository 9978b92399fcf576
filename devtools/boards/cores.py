# SPDX-License-Identifier: BSD-3-Clause
"""The dashboard of cores and power: load of the workers and power of the machine."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.panels import (
    EVENTS,
    ORANGE,
    RED,
    Part,
    Query,
    Section,
    bars,
    board,
    graph,
    latest,
    variable,
)
from boards.queries import SERVER, WINDOW, Scope

WORKER = ["instance", "worker", "core"]
LEGEND = "core {{core}} (worker {{worker}})"
# The node exporter has another port than vcmtsd, and so a variable of its own.
NODE = Scope('instance=~"$node"')
JOULES = "node_rapl_package_joules_total"


def work() -> Iterator[Part]:
    busy = SERVER.rate("vcmts_worker_busy_seconds_total", WORKER)
    yield Section("Cores")
    yield bars(
        "Busy now",
        "Share of time in which a worker had packets.",
        "percentunit",
        Query(busy, LEGEND),
        maximum=1,
        steps=[(0.8, ORANGE), (0.95, RED)],
    )
    yield graph(
        "Busy", "Share of time in which a worker had packets.", "percentunit", Query(busy, LEGEND)
    )
    yield graph(
        "Rounds",
        "Rounds of a worker per second, and those that had packets.",
        EVENTS,
        Query(SERVER.rate("vcmts_worker_rounds_total", WORKER), LEGEND),
        Query(SERVER.rate("vcmts_worker_busy_rounds_total", WORKER), f"{LEGEND}, with packets"),
    )
    yield graph(
        "Descheduled",
        "Times per second that a worker lost its core to another thread; 0 on isolated cores.",
        EVENTS,
        Query(SERVER.rate("vcmts_worker_descheduled_total", WORKER), LEGEND),
    )
    yield graph(
        "Longest round",
        "Longest round since the start of the server.",
        "s",
        Query(SERVER.total("vcmts_worker_longest_round_seconds", WORKER), LEGEND),
    )
    yield graph(
        "Cycles by direction",
        "Share of a core that the stages of a service group use.",
        "percentunit",
        Query(
            f"{SERVER.rate('vcmts_stage_cycles_total', ['service_group', 'direction'])}"
            f" / on () group_left () max({SERVER.select('vcmts_tsc_hz')})",
            "group {{service_group}} {{direction}}",
        ),
        stacked=True,
    )


def power() -> Iterator[Part]:
    """Panels from metrics of the machine's node exporter."""
    traffic = (
        f"8 * (sum(rate({SERVER.select('vcmts_downstream_transmitted_bytes_total')}{WINDOW}))"
        f" + sum(rate({SERVER.select('vcmts_upstream_transmitted_bytes_total')}{WINDOW})))"
    )
    watts = NODE.rate(JOULES, ["index"])
    yield Section("Power, from the machine's node exporter")
    yield graph("Processors", "Power of each package.", "watt", Query(watts, "package {{index}}"))
    yield latest(
        "Energy per gigabit",
        "Energy of all packages per gigabit that both directions transmit.",
        "joule",
        Query(f"1e9 * {NODE.rate(JOULES)} / ({traffic})"),
        width=8,
    ).height(8)
    yield graph(
        "Frequency",
        "Frequency of each core.",
        "hertz",
        Query(NODE.select("node_cpu_scaling_frequency_hertz"), "core {{cpu}}"),
    )


def cores() -> Dashboard:
    return board(
        "vcmts-cores",
        "OpenVCMTS: cores and power",
        "Load of the workers, and power of the machine.",
        [
            variable(
                "instance", "Server", "label_values(vcmts_build_info, instance)", several=True
            ),
            variable("node", "Machine", "label_values(node_uname_info, instance)", several=True),
        ],
        [*work(), *power()],
    )
