# SPDX-License-Identifier: BSD-3-Clause
"""Panels of a service group's downstream, in the order of its stages."""

from collections.abc import Iterator

from boards.directions import CIPHERS, cycles, latency, poll_statistics
from boards.panels import COUNT, EVENTS, PACKETS, Panel, Query, bars, graph
from boards.queries import FINEST, Scope

DOWN = "vcmts_downstream"
DELAY = "vcmts_scheduler_delay_seconds"
SHARES = ((0.5, "median"), (0.99, "99th percentile"))


def traffic(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Rate",
        "Bits per second of received IP packets and of frames transmitted to the R-PHY port.",
        "bps",
        Query(scope.bit_rate(f"{DOWN}_received_bytes_total"), "received"),
        Query(scope.bit_rate(f"{DOWN}_transmitted_bytes_total"), "transmitted"),
    )
    yield graph(
        "Packets",
        "Packets per second: received, transmitted, dropped for any reason.",
        PACKETS,
        Query(scope.rate(f"{DOWN}_received_packets_total"), "received"),
        Query(scope.rate(f"{DOWN}_transmitted_packets_total"), "transmitted"),
        Query(scope.rate(f"{DOWN}_dropped_packets_total"), "dropped"),
    )
    yield graph(
        "Frame size",
        "Mean length of the frames, without CRC.",
        "decbytes",
        Query(
            scope.ratio(f"{DOWN}_received_bytes_total", f"{DOWN}_received_packets_total"),
            "received",
        ),
        Query(
            scope.ratio(f"{DOWN}_transmitted_bytes_total", f"{DOWN}_transmitted_packets_total"),
            "transmitted",
        ),
    )


def drops(scope: Scope) -> Panel:
    return graph(
        "Drops by reason",
        "Packets per second. docs/counters.md explains each reason;"
        " `./vcmts capture --dropped REASON` captures the packets.",
        PACKETS,
        Query(f"{scope.rate(f'{DOWN}_dropped_packets_total', ['reason'])} > 0", "{{reason}}"),
        Query(scope.rate(f"{DOWN}_dropped_packets_total"), "all"),
    )


def first_stages(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Kinds of packets",
        "Received packets per second by protocol.",
        PACKETS,
        *(Query(scope.rate(f"{DOWN}_{kind}_packets_total"), kind) for kind in ("ipv4", "ipv6")),
        Query(scope.rate(f"{DOWN}_llc_frames_total"), "others"),
        stacked=True,
    )
    yield graph(
        "Modem lookup",
        "Packets per second whose modem was found, and those with an unknown destination.",
        PACKETS,
        Query(scope.rate(f"{DOWN}_lookup_matched_packets_total"), "found"),
        Query(
            scope.with_matchers('reason="unknown_destination"').rate(
                f"{DOWN}_dropped_packets_total"
            ),
            "unknown destination",
        ),
    )
    yield graph(
        "Filters",
        "Packets per second that matched a filter rule, or none (default action).",
        PACKETS,
        Query(scope.rate(f"{DOWN}_filter_matched_permit_packets_total"), "permitted by a rule"),
        Query(scope.rate(f"{DOWN}_filter_matched_deny_packets_total"), "denied by a rule"),
        Query(scope.rate(f"{DOWN}_filter_unmatched_packets_total"), "no rule"),
    )
    yield graph(
        "Classifiers",
        "Packets per second that matched a classifier, and those of the primary service flow.",
        PACKETS,
        Query(scope.rate(f"{DOWN}_classifier_matched_packets_total"), "by a classifier"),
        Query(scope.rate(f"{DOWN}_classifier_unmatched_packets_total"), "primary service flow"),
    )
    yield graph(
        "Classifiers by kind of packet",
        "Packets per second that matched a classifier; ICMP also counts as IPv4 or IPv6.",
        PACKETS,
        *(
            Query(scope.rate(f"{DOWN}_classifier_matched_{kind}_packets_total"), kind)
            for kind in ("ipv4", "ipv6", "icmp")
        ),
    )


def queues(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Service-flow queues",
        "Packets per second that entered a queue, left it, or were dropped instead of queued.",
        PACKETS,
        Query(scope.rate(f"{DOWN}_enqueued_packets_total"), "entered"),
        Query(scope.rate(f"{DOWN}_dequeued_packets_total"), "left"),
        Query(
            scope.with_matchers(
                'reason=~"flow_buffer_full|scheduler_full|wred_drop|docsis_pie_drop'
                '|longer_than_burst|service_flow_removed"'
            ).rate(f"{DOWN}_dropped_packets_total"),
            "dropped",
        ),
    )
    yield graph(
        "Pending packets",
        "Pending in the whole downstream, and those in the queues of the service flows.",
        COUNT,
        Query(scope.total(f"{DOWN}_held_packets"), "pending"),
        Query(scope.total(f"{DOWN}_queued_packets"), "in queues"),
    )
    yield graph(
        "Scheduler delay by priority",
        f"Time in the queues of service flows, by their priority. {FINEST}",
        "s",
        *(
            Query(scope.quantile(share, DELAY, ["priority"]), f"priority {{{{priority}}}}, {words}")
            for share, words in SHARES
        ),
    )
    yield graph(
        "Channels",
        "Bits per second of each downstream channel.",
        "bps",
        Query(scope.bit_rate(f"{DOWN}_channel_bytes_total", ["channel"]), "channel {{channel}}"),
        stacked=True,
    )
    yield graph(
        "Use of the channels",
        "Share of the configured rate of each channel.",
        "percentunit",
        Query(
            f"{scope.rate(f'{DOWN}_channel_bytes_total', ['channel'])}"
            f" / {scope.total(f'{DOWN}_channel_rate_bytes_per_second', ['channel'])}",
            "channel {{channel}}",
        ),
    )


def bonding(scope: Scope) -> Iterator[Panel]:
    name, by = f"{DOWN}_bonding_group", ["bonding_group"]
    yield graph(
        "Bonding groups",
        "Packets per second that were sent to the channels of a bonding group.",
        PACKETS,
        Query(scope.rate(f"{name}_packets_total", by), "group {{bonding_group}}"),
        stacked=True,
    )
    yield graph(
        "Out of order in modems",
        "Share of packets that a modem receives before an earlier packet of the service flow.",
        "percentunit",
        Query(
            f"{scope.rate(f'{name}_early_packets_total', by)}"
            f" / {scope.rate(f'{name}_packets_total', by)}",
            "group {{bonding_group}}",
        ),
    )


def last_stages(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Ciphers",
        "DOCSIS frames per second by cipher.",
        PACKETS,
        *(
            Query(
                scope.rate(f"{DOWN}_encrypted_{name}_frames_total"), name.upper().replace("_", "-")
            )
            for name in CIPHERS
        ),
        Query(scope.rate(f"{DOWN}_clear_frames_total"), "in the clear"),
        stacked=True,
    )
    yield graph(
        "CRC generated",
        "DOCSIS frames per second whose Ethernet CRC was generated, encrypted or not.",
        PACKETS,
        Query(scope.rate(f"{DOWN}_crc_generated_frames_total"), "CRC generated"),
        Query(scope.rate(f"{DOWN}_framed_frames_total"), "all frames"),
    )
    yield graph(
        "DEPI frames",
        "DEPI frames per second: sent because they were full, or by the flush timer.",
        PACKETS,
        Query(scope.rate(f"{DOWN}_depi_full_frames_total"), "full"),
        Query(scope.rate(f"{DOWN}_depi_flushed_frames_total"), "flushed"),
        stacked=True,
    )
    yield graph(
        "DEPI frames by PSP segments",
        "DEPI frames per second by their number of PSP segments.",
        PACKETS,
        *(
            Query(scope.rate(f"{DOWN}_depi_segments_{number}_frames_total"), f"{number}")
            for number in (*range(1, 8), "more")
        ),
        stacked=True,
    )
    yield graph(
        "PSP segments per DEPI frame",
        "Mean number of PSP segments, and of those that are fragments of a DOCSIS frame.",
        "short",
        Query(scope.ratio(f"{DOWN}_psp_segments_total", f"{DOWN}_depi_frames_total"), "segments"),
        Query(scope.ratio(f"{DOWN}_psp_fragments_total", f"{DOWN}_depi_frames_total"), "fragments"),
    )
    yield graph(
        "Retries of transmission",
        "Bursts per second of which the R-PHY port did not accept all packets.",
        EVENTS,
        Query(scope.rate(f"{DOWN}_transmit_retries_total"), "retries"),
    )


def providers(scope: Scope) -> Panel:
    return bars(
        "Modems by cipher",
        "Modems by cipher of their security association and by crypto provider.",
        COUNT,
        Query(
            f"{scope.total('vcmts_service_group_cipher_modems', ['cipher', 'provider'])} > 0",
            "{{cipher}} {{provider}}",
        ),
    )


def priorities(scope: Scope) -> Panel:
    return graph(
        "Scheduled by priority",
        "Packets per second that left the queues.",
        PACKETS,
        Query(scope.rate(f"{DELAY}_count", ["priority"]), "priority {{priority}}"),
        stacked=True,
    )


def downstream(scope: Scope) -> dict[str, list[Panel]]:
    """Panels by title of their section."""
    return {
        "Downstream: traffic": [*traffic(scope), latency(scope, "downstream"), drops(scope)],
        "Downstream: cycles": [cycles(scope, "downstream", f"{DOWN}_received_packets_total")],
        "Downstream: from the port to the queues": [
            *poll_statistics(scope, "downstream"),
            *first_stages(scope),
        ],
        "Downstream: queues and channels": [*queues(scope), priorities(scope), *bonding(scope)],
        "Downstream: from the queues to DEPI": [*last_stages(scope), providers(scope)],
    }
