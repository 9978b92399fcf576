# SPDX-License-Identifier: BSD-3-Clause
"""Tests profiles of other sizes: they have the requested numbers, and the loader accepts them."""

import io
import itertools
import json
import subprocess
from collections import Counter
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest

from vcmts import cli, paths, yamls
from vcmts.profile import group as profile
from vcmts.profile import qos as quality
from vcmts.profile import size as profile_size
from vcmts.profile.size import Sizes

Mapping = dict[str, Any]
SCHEMA = json.loads((paths.CHECKOUT / "config" / "schema.json").read_text(encoding="utf-8"))
NAME = "2ofdm-0sc-qam_3cms_aes"


def profile_text(name: str, sizes: Sizes) -> str:
    out = io.StringIO()
    profile.write_profile(name, out, sizes=sizes)
    return out.getvalue()


def load(sizes: Sizes, name: str = NAME) -> Mapping:
    document: Mapping = yamls.safe_load(profile_text(name, sizes))
    return document


def test_published_sizes_are_the_default() -> None:
    sizes = Sizes(filter_groups=22, filter_rules=22)
    assert load(sizes) == load(Sizes())
    assert profile_size.checked({}) == Sizes()
    assert profile_size.size_options(Sizes()) == ""


SMALLEST = ("--addresses 1 --service-flows 1 --classifiers 0 --filter-groups 0", 1)
LARGEST = (
    ("--addresses 64 --service-flows 32 --active-flows 32", 3),
    ("--classifiers 4096", 1),
    ("--filter-groups 1 --filter-rules 4096", 1),
    ("--filter-groups 1024 --filter-rules 1", 1),
)


@pytest.mark.parametrize("options, modems", [SMALLEST, *LARGEST])
def test_loader_accepts_extreme_sizes(options: str, modems: int, tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    name = f"2ofdm-0sc-qam_{modems}cms_aes"
    assert cli.main(["profile", name, *options.split(), "-o", str(path)]) == 0
    check: list[str | Path] = [paths.program("vcmtsd"), "check", "--config", path]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"# Written by: vcmts profile {name}" in path.read_text(encoding="utf-8")


def test_limits_are_those_of_the_schema() -> None:
    modem = SCHEMA["properties"]["modems"]["items"]["properties"]
    groups = SCHEMA["properties"]["filter_groups"]
    limits = {name: (low, high) for name, low, high, *_ in profile_size.OPTIONS}
    rules = groups["items"]["properties"]["rules"]
    for option, key in (
        ("addresses", modem["addresses"]),
        ("service-flows", modem["service_flows"]),
        ("classifiers", modem["classifiers"]),
        ("filter-groups", groups),
        ("filter-rules", rules),
    ):
        assert limits[option] == (key.get("minItems", 0), key["maxItems"]), option


@pytest.mark.parametrize(
    "addresses, ipv4, ipv6", [(1, 1, 0), (2, 1, 1), (4, 3, 1), (5, 4, 1), (64, 48, 16)]
)
def test_modems_have_the_number_of_addresses(addresses: int, ipv4: int, ipv6: int) -> None:
    modems = load(Sizes(addresses=addresses))["modems"]
    for modem in modems:
        families = Counter(ip_address(address).version for address in modem["addresses"])
        assert (families[4], families[6]) == (ipv4, ipv6)
        assert modem["cpe_limit"] == addresses
        networks = {ip_network(c["destination"]) for c in modem["classifiers"]}
        assert all(
            any(ip_address(one) in network for network in networks) for one in modem["addresses"]
        )
    all_addresses = [address for modem in modems for address in modem["addresses"]]
    assert len(set(all_addresses)) == len(all_addresses)


@pytest.mark.parametrize("flows, active", [(1, 1), (2, 1), (8, 4), (9, 5), (32, 16)])
def test_half_of_the_flows_are_active(flows: int, active: int) -> None:
    for modem in load(profile_size.checked({"service-flows": flows, "classifiers": 64}))["modems"]:
        states = [flow.get("state", "active") for flow in modem["service_flows"]]
        assert states == ["active"] * active + ["provisioned"] * (flows - active)
        ids = [flow["id"] for flow in modem["service_flows"]]
        reached = {rule["service_flow"] for rule in modem["classifiers"]}
        assert reached == set(ids[1:active] or ids[:1])


def test_flow_ids_are_unique() -> None:
    """Also with more than a million downstream flows; the last modem has the highest IDs."""
    sizes = Sizes(flows=32, active_flows=1, classifiers=0)
    last = profile.parse_name("1ofdm-0sc-qam_40000cms_none", sizes=sizes)
    first = profile.modem_lines(last, 1, [[1]], quality.WEIGHTS_ALONE)
    (modem,) = yamls.safe_load("\n".join(first))
    assert modem["upstream_service_flows"][0]["id"] == 40000 * 32 + 1
    small = profile.parse_name("1ofdm-0sc-qam_3cms_none", sizes=sizes)
    (modem,) = yamls.safe_load(
        "\n".join(profile.modem_lines(small, 1, [[1]], quality.WEIGHTS_ALONE))
    )
    assert modem["upstream_service_flows"][0]["id"] == 1_000_001


@pytest.mark.parametrize("groups, rules", [(1, 1), (3, 300), (300, 2), (2, 301)])
def test_filters_have_the_requested_size(groups: int, rules: int) -> None:
    document = load(Sizes(filter_groups=groups, filter_rules=rules))
    assert [len(group["rules"]) for group in document["filter_groups"]] == [rules] * groups
    sources = [
        {rule["source"] for rule in group["rules"] if rule["family"] == "ipv4"}
        for group in document["filter_groups"]
    ]
    assert len(set().union(*sources)) == groups
    assert all(len(one) == 1 for one in sources)
    for group in document["filter_groups"]:
        spans = [tuple(map(int, r["destination_ports"].split("-"))) for r in group["rules"]]
        assert all(low <= high for low, high in spans)
        assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))
        assert spans[0][0] == 10000 and spans[-1][1] < 40000


@pytest.mark.parametrize("count", [1, 200, 201, 300])
def test_classifiers_have_the_requested_number(count: int) -> None:
    for modem in load(Sizes(classifiers=count))["modems"]:
        rules = modem["classifiers"]
        assert len(rules) == count
        assert len({rule["source"] for rule in rules}) == count
        assert sum(rule["family"] == "ipv6" for rule in rules) == count // 4
        last = int(rules[-1]["destination_ports"].split("-")[1])
        assert last < 40000


def test_modems_share_too_few_filter_groups() -> None:
    document = load(Sizes(filter_groups=1), "1ofdm-0sc-qam_2cms_aes_2021")
    assert [modem["filter_groups"] for modem in document["modems"]] == [[1], [1]]


@pytest.mark.parametrize(
    "options, error",
    [
        ("--addresses 0", "--addresses: found 0, allowed: 1 to 64"),
        ("--addresses 65", "--addresses: found 65, allowed: 1 to 64"),
        ("--service-flows 33", "--service-flows: found 33, allowed: 1 to 32"),
        ("--service-flows 2 --active-flows 3", "--active-flows: found 3, allowed: 1 to 2"),
        ("--classifiers 4097", "--classifiers: found 4097, allowed: 0 to 4096"),
        ("--filter-groups 1025", "--filter-groups: found 1025, allowed: 0 to 1024"),
        ("--filter-rules 0", "--filter-rules: found 0, allowed: 1 to 4096"),
    ],
)
def test_invalid_sizes_are_refused(
    options: str, error: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sg.yaml"
    assert cli.main(["profile", NAME, *options.split(), "-o", str(path)]) == 2
    captured = capfd.readouterr()
    assert captured.err.startswith(f"vcmts: {error}") and captured.err.count("\n") == 1
    assert not path.exists()


def test_too_many_dsids_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["profile", "2ofdm-0sc-qam_40000cms_aes", "--service-flows", "32"]
    assert cli.main([*words, "--active-flows", "27"]) == 2
    assert "1080000 DSIDs, allowed: 1048575" in capfd.readouterr().err


def test_file_has_the_command_that_wrote_it(capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--service-flows", "6", "--active-flows", "6", "--filter-rules", "3"]
    assert cli.main(["profile", NAME, *options]) == 0
    first = capfd.readouterr().out.splitlines()[1]
    assert first == f"# Written by: vcmts profile {NAME} {' '.join(options)}"
