# SPDX-License-Identifier: BSD-3-Clause
"""What large configurations take: about as long a modem as small ones."""

import subprocess
import time
from pathlib import Path

from vcmts import paths
from vcmts.profile import group as profile
from vcmts.profile import server

MODEMS = (3_000, 30_000)


def seconds(command: list[str | Path]) -> float:
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def test_a_large_profile_is_quick(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    begun = time.monotonic()
    with path.open("w", encoding="utf-8") as out:
        profile.write_profile("6ofdm-0sc-qam_30000cms_aes", out)
    assert time.monotonic() - begun < 10
    assert seconds([paths.program("vcmtsd"), "check", "--config", path]) < 10  # about 3


def test_time_grows_with_the_modems_alone(tmp_path: Path) -> None:
    """Ten times the modems take some ten times as long to check, and not a hundred."""
    taken = []
    for modems in MODEMS:
        path = tmp_path / f"{modems}.yaml"
        with path.open("w", encoding="utf-8") as out:
            profile.write_profile(f"6ofdm-0sc-qam_{modems}cms_aes", out)
        command: list[str | Path] = [paths.program("vcmtsd"), "check", "--config", path]
        taken.append(min(seconds(command) for _ in range(3)))
    assert taken[1] < 30 * taken[0]


def test_time_grows_with_the_groups_alone(tmp_path: Path) -> None:
    """28 groups of 300 modems take some 28 times as long to check as one."""
    taken = []
    for groups in (1, 28):
        path = tmp_path / f"{groups}.yaml"
        with path.open("w", encoding="utf-8") as out:
            server.write_server("6ofdm-0sc-qam_300cms_aes", groups, out)
        command: list[str | Path] = [paths.program("vcmtsd"), "check", "--config", path]
        taken.append(min(seconds(command) for _ in range(3)))
    assert taken[1] < 60 * taken[0]
