# SPDX-License-Identifier: BSD-3-Clause
"""Tests the limits of a test of mutants: CPU time, wall time and exit status."""

from pathlib import Path

import pytest

from mutation.trial import run_command


def test_looping_test_is_stopped_by_processor_time(tmp_path: Path) -> None:
    ended = run_command(["sh", "-c", "while :; do :; done"], tmp_path, {}, 1, 300)
    assert (ended.good, ended.late) == (False, True)


def test_looping_child_exceeds_the_limit_of_its_test(tmp_path: Path) -> None:
    """The limit of CPU time stops the child only, so that the test may end with another status."""
    script = "sh -c 'while :; do :; done'; exit 1"
    ended = run_command(["sh", "-c", script], tmp_path, {"PATH": "/bin"}, 0.5, 30)
    assert (ended.good, ended.late) == (False, True)
    ended = run_command(["sh", "-c", "exit 1"], tmp_path, {"PATH": "/bin"}, 0.5, 30)
    assert (ended.good, ended.late) == (False, False)


def test_sleeping_test_is_stopped_by_wall_time(tmp_path: Path) -> None:
    ended = run_command(["sleep", "300"], tmp_path, {}, 100, 0.1)
    assert (ended.good, ended.late) == (False, True)


@pytest.mark.parametrize(("status", "good"), [(0, True), (77, True), (1, False), (255, False)])
def test_exit_status_of_a_test(status: int, good: bool, tmp_path: Path) -> None:
    ended = run_command(["sh", "-c", f"exit {status}"], tmp_path, {}, 10, 300)
    assert (ended.good, ended.late) == (good, False)
