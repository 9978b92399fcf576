# SPDX-License-Identifier: BSD-3-Clause
"""Tests how the upgrade test reads the traffic program's result, on busy and idle machines."""

import re
import subprocess
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

DIRECTION = """\
sent                  1000
proven                {proven}     96.4 %
lost                  36     3.6 %
duplicated                {duplicated}     0.00000 %
corrupted                 {corrupted}     0.00000 %
descheduled           64 times for more than 1 ms, at most {longest} us: other threads
"""
GOOD = {"proven": 964, "duplicated": 0, "corrupted": 0, "longest": 4999}


def passes(folder: Path, status: int, **upstream: int) -> subprocess.CompletedProcess[str]:
    """Calls traffic_passed() of upgrade-in-root after a traffic program with this exit status."""
    text = (CHECKOUT / "devtools/release/upgrade-in-root").read_text(encoding="utf-8")
    found = re.search(r"^traffic_passed\(\) \{\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    assert found
    result = DIRECTION.format(**GOOD) + "upstream\n" + DIRECTION.format(**GOOD | upstream)
    (folder / "traffic").write_text(result)
    function = found[0].replace("/tmp/traffic", "traffic")
    script = f"set -euo pipefail\n{function}\n(exit {status}) &\ntraffic=$!\ntraffic_passed\n"
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )


def test_every_packet_arrived(tmp_path: Path) -> None:
    done = passes(tmp_path, 0)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_lost_packets_fail_on_an_idle_machine(tmp_path: Path) -> None:
    assert passes(tmp_path, 1).returncode == 1


def test_lost_packets_pass_on_a_busy_machine(tmp_path: Path) -> None:
    done = passes(tmp_path, 1, longest=5000)
    assert (done.returncode, done.stderr) == (0, "")
    assert "took a core away for 5000 us: does not require" in done.stdout


@pytest.mark.parametrize("key", ["duplicated", "corrupted"])
def test_wrong_packets_fail_on_a_busy_machine(key: str, tmp_path: Path) -> None:
    assert passes(tmp_path, 1, longest=5000, **{key: 1}).returncode == 1


def test_a_silent_direction_fails(tmp_path: Path) -> None:
    assert passes(tmp_path, 1, longest=5000, proven=0).returncode == 1
