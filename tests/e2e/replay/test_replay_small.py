# SPDX-License-Identifier: BSD-3-Clause
"""Replays random and invalid frames with variants of sg-small.yaml, against the model."""

from pathlib import Path

import pytest

from e2e.frames import ethernet
from e2e.running import SMALL, replace_values, replay
from e2e.traffic import START_NS, generate, invalid_frames, with_times
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import records_of

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
IPV6 = {"core_ip": '"2001:db8:9::1"', "rpd_ip": '"2001:db8:9::2"'}
THREADS = "{downstream: 1ds2t, main_core: 0, upper_mac_core: 1, lower_mac_core: 0}"
VARIANTS = {
    "unchanged": {},
    "MTU 9000, 255 segments": {"mtu": "9000", "max_segments": "255", "flush": "100 ms"},
    "IPv6": IPV6,
    "IPv6, MTU 9000": {**IPV6, "mtu": "9000", "max_segments": "64"},
    "two threads": {"threads": THREADS},
    "two threads, MTU 2000": {"threads": THREADS, "mtu": "2000", "max_segments": "255"},
    "no flush delay": {"flush": "0 us"},
    "default deny": {"filter_default": "deny"},
    "short frames": {"max_frame": "600"},
    "no limit": {"rate_limit": "none"},
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_replay_matches_model(variant: dict[str, str], tmp_path: Path) -> None:
    seed = sum(map(ord, str(variant)))
    sent = with_times(generate(CONFIG, seed, 600, broken=0.1), seed)
    replay(tmp_path, replace_values(SMALL.read_text(), **variant), sent).check()


def test_generated_traffic_matches_every_rule(tmp_path: Path) -> None:
    """The generated traffic matches every rule and classifier, and has frames of all sizes."""
    expected = replay(tmp_path, SMALL.read_text(), with_times(generate(CONFIG, 3, 1500), 1)).check()
    assert expected.matched_rules == {
        (group, index)
        for group, rules in CONFIG.filter_groups.items()
        for index in range(len(rules))
    }
    assert expected.matched_classifiers == {
        (modem.mac, index) for modem in CONFIG.modems for index in range(len(modem.classifiers))
    }
    assert len(expected.flows) == sum(
        flow.active for modem in CONFIG.modems for flow in modem.flows
    )
    assert {len(frame) for frames in expected.flows.values() for frame in frames} >= {60, 1996}


def test_invalid_frames_are_dropped_with_reason(tmp_path: Path) -> None:
    invalid = invalid_frames(CONFIG)
    sent = with_times([frame for _, frame in invalid], 2)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    expected = replayed.check()
    reasons = [reason for reason, _ in invalid]
    assert expected.drops == {reason: reasons.count(reason) for reason in reasons}
    assert replayed.out.records == ()


def test_depi_frames_have_max_segments(tmp_path: Path) -> None:
    """DEPI frames with `max_segments` segments of the shortest frames, over IPv6."""
    text = replace_values(SMALL.read_text(), mtu="9000", max_segments="64", flush="100 ms", **IPV6)
    frames = [ethernet(0x88CC, bytes([number]), CONFIG.modems[3].mac) for number in range(256)]
    replayed = replay(tmp_path, text, records_of(frames * 4, START_NS))
    replayed.check()
    assert replayed.stats["counters"]["psp_segments"] == 1024
    assert replayed.stats["counters"]["depi_full"] == 16
