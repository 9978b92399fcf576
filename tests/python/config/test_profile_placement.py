# SPDX-License-Identifier: BSD-3-Clause
"""Profiles in a published core configuration by its name: written, and taken by the loader."""

import json
import subprocess
from pathlib import Path

import pytest

from vcmts import cli
from vcmts.layout import propose
from vcmts.paths import program

NAME = "1ofdm-0sc-qam_2cms_none"
# Of two service groups: upper MAC, lower MAC, upstream.
PLACED = {
    "1us1t_1ds1t": ("5,2-4", [(5, 5, 2), (3, 3, 4)]),
    "1us1t_1ds2t": ("1-6", [(1, 2, 3), (4, 5, 6)]),
    "2us1t_1ds2t": ("1-5", [(1, 2, 3), (4, 5, 3)]),
    "combined": ("1-2", [(1, 1, 1), (2, 2, 2)]),
    "combined2": ("7", [(7, 7, 7), (7, 7, 7)]),
}


def test_every_layout_has_an_example() -> None:
    assert set(PLACED) == {layout.name for layout in propose.LAYOUTS}


@pytest.mark.parametrize("ports", ["shared", "own"])
@pytest.mark.parametrize("layout", PLACED)
def test_written_and_taken(layout: str, ports: str, tmp_path: Path) -> None:
    cores, placed = PLACED[layout]
    path = tmp_path / "sg.yaml"
    asked = ["--layout", layout, "--cores", cores, "--main-core", "9", "--ports", ports]
    assert cli.main(["profile", NAME, "--groups", "2", *asked, "-o", str(path)]) == 0
    assert cli.main(["validate", str(path)]) == 0
    command = [str(program("vcmtsd")), "check", "--config", str(path), "--json"]
    command += ["--cores", "0-9/0-9/0-9"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(done.stdout)["placement"]
    parts = ("upper_mac", "lower_mac", "upstream")
    assert [tuple(group[part] for part in parts) for group in told["groups"]] == placed
    assert [group["layout"] for group in told["groups"]] == [layout] * 2
    assert told["main_core"] == 9


def test_one_group(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    asked = ["--layout", "1us1t_1ds2t", "--cores", "3,1-2", "-o", str(path)]
    assert cli.main(["profile", NAME, *asked]) == 0
    assert 'threads: {layout: 1us1t_1ds2t, cores: "3,1-2", main_core: 0}\n' in path.read_text()
    assert cli.main(["validate", str(path)]) == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--cores", "1"), "--cores: found without --layout"),
        (("--main-core", "1"), "--main-core: found without --layout"),
        (("--layout", "combined"), "--cores: found nothing, allowed: cores such as 1-6,9"),
        (("--layout", "combined", "--cores", "1,"), "--cores: found '1,', allowed"),
        (("--layout", "combined", "--cores", '1" }'), "--cores: found"),
    ],
)
def test_mistakes(words: tuple[str, ...], says: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", NAME, *words]) == 2
    told = capfd.readouterr()
    assert told.out == "" and says in told.err
