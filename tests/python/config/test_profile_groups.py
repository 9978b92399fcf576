# SPDX-License-Identifier: BSD-3-Clause
"""Tests server files with several groups of a profile: shared values and values per group."""

import argparse
import functools
import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from python.conftest import ExpectError
from vcmts import cli, configuration, paths, yamls
from vcmts.profile import group as one
from vcmts.profile import server
from vcmts.profile.group import Cores
from vcmts.system import cores

Mapping = dict[str, Any]

SCHEMA = json.loads((paths.CHECKOUT / "config" / "schema.json").read_text(encoding="utf-8"))
NAME = "6ofdm-0sc-qam_5cms_aes"
# Keys whose values no two groups share.
DIFFERENT = (
    *("session", "request_session", "ranging_session", "mac", "addresses", "key", "next_key"),
    *("core_ip", "rpd_ip", "core_mac", "rpd_mac", "service_group", "name"),
)


def server_text(name: str, groups: int, **options: Any) -> str:
    out = io.StringIO()
    server.write_server(name, groups, out, **options)
    return out.getvalue()


@functools.lru_cache(maxsize=4)
def load(groups: int, sharing: server.Sharing = "shared") -> Mapping:
    document: Mapping = yamls.safe_load(server_text(NAME, groups, sharing=sharing))
    return document


def facts(text: str, folder: Path) -> Mapping:
    """Returns the JSON of the loader, which must accept the file."""
    path = folder / "server.yaml"
    path.write_text(text, encoding="utf-8")
    command = [str(paths.program("vcmtsd")), "check", "--json", "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    result: Mapping = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("sharing", ["shared", "own"])
@pytest.mark.parametrize("name", [NAME, "2ofdm-32sc-qam_3cms_none_2021"])
def test_schema_and_loader_accept_server(
    name: str, sharing: server.Sharing, tmp_path: Path
) -> None:
    text = server_text(name, 4, sharing=sharing)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for error in validator.iter_errors(yamls.safe_load(text))] == []
    server = facts(text, tmp_path)
    assert [group["service_group"] for group in server["groups"]] == [1, 2, 3, 4]
    assert [group["name"] for group in server["groups"]] == [f"{name}-{g}" for g in range(1, 5)]
    assert server["name"] == name
    assert server["modems"] == 4 * server["groups"][0]["modems"]


def test_loader_accepts_64_groups(tmp_path: Path) -> None:
    assert len(facts(server_text(NAME, 64), tmp_path)["groups"]) == 64


def test_server_of_one_group_is_the_group_file() -> None:
    out = io.StringIO()
    one.write_profile(NAME, out)
    assert server_text(NAME, 1) == out.getvalue()
    assert server_text(NAME, 1, sharing="own") == out.getvalue()


def test_file_is_reproducible() -> None:
    assert server_text(NAME, 3) == server_text(NAME, 3)


def values(document: Mapping, key: str) -> Iterator[str]:
    """Yields all values of a key, at any depth."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == key:
                yield from map(str, value if isinstance(value, list) else [value])
            else:
                yield from values(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from values(value, key)


@pytest.mark.parametrize("key", DIFFERENT)
def test_groups_have_different_values(key: str) -> None:
    groups = [list(values(group, key)) for group in load(3)["service_groups"]]
    assert all(groups)
    together = [value for group in groups for value in group]
    assert len(set(together)) == len(together)


def test_first_group_is_that_of_a_group_file() -> None:
    first = load(3)["service_groups"][0]
    alone = yamls.safe_load(server_text(NAME, 1))
    for key in ("channels", "upstream_channels", "modems"):
        assert first[key] == alone[key]
    assert load(3)["rphy"] | first["rphy"] == alone["rphy"]
    for key in ("ports", "bonding_groups", "filter_groups", "rate_limit", "upstream", "threads"):
        assert load(3)[key] == alone[key]


def test_shared_settings_are_not_repeated() -> None:
    document = load(3)
    for group in document["service_groups"]:
        assert sorted(group) == [
            "channels",
            "modems",
            "name",
            "rphy",
            "service_group",
            "upstream_channels",
        ]


def test_own_ports_are_numbered(tmp_path: Path) -> None:
    actual = facts(server_text(NAME, 3, sharing="own"), tmp_path)
    devices = [[g["network_device"], g["rphy_device"]] for g in actual["groups"]]
    names = [device.split(",")[0] for pair in devices for device in pair]
    assert names == [f"net_memif{number}" for number in range(6)]
    sockets = [device.rpartition("/")[2] for pair in devices for device in pair]
    assert len(set(sockets)) == 6
    shared = facts(server_text(NAME, 3), tmp_path)["groups"]
    assert {group["network_device"].split(",")[0] for group in shared} == {"net_memif0"}
    assert {group["rphy_device"].split(",")[0] for group in shared} == {"net_memif1"}


def test_given_devices_are_numbered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    devices = ["--network", "net_tap{group}", "--rphy", "net_ring{group}"]
    assert cli.main(["profile", NAME, "--groups", "2", "--ports", "own", *devices]) == 0
    actual = facts(capsys.readouterr().out, tmp_path)
    assert [group["network_device"] for group in actual["groups"]] == ["net_tap1", "net_tap2"]
    assert [group["rphy_device"] for group in actual["groups"]] == ["net_ring1", "net_ring2"]


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["--groups", "0"], "--groups: found 0, allowed: 1 to 64"),
        (["--groups", "65"], "--groups: found 65, allowed: 1 to 64"),
        (
            ["--groups", "2", "--ports", "own", "--network", "net_tap0"],
            "--network: found 'net_tap0', allowed with --ports own: a device containing {group}, "
            "which stands for the number of the group",
        ),
    ],
)
def test_wrong_options_are_refused(
    argv: list[str], error: str, tmp_path: Path, expect_error: ExpectError
) -> None:
    path = tmp_path / "existing.yaml"
    path.write_text("unchanged", encoding="utf-8")
    expect_error(f"vcmts: {error}\n", "profile", NAME, *argv, "-o", str(path))
    assert path.read_text(encoding="utf-8") == "unchanged"


def test_too_many_modems_for_addresses_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    name = "1ofdm-0sc-qam_65535cms_none"
    assert cli.main(["profile", name, "--groups", "5", "--addresses", "64"]) == 2
    assert capsys.readouterr().err == (
        "vcmts: --groups: found 5 of 65535 modems with 64 IPv4 addresses each, allowed: 4, "
        "limited by 10.0.0.0/8; use fewer modems or addresses\n"
    )


def test_address_limit_names_the_given_option(expect_error: ExpectError) -> None:
    expect_error(
        "vcmts: --part: found 5 of 65535 modems with 64 IPv4 addresses each, allowed: 4, "
        "limited by 10.0.0.0/8; use fewer modems or addresses\n",
        *("profile", "1ofdm-0sc-qam_65535cms_none", "--part", "5", "--addresses", "64"),
    )


@pytest.mark.parametrize(
    "argv",
    [
        ["--groups", "2"],
        ["--ports", "own"],
        ["--network", "net_tap0"],
        ["--rphy", "net_tap1"],
        ["--provider", "ipsec-mb"],
        ["--layout", "combined", "--cores", "1"],
    ],
)
def test_part_refuses_options_of_the_server(argv: list[str], expect_error: ExpectError) -> None:
    """A group's own file has no ports, threads and crypto provider."""
    expect_error(
        f"vcmts: {argv[0]}: not allowed with --part; it belongs to the server's file\n",
        *("profile", NAME, "--part", "1", *argv),
    )


@pytest.mark.parametrize(
    ("allowed", "groups", "expected"),
    [
        ({3}, 3, [(3, 3)] * 3),
        ({0, 1}, 3, [(1, 1)] * 3),
        ({0, 1, 2}, 3, [(1, 1), (2, 2), (1, 1)]),
        ({0, 1, 2, 3, 4}, 2, [(1, 2), (3, 4)]),
        ({4, 6, 8, 9}, 2, [(6, 6), (8, 8)]),
    ],
)
def test_allowed_cores_are_distributed(
    allowed: set[int],
    groups: int,
    expected: list[tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(cores, "usable", lambda: sorted(allowed))
    arguments = argparse.Namespace(
        config=None, profile=NAME, groups=groups, cipher=None, provider=None, device=None
    )
    text = configuration.configuration_file(arguments, tmp_path).read_text(encoding="utf-8")
    actual = facts(text, tmp_path)
    assert configuration.cores_per_group(groups) == [
        Cores(upper_mac=upper, upstream=upstream, other=min(allowed))
        for upper, upstream in expected
    ]
    assert [group["cores"] for group in actual["groups"]] == [sorted(set(one)) for one in expected]
    assert actual["main_core"] == min(allowed)
    assert sorted(actual["cores"]) == sorted({core for one in expected for core in one})


def test_groups_option_beside_config_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    path.write_text(server_text(NAME, 1), encoding="utf-8")
    parser = argparse.ArgumentParser()
    configuration.add_arguments(parser)
    arguments = parser.parse_args(["--config", str(path), "--groups", "2"])
    with pytest.raises(paths.MistakeError, match="--groups: not allowed with --config"):
        configuration.configuration_file(arguments, tmp_path)
    assert (
        configuration.configuration_file(parser.parse_args(["--config", str(path)]), tmp_path)
        == path
    )
