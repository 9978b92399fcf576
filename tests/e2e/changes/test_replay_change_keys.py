# SPDX-License-Identifier: BSD-3-Clause
"""Keys that roll in the midst of a downstream capture."""

from pathlib import Path

import pytest

from e2e.changes.changed import MS, Change, change, replay_changed
from e2e.changes.fates import Proof
from e2e.changes.test_replay_changes import FLUSH_NS, STEP_NS, TEXT, T, burst
from e2e.traffic import START_NS
from vcmts.witness.ehdr import BpDown
from witness.epochs import Placed, dsid_of, sequence_of

pytestmark = pytest.mark.replay


def key_sequence_of(frame: Placed) -> int:
    assert frame.record.header is not None
    [privacy] = [e for e in frame.record.header.elements if isinstance(e, BpDown)]
    return privacy.key_sequence


@pytest.mark.parametrize("rolls", [1, 16])
def test_keys_roll(rolls: int, tmp_path: Path) -> None:
    """Under a load that fills its channels. Every frame has the key that it names, and none has the
    old one behind a frame with the new one."""
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
    replayed = replay_changed(tmp_path, TEXT, sent, changes)
    assert Proof(replayed).check() == 0
    frames = [f for f in replayed.decoded.frames if dsid_of(f) == 1]
    named = [key_sequence_of(frame) for frame in sorted(frames, key=sequence_of)]
    assert len(named) == len(sent)
    order = [
        number for number, before in zip(named, [-1, *named], strict=False) if number != before
    ]
    assert order == [(5 + n) % 16 for n in range(rolls + 1)]


def test_a_key_is_used_at_once(tmp_path: Path) -> None:
    """What is written after the change has the new key; what was written stands in a DEPI frame."""
    changes = [
        change(MS, "key.install", said=1, key="77" * 16, iv="88" * 16),
        change(T, "key.use", said=1),
    ]
    sent = burst("10.0.0.1", 3000)
    replayed = replay_changed(tmp_path, TEXT, sent, changes)
    assert Proof(replayed).check() == 0
    used = START_NS + replayed.answers[3]["begun_ns"]
    old = [f.record.time_ns for f in replayed.decoded.frames if f.epoch < 2]
    new = [f.record.time_ns for f in replayed.decoded.frames if f.epoch == 2]
    assert len(old) > 200 and len(new) > 200
    assert max(old) <= used + FLUSH_NS + STEP_NS and min(new) >= used
