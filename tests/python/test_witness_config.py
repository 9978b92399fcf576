# SPDX-License-Identifier: BSD-3-Clause
"""The witness's reading of a service group."""

import json
from pathlib import Path
from typing import Any

import pytest

from witness.config import ConfigError, load_config, parse_config
from witness.depi import ExtraBytes
from witness.sample import CONFIG

SCHEMA = Path(__file__).parents[2] / "config" / "schema.json"


def test_config_values() -> None:
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


def _published_defaults() -> Any:
    """Property names and their defaults, as the schema of the configuration publishes them."""
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
    rphy, group, cpe_limit, key_sequence = _published_defaults()
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


@pytest.mark.parametrize(
    ("text", "nanoseconds"), [("1 ms", 10**6), ("0.5us", 500), ("24 h", 24 * 3600 * 10**9)]
)
def test_times(text: str, nanoseconds: int) -> None:
    assert parse_config(f"cpe_timeout: {text}" + DEFAULTS).cpe_timeout_ns == nanoseconds


@pytest.mark.parametrize(("text", "size"), [("1518", 1518), ("2 kB", 2000), ("1kiB", 1024)])
def test_sizes(text: str, size: int) -> None:
    assert parse_config(f"max_frame: {text}" + DEFAULTS).max_frame == size


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("session: 0x00010002", "session: 0x00010001", "session 65537 is given twice"),
        ("said: 0x0002", "said: 1", "SAID with other values 1 is given twice"),
        ("cipher: none, ", "", "security.key"),
        ("{id: 10}", "{id: 10, state: provisioned}", "no active primary"),
        ("{id: 12,", "{id: 1,", "service flow 1 is given twice"),
        ("dsid: 0x00002", "dsid: 1", "DSID 1 is given twice"),
        ("[10.0.0.2]", "[10.0.0.1]", "CPE address"),
        ('"02:01:00:00:00:02"', '"02:01:00:00:00:01"', "modem address"),
        ('"02:01:00:00:00:02"', '"02:01:00:00:00"', r"modems\[1\].mac"),
        ("bonding_group: 2", "bonding_group: 9", "no group 9"),
        ("channels: [3]", "channels: [4]", "unknown channel"),
        ("dsid: 0x00002, ", "", "no DSID"),
        ("key: 0001", "key: 01", r"security.key: .*not 16 bytes"),
        ("cipher: none", "cipher: rot13", "allowed: none, aes-128"),
        ("rpd_ip: 192.168.1.2", "rpd_ip: here", "rphy.rpd_ip"),
        ("mtu: 1.5 kB", "mtu: 1.5 kg", "rphy.mtu"),
        ("mtu: 1.5 kB", "mtu: 1.0005 kB", "rphy.mtu"),
        ("max_frame: 2000", "max_frame: [1]", "max_frame"),
        ("max_frame: 2000", "cpe_timeout: 5 apples", "cpe_timeout"),
        ("max_frame: 2000", "max_frame: {", "not YAML"),
        ("channels:\n", "channels: 5\nx:\n", "expected a list"),
    ],
)
def test_config_refuses(old: str, new: str, text: str) -> None:
    assert CONFIG.count(old) >= 1
    with pytest.raises(ConfigError, match=text):
        parse_config(CONFIG.replace(old, new))


def test_config_file(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    assert load_config(path) == parse_config(CONFIG)
    path.write_text("- 1", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sg.yaml: file: found"):
        load_config(path)


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ("filter_groups: [7]", "unknown filter group"),
        ("classifiers: [{family: ipv4, service_flow: 2}]", "classifier names a flow"),
        ("service_flows: []", "no active primary"),
    ],
)
def test_config_refuses_dangling_references(extra: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        parse_config(DEFAULTS + f"    {extra}\n")
