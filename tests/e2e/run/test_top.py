# SPDX-License-Identifier: BSD-3-Clause
"""vcmts top beside a run: what it says while traffic goes, and when the run ends."""

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.run.test_tool_run import command, run_words
from e2e.running import environment, vcmts
from patience import TIMEOUT, until
from python.control.test_top_live import terminal
from vcmts.control.place import of_process

TOLD = re.compile(r"vcmts: `\./vcmts top --pid (\d+)` in another terminal")


def moves(figures: dict[str, Any]) -> bool:
    ways = [way for group in figures["groups"] for way in group["directions"].values()]
    return len(ways) == 4 and all(way["in_packets"] and way["cycles"] for way in ways)


def told_while_it_runs(pid: str) -> None:
    asked = ("top", "--pid", pid, "--interval", "0.2")

    found: dict[str, Any] = {}

    def all_moves() -> bool:
        done = vcmts(*asked, "--json")
        assert done.status == 0, done.stderr
        found.update(json.loads(done.stdout))
        return moves(found)

    until(all_moves, "packets in both groups, both ways")
    assert [group["id"] for group in found["groups"]] == ["1", "2"]
    assert all(worker["busy"] is not None for worker in found["workers"]) and found["workers"]
    group = found["groups"][1]
    assert group["modems"] == 20 and group["channels"] and group["priorities"]
    names = [stage["name"] for stage in group["directions"]["downstream"]["stages"]]
    assert names[0] == "receive" and names[-1] == "transmit" and "encrypt_submit" in names
    done = vcmts(*asked, "--once", "--group", "2")
    assert done.status == 0 and "encrypt_collect" in done.stdout, done.stderr


@pytest.mark.run
def test_top_beside_a_run(folder: Path) -> None:
    words = command(*run_words(folder, "--groups", "2", "--duration", "1h", rate="20Mbps"))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, env=environment(TMPDIR=str(folder)), stderr=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stderr is not None
        found = next(match for line in process.stderr if (match := TOLD.match(line)))
        told_while_it_runs(found[1])
        path = of_process(int(found[1]))
        with terminal(str(path)) as seen:
            seen.sees(f"vcmtsd {found[1]}  up")
            seen.press("\r")
            seen.sees("service group 1")
            seen.press("\r")
            seen.sees("20, downstream")
            seen.press("\x1b[B\r")
            seen.sees("SFID")
            seen.press("\x1b")
            seen.sees("20, downstream")
            process.send_signal(signal.SIGINT)
            assert seen.end() == 1
            assert "vcmts: vcmtsd has ended" in seen.heard
        process.communicate(timeout=TIMEOUT)
    assert (folder / "summary.json").exists()
