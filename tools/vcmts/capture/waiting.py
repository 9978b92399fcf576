# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts capture` prints while nothing has matched: why, and how to provoke such packets."""

import argparse
import subprocess
from collections.abc import Iterator

from vcmts.capture.listing import describe
from vcmts.paths import TOOL, MistakeError

# Drop reasons for which `vcmts run` sends packets by itself, and those that need an impairment.
SENT = (
    "ipv4_checksum", "ipv4_header", "ipv4_length", "ipv6_header", "ipv6_length", "arp_malformed",
    "multicast", "unknown_destination", "cpe_limit", "filter_deny", "privacy_missing",
    "key_unknown", "privacy_sid", "source_address", "outer_address", "unknown_session",
    "l2tp_control", "outer_ip_checksum", "port_headers", "port_multicast",
    "port_unknown_destination", "port_unknown_session", "port_l2tp_control",
)  # fmt: skip
IMPAIRED = {
    "psp_duplicate": "psp-duplicate",
    "psp_late": "psp-late",
    "burst_headless": "psp-loss",
    "burst_gap": "psp-loss",
    "frame_gap": "psp-loss",
    "segment_hcs": "segment-header-error",
    "unknown_sid": "unknown-sid",
    "segment_pointer": "burst-truncated",
    "frame_pointer": "burst-truncated",
    "frame_truncated": "burst-truncated",
    "burst_trailer": "trailer-error",
    "burst_header": "uepi-header-error",
    "frame_hcs": "header-error",
    "fragment_crc": "crc-error",
}
DENY = """filter_group.set group={group} \\
    filter_group='{{"id": 1, "rules": [{{"family": "ipv4", "action": "deny"}}]}}'"""


def meanings() -> dict[str, str]:
    """The meaning of each drop reason; empty if vcmtsd is not installed here."""
    try:
        described = describe()
    except (MistakeError, OSError, subprocess.SubprocessError):
        return {}
    drops = (described[name]["drops"] for name in ("downstream", "upstream", "shared_port"))
    return {reason: drop["meaning"] for one in drops for reason, drop in one.items()}


def drop_hints(reasons: list[str], group: int) -> Iterator[str]:
    known = meanings() if reasons else {}
    for reason in reasons:
        if reason in known:
            yield f"{reason}: {known[reason]}"
    if not reasons or any(reason in SENT for reason in reasons):
        yield f"`{TOOL} run` sends some packets that must be dropped (--refuse-every)"
    for impairment in dict.fromkeys(IMPAIRED[one] for one in reasons if one in IMPAIRED):
        yield f"`{TOOL} run --impair {impairment}=1%` provokes such drops"
    if "filter_deny" in reasons:
        yield f"to deny packets: {TOOL} control {DENY.format(group=group)}"


def hints(arguments: argparse.Namespace, reasons: list[str]) -> Iterator[str]:
    """Lines that help if the capture of these arguments has no packet. `reasons`: the names in
    --dropped."""
    group = arguments.group if arguments.group is not None else 1
    if arguments.dropped is not None:
        yield from drop_hints(reasons, group)
    if arguments.dropped is None or arguments.stage is not None:
        yield f"`{TOOL} top` shows the traffic of groups and, with Enter, of modems"
    if arguments.flow is not None:
        yield f"`{TOOL} telemetry flow {arguments.flow}` shows the packets of this service flow"


def text(arguments: argparse.Namespace, reasons: list[str]) -> str:
    lines = ["nothing has matched yet, the capture waits; Ctrl-C ends it"]
    return "\n  ".join([*lines, *hints(arguments, reasons)])
