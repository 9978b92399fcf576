# SPDX-License-Identifier: BSD-3-Clause
"""Tests how the independent decoder reads a service group: values, defaults and errors."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from vcmts import paths
from vcmts.docs import configdoc
from vcmts.witness.config import ConfigError, load_config, parse_config
from vcmts.witness.depi import ExtraBytes
from vcmts.witness.model import SidCluster, UpstreamChannel, UpstreamFlow
from witness.sample import CONFIG

SCHEMA = Path(__file__).parents[3] / "config" / "schema.json"


def test_downstream_values_are_read() -> None:
    config = parse_config(CONFIG)
    first, second, third = config.channels
    assert first.extra == ExtraBytes(2, True, 0)
    assert second.extra == ExtraBytes(2, False, 5)
    assert third.extra == ExtraBytes()
    assert config.modems[0].security.key == bytes.fromhex("00010203040506070809101112131415")
    assert config.modems[0].channels == (1, 2)
    assert [flow.active for flow in config.modems[0].flows] == [True, True, False]
    assert (config.cpe_timeout_ns, config.rphy.mtu) == (300 * 10**9, 1500)
    modem = config.modems[1]
    assert [modem.wire_group(flow) for flow in modem.flows] == [(10, 11), (10, 11), (12,)]


def test_flow_has_channels_of_its_bonding_group() -> None:
    own = CONFIG.replace("{id: 12, priority: 5}", "{id: 12, dsid: 12, bonding_group: 1}")
    own = own.replace("{id: 3, state: provisioned", "{id: 3, bonding_group: 2, state: provisioned")
    first, second = parse_config(own).modems
    assert [flow.channels for flow in first.flows] == [(1, 2), (1, 2), (3,)]
    assert first.channels == (1, 2)  # a provisioned flow uses none
    assert [flow.channels for flow in second.flows] == [(3,), (3,), (1, 2)]
    assert second.channels == (1, 2, 3)


def test_flows_without_dsid_differ_by_channel() -> None:
    text = CONFIG.replace(
        "{id: 2, channels: [3]}", "{id: 2, channels: [3]}\n  - {id: 3, channels: [1]}"
    )
    modem = parse_config(text.replace("{id: 11}", "{id: 11, bonding_group: 3}")).modems[1]
    assert [modem.wire_group(flow) for flow in modem.flows] == [(10,), (11,), (12,)]


DEFAULTS = """
channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 1}]
bonding_groups: [{id: 1, channels: [1]}]
modems:
  - mac: "02:01:00:00:00:01"
    addresses: [10.0.0.1]
    bonding_group: 1
    security: {said: 1, cipher: none}
    service_flows: [{id: 1}]
"""


def schema_defaults() -> Any:
    """Returns property names and their defaults from the schema of the configuration."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]
    rphy, modem = schema["rphy"]["properties"], schema["modems"]["items"]["properties"]
    names = ("core_mac", "rpd_mac", "core_ip", "rpd_ip", "mtu", "dscp", "ttl", "max_segments")
    return (
        {name: rphy[name]["default"] for name in names},
        {name: schema[name]["default"] for name in ("max_frame", "cpe_timeout", "filter_default")},
        modem["cpe_limit"]["default"],
        modem["security"]["properties"]["key_sequence"]["default"],
    )


def test_defaults_are_the_published_ones() -> None:
    rphy, group, cpe_limit, key_sequence = schema_defaults()
    config = parse_config(DEFAULTS)
    carrier = config.rphy.carrier
    assert rphy == {
        "core_mac": carrier.source_mac.hex(":"),
        "rpd_mac": carrier.destination_mac.hex(":"),
        "core_ip": str(carrier.source),
        "rpd_ip": str(carrier.destination),
        "mtu": config.rphy.mtu,
        "dscp": carrier.dscp,
        "ttl": carrier.ttl,
        "max_segments": config.rphy.max_segments,
    }
    assert group == {
        "max_frame": config.max_frame,
        "cpe_timeout": f"{config.cpe_timeout_ns // 10**9} s",
        "filter_default": "permit" if config.filter_default_permit else "deny",
    }
    assert cpe_limit == config.modems[0].cpe_limit
    assert key_sequence == config.modems[0].security.key_sequence


UPSTREAM = """
upstream: {verify_source: false, verify_crc: true, psp_numbering: session, reorder_timeout: 0 s,
  frame_timeout: 1.5 s, held_by_modem: 8 kB, held: 64 KiB}
upstream_channels:
  - {id: 7, type: sc-qam, rate: 30.72 Mbps, session: 0x20007, request_session: 5,
     ranging_session: 6}
  - {id: 3, type: ofdma, rate: 1 Gbps, session: 0x20003}
"""
SECOND = """ofdma, rate: 1 Gbps, session: 0x20003}
  - {id: 7, type: ofdma, rate: 1 Gbps, session: 9}"""
FLOWS = """\
    upstream_service_flows:
      - id: 0x64
        sid_clusters:
          - {id: 7, sids: [{channel: 3, sid: 0x3ffe}, {channel: 7, sid: 1}]}
          - {id: 0, sids: [{channel: 3, sid: 1}]}
      - {id: 101, segment_header: false, sid_clusters: [{id: 2, sids: [{channel: 7, sid: 2}]}]}
"""


def test_upstream_values_are_read() -> None:
    config = parse_config(UPSTREAM + CONFIG + FLOWS)
    upstream, modem = config.upstream, config.modems[-1]
    assert not upstream.verify_source and upstream.verify_crc
    assert upstream.psp_numbering == "session"
    assert (upstream.reorder_timeout_ns, upstream.frame_timeout_ns) == (0, 1_500_000_000)
    assert (upstream.held_by_modem, upstream.held) == (8000, 65536)
    seventh = UpstreamChannel(7, "sc-qam", 30_720_000, 0x20007, 5, 6)
    third = UpstreamChannel(3, "ofdma", 10**9, 0x20003)
    assert upstream.channels == (seventh, third)
    assert upstream.by_session == {
        0x20007: (seventh, "bursts"),
        5: (seventh, "requests"),
        6: (seventh, "ranging"),
        0x20003: (third, "bursts"),
    }
    assert modem.upstream_flows == (
        UpstreamFlow(100, True, (SidCluster(7, ((3, 0x3FFE), (7, 1))), SidCluster(0, ((3, 1),)))),
        UpstreamFlow(101, False, (SidCluster(2, ((7, 2),)),)),
    )
    assert config.by_sid[3, 1] == (modem, modem.upstream_flows[0], SidCluster(0, ((3, 1),)))
    assert sorted(config.by_sid) == [(3, 1), (3, 0x3FFE), (7, 1), (7, 2)]
    assert config.modems[0].upstream_flows == ()
    assert [modem.upstream_flows[0].has_sid(sid) for sid in (1, 2, 0x3FFE)] == [True, False, True]


def test_next_key_is_read() -> None:
    with_key = CONFIG.replace(
        "      key_sequence: 3", f"      key_sequence: 3\n      next_key: {'1' * 32}"
    )
    with pytest.raises(ConfigError, match="next_iv"):
        parse_config(with_key)
    both = with_key.replace("next_key", f"next_iv: {'2' * 32}\n      next_key")
    first, second = parse_config(both).modems
    assert (first.security.next_key, first.security.next_iv) == (b"\x11" * 16, b"\x22" * 16)
    assert (second.security.next_key, second.security.next_iv) == (None, b"")
    own = (first.security.key, first.security.iv)
    assert first.security.generations == {(3, 1): own, (4, 0): (b"\x11" * 16, b"\x22" * 16)}
    last = parse_config(both.replace("key_sequence: 3", "key_sequence: 15")).modems[0].security
    assert sorted(last.generations) == [(0, 0), (15, 1)]
    assert second.security.generations == {}


def test_upstream_defaults_are_the_published_ones() -> None:
    schema = configdoc.read_schema()["properties"]
    keys = dict(schema["upstream"]["properties"])
    assert "default" not in keys.pop("scheduler")  # optional: no scheduler
    published = {name: value["default"] for name, value in keys.items()}
    lines = "".join(f"  {name}: {json.dumps(value)}\n" for name, value in published.items())
    upstream = parse_config(DEFAULTS).upstream
    assert len(published) == len(asdict(upstream)) - 1  # the channels
    assert upstream.channels == ()
    assert parse_config(f"upstream:\n{lines}" + DEFAULTS).upstream == upstream
    flow = schema["modems"]["items"]["properties"]["upstream_service_flows"]["items"]
    assert flow["properties"]["segment_header"]["default"] is True


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("verify_source: false", "verify_source: no", "upstream.verify_source"),
        ("numbering: session", "numbering: burst", "upstream.psp_numbering"),
        ("8 kB", "66 kB", "held is less than"),
        ("ofdma", "ofdm", r"upstream_channels\[1\].type"),
        ("1 Gbps, session: 0x20003", "1 Gbsp, session: 0x20003", "rate"),
        ("ofdma, rate: 1 Gbps, session: 0x20003}", SECOND, "upstream channel 7 is given twice"),
        ("request_session: 5", "request_session: 6", "upstream session 6 is given twice"),
        ("session: 0x20003", "session: 5", "upstream session 5 is given twice"),
        ("id: 0x64", "id: 12", "service flow 12 is given twice"),
        ("id: 101", "id: 0x64", "service flow 100 is given twice"),
        ("{channel: 7, sid: 2}", "{channel: 7, sid: 1}", r"SID \(7, 1\) is given twice"),
        ("{channel: 7, sid: 2}", "{channel: 8, sid: 1}", "unknown upstream channel 8"),
        ("{channel: 7, sid: 1}", "{channel: 3, sid: 2}", "channel 3 is given twice"),
        ("0x3ffe", "0x3fff", "sid"),
        ("sid: 2}", "sid: 0}", "sid"),
        ("{id: 0, sids", "{id: 7, sids", "SID cluster 7 is given twice"),
        ("{id: 2, sids", "{id: 8, sids", r"sid_clusters\[0\].id"),
        ("[{channel: 7, sid: 2}]", "[]", "sids: none"),
        ("[{id: 2, sids: [{channel: 7, sid: 2}]}]", "[]", "0 SID clusters"),
        ("id: 0x64", "segment_header: false\n        id: 100", "2 SID clusters"),
        ("cipher: none, ", f"cipher: none, next_key: {'0' * 32}, ", "without a cipher"),
    ],
)
def test_decoder_and_loader_refuse_errors(old: str, new: str, text: str, tmp_path: Path) -> None:
    """Both accept the file without the error."""
    whole = UPSTREAM + CONFIG + FLOWS
    assert whole.count(old) >= 1
    path = tmp_path / "sg.yaml"
    command = [str(paths.program("vcmtsd")), "check", "--config", str(path)]
    path.write_text(whole, encoding="utf-8")
    assert subprocess.run(command, check=False, capture_output=True).stderr == b""
    with pytest.raises(ConfigError, match=text):
        parse_config(whole.replace(old, new))
    path.write_text(whole.replace(old, new), encoding="utf-8")
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_config_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    assert load_config(path) == parse_config(CONFIG)
    path.write_text("- 1", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sg.yaml: file: found"):
        load_config(path)
