# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/test and test-under-load with a stub of make: steps, verdicts, leftovers."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

# Stub of make, which runs `actions` as each step, with $TMPDIR and others from devtools/test.
MAKE = """#!/bin/sh
goal=$2
echo "made $goal, patience ${{VCMTS_TEST_PATIENCE:-1}}, seed ${{VCMTS_TEST_SEED:-none}}"
{actions}
"""
LEAVES = {
    "a file": 'touch "$TMPDIR/file"',
    "a file in memory": 'touch "${VCMTS_TEST_MEMORY:-$TMPDIR}/file"',
    "a folder of DPDK": 'mkdir -p "$RUNTIME_DIRECTORY/dpdk/unit-test-1"',
    "what pytest did not remove": 'mkdir "$TMPDIR/pytest-of-x"; touch "$TMPDIR/pytest-of-x/core"',
    "a process": "sleep 3600 >/dev/null 2>&1 &",
    "a file in the checkout": "touch new-file",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("/bin/\n/devtools/\n/build-load/\n")
    (tmp_path / "devtools").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("test", "test-under-load"):
        shutil.copy(CHECKOUT / "devtools" / name, tmp_path / "devtools")
    return tmp_path


def run_tool(
    checkout: Path, tool: str, *arguments: str, actions: str = ""
) -> subprocess.CompletedProcess[str]:
    make = checkout / "bin" / "make"
    make.write_text(MAKE.format(actions=actions))
    make.chmod(0o755)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("VCMTS_", "FUZZ_"))}
    return subprocess.run(
        [checkout / "devtools" / tool, *arguments],
        cwd=checkout,
        env=inherited | {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_steps_are_named_and_timed(checkout: Path) -> None:
    done = run_tool(checkout, "test")
    assert done.returncode == 0, done.stdout + done.stderr
    goals = re.findall("^made (.*), patience 1, seed none$", done.stdout, re.MULTILINE)
    assert goals == ["test-build", "unsanitized", "pytest", "sanitize", "fuzz"]
    for number, name in enumerate(["build", *goals[1:]], 1):
        assert f"\n[{number}/5] {name}: " in done.stdout
        assert re.search(rf"^{name} +ok +\d+ s$", done.stdout, re.MULTILINE)
    assert re.search(r"^all +ok +\d+ s\n\Z", done.stdout, re.MULTILINE)


def test_failed_step_does_not_stop_others(checkout: Path) -> None:
    done = run_tool(checkout, "test", "unsanitized", "pytest", actions="[ $goal != unsanitized ]")
    assert done.returncode == 1
    assert "[1/2] unsanitized: FAILED in " in done.stdout and "[2/2] pytest: ok in " in done.stdout
    assert re.search(r"^all +FAILED", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("left", LEAVES.values(), ids=list(LEAVES))
def test_leftovers_fail_the_step(left: str, checkout: Path) -> None:
    done = run_tool(checkout, "test", "unsanitized", actions=left)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "left behind by unsanitized:\n" in done.stdout
    assert "[1/1] unsanitized: FAILED in " in done.stdout


@pytest.mark.parametrize(
    "left",
    ['touch "$TMPDIR/left"', "[ $goal != unsanitized ] || sleep 3600 >/dev/null 2>&1 &"],
    ids=["a file", "a process"],
)
def test_leftovers_fail_only_their_step(left: str, checkout: Path) -> None:
    done = run_tool(checkout, "test", "unsanitized", "pytest", actions=left)
    assert "[1/2] unsanitized: FAILED in " in done.stdout and "[2/2] pytest: ok in " in done.stdout


def test_own_temporary_folder_is_removed(checkout: Path) -> None:
    done = run_tool(checkout, "test", "unsanitized", actions='echo "folder $TMPDIR"')
    [folder] = re.findall("^folder (.*)$", done.stdout, re.MULTILINE)
    assert done.returncode == 0 and not Path(folder).parent.exists()


def test_search_for_processes_ignores_itself(checkout: Path) -> None:
    """A program of the search may still run after it printed its result."""
    (checkout / "bin" / "grep").write_text('#!/bin/sh\n/usr/bin/grep "$@"\nexec >&-\nsleep 1\n')
    (checkout / "bin" / "grep").chmod(0o755)
    done = run_tool(checkout, "test", "unsanitized")
    assert done.returncode == 0, done.stdout + done.stderr


def test_unknown_step_is_refused(checkout: Path) -> None:
    done = run_tool(checkout, "test", "unsanitized", "nonsense")
    assert done.returncode == 2 and "build unsanitized pytest sanitize fuzz" in done.stderr
    done = run_tool(checkout, "test-under-load", "nonsense")
    assert done.returncode == 2 and "found nonsense, allowed: unsanitized, pytest" in done.stderr


def test_conditions_under_load_have_verdicts(checkout: Path) -> None:
    fails = "echo '1/2 openvcmts:unit / clock    FAIL   1.0s'; [ ${VCMTS_TEST_SEED:-0} = 0 ]"
    arguments = ("unsanitized", "--seed", "7", "--condition", "busy", "--condition", "order")
    done = run_tool(checkout, "test-under-load", *arguments, actions=fails)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^busy +ok +\d+ s +4 busy processes$", done.stdout, re.MULTILINE)
    verdict = r"^order +FAILED +\d+ s +\d+ at a time, VCMTS_TEST_SEED=7\n +1/2 openvcmts.* FAIL "
    assert re.search(verdict, done.stdout, re.MULTILINE)
    log = (checkout / "build-load" / "order.log").read_text()
    assert "made unsanitized, patience 4, seed 7" in log
