# SPDX-License-Identifier: BSD-3-Clause
"""The upstream of a service group, stage by stage."""

from collections.abc import Iterator

from boards.both import CIPHERS, cycles, effort, latency
from boards.panels import Ask, Panel, lines
from boards.queries import Scope

UP = "vcmts_upstream"
DROPPED = f"{UP}_dropped_total"


def reasons(scope: Scope, *names: str) -> str:
    return scope.of(f'reason=~"{"|".join(names)}"').rate(DROPPED)


def traffic(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Rate",
        "Bits a second: L2TPv3 packets that came in, and frames that were handed to the network"
        " port.",
        "bps",
        Ask(scope.bits(f"{UP}_received_bytes_total"), "received"),
        Ask(scope.bits(f"{UP}_transmitted_bytes_total"), "transmitted"),
    )
    yield lines(
        "Packets",
        "A second: L2TPv3 packets received, IP packets transmitted.",
        "pps",
        Ask(scope.rate(f"{UP}_received_packets_total"), "received"),
        Ask(scope.rate(f"{UP}_transmitted_packets_total"), "transmitted"),
    )
    yield lines(
        "Frame size",
        "Mean length of the frames, without CRC.",
        "decbytes",
        Ask(scope.ratio(f"{UP}_received_bytes_total", f"{UP}_received_packets_total"), "received"),
        Ask(
            scope.ratio(f"{UP}_transmitted_bytes_total", f"{UP}_transmitted_packets_total"),
            "transmitted",
        ),
    )


def drops(scope: Scope) -> Panel:
    return lines(
        "Drops by reason",
        "Each unit a second for itself: packets, bursts, segments, frames. docs/counters.md says"
        " what each reason means.",
        "ops",
        Ask(f"{scope.rate(DROPPED, ['reason'])} > 0", "{{reason}}"),
        Ask(scope.rate(DROPPED), "all"),
    )


def reception(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "UEPI packets",
        "L2TPv3 packets per second: delivered in the order of PSP, and refused.",
        "pps",
        Ask(scope.rate(f"{UP}_psp_packets_total"), "in order"),
        Ask(scope.of('unit="packets"').rate(DROPPED), "refused"),
    )
    yield lines(
        "Kinds of UEPI packets",
        "A second, of those in order: of OFDMA and SC-QAM channels; how many end in a burst.",
        "pps",
        Ask(scope.rate(f"{UP}_psp_ofdma_packets_total"), "OFDMA"),
        Ask(
            f"{scope.rate(f'{UP}_psp_packets_total')}"
            f" - {scope.rate(f'{UP}_psp_ofdma_packets_total')}",
            "SC-QAM",
        ),
        Ask(scope.rate(f"{UP}_psp_partial_packets_total"), "partial"),
    )
    yield lines(
        "PSP segments",
        "Mean number in a UEPI packet, and of a burst: header, payload and trailer are one each.",
        "short",
        Ask(scope.ratio(f"{UP}_psp_segments_total", f"{UP}_psp_packets_total"), "a UEPI packet"),
        Ask(scope.ratio(f"{UP}_psp_segments_total", f"{UP}_bursts_total"), "a burst"),
    )
    yield lines(
        "Order of PSP",
        "Packets a second that were missing or came late, and gaps that were given up.",
        "pps",
        Ask(scope.rate(f"{UP}_psp_missing_packets_total"), "missing"),
        Ask(scope.rate(f"{UP}_psp_reordered_packets_total"), "late, in time"),
        Ask(scope.rate(f"{UP}_psp_gaps_total"), "gaps"),
    )
    yield lines(
        "Bursts",
        "A second: begun, without payload, dropped.",
        "ops",
        Ask(scope.rate(f"{UP}_bursts_total"), "bursts"),
        Ask(scope.rate(f"{UP}_no_bursts_total"), "without payload"),
        Ask(scope.of('unit="bursts"').rate(DROPPED), "dropped"),
    )


def reassembly(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Reassembly",
        "Segments a second whose frames were taken out, and segments that failed.",
        "ops",
        Ask(scope.rate(f"{UP}_extracted_segments_total"), "taken out"),
        Ask(scope.of('unit="segments"').rate(DROPPED), "failed"),
    )
    yield lines(
        "Segment length",
        "Mean length of the segments of service flows.",
        "decbytes",
        Ask(scope.ratio(f"{UP}_segment_bytes_total", f"{UP}_segments_total"), "bytes"),
    )
    yield lines(
        "DOCSIS frames per segment, a UEPI packet",
        "Mean number of frames that begin in it.",
        "short",
        Ask(scope.ratio(f"{UP}_frames_total", f"{UP}_segments_total"), "a segment"),
        Ask(scope.ratio(f"{UP}_frames_total", f"{UP}_psp_packets_total"), "a UEPI packet"),
    )
    yield lines(
        "Order of segments",
        "Segments a second that were missing or came late, and gaps that were given up.",
        "ops",
        Ask(scope.rate(f"{UP}_segments_missing_total"), "missing"),
        Ask(scope.rate(f"{UP}_segments_reordered_total"), "late, in time"),
        Ask(scope.rate(f"{UP}_segment_gaps_total"), "gaps"),
    )
    yield lines(
        "DOCSIS frames",
        "Beginnings of frames per second, frames of a request alone, management messages.",
        "ops",
        Ask(scope.rate(f"{UP}_frames_total"), "frames"),
        Ask(scope.rate(f"{UP}_request_frames_total"), "requests"),
        Ask(scope.rate(f"{UP}_management_messages_total"), "management"),
    )


def checks(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "HCS and CRC",
        "Checks that failed, a second.",
        "ops",
        Ask(reasons(scope, "frame_hcs", "segment_hcs"), "HCS"),
        Ask(reasons(scope, "frame_crc", "fragment_crc", "management_crc"), "CRC"),
    )
    yield lines(
        "Verified",
        "Frames a second whose HCS was good, and whose Ethernet CRC was looked at.",
        "ops",
        Ask(f"{scope.rate(f'{UP}_frames_total')} - {reasons(scope, 'frame_hcs')}", "HCS good"),
        Ask(scope.rate(f"{UP}_crc_verified_frames_total"), "CRC verified"),
    )
    yield lines(
        "Codewords lost",
        "A second, by what the R-PHY device tells: uncorrectable codewords of the bursts.",
        "ops",
        Ask(scope.rate(f"{UP}_fec_uncorrectable_codewords_total"), "uncorrectable"),
    )
    yield lines(
        "Ciphers",
        "DOCSIS frames per second by what decrypts them.",
        "pps",
        *(
            Ask(scope.rate(f"{UP}_decrypted_{name}_frames_total"), name.upper().replace("_", "-"))
            for name in CIPHERS
        ),
        Ask(scope.rate(f"{UP}_clear_frames_total"), "in the clear"),
        stacked=True,
    )
    yield lines(
        "Privacy refused",
        "Frames a second: in the clear in spite of a key, of a wrong SID, of an unknown key.",
        "ops",
        Ask(reasons(scope, "privacy_missing", "privacy_sid", "key_unknown"), "refused"),
        Ask(reasons(scope, "source_address"), "source address"),
    )


def packets(scope: Scope) -> Panel:
    return lines(
        "Kinds of packets",
        "What the packets are that were verified.",
        "pps",
        Ask(scope.rate(f"{UP}_ipv4_packets_total"), "ipv4"),
        Ask(scope.rate(f"{UP}_ipv6_packets_total"), "ipv6"),
        Ask(scope.rate(f"{UP}_llc_frames_total"), "others"),
        stacked=True,
    )


def retries(scope: Scope) -> Panel:
    return lines(
        "Retries of transmission",
        "Bursts a second that the network port did not take whole.",
        "ops",
        Ask(scope.rate(f"{UP}_transmit_retries_total"), "retries"),
    )


def requests(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Bandwidth requests",
        "A second, by kind.",
        "ops",
        Ask(scope.rate("vcmts_requests_total", ["kind"]), "{{kind}}"),
    )
    yield lines(
        "Held",
        "Waiting for what is missing, or for a worker.",
        "short",
        Ask(scope.total(f"{UP}_held", ["unit"]), "{{unit}}"),
    )


def upstream(scope: Scope) -> dict[str, list[Panel]]:
    """By what stands above them."""
    return {
        "Upstream: traffic and what it costs": [
            *traffic(scope),
            cycles(scope, "upstream", f"{UP}_transmitted_packets_total"),
            latency(scope, "upstream"),
            drops(scope),
        ],
        "Upstream: from the port to bursts": [
            *effort(scope, "upstream"),
            *reception(scope),
        ],
        "Upstream: from segments to frames": [
            *reassembly(scope),
            *requests(scope),
        ],
        "Upstream: from frames to packets": [
            *checks(scope),
            packets(scope),
            retries(scope),
        ],
    }
