# SPDX-License-Identifier: BSD-3-Clause
"""Runs whose output has no reader any more, stopped runs, and runs that share cores."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.machine import run_passed
from e2e.run.test_tool_run import PROFILE, run_args, tool_command
from e2e.running import environment
from patience import TIMEOUT, until


def run_into(folder: Path, out: int, error: int) -> int:
    command = tool_command(*run_args(folder, "--duration", "300ms", rate="10Mbps"))
    variables = environment(TMPDIR=str(folder))
    variables.pop("PYTHONUNBUFFERED", None)
    done = subprocess.run(
        command, env=variables, stdout=out, stderr=error, timeout=TIMEOUT, check=False
    )
    return done.returncode


@pytest.mark.run
@pytest.mark.parametrize("closed", ["stdout", "both"])
def test_closed_pipe_keeps_status_and_results(closed: str, folder: Path) -> None:
    """As after `| head -1`. The programs below the tool write to the same pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        status = run_into(folder, writer, writer if closed == "both" else subprocess.DEVNULL)
    finally:
        os.close(writer)
    summary = json.loads((folder / "summary.json").read_text())
    assert status == (0 if run_passed(summary) else 1)


@pytest.mark.run
def test_stopped_run_names_the_reason(folder: Path) -> None:
    command = tool_command(*run_args(folder, "--duration", "1h", rate="10Mbps"))
    with subprocess.Popen(
        command,
        env=environment(TMPDIR=str(folder)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines: list[str] = []
        until(lambda: "proven" in read_line(process, lines), "the first packets")
        process.send_signal(signal.SIGINT)
        lines += process.stderr.readlines()
    assert "vcmts: stopped by Ctrl-C\n" in lines
    summary = json.loads((folder / "summary.json").read_text())
    assert process.returncode == (0 if run_passed(summary) else 1)


@pytest.mark.run
def test_runs_on_the_same_cores_name_each_other(folder: Path) -> None:
    """Both may use two cores only. The second one ends first."""
    allowed = sorted(os.sched_getaffinity(0))[:2]
    before = os.sched_getaffinity(0)
    long, short = (
        tool_command("run", "--profile", PROFILE, "--rate", "5Mbps", "--duration", seconds)
        for seconds in ("1h", "300ms")
    )
    os.sched_setaffinity(0, allowed)
    try:
        first = subprocess.Popen(
            long,
            env=environment(TMPDIR=str(folder)),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        with first:
            lines: list[str] = []
            until(lambda: "proven" in read_line(first, lines), "the first packets")
            with subprocess.Popen(
                short,
                env=environment(TMPDIR=str(folder)),
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            ) as second:
                _, messages = second.communicate(timeout=TIMEOUT)
            first.send_signal(signal.SIGINT)
            assert first.stderr is not None
            ended = first.stderr.read()
    finally:
        os.sched_setaffinity(0, before)
    shared = rf"core \d+ is shared with .*`vcmts run` \(process {first.pid}\)"
    assert re.search(shared, messages), messages
    got = rf"got [\d% a-z]+ of core \d+, shared with .*\(process {second.pid}\)"
    assert re.search(got, ended), ended


def read_line(process: "subprocess.Popen[str]", lines: list[str]) -> str:
    assert process.stderr is not None
    lines.append(process.stderr.readline())
    return lines[-1]
