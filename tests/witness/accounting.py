# SPDX-License-Identifier: BSD-3-Clause
"""Model: counters of the upstream. For each of four units, in = out + drops + pending.

See docs/upstream.md, "Four units".
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

# Counters of the units that enter, and of those that leave without being dropped.
IN = {"packet": "received", "burst": "bursts", "segment": "segments", "frame": "frames"}
OUT = {
    "packet": ("psp_packets",),
    "burst": ("segments", "no_bursts"),
    "segment": ("extracted",),
    "frame": ("transmitted", "management", "request_frames", "concatenations", "fragments"),
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


REASONS = {
    "packet": _names(
        """outer_runt not_l2tp outer_ip_header outer_ip_length outer_ip_checksum outer_fragment
        outer_address l2tp_version l2tp_truncated l2tp_control unknown_session psp_truncated
        psp_control psp_extended psp_trailing psp_duplicate psp_late
        packet_session_removed packet_stopped"""
    ),
    "burst": _names(
        """burst_headless burst_gap burst_broken burst_header burst_trailer burst_too_long
        burst_timeout unknown_sid burst_session_removed burst_stopped"""
    ),
    "segment": _names(
        """segment_truncated segment_hcs segment_cluster segment_pointer segment_duplicate
        segment_late segment_orphan segment_flow_removed segment_stopped"""
    ),
    "frame": _names(
        """frame_hcs frame_reserved frame_ehdr frame_length frame_too_long frame_phs frame_runt
        frame_gap frame_pointer frame_truncated frame_timeout not_ranging no_control_port
        management_crc privacy_missing privacy_sid key_unknown frame_crc fragment_crc fragment_order
        fragment_too_long source_address source_rate vlan ipv4_header ipv4_length ipv4_checksum
        ipv6_header ipv6_length ipv6_extensions arp_malformed frame_flow_removed stopped"""
    ),
}
# Drop reasons that the model does not have: they depend on memory, free ring slots and hardware.
UNMODELLED = _names(
    """outer_chained burst_limit burst_no_buffer frame_limit frame_no_buffer control_full
    crypto_full crypto_error crypto_lost link_down port_gone"""
)
_UNIT = {reason: unit for unit, reasons in REASONS.items() for reason in reasons}


@dataclass
class Accounting:
    counters: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)

    def count(self, name: str, number: int = 1) -> None:
        self.counters[name] += number

    def drop(self, reason: str, number: int = 1) -> None:
        assert reason in _UNIT, reason
        self.drops[reason] += number

    def balance(self, pending: Mapping[str, int]) -> None:
        """Asserts in = out + drops + pending for each unit."""
        dropped = dict.fromkeys(REASONS, 0)
        for reason, number in self.drops.items():
            dropped[_UNIT[reason]] += number
        for unit, entered in IN.items():
            left = sum(self.counters[name] for name in OUT[unit])
            assert self.counters[entered] == left + dropped[unit] + pending[unit], (
                f"{unit}: {self.counters[entered]} in, {left} out, {dropped[unit]} dropped,"
                f" {pending[unit]} pending"
            )
