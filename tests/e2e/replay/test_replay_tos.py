# SPDX-License-Identifier: BSD-3-Clause
"""IP TOS overwrite (MULPI, C.2.2.7.9): compares replays with and without it."""

import re
from pathlib import Path

import pytest

from e2e.running import SMALL, replay
from e2e.traffic import START_NS, generate, with_times
from e2e.upstream import replay_upstream
from vcmts.witness.config import load_config, parse_config
from vcmts.witness.pcapfile import records_of
from witness.sample import UPSTREAM
from witness.upstream_traffic import sending

pytestmark = pytest.mark.replay

# flows 302 and 303 do not differ on the wire
MASKS = {
    101: (0x03, 0xB8),
    103: (0xFF, 0x01),
    302: (0x1C, 0x00),
    303: (0x1C, 0x00),
    601: (0x00, 0x5A),
}
UNCHANGED = (0xFF, 0x00)


def add_masks(text: str, masks: dict[int, tuple[int, int]]) -> str:
    for flow, (and_mask, or_mask) in masks.items():
        key = f"tos_overwrite: {{and_mask: {and_mask:#x}, or_mask: {or_mask:#x}}}"
        text, count = re.subn(rf"\bid: {flow}, ", rf"\g<0>{key}, ", text)
        assert count == 1
    return text


def overwrite_tos(frame: bytes, masks: tuple[int, int]) -> bytes:
    """The frame with the TOS or traffic class overwritten, and a correct IPv4 header checksum."""
    out = bytearray(frame)
    at = 18 if out[12:14] == b"\x81\x00" else 14
    word = int.from_bytes(out[at : at + 2], "big")
    if out[at - 2 : at] == b"\x86\xdd":
        tos = (word >> 4 & masks[0]) | masks[1]
        out[at : at + 2] = (word & 0xF00F | tos << 4).to_bytes(2, "big")
    elif out[at - 2 : at] == b"\x08\x00":
        out[at + 1] = (out[at + 1] & masks[0]) | masks[1]
        header = out[at : at + 4 * (out[at] & 0xF)]
        header[10:12] = b"\0\0"
        words = (int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
        out[at + 10 : at + 12] = (0xFFFF - (sum(words) - 1) % 0xFFFF - 1).to_bytes(2, "big")
    return bytes(out)


def test_downstream_tos_is_overwritten(tmp_path: Path) -> None:
    """Classifiers match the original TOS. The decoder checks that CRCs cover the new one."""
    sent = with_times(generate(load_config(SMALL), 11, 600), 11)
    plain = replay(tmp_path / "plain", SMALL.read_text(), sent)
    plain.check()
    decoded = replay(tmp_path / "tos", add_masks(SMALL.read_text(), MASKS), sent).decoded
    assert decoded.problems == []
    assert decoded.flows.keys() == plain.decoded.flows.keys()
    for flows, frames in plain.decoded.flows.items():
        masks = next((MASKS[flow] for flow in flows if flow in MASKS), UNCHANGED)
        expected = [overwrite_tos(frame, masks) for frame in frames]
        assert decoded.flows[flows] == expected
        assert masks == UNCHANGED or expected != frames


@pytest.mark.parametrize("verified", ["true", "false"])
def test_upstream_tos_is_overwritten(verified: str, tmp_path: Path) -> None:
    """Flows with and without segment headers, also without verification of source addresses."""
    text = UPSTREAM.replace("upstream: {", f"upstream: {{verify_source: {verified}, ", 1)
    sender = sending(5, parse_config(text), most=120)
    sent = records_of(sender.packets, START_NS)
    plain = replay_upstream(tmp_path / "plain", text, sent)
    assert plain.problems() == []
    key = "tos_overwrite: {and_mask: 0x83, or_mask: 0x28}"
    changed = re.sub(r"(, |\n +)sid_clusters:", rf"\1{key}\1sid_clusters:", text)
    replayed = replay_upstream(tmp_path / "tos", changed, sent)
    assert replayed.frames == [overwrite_tos(frame, (0x83, 0x28)) for frame in plain.frames]
    assert replayed.frames != plain.frames
