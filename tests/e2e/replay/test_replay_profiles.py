# SPDX-License-Identifier: BSD-3-Clause
"""The published profiles carry traffic to all of their modems."""

from dataclasses import replace
from pathlib import Path

import pytest

from e2e.running import replay, vcmts
from e2e.traffic import generate, spread
from vcmts.witness.config import parse_config

pytestmark = pytest.mark.replay

PROFILES = [
    "6ofdm-0sc-qam_300cms_aes",
    "6ofdm-0sc-qam_30cms_none",
    "2ofdm-32sc-qam_60cms_aes_2021",
    "1ofdm-0sc-qam_3cms_aes",
]


@pytest.mark.parametrize("name", PROFILES)
def test_profile(name: str, tmp_path: Path) -> None:
    written = vcmts("profile", name)
    assert (written.status, written.stderr) == (0, "")
    config = parse_config(written.stdout)
    sent = spread(generate(config, len(name), 1000, broken=0.05), 3)
    # the second half in one instant: at an easy pace the first channels of the groups are enough
    sent[500:] = [replace(record, time_ns=sent[500].time_ns) for record in sent[500:]]
    replayed = replay(tmp_path, written.stdout, sent, config)
    expected = replayed.check()
    assert all(expected.counters[f"filter_matched_{verdict}"] for verdict in ("permit", "deny"))
    assert expected.counters["classifier_matched"] > 40
    arrived = {record.modem.mac for record in replayed.decoded.frames if record.modem}
    assert len(arrived) > 0.75 * len(config.modems)
    used = {record.session for record in replayed.decoded.frames}
    assert used == {channel.session for channel in config.channels}
