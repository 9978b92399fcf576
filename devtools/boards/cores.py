# SPDX-License-Identifier: BSD-3-Clause
"""Cores and power: what the workers do with their time, and what it costs."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.panels import ORANGE, RED, Ask, Part, Section, bars, board, figure, lines, variable
from boards.queries import SERVER, WINDOW, Scope

WORKER = ["instance", "worker", "core"]
NAMED = "core {{core}} (worker {{worker}})"
# The node exporter of the same machine has another port than vcmtsd.
NODE = Scope('instance=~"$node"')
JOULES = "node_rapl_package_joules_total"


def work() -> Iterator[Part]:
    busy = SERVER.rate("vcmts_worker_busy_seconds_total", WORKER)
    yield Section("Cores")
    yield bars(
        "Busy now",
        "Share of its time for which a worker had packets.",
        "percentunit",
        Ask(busy, NAMED),
        most=1,
        steps=[(0.8, ORANGE), (0.95, RED)],
    )
    yield lines("Busy", "Share of its time, exact.", "percentunit", Ask(busy, NAMED))
    yield lines(
        "Rounds",
        "Of a worker over all that it has to do, a second; below: those that had packets.",
        "ops",
        Ask(SERVER.rate("vcmts_worker_rounds_total", WORKER), NAMED),
        Ask(SERVER.rate("vcmts_worker_busy_rounds_total", WORKER), f"{NAMED}, with packets"),
    )
    yield lines(
        "Descheduled",
        "Times a second that the system took a core away from a worker. On cores of its own: 0.",
        "ops",
        Ask(SERVER.rate("vcmts_worker_descheduled_total", WORKER), NAMED),
    )
    yield lines(
        "Longest round",
        "Since the server was started.",
        "s",
        Ask(SERVER.total("vcmts_worker_longest_round_seconds", WORKER), NAMED),
    )
    yield lines(
        "Cycles by direction",
        "Share of a core that the stages of a service group use.",
        "percentunit",
        Ask(
            f"{SERVER.rate('vcmts_stage_cycles_total', ['service_group', 'direction'])}"
            f" / on () group_left () max({SERVER.read('vcmts_tsc_hz')})",
            "group {{service_group}} {{direction}}",
        ),
        stacked=True,
    )


def power() -> Iterator[Part]:
    """Of the node exporter, where the machine tells."""
    traffic = (
        f"8 * (sum(rate({SERVER.read('vcmts_downstream_transmitted_bytes_total')}{WINDOW}))"
        f" + sum(rate({SERVER.read('vcmts_upstream_transmitted_bytes_total')}{WINDOW})))"
    )
    watts = NODE.rate(JOULES, ["index"])
    yield Section("Power, as the node exporter of the machine tells it")
    yield lines("Processors", "Power of each package.", "watt", Ask(watts, "package {{index}}"))
    yield figure(
        "Energy of a gigabit",
        "Of all packages, for what both directions transmit.",
        "joule",
        Ask(f"1e9 * {NODE.rate(JOULES)} / ({traffic})"),
        width=8,
    ).height(8)
    yield lines(
        "Frequency",
        "Of each core now.",
        "hertz",
        Ask(NODE.read("node_cpu_scaling_frequency_hertz"), "core {{cpu}}"),
    )


def cores() -> Dashboard:
    return board(
        "vcmts-cores",
        "OpenVCMTS: cores and power",
        "What the workers do with their time, and what it costs.",
        [
            variable(
                "instance", "Server", "label_values(vcmts_build_info, instance)", several=True
            ),
            variable("node", "Machine", "label_values(node_uname_info, instance)", several=True),
        ],
        [*work(), *power()],
    )
