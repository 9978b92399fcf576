# SPDX-License-Identifier: BSD-3-Clause
"""Tests the upstream model's packets, bursts, segments and frames by cases."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT
from vcmts.witness.ip import read_frame
from vcmts.witness.source import may_send
from witness import frame_cases, packet_cases, segment_cases
from witness.accounting import REASONS, UNMODELLED
from witness.cable_modem import fragment
from witness.frame_cases import INSIDE, SOURCES, old
from witness.mac_header import Privacy, read_mac_header
from witness.packet_cases import PARTS, SC_QAM, head, tail
from witness.rig import OLD, PLAIN, Case, Rig, check, plain, segment, send

CASES = [
    case
    for cases in (packet_cases.case, segment_cases.case, frame_cases.case)
    for case in cases.cases
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_model_has_expected_counts(case: Case) -> None:
    """tests/e2e/replay/test_replay_upstream.py compares vcmtsd with the same cases."""
    check(case, Rig())


@pytest.mark.parametrize(("frame", "allowed"), SOURCES)
def test_source_addresses_are_verified(frame: bytes, allowed: bool) -> None:
    assert may_send(read_frame(frame), PLAIN.addresses) is allowed


def pending_packets(rig: Rig) -> None:
    """An open burst, and a packet that is one ahead."""
    rig.psp(SC_QAM, 0, head(), PARTS[0])
    rig.psp(SC_QAM, 2, tail())


def pending_segments(rig: Rig) -> None:
    send(rig, segment(0, plain()[:30], 0), segment(2, b""), segment(3, b""))


def pending_fragments(rig: Rig) -> None:
    old(rig, *fragment(OLD.security, 20, INSIDE, [20, 40])[:2])


@pytest.mark.parametrize(
    ("build", "pending", "drops"),
    [
        (pending_packets, {"packet": 1, "burst": 1}, {"packet_stopped": 1, "burst_stopped": 1}),
        (pending_segments, {"segment": 2, "frame": 1}, {"segment_stopped": 2, "stopped": 1}),
        (pending_fragments, {"frame": 2}, {"stopped": 2}),
    ],
)
def test_pending_units_are_counted_and_dropped(
    build: Callable[[Rig], None], pending: dict[str, int], drops: dict[str, int]
) -> None:
    """They are pending until the model stops."""
    rig = Rig()
    build(rig)
    model = rig.model()
    assert (
        model.result().pending
        == dict.fromkeys(("packet", "burst", "segment", "frame"), 0) | pending
    )
    model.stop()
    result = model.result()
    assert result.drops == drops and not any(result.pending.values())


# In the cases, nothing is stopped or removed.
NOT_IN_CASES = {
    f"{unit}_{end}" for unit in ("packet", "burst") for end in ("stopped", "session_removed")
}
NOT_IN_CASES |= {"segment_stopped", "segment_flow_removed"}
OF_FRAMES = """management_crc privacy_missing privacy_sid key_unknown frame_crc fragment_crc
    fragment_order fragment_too_long"""
OF_HEADERS = """frame_hcs frame_reserved frame_ehdr frame_length frame_too_long frame_runt
    frame_gap frame_pointer frame_truncated frame_timeout"""


def test_cases_have_all_drop_reasons() -> None:
    assert {*REASONS["packet"], *REASONS["burst"]} - NOT_IN_CASES <= packet_cases.case.reasons
    assert {*REASONS["segment"], *OF_HEADERS.split()} - NOT_IN_CASES <= segment_cases.case.reasons
    assert set(OF_FRAMES.split()) <= frame_cases.case.reasons


def test_model_has_all_drop_reasons_and_units() -> None:
    text = "".join(path.read_text() for path in (CHECKOUT / "src/pipeline").glob("*.def"))
    rows = re.findall(r'^DROP\(\w+, "(\w+)", (\w+), (\w+),', text, re.MULTILINE)
    upstream = {name: unit.lower() for name, direction, unit in rows if direction in ("UP", "BOTH")}
    known = {reason: unit for unit, reasons in REASONS.items() for reason in reasons}
    assert {name: unit for name, unit in upstream.items() if name not in UNMODELLED} == known
    assert set(UNMODELLED) <= set(upstream)


VECTORS = Path(__file__).parents[2] / "vectors" / "docsis.txt"
KINDS = {
    "bp_up2": ("packet", Privacy(2, True, 0, 0x456, True), None),
    "bp_up": ("packet", Privacy(3, True, 1, 0x567, True, 8), None),
    "bp_down_ds_ehdr": ("packet", Privacy(5, True, 1, 0x123, False), None),
    "request_element": ("packet", None, (9, 0x123)),
    "bp_up2_request": ("packet", Privacy(5, True, 1, 0x123, True), (9, 0x123)),
    "fragment": ("fragment", Privacy(1, True, 1, 1, True, 7, 0x29), None),
    "concatenation": ("concatenation", None, None),
    "management": ("management", None, None),
    "map_frame": ("management", None, None),
    "request_frame": ("request", None, (4, 0x123)),
    "queue_request_frame": ("queue_request", None, (0x102, 0x345)),
}


def test_vectors_of_mac_headers() -> None:
    """The strict decoder reads the C tests' vectors. A flipped bit is invalid."""
    for line in VECTORS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, text = line.split(":")
        data = bytes.fromhex(text)
        header = read_mac_header(data)
        assert header is not None and header.fault is None
        expected = KINDS.get(name, ("packet", None, None))
        assert (header.kind, header.privacy, header.request) == expected
        for size in range(header.header_size):
            assert read_mac_header(data[:size]) is None
        for bit in range(8 * header.header_size):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            actual = read_mac_header(bytes(damaged))
            assert actual is None or actual.fault == "frame_hcs"
