# SPDX-License-Identifier: BSD-3-Clause
"""Tests generated profiles: upstream channels and SIDs, which the papers of the reference do not
give; and the cores of workers."""

import io
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vcmts import configuration, paths, yamls
from vcmts.profile import group as profile
from vcmts.profile import upstream
from vcmts.profile.size import Sizes
from vcmts.system import cores as system_cores

Mapping = dict[str, Any]


def profile_text(name: str, sizes: Sizes | None = None) -> str:
    out = io.StringIO()
    profile.write_profile(name, out, sizes=sizes or Sizes())
    return out.getvalue()


@pytest.mark.parametrize("name", profile.PUBLISHED)
def test_published_profile_has_four_ofdma_channels(name: str) -> None:
    """Parses only the upstream keys of the profile, as parsing its modems takes long."""
    parts = re.split(r"^(?=\w+:)", profile_text(name), flags=re.MULTILINE)
    document = yamls.safe_load("".join(part for part in parts if part.startswith("upstream")))
    assert document["upstream"] == {"verify_source": True, "verify_crc": False}
    assert document["upstream_channels"] == [
        {
            "id": number,
            "type": "ofdma",
            "rate": "1 Gbps",
            "session": 0x20000 + number,
            "request_session": 0x21000 + number,
        }
        | ({"ranging_session": 0x22001} if number == 1 else {})
        for number in range(1, 5)
    ]


def upstream_sids(document: Mapping) -> list[tuple[int, int]]:
    """Checks that each modem has one flow with one SID on each of two channels. Returns these
    (channel, SID) pairs, two per modem, in the order of the modems."""
    sids_on_channels = []
    for modem in document["modems"]:
        (flow,) = modem["upstream_service_flows"]
        (cluster,) = flow["sid_clusters"]
        assert (flow.get("segment_header", True), cluster["id"]) == (True, 0)
        pair = [(sid["channel"], sid["sid"]) for sid in cluster["sids"]]
        assert len({channel for channel, _ in pair}) == len(pair) == 2
        sids_on_channels += pair
    assert len(set(sids_on_channels)) == len(sids_on_channels)
    return sids_on_channels


@pytest.mark.parametrize("modems", [1, 3, 4, 300, 301])
def test_upstream_channels_have_similar_numbers_of_modems(modems: int) -> None:
    """Each modem uses two of the four channels."""
    small = Sizes(addresses=1, classifiers=0, filter_groups=0)
    sids_on_channels = upstream_sids(
        yamls.safe_load(profile_text(f"1ofdm-0sc-qam_{modems}cms_aes", small))
    )
    counts = Counter(channel for channel, _ in sids_on_channels)
    assert max(counts.values()) - min(counts[number] for number in range(1, 5)) <= 2
    assert modems % 4 != 0 or len(set(counts.values())) == 1


def sids_of_modems(modems: int) -> list[tuple[int, int]]:
    """The pairs of upstream_sids(), without writing a profile, which takes long for many modems."""
    lines = [line for modem in range(1, modems + 1) for line in upstream.flow_lines(modem, modems)]
    pairs = re.findall(r"channel: ([0-9]+), sid: (0x[0-9a-f]{4})\b", "\n".join(lines))
    assert len(pairs) == 2 * modems
    return [(int(channel), int(sid, 16)) for channel, sid in pairs]


@pytest.mark.parametrize("modems", [1, 300, 16382])
def test_sid_belongs_to_one_modem_on_all_channels(modems: int) -> None:
    """Up to 16,382 modems, so that Wireshark reads a capture without the configuration
    (docs/wireshark.md)."""
    sids = [sid for _, sid in sids_of_modems(modems)]
    assert sids == [modem for modem in range(1, modems + 1) for _ in range(2)]
    assert max(sids) <= 0x3FFE


@pytest.mark.parametrize("modems", [16383, 4 * 8191, 4 * 8191 + 1, 5 * 8191, 65535])
def test_sids_of_more_modems_fit_in_14_bits(modems: int) -> None:
    """A modem needs a SID on each of two channels, and a channel has 16,382: n channels have SIDs
    for n * 8,191 modems. Above 16,382 modems, channels use the same SIDs for different modems."""
    channels = upstream.channels(modems)
    assert channels == max(4, -(-modems // 8191))
    sids_on_channels = sids_of_modems(modems)
    assert len(set(sids_on_channels)) == 2 * modems
    assert {channel for channel, _ in sids_on_channels} == set(range(1, channels + 1))
    sids = [sid for _, sid in sids_on_channels]
    assert min(sids) == 1
    assert max(sids) <= 0x3FFE


@pytest.mark.parametrize(
    ("allowed", "cores"),
    [
        ({3}, profile.Cores(upper_mac=3, upstream=3, other=3)),
        ({7, 2}, profile.Cores(upper_mac=7, upstream=7, other=2)),
        ({0, 1, 2, 3}, profile.Cores(upper_mac=1, upstream=2, other=0)),
    ],
)
def test_cores_are_allowed_ones(
    allowed: set[int], cores: profile.Cores, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`allowed`: CPU affinity of the process. vcmtsd must accept the cores."""
    monkeypatch.setattr(system_cores, "usable", lambda: sorted(allowed))
    assert configuration.group_cores() == cores
    out = io.StringIO()
    profile.write_profile("1ofdm-0sc-qam_1cms_aes", out, cores=cores)
    assert yamls.safe_load(out.getvalue())["threads"] == {
        "downstream": "1ds1t",
        "main_core": cores.other,
        "upper_mac_core": cores.upper_mac,
        "lower_mac_core": cores.other,
        "upstream_core": cores.upstream,
    }
    path = tmp_path / "sg.yaml"
    path.write_text(out.getvalue(), encoding="utf-8")
    check = [str(paths.program("vcmtsd")), "check", "--json", "--config", str(path)]
    facts = json.loads(subprocess.run(check, capture_output=True, check=True).stdout)
    assert facts["cores"] == sorted({cores.upper_mac, cores.upstream})
    assert facts["upstream_capacity"] == 4 * 10**9
