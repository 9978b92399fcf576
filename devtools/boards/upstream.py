# SPDX-License-Identifier: BSD-3-Clause
"""Panels of a service group's upstream, in the order of its stages."""

from collections.abc import Iterator

from boards.directions import CIPHERS, cycles, latency, poll_statistics
from boards.panels import COUNT, EVENTS, PACKETS, Panel, Query, graph
from boards.queries import Scope

UP = "vcmts_upstream"
DROPPED = f"{UP}_dropped_total"


def reasons(scope: Scope, *names: str) -> str:
    return scope.with_matchers(f'reason=~"{"|".join(names)}"').rate(DROPPED)


def traffic(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Rate",
        "Bits per second of received L2TPv3 packets and of frames transmitted to the network port.",
        "bps",
        Query(scope.bit_rate(f"{UP}_received_bytes_total"), "received"),
        Query(scope.bit_rate(f"{UP}_transmitted_bytes_total"), "transmitted"),
    )
    yield graph(
        "Packets",
        "Packets per second: L2TPv3 packets received, IP packets transmitted.",
        PACKETS,
        Query(scope.rate(f"{UP}_received_packets_total"), "received"),
        Query(scope.rate(f"{UP}_transmitted_packets_total"), "transmitted"),
    )
    yield graph(
        "Frame size",
        "Mean length of the frames, without CRC.",
        "decbytes",
        Query(
            scope.ratio(f"{UP}_received_bytes_total", f"{UP}_received_packets_total"), "received"
        ),
        Query(
            scope.ratio(f"{UP}_transmitted_bytes_total", f"{UP}_transmitted_packets_total"),
            "transmitted",
        ),
    )


def drops(scope: Scope) -> Panel:
    return graph(
        "Drops by reason",
        "Drops per second: packets, bursts, segments or frames."
        " docs/counters.md explains each reason.",
        EVENTS,
        Query(f"{scope.rate(DROPPED, ['unit', 'reason'])} > 0", "{{unit}}: {{reason}}"),
        Query(scope.rate(DROPPED), "all"),
    )


def reception(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "UEPI packets",
        "L2TPv3 packets per second: delivered in PSP order, and dropped.",
        PACKETS,
        Query(scope.rate(f"{UP}_psp_packets_total"), "in order"),
        Query(scope.with_matchers('unit="packets"').rate(DROPPED), "dropped"),
    )
    yield graph(
        "Kinds of UEPI packets",
        "Packets per second of OFDMA and SC-QAM channels; partial ones end within a burst.",
        PACKETS,
        Query(scope.rate(f"{UP}_psp_ofdma_packets_total"), "OFDMA"),
        Query(
            f"{scope.rate(f'{UP}_psp_packets_total')}"
            f" - {scope.rate(f'{UP}_psp_ofdma_packets_total')}",
            "SC-QAM",
        ),
        Query(scope.rate(f"{UP}_psp_partial_packets_total"), "partial"),
    )
    yield graph(
        "PSP segments",
        "Mean number per UEPI packet and per burst; header, payload and trailer are one each.",
        "short",
        Query(
            scope.ratio(f"{UP}_psp_segments_total", f"{UP}_psp_packets_total"), "per UEPI packet"
        ),
        Query(scope.ratio(f"{UP}_psp_segments_total", f"{UP}_bursts_total"), "per burst"),
    )
    yield graph(
        "Order of PSP",
        "Packets per second: missing, or late but in time; gaps that were skipped.",
        PACKETS,
        Query(scope.rate(f"{UP}_psp_missing_packets_total"), "missing"),
        Query(scope.rate(f"{UP}_psp_reordered_packets_total"), "late, in time"),
        Query(scope.rate(f"{UP}_psp_gaps_total"), "gaps"),
    )
    yield graph(
        "Bursts",
        "Bursts per second: begun, without payload, dropped.",
        EVENTS,
        Query(scope.rate(f"{UP}_bursts_total"), "bursts"),
        Query(scope.rate(f"{UP}_no_bursts_total"), "without payload"),
        Query(scope.with_matchers('unit="bursts"').rate(DROPPED), "dropped"),
    )


def reassembly(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Reassembly",
        "Segments per second whose frames were extracted, and segments that were dropped.",
        EVENTS,
        Query(scope.rate(f"{UP}_extracted_segments_total"), "extracted"),
        Query(scope.with_matchers('unit="segments"').rate(DROPPED), "dropped"),
    )
    yield graph(
        "Segment length",
        "Mean length of the segments of service flows.",
        "decbytes",
        Query(scope.ratio(f"{UP}_segment_bytes_total", f"{UP}_segments_total"), "bytes"),
    )
    yield graph(
        "DOCSIS frames per segment and packet",
        "Mean number of frames that begin in a segment, or in a UEPI packet.",
        "short",
        Query(scope.ratio(f"{UP}_frames_total", f"{UP}_segments_total"), "per segment"),
        Query(scope.ratio(f"{UP}_frames_total", f"{UP}_psp_packets_total"), "per UEPI packet"),
    )
    yield graph(
        "Order of segments",
        "Segments per second: missing, or late but in time; gaps that were skipped.",
        EVENTS,
        Query(scope.rate(f"{UP}_segments_missing_total"), "missing"),
        Query(scope.rate(f"{UP}_segments_reordered_total"), "late, in time"),
        Query(scope.rate(f"{UP}_segment_gaps_total"), "gaps"),
    )
    yield graph(
        "DOCSIS frames",
        "Frames per second: all that begin, requests without a PDU, management messages.",
        PACKETS,
        Query(scope.rate(f"{UP}_frames_total"), "frames"),
        Query(scope.rate(f"{UP}_request_frames_total"), "requests"),
        Query(scope.rate(f"{UP}_management_messages_total"), "management"),
    )


def checks(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "HCS and CRC",
        "Failed checks per second.",
        PACKETS,
        Query(reasons(scope, "frame_hcs", "segment_hcs"), "HCS"),
        Query(reasons(scope, "frame_crc", "fragment_crc", "management_crc"), "CRC"),
    )
    yield graph(
        "Verified",
        "Frames per second with a good HCS, and those whose Ethernet CRC was verified.",
        PACKETS,
        Query(f"{scope.rate(f'{UP}_frames_total')} - {reasons(scope, 'frame_hcs')}", "HCS good"),
        Query(scope.rate(f"{UP}_crc_verified_frames_total"), "CRC verified"),
    )
    yield graph(
        "Codewords lost",
        "Uncorrectable codewords of bursts per second, as reported by the R-PHY device.",
        EVENTS,
        Query(scope.rate(f"{UP}_fec_uncorrectable_codewords_total"), "uncorrectable"),
    )
    yield graph(
        "Ciphers",
        "DOCSIS frames per second by cipher.",
        PACKETS,
        *(
            Query(scope.rate(f"{UP}_decrypted_{name}_frames_total"), name.upper().replace("_", "-"))
            for name in CIPHERS
        ),
        Query(scope.rate(f"{UP}_clear_frames_total"), "in the clear"),
        stacked=True,
    )
    yield graph(
        "Privacy drops",
        "Frames per second: in the clear although the modem has a key, wrong SID, unknown key;"
        " source address not of the modem.",
        PACKETS,
        Query(reasons(scope, "privacy_missing", "privacy_sid", "key_unknown"), "privacy"),
        Query(reasons(scope, "source_address"), "source address"),
    )


def packets(scope: Scope) -> Panel:
    return graph(
        "Kinds of packets",
        "Verified packets per second by protocol.",
        PACKETS,
        Query(scope.rate(f"{UP}_ipv4_packets_total"), "ipv4"),
        Query(scope.rate(f"{UP}_ipv6_packets_total"), "ipv6"),
        Query(scope.rate(f"{UP}_llc_frames_total"), "others"),
        stacked=True,
    )


def retries(scope: Scope) -> Panel:
    return graph(
        "Retries of transmission",
        "Bursts per second of which the network port did not accept all packets.",
        EVENTS,
        Query(scope.rate(f"{UP}_transmit_retries_total"), "retries"),
    )


def requests(scope: Scope) -> Iterator[Panel]:
    yield graph(
        "Bandwidth requests",
        "Bandwidth requests per second by kind.",
        EVENTS,
        Query(scope.rate("vcmts_requests_total", ["kind"]), "{{kind}}"),
    )
    yield graph(
        "Pending",
        "Pending: they wait for missing parts, for an earlier sequence number, or for a worker.",
        COUNT,
        Query(scope.total(f"{UP}_held", ["unit"]), "{{unit}}"),
    )


def upstream(scope: Scope) -> dict[str, list[Panel]]:
    """Panels by title of their section."""
    return {
        "Upstream: traffic": [*traffic(scope), latency(scope, "upstream"), drops(scope)],
        "Upstream: cycles": [cycles(scope, "upstream", f"{UP}_transmitted_packets_total")],
        "Upstream: from the port to bursts": [
            *poll_statistics(scope, "upstream"),
            *reception(scope),
        ],
        "Upstream: from segments to frames": [*reassembly(scope), *requests(scope)],
        "Upstream: from frames to packets": [*checks(scope), packets(scope), retries(scope)],
    }
