# SPDX-License-Identifier: BSD-3-Clause
"""Tests how `make power-test` checks the output and transitions of its virtual machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from power.transitions import failures, transitions_by_case
from vcmts.paths import CHECKOUT

OUTPUT = [
    "ok: /modules/10-acpi-cpufreq.ko (loaded)",
    "case 0: down and up",
    "expected 0 0: 8 18",
    "expected 0 1: ",
    "ok: it is applied",
    "case 1: CPU 1 only",
    "expected 1 0: ",
    "expected 1 1: 10",
    "end: 2 cases, 0 failed",
]
END = 0xFF
LOGS = [bytes([18, 0x80, 8, 18, END, 12, 0x81, END, 14]), bytes([0x80, END, 18, 0x81, 10, END])]


def test_expected_transitions_pass() -> None:
    assert transitions_by_case(LOGS[0]) == {0: [8, 18], 1: []}
    assert failures(OUTPUT, LOGS) == []


@pytest.mark.parametrize(
    ("logs", "failure"),
    [
        (
            [LOGS[0], bytes([0x80, END, 10, 0x81, END, 10])],
            "CPU 1 only: CPU 1 set [], expected [10]",
        ),
        (
            [bytes([0x80, 8, 12, 18, END, 0x81, END]), LOGS[1]],
            "down and up: CPU 0 set [8, 12, 18], expected [8, 18]",
        ),
        ([bytes([0x80, 8, 18, END]), LOGS[1]], "CPU 1 only: CPU 0 set None, expected []"),
    ],
)
def test_other_transitions_fail(logs: list[bytes], failure: str) -> None:
    assert failures(OUTPUT, logs) == [failure]


def test_failed_output_fails() -> None:
    assert failures([*OUTPUT, "FAILED: it is restored"], LOGS) == ["FAILED: it is restored"]
    broken = ["cases failed, or the line `end` is missing"]
    assert failures(OUTPUT[:-1], LOGS) == broken
    assert failures([*OUTPUT[:-1], "end: 2 cases, 1 failed"], LOGS) == broken
    incomplete = [line for line in OUTPUT if "expected 1 1" not in line]
    assert failures(incomplete, LOGS) == ["3 lines `expected` for 2 cases"]
    assert failures(["end: 0 cases, 0 failed"], [b"", b""]) == ["0 lines `expected` for 0 cases"]


def test_logs_of_the_previous_machine_are_ignored(tmp_path: Path) -> None:
    """QEMU may end before it writes any."""
    (tmp_path / "results.log").write_text("\n".join(OUTPUT) + "\n")
    for number, log in enumerate(LOGS):
        (tmp_path / f"cpu{number}.log").write_bytes(log)
    text = (CHECKOUT / "devtools/power-test").read_text(encoding="utf-8")
    found = re.search(r"^guest\(\) \{\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    assert found
    stubs = """
        set -euo pipefail
        folder=$1 PYTHON=$2
        is_current() { :; }
        build_guest() { :; }
        run_machine() { echo unknown option; return 1; }
        say() { echo "$@"; }
    """
    done = subprocess.run(
        ["bash", "-c", f"{stubs}\n{found[0]}\nguest", "guest", str(tmp_path), sys.executable],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "the line `end` is missing" in done.stdout
    assert "unknown option" in done.stdout
