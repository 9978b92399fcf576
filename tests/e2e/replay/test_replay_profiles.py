# SPDX-License-Identifier: BSD-3-Clause
"""Replays traffic for all modems of the published profiles."""

from dataclasses import replace
from pathlib import Path

import pytest

from e2e.running import replay, vcmts
from e2e.traffic import generate, with_times
from vcmts.witness.config import parse_config

pytestmark = pytest.mark.replay

PROFILES = [
    "6ofdm-0sc-qam_300cms_aes",
    "6ofdm-0sc-qam_30cms_none",
    "2ofdm-32sc-qam_60cms_aes_2021",
    "1ofdm-0sc-qam_3cms_aes",
]


@pytest.mark.parametrize("name", PROFILES)
def test_profile_transmits_to_modems_on_all_channels(name: str, tmp_path: Path) -> None:
    profile = vcmts("profile", name)
    assert (profile.status, profile.stderr) == (0, "")
    config = parse_config(profile.stdout)
    sent = with_times(generate(config, len(name), 1000, broken=0.05), 3)
    # the second half at one time: a low rate would use only the first channels of bonding groups
    sent[500:] = [replace(record, time_ns=sent[500].time_ns) for record in sent[500:]]
    replayed = replay(tmp_path, profile.stdout, sent, config)
    expected = replayed.check()
    assert all(expected.counters[f"filter_matched_{verdict}"] for verdict in ("permit", "deny"))
    assert expected.counters["classifier_matched"] > 40
    modems = {record.modem.mac for record in replayed.decoded.frames if record.modem}
    assert len(modems) > 0.75 * len(config.modems)
    sessions = {record.session for record in replayed.decoded.frames}
    assert sessions == {channel.session for channel in config.channels}
