# SPDX-License-Identifier: BSD-3-Clause
"""Tests profiles with a published core layout: the loader places the workers as published."""

import json
import subprocess
from pathlib import Path

import pytest

from vcmts import cli
from vcmts.layout import propose
from vcmts.paths import program

NAME = "1ofdm-0sc-qam_2cms_none"
# Cores of upper MAC, lower MAC and upstream, for two service groups.
PLACEMENTS = {
    "1us1t_1ds1t": ("5,2-4", [(5, 5, 2), (3, 3, 4)]),
    "1us1t_1ds2t": ("1-6", [(1, 2, 3), (4, 5, 6)]),
    "2us1t_1ds2t": ("1-5", [(1, 2, 3), (4, 5, 3)]),
    "combined": ("1-2", [(1, 1, 1), (2, 2, 2)]),
    "combined2": ("7", [(7, 7, 7), (7, 7, 7)]),
}


def test_all_layouts_have_an_example() -> None:
    assert set(PLACEMENTS) == {layout.name for layout in propose.LAYOUTS}


@pytest.mark.parametrize("ports", ["shared", "own"])
@pytest.mark.parametrize("layout", PLACEMENTS)
def test_loader_assigns_cores_of_layout(layout: str, ports: str, tmp_path: Path) -> None:
    cores, placed = PLACEMENTS[layout]
    path = tmp_path / "sg.yaml"
    options = ["--layout", layout, "--cores", cores, "--main-core", "9", "--ports", ports]
    assert cli.main(["profile", NAME, "--groups", "2", *options, "-o", str(path)]) == 0
    assert cli.main(["validate", str(path)]) == 0
    command = [str(program("vcmtsd")), "check", "--config", str(path), "--json"]
    command += ["--cores", "0-9/0-9/0-9"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    placement = json.loads(done.stdout)["placement"]
    parts = ("upper_mac", "lower_mac", "upstream")
    assert [tuple(group[part] for part in parts) for group in placement["groups"]] == placed
    assert [group["layout"] for group in placement["groups"]] == [layout] * 2
    assert placement["main_core"] == 9


def test_layout_of_one_group(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    options = ["--layout", "1us1t_1ds2t", "--cores", "3,1-2", "-o", str(path)]
    assert cli.main(["profile", NAME, *options]) == 0
    assert 'threads: {layout: 1us1t_1ds2t, cores: "3,1-2", main_core: 0}\n' in path.read_text()
    assert cli.main(["validate", str(path)]) == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--cores", "1"), "--cores: allowed only with --layout"),
        (("--main-core", "1"), "--main-core: allowed only with --layout"),
        (("--layout", "combined"), "--cores: missing; --layout needs cores such as 1-6,9"),
        (("--layout", "combined", "--cores", "1,"), "--cores: found '1,', allowed"),
        (("--layout", "combined", "--cores", '1" }'), "--cores: found"),
    ],
)
def test_wrong_options_are_refused(
    arguments: tuple[str, ...], error: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["profile", NAME, *arguments]) == 2
    captured = capfd.readouterr()
    assert captured.out == "" and error in captured.err
