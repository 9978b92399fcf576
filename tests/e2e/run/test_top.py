# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts top` during a `vcmts run`: figures while traffic runs, screens, and the end of the run."""

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.run.test_tool_run import run_args, tool_command
from e2e.running import environment, vcmts
from patience import TIMEOUT, until
from python.control.test_top_live import terminal
from vcmts.control.sockets import process_socket

TOP_MESSAGE = re.compile(r"vcmts: `\./vcmts top --pid (\d+)` in another terminal")


def has_traffic(figures: dict[str, Any]) -> bool:
    ways = [way for group in figures["groups"] for way in group["directions"].values()]
    return len(ways) == 4 and all(way["in_packets"] and way["cycles"] for way in ways)


def check_figures(pid: str) -> None:
    arguments = ("top", "--pid", pid, "--interval", "0.2")

    figures: dict[str, Any] = {}

    def all_have_traffic() -> bool:
        done = vcmts(*arguments, "--json")
        assert done.status == 0, done.stderr
        figures.update(json.loads(done.stdout))
        return has_traffic(figures)

    until(all_have_traffic, "packets in both groups and directions")
    assert [group["id"] for group in figures["groups"]] == ["1", "2"]
    assert all(worker["busy"] is not None for worker in figures["workers"]) and figures["workers"]
    group = figures["groups"][1]
    assert group["modems"] == 20 and group["channels"] and group["priorities"]
    names = [stage["name"] for stage in group["directions"]["downstream"]["stages"]]
    assert names[0] == "receive" and names[-1] == "transmit" and "encrypt_submit" in names
    done = vcmts(*arguments, "--once", "--group", "2")
    assert done.status == 0 and "encrypt_collect" in done.stdout, done.stderr


@pytest.mark.run
def test_top_shows_run_until_its_end(folder: Path) -> None:
    args = tool_command(*run_args(folder, "--groups", "2", "--duration", "1h", rate="20Mbps"))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        args, env=environment(TMPDIR=str(folder)), stderr=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stderr is not None
        match = next(match for line in process.stderr if (match := TOP_MESSAGE.match(line)))
        check_figures(match[1])
        path = process_socket(int(match[1]))
        with terminal(str(path)) as screen:
            screen.wait_for(f"vcmtsd {match[1]}  up")
            screen.press("\r")
            screen.wait_for("service group 1")
            screen.press("\r")
            screen.wait_for("20, downstream")
            screen.press("\x1b[B\r")
            screen.wait_for("SFID")
            screen.press("\x1b")
            screen.wait_for("20, downstream")
            process.send_signal(signal.SIGINT)
            assert screen.wait() == 1
            assert "vcmts: vcmtsd ended" in screen.output
        process.communicate(timeout=TIMEOUT)
    assert (folder / "summary.json").exists()
