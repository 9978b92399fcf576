# SPDX-License-Identifier: BSD-3-Clause
"""Runs vcmtsd and the tool as a user does, and reads what they leave behind."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from e2e import sanitized
from e2e.expected import Expectation, check_flows, check_stats, expect
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, build_directory, program
from vcmts.witness.config import load_config
from vcmts.witness.downstream import Result, decode_downstream
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Capture, Record, read_pcap, write_pcap

SMALL = Path(__file__).with_name("sg-small.yaml")
PAGES = re.compile(r"vcmtsd: fewer than .* huge pages .*\n")
SANITIZER = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|Traceback")


@dataclass(frozen=True)
class Ended:
    status: int
    stdout: str
    stderr: str

    @property
    def messages(self) -> list[str]:
        """Lines on stderr but the one on huge pages, which tells of the machine."""
        return PAGES.sub("", self.stderr).splitlines()


def ended(status: int, stdout: str, stderr: str) -> Ended:
    """A program that ended by itself, and without a word from the sanitizers."""
    assert status >= 0, f"signal {-status}: {stderr}"
    assert not SANITIZER.search(stderr), stderr
    return Ended(status, stdout, stderr)


def refused(ended: Ended, *words: str) -> None:
    """Status 2 and one line that names what is wrong; no output."""
    assert (ended.status, ended.stdout) == (2, "")
    (message,) = ended.messages
    assert all(word in message for word in words), message


def stop(process: "subprocess.Popen[str]") -> None:
    """Ends a program that a test is through with, so that it leaves nothing behind."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()


def run(command: Sequence[str | Path], environment: dict[str, str] | None = None) -> Ended:
    done = subprocess.run(
        command,
        env=environment,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return ended(done.returncode, done.stdout, done.stderr)


def vcmtsd(*arguments: str | Path) -> Ended:
    """Repeated by the program with sanitizers, where there is one and it is a test of replays."""
    files = sanitized.Outputs(arguments)
    done = run([program("vcmtsd"), *arguments])
    if sanitized.REPEATING.wanted(arguments):
        written = files.taken()
        again = run([sanitized.program(), *arguments])
        assert (again.status, again.stdout, again.messages) == (
            done.status,
            done.stdout,
            done.messages,
        )
        assert files.contents() == written, "other bytes under the sanitizers"
    return done


def environment(**more: str) -> dict[str, str]:
    """Of the tool, with the build of the tests."""
    build = str(build_directory().resolve())
    return os.environ | {"PYTHONPATH": str(CHECKOUT / "tools"), "VCMTS_BUILD": build} | more


def vcmts(*arguments: str | Path, before: Sequence[str] = ()) -> Ended:
    """The tool, with the interpreter and the build of the tests; `before` starts it."""
    return run([*before, sys.executable, "-m", "vcmts", *arguments], environment())


def vary(text: str, **values: str) -> str:
    """The configuration with other values behind these keys, each of which it holds once."""
    for key, value in values.items():
        found = re.compile(rf"^( *{key}: ).*$", re.MULTILINE)
        text, count = found.subn(rf"\g<1>{value}", text)
        assert count == 1, f"{key} occurs {count} times"
    return text


@dataclass(frozen=True)
class Replayed:
    """A replay that came to its end, and what the independent decoder makes of it."""

    config: Config
    sent: list[Record]
    ended: Ended
    out_path: Path
    stats_path: Path

    @cached_property
    def out(self) -> Capture:
        return read_pcap(self.out_path)

    @cached_property
    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = json.loads(self.stats_path.read_text())["downstream"]
        return stats

    @cached_property
    def decoded(self) -> Result:
        return decode_downstream(self.out.records, self.config)

    def check(self) -> Expectation:
        """The whole proof: flows, drops and counters as the model tells them."""
        expected = expect(self.sent, self.config)
        check_flows(expected, self.decoded)
        check_stats(expected, self.stats, self.decoded)
        return expected


def replay_files(config: Path, captured: Path, folder: Path) -> tuple[Ended, Path, Path]:
    """Replays a capture; where its output and counters are."""
    out, stats = folder / "out.pcap", folder / "stats.json"
    files = ("--network-in", captured, "--rphy-out", out, "--stats", stats)
    return vcmtsd("replay", "--config", config, *files), out, stats


def replay(
    folder: Path, config_text: str, sent: list[Record], model: Config | None = None
) -> Replayed:
    """Writes configuration and capture, and replays them; they have to be good. `model` saves
    reading a large configuration once more."""
    folder.mkdir(parents=True, exist_ok=True)
    config, captured = folder / "sg.yaml", folder / "in.pcap"
    config.write_text(config_text)
    write_pcap(captured, sent)
    ended, out, stats = replay_files(config, captured, folder)
    assert ended.status == 0, ended.stderr
    assert ended.messages == []
    return Replayed(model or load_config(config), sent, ended, out, stats)
