# SPDX-License-Identifier: BSD-3-Clause
"""Tests profiles: published numbers; the loader and the traffic program accept the files."""

import functools
import io
import json
import subprocess
from collections import Counter
from ipaddress import ip_address as read_address
from ipaddress import ip_network as read_network
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from python.conftest import ExpectError
from vcmts import cli, paths, yamls
from vcmts.profile import group as profile
from vcmts.profile.size import Sizes

Mapping = dict[str, Any]
ip_address, ip_network = functools.cache(read_address), functools.cache(read_network)

SCHEMA = json.loads((paths.CHECKOUT / "config" / "schema.json").read_text(encoding="utf-8"))
UNPUBLISHED = (
    "6ofdm-0sc-qam_100cms_aes",
    "6ofdm-0sc-qam_3cms_none",
    "1ofdm-0sc-qam_2cms_aes",
    "1ofdm-1sc-qam_5cms_aes_2021",
    "5ofdm-3sc-qam_7cms_none_2021",
    "2ofdm-0sc-qam_3cms_aes256",
    "1ofdm-0sc-qam_2cms_des_2021",
)


def profile_text(name: str) -> str:
    out = io.StringIO()
    profile.write_profile(name, out)
    return out.getvalue()


@functools.cache
def load(name: str) -> Mapping:
    document: Mapping = yamls.safe_load(profile_text(name))
    return document


@pytest.mark.parametrize("name", profile.PUBLISHED + UNPUBLISHED)
def test_schema_and_loader_accept_profile(name: str, tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for error in validator.iter_errors(load(name))] == []
    path = tmp_path / "sg.yaml"
    path.write_text(profile_text(name), encoding="utf-8")
    check: list[str | Path] = [paths.program("vcmtsd"), "check", "--config", path]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "name, ofdm, sc_qam, bonding, rules, groups, groups_per_modem",
    [
        ("6ofdm-0sc-qam_300cms_aes", 6, 0, [[1, 2, 3], [4, 5, 6]], 22, 22, 1),
        ("6ofdm-0sc-qam_300cms_aes_2021", 6, 0, [[1, 2, 3], [4, 5, 6]], 16, 6, 2),
        (
            "2ofdm-32sc-qam_300cms_aes_2021",
            2,
            32,
            [[o, *s] for o in (1, 2) for s in (range(3, 19), range(19, 35))],
            16,
            6,
            2,
        ),
    ],
)
def test_profile_has_published_numbers(
    name: str,
    ofdm: int,
    sc_qam: int,
    bonding: list[list[int]],
    rules: int,
    groups: int,
    groups_per_modem: int,
) -> None:
    document = load(name)
    rates = Counter((channel["type"], channel["rate"]) for channel in document["channels"])
    expected = {("ofdm", "1.89 Gbps"): ofdm, ("sc-qam", "42.24 Mbps"): sc_qam}
    assert rates == {key: count for key, count in expected.items() if count}
    assert [group["channels"] for group in document["bonding_groups"]] == bonding
    assert len(document["filter_groups"]) == groups
    assert {len(group["rules"]) for group in document["filter_groups"]} == {rules}
    assert len(document["modems"]) == 300
    assert {len(modem["filter_groups"]) for modem in document["modems"]} == {groups_per_modem}
    assert document["rate_limit"] == "10 Gbps"
    assert document["filter_default"] == "permit"


def test_2023_rules_are_18_ipv4_and_4_ipv6() -> None:
    for group in load("6ofdm-0sc-qam_300cms_aes")["filter_groups"]:
        families = [rule["family"] for rule in group["rules"]]
        assert families == ["ipv4"] * 18 + ["ipv6"] * 4
        assert Counter(rule["action"] for rule in group["rules"]) == {"permit": 11, "deny": 11}


def test_modems_have_the_published_settings() -> None:
    modems = load("6ofdm-0sc-qam_300cms_aes")["modems"]
    for modem in modems:
        families = [ip_address(address).version for address in modem["addresses"]]
        assert families == [4, 4, 4, 6]
        assert modem["cpe_limit"] == 4
        states = [flow.get("state", "active") for flow in modem["service_flows"]]
        assert states == ["active"] * 4 + ["provisioned"] * 4
        assert all("dsid" in flow for flow in modem["service_flows"][:4])
        assert [flow["weight"] for flow in modem["service_flows"][:4]] == [1, 2, 4, 8]
        keys = set().union(*modem["service_flows"])
        assert keys == {"id", "dsid", "weight", "state"}  # one priority, no limits
        assert len(modem["classifiers"]) == 16
        flows = [flow["id"] for flow in modem["service_flows"]]
        targets = Counter(rule["service_flow"] for rule in modem["classifiers"])
        assert sorted(targets) == flows[1:4]
        assert max(targets.values()) - min(targets.values()) <= 2
    lists = {json.dumps(modem["classifiers"]) for modem in modems}
    assert len(lists) == len(modems)
    securities = [modem["security"] for modem in modems]
    for key in ("key", "next_key", "next_iv"):
        assert len({security[key] for security in securities}) == len(modems)
    assert not {one["key"] for one in securities} & {one["next_key"] for one in securities}


@pytest.mark.parametrize("key", ["bonding_group", "filter_groups"])
@pytest.mark.parametrize("name", profile.PUBLISHED)
def test_modems_are_spread_evenly(name: str, key: str) -> None:
    modems = load(name)["modems"]
    picked = [modem[key] for modem in modems]
    flat = [one for pick in picked for one in (pick if isinstance(pick, list) else [pick])]
    counts = Counter(flat).values()
    assert max(counts) - min(counts) <= 1


def test_keys_are_as_documented() -> None:
    security = load("6ofdm-0sc-qam_3cms_aes")["modems"][0]["security"]
    assert security["key"] + security["iv"] == (
        "414afdeff3f7b0a3a737fda7e00191be647075460f6d688284eb203fe6f862ec"
    )
    assert security["next_key"] + security["next_iv"] == (
        "de5d773047dc97d9f2150a9d44097797a58376990b86aefb5e3858391e69fbf5"
    )
    assert load("6ofdm-0sc-qam_3cms_none")["modems"][0]["security"] == {"said": 1, "cipher": "none"}


def test_single_channel_has_no_dsid() -> None:
    document = load("1ofdm-0sc-qam_2cms_aes")
    assert [group["channels"] for group in document["bonding_groups"]] == [[1]]
    assert not any(
        "dsid" in flow for modem in document["modems"] for flow in modem["service_flows"]
    )


def test_large_profile_shares_saids(tmp_path: Path) -> None:
    """There are fewer SAIDs than modems. The modems are as small as possible."""
    path, least = tmp_path / "large.yaml", Sizes(1, 1, 1, 0, 0, 1)
    with path.open("w", encoding="utf-8") as out:
        profile.write_profile("6ofdm-0sc-qam_30000cms_aes", out, sizes=least)
    subprocess.run([paths.program("vcmtsd"), "check", "--config", path], check=True)
    saids = Counter(
        line.split("{", 1)[1]
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("    security:")
    )
    assert len(saids) == 16383
    assert sum(saids.values()) == 30000


def test_ports_of_the_caller_are_used() -> None:
    out = io.StringIO()
    ports = profile.PortSet(network='net_null0,"x"', rphy="0000:3b:00.1", queue_size=512)
    profile.write_profile("1ofdm-0sc-qam_1cms_aes", out, ports=ports)
    assert yamls.safe_load(out.getvalue())["ports"] == {
        "network": {"device": 'net_null0,"x"', "queue_size": 512},
        "rphy": {"device": "0000:3b:00.1", "queue_size": 512},
    }


@pytest.mark.parametrize(
    "name",
    [
        "",
        "6ofdm",
        "6ofdm-0sc-qam_300cms",
        "6ofdm-0sc-qam_300cms_3des",
        "6ofdm-0sc-qam_300cms_aes_2022",
        " 6ofdm-0sc-qam_300cms_aes",
        "0ofdm-32sc-qam_300cms_aes",
        "6ofdm-251sc-qam_300cms_aes",
        "6ofdm-0sc-qam_0cms_aes",
        "6ofdm-0sc-qam_65536cms_aes",
        "6ofdm-0sc-qam_300cms_aes\n",
    ],
)
def test_invalid_name_is_refused_with_the_grammar(name: str, expect_error: ExpectError) -> None:
    expect_error(profile.GRAMMAR, "profile", name)


def test_command_writes_the_profile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = "1ofdm-0sc-qam_1cms_aes"
    assert cli.main(["profile", name]) == 0
    assert capfd.readouterr().out == profile_text(name)
    path = tmp_path / "sg.yaml"
    assert cli.main(["profile", name, "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == profile_text(name)
    assert cli.main(["profile", "wrong", "-o", str(path)]) == 2
    assert path.read_text(encoding="utf-8") == profile_text(name)
    assert cli.main(["profile", name, "-o", str(tmp_path / "no" / "sg.yaml")]) == 2
    assert cli.main(["profile"]) == 2
    assert cli.main(["profile", "--list"]) == 0
    assert capfd.readouterr().out.splitlines() == list(profile.PUBLISHED)


def test_options_set_rates_and_aqm(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sg.yaml"
    options = ["--sustained-rate", "12.5 Mbps", "--aqm", "docsis-pie", "-o", str(path)]
    assert cli.main(["profile", "2ofdm-0sc-qam_3cms_aes", *options]) == 0
    assert cli.main(["validate", str(path)]) == 0
    flows = [
        {key: flow[key] for key in ("weight", "max_sustained_rate", "aqm") if key in flow}
        for modem in yamls.safe_load(path.read_text(encoding="utf-8"))["modems"]
        for flow in modem["service_flows"]
    ]
    active = [
        {"weight": weight, "max_sustained_rate": "12.5 Mbps", "aqm": "docsis-pie"}
        for weight in (1, 2, 4, 8)
    ]
    assert flows == (active + [{}] * 4) * 3


@pytest.mark.parametrize(
    "rate",
    ["", "0 Mbps", "999 bps", "1.001 Tbps", "10", "010 Mbps", "0.1 bps", "10 Mbps\n", "none"],
)
def test_bad_rates_are_refused(
    rate: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sg.yaml"
    name = "2ofdm-0sc-qam_3cms_aes"
    assert cli.main(["profile", name, "--sustained-rate", rate, "-o", str(path)]) == 2
    captured = capfd.readouterr()
    assert captured.err.startswith("vcmts: --sustained-rate: found") and captured.out == ""
    assert not path.exists()
    written = profile_text(name).replace(
        "weight: 8", f"weight: 8, max_sustained_rate: {json.dumps(rate)}"
    )
    path.write_text(written, encoding="utf-8")
    # only the loader accepts "none"
    assert cli.main(["validate", str(path)]) == (0 if rate == "none" else 2)


# Properties that the traffic program depends on.


def ports_of(rule: Mapping) -> range:
    low, high = map(int, rule["destination_ports"].split("-"))
    return range(low, high + 1)


def covers(rule: Mapping, source: str, destination: str, port: int) -> bool:
    """Returns whether the rule matches this UDP packet."""
    family = "ipv4" if ip_address(source).version == 4 else "ipv6"
    return (
        rule["family"] == family
        and ip_address(source) in ip_network(rule["source"])
        and (
            "destination" not in rule or ip_address(destination) in ip_network(rule["destination"])
        )
        and rule["protocol"] == "udp"
        and port in ports_of(rule)
    )


def first_match(rules: list[Mapping], source: str, destination: str, port: int) -> Mapping | None:
    return next((rule for rule in rules if covers(rule, source, destination, port)), None)


def rules_of(document: Mapping, modem: Mapping) -> list[Mapping]:
    groups = {group["id"]: group["rules"] for group in document["filter_groups"]}
    return [rule for group in modem["filter_groups"] for rule in groups[group]]


def sources(rules: list[Mapping], version: int) -> list[tuple[str, int]]:
    """Returns a source address and a port within each UDP rule of the family."""
    return [
        (str(ip_network(rule["source"])[5]), ports_of(rule)[7])
        for rule in rules
        if rule["protocol"] == "udp" and rule["family"] == f"ipv{version}"
    ]


@pytest.mark.parametrize("name", ["6ofdm-0sc-qam_50cms_aes", "2ofdm-32sc-qam_50cms_aes_2021"])
def test_packets_for_all_flows_and_actions_exist(name: str) -> None:
    document = load(name)
    for modem in document["modems"]:
        rules, classifiers = rules_of(document, modem), modem["classifiers"]
        for destination in modem["addresses"]:
            version = ip_address(destination).version
            actions = set()
            for source, port in sources(rules, version):
                match = first_match(rules, source, destination, port)
                assert match is not None
                actions.add(match["action"])
                assert first_match(classifiers, source, destination, port) is None
            assert actions == {"permit", "deny"}
            flows = set()
            for source, port in sources(classifiers, version):
                match = first_match(classifiers, source, destination, port)
                assert match is not None
                flows.add(match["service_flow"])
                assert first_match(rules, source, destination, port) is None
            assert flows == {flow["id"] for flow in modem["service_flows"][1:4]}


# Source addresses that match no rule.
FREE = {"ipv4": "203.0.113.0/24", "ipv6": "2001:db8:ffff::/48"}


def bounds(prefix: str) -> tuple[int, int]:
    """The first and the last address of a network, as numbers."""
    network = ip_network(prefix)
    return int(network[0]), int(network[-1])


@pytest.mark.parametrize("name", ["6ofdm-0sc-qam_50cms_aes", "2ofdm-32sc-qam_50cms_aes_2021"])
def test_free_range_matches_no_rule(name: str) -> None:
    document = load(name)
    for modem in document["modems"]:
        for rule in rules_of(document, modem) + modem["classifiers"]:
            low, high = bounds(rule["source"])
            free_low, free_high = bounds(FREE[rule["family"]])
            assert high < free_low or low > free_high
            assert ports_of(rule)[-1] < 40000
