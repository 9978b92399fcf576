# SPDX-License-Identifier: BSD-3-Clause
"""The system: all service groups of one or several servers on one screen."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.panels import ORANGE, RED, Ask, Part, Section, bars, board, figure, lines, variable
from boards.queries import SERVER, lost

GROUPS = ["instance", "service_group"]
NAMED = "group {{service_group}} of {{instance}}"
DOWN, UP = "vcmts_downstream", "vcmts_upstream"
LATENCY, DELAY = "vcmts_pipeline_latency_seconds", "vcmts_scheduler_delay_seconds"


def now() -> Iterator[Part]:
    yield Section("Now")
    yield figure(
        "Downstream",
        "Bits a second of the frames whose packets were handed to the R-PHY port.",
        "bps",
        Ask(SERVER.bits(f"{DOWN}_transmitted_bytes_total")),
    )
    yield figure(
        "Upstream",
        "Bits a second of the frames that were handed to the network port.",
        "bps",
        Ask(SERVER.bits(f"{UP}_transmitted_bytes_total")),
    )
    yield figure(
        "Dropped",
        "Downstream packets and upstream frames per second that ended with a drop reason.",
        "pps",
        Ask(lost(SERVER)),
        steps=[(1, ORANGE), (1000, RED)],
    )
    yield figure(
        "Service groups",
        "In service.",
        "short",
        Ask(f"count({SERVER.read('vcmts_service_group_info')})"),
        width=3,
    )
    yield figure(
        "Modems",
        "Registered in the service groups.",
        "short",
        Ask(SERVER.total("vcmts_service_group_modems")),
        width=3,
    )
    yield figure(
        "Busiest core",
        "Share of its time for which a worker had packets.",
        "percentunit",
        Ask(f"max(rate({SERVER.read('vcmts_worker_busy_seconds_total')}[$__rate_interval]))"),
        width=3,
        steps=[(0.8, ORANGE), (0.95, RED)],
    )
    yield figure(
        "In service for",
        "Of the server that was started last.",
        "s",
        Ask(f"time() - max({SERVER.read('vcmts_start_time_seconds')})"),
        width=3,
    )


def rates() -> Iterator[Part]:
    yield Section("Traffic")
    for name, place in ((DOWN, "Downstream"), (UP, "Upstream")):
        yield lines(
            f"{place} by service group",
            "Bits a second that left the data plane.",
            "bps",
            Ask(SERVER.bits(f"{name}_transmitted_bytes_total", GROUPS), NAMED),
            stacked=True,
        )
        yield lines(
            f"{place} packets by service group",
            "Packets a second that left the data plane.",
            "pps",
            Ask(SERVER.rate(f"{name}_transmitted_packets_total", GROUPS), NAMED),
            stacked=True,
        )
        yield lines(
            f"{place} frame size",
            "Mean length of what left the data plane, without CRC.",
            "decbytes",
            Ask(
                SERVER.ratio(
                    f"{name}_transmitted_bytes_total", f"{name}_transmitted_packets_total", GROUPS
                ),
                NAMED,
            ),
        )


def drops() -> Iterator[Part]:
    yield Section("Drops and delay")
    yield lines(
        "Downstream drops by reason",
        "Packets a second; docs/counters.md says what each reason means.",
        "pps",
        Ask(f"{SERVER.rate(f'{DOWN}_dropped_packets_total', ['reason'])} > 0", "{{reason}}"),
        Ask(SERVER.rate(f"{DOWN}_dropped_packets_total"), "all"),
        width=12,
    )
    yield lines(
        "Upstream drops by reason",
        "Packets, bursts, segments and frames per second: each unit is counted for itself.",
        "ops",
        Ask(f"{SERVER.rate(f'{UP}_dropped_total', ['reason'])} > 0", "{{reason}}"),
        Ask(SERVER.rate(f"{UP}_dropped_total"), "all"),
        width=12,
    )
    yield lines(
        "Latency, 99th percentile",
        "In the pipeline, from the receive stage to the port that takes the packet; while it is"
        " measured (vcmtsd run --latency).",
        "s",
        Ask(
            SERVER.quantile(0.99, LATENCY, [*GROUPS, "direction"]), f"{{{{direction}}}} of {NAMED}"
        ),
        width=12,
    )
    yield lines(
        "Scheduler delay, 99th percentile",
        "In the queues of the downstream's service flows.",
        "s",
        Ask(SERVER.quantile(0.99, DELAY, GROUPS), NAMED),
        width=12,
    )


def machine() -> Iterator[Part]:
    yield Section("Server")
    yield bars(
        "Cores",
        "Share of its time for which each worker had packets; more in the dashboard of cores.",
        "percentunit",
        Ask(
            SERVER.rate("vcmts_worker_busy_seconds_total", ["instance", "core"]),
            "core {{core}} of {{instance}}",
        ),
        most=1,
        steps=[(0.8, ORANGE), (0.95, RED)],
    )
    yield lines(
        "Memory",
        "Resident: of the process. Heap: of DPDK, and what is used of it.",
        "decbytes",
        Ask(SERVER.total("vcmts_memory_bytes", ["kind"]), "{{kind}}"),
    )
    yield lines(
        "Buffers in use",
        "Of each pool; at 100 % packets are lost.",
        "percentunit",
        Ask(
            f"1 - {SERVER.read('vcmts_pool_buffers_free')} / {SERVER.read('vcmts_pool_buffers')}",
            "{{instance}} {{pool}}",
        ),
    )
    yield lines(
        "Changes",
        "Requests on the control socket and reloads that were made, and that were refused.",
        "short",
        Ask(
            f"sum by (result) (increase({SERVER.read('vcmts_changes_total')}[$__rate_interval]))",
            "{{result}}",
        ),
    )
    yield lines(
        "Keys rolled",
        "BPI+ keys of modems that were replaced while in use.",
        "short",
        Ask(
            "sum by (direction)"
            f" (increase({SERVER.read('vcmts_key_rolls_total')}[$__rate_interval]))",
            "{{direction}}",
        ),
    )

    yield lines(
        "Cost of telling",
        "Share of the main core that making pages of metrics takes; workers do not take part.",
        "percentunit",
        Ask(SERVER.rate("vcmts_http_page_seconds_total", ["instance"]), "{{instance}}"),
    )


PORT = ["instance", "port", "role"]
PORT_NAMED = "port {{port}} ({{role}}) of {{instance}}"


def ports() -> Iterator[Part]:
    yield Section("Ports")
    for way in ("received", "transmitted"):
        yield lines(
            f"Packets {way}",
            "As the port's driver counts them.",
            "pps",
            Ask(SERVER.rate(f"vcmts_ethdev_{way}_packets_total", PORT), PORT_NAMED),
            width=12,
        )
    lost = (
        ("vcmts_ethdev_missed_packets_total", "missed"),
        ("vcmts_ethdev_no_buffer_total", "no buffer"),
        ("vcmts_ethdev_errors_total", "errors"),
    )
    yield lines(
        "Lost before the data plane",
        "Missed: nobody polled in time. No buffer: the pool was empty.",
        "pps",
        *(Ask(f"{SERVER.rate(name, PORT)} > 0", f"{words}: {PORT_NAMED}") for name, words in lost),
        *(Ask(SERVER.rate(name), f"{words}: all") for name, words in lost),
        width=12,
    )
    yield lines(
        "Shared ports: packets of no group",
        "By reason; docs/sharing.md says what each means.",
        "pps",
        Ask(
            f"{SERVER.rate('vcmts_port_dropped_packets_total', ['port', 'reason'])} > 0",
            "port {{port}} {{reason}}",
        ),
        Ask(SERVER.rate("vcmts_port_dropped_packets_total"), "all"),
        width=12,
    )


def system() -> Dashboard:
    return board(
        "vcmts-system",
        "OpenVCMTS: system",
        "All service groups of the servers chosen above.",
        [variable("instance", "Server", "label_values(vcmts_build_info, instance)", several=True)],
        [*now(), *rates(), *drops(), *machine(), *ports()],
    )
