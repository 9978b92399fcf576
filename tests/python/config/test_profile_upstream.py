# SPDX-License-Identifier: BSD-3-Clause
"""The upstream of the published profiles: its channels, SIDs and cores."""

import io
import json
import os
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

Mapping = dict[str, Any]


def written(name: str, sizes: Sizes | None = None) -> str:
    out = io.StringIO()
    profile.write_profile(name, out, sizes=sizes or Sizes())
    return out.getvalue()


@pytest.mark.parametrize("name", profile.PUBLISHED)
def test_published_upstream(name: str) -> None:
    """In parts of the file, as the modems are most of it: test_profile.py reads it whole."""
    parts = re.split(r"^(?=\w+:)", written(name), flags=re.MULTILINE)
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
    """Channel and SID of every modem's only flow and cluster, which are on two channels."""
    places = []
    for modem in document["modems"]:
        (flow,) = modem["upstream_service_flows"]
        (cluster,) = flow["sid_clusters"]
        assert (flow.get("segment_header", True), cluster["id"]) == (True, 0)
        pair = [(sid["channel"], sid["sid"]) for sid in cluster["sids"]]
        assert len({channel for channel, _ in pair}) == len(pair) == 2
        places += pair
    assert len(set(places)) == len(places)
    return places


@pytest.mark.parametrize("modems", [1, 3, 4, 300, 301])
def test_upstream_channels_are_loaded_alike(modems: int) -> None:
    few = Sizes(addresses=1, classifiers=0, filter_groups=0)
    places = upstream_sids(yamls.safe_load(written(f"1ofdm-0sc-qam_{modems}cms_aes", few)))
    counts = Counter(channel for channel, _ in places)
    assert max(counts.values()) - min(counts[number] for number in range(1, 5)) <= 2
    assert modems % 4 != 0 or len(set(counts.values())) == 1


def places_of(modems: int) -> list[tuple[int, int]]:
    """Channel and SID, two after each other of every modem."""
    lines = [line for modem in range(1, modems + 1) for line in upstream.flow_lines(modem, modems)]
    found = re.findall(r"channel: ([0-9]+), sid: (0x[0-9a-f]{4})\b", "\n".join(lines))
    assert len(found) == 2 * modems
    return [(int(channel), int(sid, 16)) for channel, sid in found]


@pytest.mark.parametrize("modems", [1, 300, 16382])
def test_a_sid_is_one_modem_wherever_it_is_used(modems: int) -> None:
    """Then a capture can be read without the configuration: see docs/wireshark.md."""
    sids = [sid for _, sid in places_of(modems)]
    assert sids == [modem for modem in range(1, modems + 1) for _ in range(2)]
    assert max(sids) <= 0x3FFE


@pytest.mark.parametrize("modems", [16383, 4 * 8191, 4 * 8191 + 1, 5 * 8191, 65535])
def test_sids_of_14_bits_are_enough(modems: int) -> None:
    channels = upstream.channels(modems)
    assert channels == max(4, -(-modems // 8191))
    places = places_of(modems)
    assert len(set(places)) == 2 * modems
    assert {channel for channel, _ in places} == set(range(1, channels + 1))
    sids = [sid for _, sid in places]
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
def test_cores_are_those_that_are_allowed(
    allowed: set[int], cores: profile.Cores, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: allowed)
    assert configuration.own_cores() == cores
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
