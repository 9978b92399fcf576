# SPDX-License-Identifier: BSD-3-Clause
"""Key rolls during a downstream replay."""

from pathlib import Path

import pytest

from e2e.changes.downstream_proof import DownstreamProof
from e2e.changes.replay import MS, Change, change, replay_changes
from e2e.changes.test_replay_changes import FLUSH_NS, STEP_NS, T_NS, TEXT, burst
from e2e.traffic import START_NS
from vcmts.witness.ehdr import BpDown
from witness.epochs import DecodedFrame, frame_dsid, frame_sequence

pytestmark = pytest.mark.replay


def key_sequence(frame: DecodedFrame) -> int:
    assert frame.record.header is not None
    [privacy] = [e for e in frame.record.header.elements if isinstance(e, BpDown)]
    return privacy.key_sequence


@pytest.mark.parametrize("rolls", [1, 16])
def test_rolled_keys_encrypt_in_order(rolls: int, tmp_path: Path) -> None:
    """The load fills the channels. Each frame is encrypted with the key of its key sequence number,
    and no frame with the old key follows one with the new key."""
    sent = burst("10.0.0.1", 2000) + [
        record for n in range(100) for record in burst("10.0.0.1", 1, (n + 1) * 100_000)
    ]
    changes: list[Change] = []
    for roll in range(rolls):
        at = MS + 777 + roll * 500_000
        key, iv = f"{roll:02x}" * 16, f"{255 - roll:02x}" * 16
        changes += [
            change(at, "key.install", said=1, key=key, iv=iv),
            change(at + 150_001, "key.use", said=1),
            change(at + 300_001, "key.remove", said=1),
        ]
    replay = replay_changes(tmp_path, TEXT, sent, changes)
    assert DownstreamProof(replay).check() == 0
    frames = [f for f in replay.decoded.frames if frame_dsid(f) == 1]
    keys = [key_sequence(frame) for frame in sorted(frames, key=frame_sequence)]
    assert len(keys) == len(sent)
    order = [number for number, before in zip(keys, [-1, *keys], strict=False) if number != before]
    assert order == [(5 + n) % 16 for n in range(rolls + 1)]


def test_new_key_is_used_from_change_on(tmp_path: Path) -> None:
    """Frames built after the change have the new key. Earlier ones leave with the open DEPI
    frame."""
    changes = [
        change(MS, "key.install", said=1, key="77" * 16, iv="88" * 16),
        change(T_NS, "key.use", said=1),
    ]
    sent = burst("10.0.0.1", 3000)
    replay = replay_changes(tmp_path, TEXT, sent, changes)
    assert DownstreamProof(replay).check() == 0
    changed_ns = START_NS + replay.answers[3]["begun_ns"]
    old = [f.record.time_ns for f in replay.decoded.frames if f.epoch < 2]
    new = [f.record.time_ns for f in replay.decoded.frames if f.epoch == 2]
    assert len(old) > 200 and len(new) > 200
    assert max(old) <= changed_ns + FLUSH_NS + STEP_NS and min(new) >= changed_ns
