# SPDX-License-Identifier: BSD-3-Clause
"""The model's segments, and headers of frames: every drop reason with what was counted by hand."""

from pathlib import Path

import pytest

from witness.books import REASONS
from witness.mac_header import Privacy, read_mac_header
from witness.rig import Case, Rig, check, plain, segment, send
from witness.segment_cases import case


@pytest.mark.parametrize("item", case.cases, ids=lambda item: item.name)
def test_counts(item: Case) -> None:
    check(item, Rig())


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


def test_vectors() -> None:
    """Headers that the C side and the strict decoder read too; any bit makes them bad."""
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
            found = read_mac_header(bytes(damaged))
            assert found is None or found.fault == "frame_hcs"


def test_what_is_held() -> None:
    rig = Rig()
    send(rig, segment(0, plain()[:30], 0), segment(2, b""), segment(3, b""))
    model = rig.model()
    assert model.result().held == {"packet": 0, "burst": 0, "segment": 2, "frame": 1}
    model.stop()
    result = model.result()
    assert result.drops == {"segment_stopped": 2, "stopped": 1}


NOT_MET = {"segment_stopped", "segment_flow_removed"}  # nothing stops or changes here


def test_every_reason_is_met() -> None:
    headers = """frame_hcs frame_reserved frame_ehdr frame_length frame_too_long frame_runt
        frame_gap frame_pointer frame_truncated frame_timeout"""
    assert {*REASONS["segment"], *headers.split()} - NOT_MET <= case.reasons
