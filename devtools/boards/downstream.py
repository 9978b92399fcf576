# SPDX-License-Identifier: BSD-3-Clause
"""The downstream of a service group, stage by stage."""

from collections.abc import Iterator

from boards.both import CIPHERS, cycles, effort, latency
from boards.panels import Ask, Panel, bars, lines
from boards.queries import WINDOW, Scope, summed

DOWN = "vcmts_downstream"
DELAY = "vcmts_scheduler_delay_seconds"
SHARES = ((0.5, "half of them below"), (0.99, "99 % below"))


def traffic(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Rate",
        "Bits a second: IP packets that came in, and frames that were handed to the R-PHY port.",
        "bps",
        Ask(scope.bits(f"{DOWN}_received_bytes_total"), "received"),
        Ask(scope.bits(f"{DOWN}_transmitted_bytes_total"), "transmitted"),
    )
    yield lines(
        "Packets",
        "A second: received, transmitted, dropped for whatever reason.",
        "pps",
        Ask(scope.rate(f"{DOWN}_received_packets_total"), "received"),
        Ask(scope.rate(f"{DOWN}_transmitted_packets_total"), "transmitted"),
        Ask(scope.rate(f"{DOWN}_dropped_packets_total"), "dropped"),
    )
    yield lines(
        "Frame size",
        "Mean length of the frames, without CRC.",
        "decbytes",
        Ask(
            scope.ratio(f"{DOWN}_received_bytes_total", f"{DOWN}_received_packets_total"),
            "received",
        ),
        Ask(
            scope.ratio(f"{DOWN}_transmitted_bytes_total", f"{DOWN}_transmitted_packets_total"),
            "transmitted",
        ),
    )


def drops(scope: Scope) -> Panel:
    return lines(
        "Drops by reason",
        "Packets a second; docs/counters.md says what each reason means, and"
        " `./vcmts capture --dropped REASON` shows the packets.",
        "pps",
        Ask(f"{scope.rate(f'{DOWN}_dropped_packets_total', ['reason'])} > 0", "{{reason}}"),
        Ask(scope.rate(f"{DOWN}_dropped_packets_total"), "all"),
    )


def first_stages(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Kinds of packets",
        "What the packets are that came in.",
        "pps",
        *(Ask(scope.rate(f"{DOWN}_{kind}_packets_total"), kind) for kind in ("ipv4", "ipv6")),
        Ask(scope.rate(f"{DOWN}_llc_frames_total"), "others"),
        stacked=True,
    )
    yield lines(
        "Modem lookup",
        "Packets whose modem was found, and whose destination nobody has.",
        "pps",
        Ask(scope.rate(f"{DOWN}_lookup_matched_packets_total"), "found"),
        Ask(
            scope.of('reason="unknown_destination"').rate(f"{DOWN}_dropped_packets_total"),
            "unknown destination",
        ),
    )
    yield lines(
        "Filters",
        "Packets that met a rule, and packets that met none: the default decides.",
        "pps",
        Ask(scope.rate(f"{DOWN}_filter_matched_permit_packets_total"), "permitted by a rule"),
        Ask(scope.rate(f"{DOWN}_filter_matched_deny_packets_total"), "denied by a rule"),
        Ask(scope.rate(f"{DOWN}_filter_unmatched_packets_total"), "no rule"),
    )
    yield lines(
        "Classifiers",
        "Packets that a classifier sent to a service flow, and packets for the primary one.",
        "pps",
        Ask(scope.rate(f"{DOWN}_classifier_matched_packets_total"), "by a classifier"),
        Ask(scope.rate(f"{DOWN}_classifier_unmatched_packets_total"), "primary service flow"),
    )
    yield lines(
        "Classifiers by kind of packet",
        "Packets that a classifier sent to a service flow; ICMP counts with IPv4 or IPv6, too.",
        "pps",
        *(
            Ask(scope.rate(f"{DOWN}_classifier_matched_{kind}_packets_total"), kind)
            for kind in ("ipv4", "ipv6", "icmp")
        ),
    )


def queues(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Service-flow queues",
        "Packets a second that entered a queue, left it, and were dropped before it.",
        "pps",
        Ask(scope.rate(f"{DOWN}_enqueued_packets_total"), "entered"),
        Ask(scope.rate(f"{DOWN}_dequeued_packets_total"), "left"),
        Ask(
            scope.of(
                'reason=~"flow_buffer_full|scheduler_full|wred_drop|docsis_pie_drop'
                '|longer_than_burst|service_flow_removed"'
            ).rate(f"{DOWN}_dropped_packets_total"),
            "dropped",
        ),
    )
    yield lines(
        "Packets held",
        "In all of the downstream, and of these in the queues of the service flows.",
        "short",
        Ask(scope.total(f"{DOWN}_held_packets"), "held"),
        Ask(scope.total(f"{DOWN}_queued_packets"), "in queues"),
    )
    yield lines(
        "Scheduler delay by priority",
        "In the queues of the service flows of a priority.",
        "s",
        *(
            Ask(scope.quantile(share, DELAY, ["priority"]), f"priority {{{{priority}}}}, {words}")
            for share, words in SHARES
        ),
    )
    yield lines(
        "Channels",
        "Bits a second of each downstream channel.",
        "bps",
        Ask(scope.bits(f"{DOWN}_channel_bytes_total", ["channel"]), "channel {{channel}}"),
        stacked=True,
    )
    yield lines(
        "Use of the channels",
        "Share of the configured rate.",
        "percentunit",
        Ask(
            f"{scope.rate(f'{DOWN}_channel_bytes_total', ['channel'])}"
            f" / {scope.total(f'{DOWN}_channel_rate_bytes_per_second', ['channel'])}",
            "channel {{channel}}",
        ),
    )


def bonding(scope: Scope) -> Iterator[Panel]:
    name, by = f"{DOWN}_bonding_group", ["bonding_group"]
    yield lines(
        "Bonding groups",
        "Packets a second that were given to the channels of a bonding group.",
        "pps",
        Ask(scope.rate(f"{name}_packets_total", by), "group {{bonding_group}}"),
        stacked=True,
    )
    yield lines(
        "Out of order in modems",
        "Share of the packets that a modem gets before an earlier one of the service flow.",
        "percentunit",
        Ask(
            f"{scope.rate(f'{name}_early_packets_total', by)}"
            f" / {scope.rate(f'{name}_packets_total', by)}",
            "group {{bonding_group}}",
        ),
    )


def last_stages(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Ciphers",
        "DOCSIS frames per second by what encrypted them.",
        "pps",
        *(
            Ask(scope.rate(f"{DOWN}_encrypted_{name}_frames_total"), name.upper().replace("_", "-"))
            for name in CIPHERS
        ),
        Ask(scope.rate(f"{DOWN}_clear_frames_total"), "in the clear"),
        stacked=True,
    )
    yield lines(
        "CRC made",
        "DOCSIS frames per second whose Ethernet CRC was made, encrypted or not.",
        "pps",
        Ask(scope.rate(f"{DOWN}_crc_generated_frames_total"), "made"),
        Ask(scope.rate(f"{DOWN}_framed_frames_total"), "all frames"),
    )
    yield lines(
        "DEPI frames",
        "A second: closed because no more fitted, and closed by the flush timer.",
        "pps",
        Ask(scope.rate(f"{DOWN}_depi_full_frames_total"), "full"),
        Ask(scope.rate(f"{DOWN}_depi_flushed_frames_total"), "flushed"),
        stacked=True,
    )
    yield lines(
        "DEPI frames by PSP segments",
        "DEPI frames per second by how many PSP segments they have.",
        "pps",
        *(
            Ask(scope.rate(f"{DOWN}_depi_segments_{number}_frames_total"), f"{number}")
            for number in (*range(1, 8), "more")
        ),
        stacked=True,
    )
    yield lines(
        "PSP segments a DEPI frame",
        "Mean; and of these the segments that are parts of a DOCSIS frame only.",
        "short",
        Ask(scope.ratio(f"{DOWN}_psp_segments_total", f"{DOWN}_depi_frames_total"), "segments"),
        Ask(scope.ratio(f"{DOWN}_psp_fragments_total", f"{DOWN}_depi_frames_total"), "fragments"),
    )
    yield lines(
        "Retries of transmission",
        "Bursts a second that the R-PHY port did not take whole.",
        "ops",
        Ask(scope.rate(f"{DOWN}_transmit_retries_total"), "retries"),
    )


def providers(scope: Scope) -> Panel:
    return bars(
        "Modems by cipher",
        "By the cipher of their security association, and the provider that encrypts.",
        "short",
        Ask(
            f"{scope.total('vcmts_service_group_cipher_modems', ['cipher', 'provider'])} > 0",
            "{{cipher}} {{provider}}",
        ),
    )


def priorities(scope: Scope) -> Panel:
    return lines(
        "Scheduled by priority",
        "Packets a second that left the queues.",
        "pps",
        Ask(
            f"{summed(['priority'])} (rate({scope.read(f'{DELAY}_count')}{WINDOW}))",
            "priority {{priority}}",
        ),
        stacked=True,
    )


def downstream(scope: Scope) -> dict[str, list[Panel]]:
    """By what stands above them."""
    return {
        "Downstream: traffic and what it costs": [
            *traffic(scope),
            cycles(scope, "downstream", f"{DOWN}_received_packets_total"),
            latency(scope, "downstream"),
            drops(scope),
        ],
        "Downstream: from the port to the queues": [
            *effort(scope, "downstream"),
            *first_stages(scope),
        ],
        "Downstream: queues and channels": [
            *queues(scope),
            priorities(scope),
            *bonding(scope),
        ],
        "Downstream: from the queues to DEPI": [
            *last_stages(scope),
            providers(scope),
        ],
    }
