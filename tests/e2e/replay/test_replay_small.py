# SPDX-License-Identifier: BSD-3-Clause
"""A small group with something of everything: what goes in comes out, and all is counted."""

from pathlib import Path

import pytest

from e2e.frames import ethernet
from e2e.running import SMALL, replay, vary
from e2e.traffic import START_NS, broken_frames, generate, spread
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import records_of

pytestmark = pytest.mark.replay

CONFIG = load_config(SMALL)
IPV6 = {"core_ip": '"2001:db8:9::1"', "rpd_ip": '"2001:db8:9::2"'}
THREADS = "{downstream: 1ds2t, main_core: 0, upper_mac_core: 1, lower_mac_core: 0}"
VARIANTS = {
    "as it is": {},
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
def test_everything_arrives(variant: dict[str, str], tmp_path: Path) -> None:
    seed = sum(map(ord, str(variant)))
    sent = spread(generate(CONFIG, seed, 600, broken=0.1), seed)
    replay(tmp_path, vary(SMALL.read_text(), **variant), sent).check()


def test_the_traffic_meets_every_rule(tmp_path: Path) -> None:
    """So that the other tests prove what they seem to."""
    expected = replay(tmp_path, SMALL.read_text(), spread(generate(CONFIG, 3, 1500), 1)).check()
    assert expected.rules_met == {
        (group, index)
        for group, rules in CONFIG.filter_groups.items()
        for index in range(len(rules))
    }
    assert expected.classifiers_met == {
        (modem.mac, index) for modem in CONFIG.modems for index in range(len(modem.classifiers))
    }
    assert len(expected.flows) == sum(
        flow.active for modem in CONFIG.modems for flow in modem.flows
    )
    assert {len(frame) for frames in expected.flows.values() for frame in frames} >= {60, 1996}


def test_every_kind_of_broken_frame(tmp_path: Path) -> None:
    broken = broken_frames(CONFIG)
    sent = spread([frame for _, frame in broken], 2)
    replayed = replay(tmp_path, SMALL.read_text(), sent)
    expected = replayed.check()
    reasons = [reason for reason, _ in broken]
    assert expected.drops == {reason: reasons.count(reason) for reason in reasons}
    assert replayed.out.records == ()


def test_as_many_segments_as_are_allowed(tmp_path: Path) -> None:
    """Of the shortest frames, behind a long segment table and IPv6."""
    text = vary(SMALL.read_text(), mtu="9000", max_segments="64", flush="100 ms", **IPV6)
    frames = [ethernet(0x88CC, bytes([number]), CONFIG.modems[3].mac) for number in range(256)]
    replayed = replay(tmp_path, text, records_of(frames * 4, START_NS))
    replayed.check()
    assert replayed.stats["counters"]["psp_segments"] == 1024
    assert replayed.stats["counters"]["depi_full"] == 16
