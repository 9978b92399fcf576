# SPDX-License-Identifier: BSD-3-Clause
"""Loading time of large configurations grows linearly with modems and groups."""

import subprocess
import time
from pathlib import Path

from vcmts import paths
from vcmts.profile import group as profile
from vcmts.profile import server

MODEMS = (3_000, 30_000)


def seconds(command: list[str | Path]) -> float:
    """The duration of a command that must succeed."""
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def test_large_profile_loads_within_ten_seconds(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    start = time.monotonic()
    with path.open("w", encoding="utf-8") as out:
        profile.write_profile("6ofdm-0sc-qam_30000cms_aes", out)
    assert time.monotonic() - start < 10
    assert seconds([paths.program("vcmtsd"), "check", "--config", path]) < 10  # usually 3 s


def test_time_grows_linearly_with_modems(tmp_path: Path) -> None:
    """Ten times the modems take about ten times as long to check, not a hundred times."""
    times = []
    for modems in MODEMS:
        path = tmp_path / f"{modems}.yaml"
        with path.open("w", encoding="utf-8") as out:
            profile.write_profile(f"6ofdm-0sc-qam_{modems}cms_aes", out)
        command: list[str | Path] = [paths.program("vcmtsd"), "check", "--config", path]
        times.append(min(seconds(command) for _ in range(3)))
    assert times[1] < 30 * times[0]


def test_time_grows_linearly_with_groups(tmp_path: Path) -> None:
    """28 groups of 300 modems take about 28 times as long to check as one."""
    times = []
    for groups in (1, 28):
        path = tmp_path / f"{groups}.yaml"
        with path.open("w", encoding="utf-8") as out:
            server.write_server("6ofdm-0sc-qam_300cms_aes", groups, out)
        command: list[str | Path] = [paths.program("vcmtsd"), "check", "--config", path]
        times.append(min(seconds(command) for _ in range(3)))
    assert times[1] < 60 * times[0]
