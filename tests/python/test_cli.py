# SPDX-License-Identifier: BSD-3-Clause
"""The command line: exit status 2 and one line for a mistake, from any directory."""

import os
import subprocess
from pathlib import Path

import pytest

from vcmts import cli, paths

CONFIG = """
name: two-modems
service_group: 7
rphy: {core_ip: 192.0.2.1, rpd_ip: 192.0.2.2}
channels:
  - {id: 1, type: ofdm, rate: 1.89 Gbps}
  - {id: 2, type: ofdm, rate: 1.89 Gbps}
  - {id: 3, type: sc-qam, rate: 42.24 Mbps}
bonding_groups: [{id: 1, channels: [1, 2]}]
filter_groups: [{id: 1, rules: [{action: deny}]}]
modems:
  - addresses: [10.0.0.1]
    filter_groups: [1]
    security: {cipher: aes-128}
    service_flows: [{id: 1}, {id: 2, state: provisioned}]
  - addresses: [10.0.0.2, 10.0.0.3]
    filter_groups: [1]
    service_flows: [{id: 1}, {id: 2}]
"""


def one_line(text: str) -> bool:
    return text.startswith("vcmts: ") and text.count("\n") == 1


@pytest.fixture
def empty_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VCMTS_BUILD", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "arguments", [["validate", "sg.yaml"], ["replay", "--config", "sg.yaml", "--network-in", "x"]]
)
def test_program_that_is_not_built(
    arguments: list[str], empty_build: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    error = capfd.readouterr().err
    assert one_line(error)
    assert "vcmtsd" in error and str(empty_build) in error and "make build" in error


def test_replay_of_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replay", "--config", "sg.yaml"]) == 2
    assert one_line(capfd.readouterr().err)


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["replay"], ["replay", "--nonsense"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2


def stand_in(build: Path, status: int) -> Path:
    """A vcmtsd that writes down its arguments and ends with `status`."""
    program = build / "src" / "vcmtsd"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{build}/arguments"\nexit {status}\n')
    program.chmod(0o755)
    return build / "arguments"


@pytest.mark.parametrize("status", [0, 1, 2])
def test_replay_hands_over(status: int, empty_build: Path) -> None:
    arguments = stand_in(empty_build, status)
    command = ["replay", "--config", "sg.yaml", "--network-in", "i", "--rphy-out", "o"]
    assert cli.main([*command, "--stats", "s"]) == status
    assert arguments.read_text().split() == [*command, "--stats", "s"]


@pytest.mark.parametrize(("status", "expected"), [(0, 0), (1, 2), (139, 2)])
def test_validate_checks_every_file(status: int, expected: int, empty_build: Path) -> None:
    arguments = stand_in(empty_build, status)
    assert cli.main(["validate", "a.yaml", "b.yaml"]) == expected
    assert arguments.read_text().split() == [
        *("check", "--config", "a.yaml"),
        *("check", "--config", "b.yaml"),
    ]


def test_missing_module_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "imaginary", "is not there")
    assert cli.main(["imaginary"]) == 2
    error = capfd.readouterr().err
    assert one_line(error) and "vcmts.imaginary" in error


def test_show(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "sg.yaml"
    config.write_text(CONFIG)
    assert cli.main(["show", str(config)]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    for text in (
        "two-modems",
        "2 x ofdm 1.89 Gbps, 1 x sc-qam 42.24 Mbps",
        "1 x 2 channels",
        "2, 1 to 2 addresses each",
        "1 x aes-128, 1 x none",
        "1 group of 1 rule, 1 group a modem",
        "2 a modem, 1 to 2 active",
    ):
        assert text in shown


@pytest.mark.parametrize(
    "content", ["", "[1, 2]", "a: [", "\x00", "modems: 3", "modems: [{addresses: 4}]\nrphy: 1"]
)
def test_show_of_anything(content: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "sg.yaml"
    config.write_text(content)
    status = cli.main(["show", str(config)])
    assert status == (0 if "modems" in content else 2)
    assert capfd.readouterr().err.startswith("vcmts: ") == (status == 2)


def test_launcher_from_another_directory(tmp_path: Path) -> None:
    link = tmp_path / "vcmts"
    link.symlink_to(paths.CHECKOUT / "vcmts")
    ended = subprocess.run(
        [link, "--help"], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert all(command in ended.stdout for command in cli.COMMANDS)
