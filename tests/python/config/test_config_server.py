# SPDX-License-Identifier: BSD-3-Clause
"""Tests server files: the example, errors, and the output of `check --json` and `show`."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from vcmts import cli, paths, yamls
from vcmts.docs import configdoc

EXAMPLE = configdoc.SERVER_EXAMPLE.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def group_file(tmp_path: Path) -> None:
    """Copies the file to which a group of the example refers."""
    shutil.copy(configdoc.EXAMPLE, tmp_path / "example.yaml")


def check(text: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    path = folder / "server.yaml"
    path.write_text(text, encoding="utf-8")
    command = [str(paths.program("vcmtsd")), "check", "--config", str(path), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def schema_refuses(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(configdoc.read_schema())
    return not validator.is_valid(yamls.safe_load(text))


def test_example_is_accepted(tmp_path: Path) -> None:
    done = check(EXAMPLE, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    path = tmp_path / "server.yaml"
    assert done.stdout == f"{path}: good: 3 service groups, 4 channels, 3 modems\n"
    assert not schema_refuses(EXAMPLE)
    assert EXAMPLE.split("\n", 1)[1] in configdoc.render(configdoc.read_schema())


def test_check_prints_facts(tmp_path: Path) -> None:
    facts = json.loads(check(EXAMPLE, tmp_path, "--json").stdout)
    groups = facts.pop("groups")
    assert facts.pop("memory_mb") > 100
    assert facts == {
        "name": "node7",
        "service_group": 1,
        "channels": 4,
        "modems": 3,
        "mtu": 2000,
        "capacity": 2 * 1_890_000_000 + 1_932_240_000,
        "upstream_capacity": 1_000_000_000 + 1_030_720_000,
        "cores": [1, 2, 3, 8, 4, 5, 7],
        "main_core": 0,
    }
    assert [group["cores"] for group in groups] == [[1, 2, 3], [8, 4], [5, 7, 3]]
    assert groups[1] == {
        "name": "cedar-street",
        "service_group": 2,
        "channels": 1,
        "modems": 1,
        "mtu": 2000,
        "capacity": 1_890_000_000,
        "upstream_capacity": 0,
        "cores": [8, 4],
        "network_device": "0000:3b:00.0",
        "rphy_device": "0000:3b:00.1",
        "ports": {
            "network": {"vlan": 102, "mac": None},
            "rphy": {"vlan": 102, "mac": "02:00:00:00:00:01"},
        },
        "crypto": "ipsec-mb",
        "ciphers": {"none": 1},
    }


def test_facts_of_server_and_its_only_group_are_equal(tmp_path: Path) -> None:
    text = configdoc.EXAMPLE.read_text(encoding="utf-8")
    facts = json.loads(check(text, tmp_path, "--json").stdout)
    (group,) = facts["groups"]
    assert {key: facts[key] for key in group if key in facts} == {
        key: value
        for key, value in group.items()
        if not key.endswith("_device") and key not in ("crypto", "ciphers", "ports")
    }


def test_validate_accepts_all_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = tmp_path / "server.yaml"
    server.write_text(EXAMPLE, encoding="utf-8")
    assert cli.main(["validate", str(server), str(tmp_path / "example.yaml")]) == 0
    assert [line.split(":")[1] for line in capfd.readouterr().out.splitlines()] == [" good"] * 2


def test_show_prints_groups(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = tmp_path / "server.yaml"
    server.write_text(EXAMPLE, encoding="utf-8")
    assert cli.main(["show", str(server)]) == 0
    title, heading, *rows, encryption = [
        line.split() for line in capfd.readouterr().out.splitlines()
    ]
    assert (title, heading[:2]) == (["node7"], ["group", "name"])
    assert rows[1] == ["2", "cedar-street", "1", "1", "8,", "4", "0000:3b:00.0", "0000:3b:00.1"]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    expected = "encryption: none by ipsec-mb (group 1, 2); aes-128 by ipsec-mb (group 3)"
    assert " ".join(encryption) == expected


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "message", "by_schema"),
    [
        (
            lambda s: s.update(service_group=1),
            'unknown key "service_group"; did you mean "service_groups"?',
            True,
        ),
        (
            lambda s: s.update(service_groups=[]),
            "service_groups: found an empty list, allowed: a list of 1 to 64 maps",
            True,
        ),
        (
            lambda s: s["service_groups"][1].update(name="a b"),
            'service_groups[1].name: found "a b", allowed: up to 64 of the characters A-Z a-z 0-9 '
            ". _ -",
            True,
        ),
        (
            lambda s: s["service_groups"][1]["ports"]["rphy"].update(vlan=4095),
            'service_groups[1].ports.rphy.vlan: found "4095", allowed: a number, 1 to 4094',
            True,
        ),
        (
            lambda s: s["threads"].update(cores=["1-5", "x"]),
            'threads.cores: found a list of 2, allowed: cores such as 3, "1-15,17" or a list of '
            "these, each core once, 0 to 1023",
            True,
        ),
        (
            lambda s: s["threads"].update(cores=[1, 2, 3]),
            "threads.cores: found 3 cores, allowed: 6 or more, as 3 service groups of 2us1t_1ds2t "
            "need",
            False,
        ),
        (
            lambda s: s["service_groups"][1].pop("modems"),
            "service_groups[1].modems: missing; needed: a list of 1 to 65535 maps",
            False,
        ),
    ],
)
def test_error_is_one_line(change: Change, message: str, by_schema: bool, tmp_path: Path) -> None:
    document = yamls.safe_load(EXAMPLE)
    change(document)
    text = json.dumps(document, indent=1)
    done = check(text, tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.split(": ", 1)[1] == message
    assert schema_refuses(text) == by_schema


def test_group_file_may_name_a_layout(tmp_path: Path) -> None:
    text = configdoc.EXAMPLE.read_text(encoding="utf-8")
    layout = 'threads: {layout: 1us1t_1ds2t, cores: "4,6-7"}\n'
    facts = json.loads(check(text + layout, tmp_path, "--json").stdout)
    assert facts["cores"] == [4, 6, 7]
    assert not schema_refuses(text + layout)
