# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/unit and devtools/cpu-test with stubs of meson and objdump."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from python.devtools.own_checks import write
from vcmts.paths import CHECKOUT

# Lists 20 tests, and logs the names of each run and the number of tests at a time.
MESON = """
case "$*" in
*--list*) for number in $(seq 20); do echo "openvcmts:unit+sanitized / test$number"; done;;
*) printf '%s\\n' "$*" >>runs;;
esac
"""


def run_with_stubs(
    folder: Path, tool: str, *arguments: str, stubs: dict[str, str], **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a copy of devtools/`tool` in `folder`. `stubs`: shell scripts by name."""
    (folder / "devtools").mkdir()
    shutil.copy(CHECKOUT / "devtools" / tool, folder / "devtools")
    for name, script in stubs.items():
        write(folder, name, "#!/bin/bash\n" + script)
        (folder / name).chmod(0o755)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("VCMTS_")}
    return subprocess.run(
        [f"devtools/{tool}", *arguments],
        cwd=folder,
        env=inherited | variables | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("seed", ["", "1"])
def test_unit_fails_if_meson_lists_no_tests(seed: str, tmp_path: Path) -> None:
    stubs = {"bin/meson": "echo broken >&2\nexit 1\n"}
    done = run_with_stubs(tmp_path, "unit", "out", stubs=stubs, VCMTS_TEST_SEED=seed)
    assert done.returncode == 1 and "broken" in done.stderr


def test_unit_runs_as_many_tests_at_a_time_as_requested(tmp_path: Path) -> None:
    """In random order, too. A group has only its own tests, though the caller named all."""
    variables = {"VCMTS_TEST_SEED": "1", "VCMTS_TEST_JOBS": "15"}
    (tmp_path / "out").mkdir()
    names = [f"test{number}" for number in range(1, 21)]
    done = run_with_stubs(tmp_path, "unit", "out", *names, stubs={"bin/meson": MESON}, **variables)
    assert done.returncode == 0 and "unit: 20 tests" in done.stdout
    runs = (tmp_path / "runs").read_text().splitlines()
    assert all("--num-processes 15" in line for line in runs)
    groups = [
        [word for word in line.split() if word.startswith("test") and word != "test"]
        for line in runs
    ]
    assert [len(group) for group in groups] == [15, 5]
    assert sorted(groups[0] + groups[1]) == sorted(names) != groups[0] + groups[1]


@pytest.mark.parametrize(
    ("instruction", "found"),
    [
        ("vmovdqu", True),
        ("vmulps", True),
        ("vpxor", True),
        ("shlx", True),
        ("vmcall", False),
        ("verr", False),
        ("movdqu", False),
        ("tzcnt", False),
    ],
)
def test_cpu_test_finds_newer_instructions(instruction: str, found: bool, tmp_path: Path) -> None:
    line = f"    11e9:\\t{instruction} (%rdi),%xmm0\\n"
    stubs = {
        "bin/meson": "",
        "bin/ninja": "",
        "bin/qemu-x86_64": "",
        "bin/objdump": f"printf '%b' '{line}'\n",
        ".venv/bin/python": "",
    }
    done = run_with_stubs(tmp_path, "cpu-test", stubs=stubs)
    assert (done.returncode, instruction in done.stderr) == ((1, True) if found else (0, False))
