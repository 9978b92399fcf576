# SPDX-License-Identifier: BSD-3-Clause
"""The system dashboard: all service groups of one or several servers on one screen."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.panels import (
    COUNT,
    EVENTS,
    ORANGE,
    PACKETS,
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
from boards.queries import FINEST, SERVER, dropped_rate

GROUPS = ["instance", "service_group"]
LEGEND = "group {{service_group}} of {{instance}}"
DOWN, UP = "vcmts_downstream", "vcmts_upstream"
LATENCY, DELAY = "vcmts_pipeline_latency_seconds", "vcmts_scheduler_delay_seconds"


def now() -> Iterator[Part]:
    yield Section("Now")
    yield latest(
        "Downstream",
        "Bits per second of frames transmitted to the R-PHY port.",
        "bps",
        Query(SERVER.bit_rate(f"{DOWN}_transmitted_bytes_total")),
    )
    yield latest(
        "Upstream",
        "Bits per second of frames transmitted to the network port.",
        "bps",
        Query(SERVER.bit_rate(f"{UP}_transmitted_bytes_total")),
    )
    yield latest(
        "Dropped",
        "Dropped downstream packets and upstream frames per second.",
        PACKETS,
        Query(dropped_rate(SERVER)),
        steps=[(1, ORANGE), (1000, RED)],
    )
    yield latest(
        "Service groups",
        "Service groups in service.",
        COUNT,
        Query(f"count({SERVER.select('vcmts_service_group_info')})"),
        width=3,
    )
    yield latest(
        "Modems",
        "Registered modems of all service groups.",
        COUNT,
        Query(SERVER.total("vcmts_service_group_modems")),
        width=3,
    )
    yield latest(
        "Busiest core",
        "Share of time in which the busiest worker had packets.",
        "percentunit",
        Query(f"max(rate({SERVER.select('vcmts_worker_busy_seconds_total')}[$__rate_interval]))"),
        width=3,
        steps=[(0.8, ORANGE), (0.95, RED)],
    )
    yield latest(
        "Uptime",
        "Uptime of the server that was started last.",
        "s",
        Query(f"time() - max({SERVER.select('vcmts_start_time_seconds')})"),
        width=3,
    )


def rates() -> Iterator[Part]:
    yield Section("Traffic")
    for name, direction in ((DOWN, "Downstream"), (UP, "Upstream")):
        yield graph(
            f"{direction} by service group",
            "Bits per second that the data plane transmits.",
            "bps",
            Query(SERVER.bit_rate(f"{name}_transmitted_bytes_total", GROUPS), LEGEND),
            stacked=True,
        )
        yield graph(
            f"{direction} packets by service group",
            "Packets per second that the data plane transmits.",
            PACKETS,
            Query(SERVER.rate(f"{name}_transmitted_packets_total", GROUPS), LEGEND),
            stacked=True,
        )
        yield graph(
            f"{direction} frame size",
            "Mean length of transmitted frames, without CRC.",
            "decbytes",
            Query(
                SERVER.ratio(
                    f"{name}_transmitted_bytes_total", f"{name}_transmitted_packets_total", GROUPS
                ),
                LEGEND,
            ),
        )


def drops() -> Iterator[Part]:
    yield Section("Drops and delay")
    yield graph(
        "Downstream drops by reason",
        "Packets per second; docs/counters.md explains each reason.",
        PACKETS,
        Query(f"{SERVER.rate(f'{DOWN}_dropped_packets_total', ['reason'])} > 0", "{{reason}}"),
        Query(SERVER.rate(f"{DOWN}_dropped_packets_total"), "all"),
        width=12,
    )
    yield graph(
        "Upstream drops by reason",
        "Drops per second: packets, bursts, segments or frames.",
        EVENTS,
        Query(
            f"{SERVER.rate(f'{UP}_dropped_total', ['unit', 'reason'])} > 0", "{{unit}}: {{reason}}"
        ),
        Query(SERVER.rate(f"{UP}_dropped_total"), "all"),
        width=12,
    )
    for direction in ("downstream", "upstream"):
        yield graph(
            f"{direction.capitalize()} latency, 99th percentile",
            f"From the receive stage to transmission by the port, if measured. {FINEST}",
            "s",
            Query(
                SERVER.with_matchers(f'direction="{direction}"').quantile(0.99, LATENCY, GROUPS),
                LEGEND,
            ),
        )
    yield graph(
        "Scheduler delay, 99th percentile",
        f"Time in the queues of downstream service flows. {FINEST}",
        "s",
        Query(SERVER.quantile(0.99, DELAY, GROUPS), LEGEND),
    )


def machine() -> Iterator[Part]:
    yield Section("Server")
    yield bars(
        "Cores",
        "Share of time in which each worker had packets; see the dashboard of cores.",
        "percentunit",
        Query(
            SERVER.rate("vcmts_worker_busy_seconds_total", ["instance", "core"]),
            "core {{core}} of {{instance}}",
        ),
        maximum=1,
        steps=[(0.8, ORANGE), (0.95, RED)],
    )
    yield graph(
        "Memory",
        "Resident memory of the process; size and used part of DPDK's heap.",
        "decbytes",
        Query(SERVER.total("vcmts_memory_bytes", ["kind"]), "{{kind}}"),
    )
    yield graph(
        "Buffers in use",
        "Share of buffers in use per pool; at 100 % packets are lost.",
        "percentunit",
        Query(
            f"1 - {SERVER.select('vcmts_pool_buffers_free')}"
            f" / {SERVER.select('vcmts_pool_buffers')}",
            "{{instance}} {{pool}}",
        ),
    )
    yield graph(
        "Changes",
        "Changes by control requests and reloads: applied (made), and rejected (refused).",
        COUNT,
        Query(
            f"sum by (result) (increase({SERVER.select('vcmts_changes_total')}[$__rate_interval]))",
            "{{result}}",
        ),
    )
    yield graph(
        "Keys rolled",
        "BPI+ keys that were replaced while in use.",
        COUNT,
        Query(
            "sum by (direction)"
            f" (increase({SERVER.select('vcmts_key_rolls_total')}[$__rate_interval]))",
            "{{direction}}",
        ),
    )

    yield graph(
        "Cost of metrics",
        "Share of the main core that metrics pages use; workers are not involved.",
        "percentunit",
        Query(SERVER.rate("vcmts_http_page_seconds_total", ["instance"]), "{{instance}}"),
    )


PORT = ["instance", "port", "role"]
PORT_LEGEND = "port {{port}} ({{role}}) of {{instance}}"


def ports() -> Iterator[Part]:
    yield Section("Ports")
    for direction in ("received", "transmitted"):
        yield graph(
            f"Packets {direction}",
            "Packets per second, as counted by the port's driver.",
            PACKETS,
            Query(SERVER.rate(f"vcmts_ethdev_{direction}_packets_total", PORT), PORT_LEGEND),
            width=12,
        )
    losses = (
        ("vcmts_ethdev_missed_packets_total", "missed"),
        ("vcmts_ethdev_no_buffer_total", "no buffer"),
        ("vcmts_ethdev_errors_total", "errors"),
    )
    yield graph(
        "Lost before the data plane",
        "Missed: the receive queue was full. No buffer: the pool was empty.",
        PACKETS,
        *(
            Query(f"{SERVER.rate(name, PORT)} > 0", f"{words}: {PORT_LEGEND}")
            for name, words in losses
        ),
        *(Query(SERVER.rate(name), f"{words}: all") for name, words in losses),
        width=12,
    )
    yield graph(
        "Shared ports: dropped packets",
        "Packets per second that no group received, by reason; docs/sharing.md explains each.",
        PACKETS,
        Query(
            f"{SERVER.rate('vcmts_port_dropped_packets_total', ['port', 'reason'])} > 0",
            "port {{port}} {{reason}}",
        ),
        Query(SERVER.rate("vcmts_port_dropped_packets_total"), "all"),
        width=12,
    )


def system() -> Dashboard:
    return board(
        "vcmts-system",
        "OpenVCMTS: system",
        "All service groups of the selected servers.",
        [variable("instance", "Server", "label_values(vcmts_build_info, instance)", several=True)],
        [*now(), *rates(), *drops(), *machine(), *ports()],
    )
