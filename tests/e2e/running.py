# SPDX-License-Identifier: BSD-3-Clause
"""Runs vcmtsd and the tool (./vcmts) as a user does, and reads their output files."""

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
from e2e.expected import Expectation, check_flows, check_stats, expect_downstream
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, build_directory, program
from vcmts.witness.config import load_config
from vcmts.witness.downstream import Result, decode_downstream
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Capture, Record, read_pcap, write_pcap

SMALL = Path(__file__).with_name("sg-small.yaml")
HUGE_PAGES_WARNING = re.compile(r"vcmtsd: fewer than .* huge pages .*\n")
SANITIZER_REPORT = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|Traceback")


@dataclass(frozen=True)
class Completed:
    status: int
    stdout: str
    stderr: str

    @property
    def messages(self) -> list[str]:
        """Lines of stderr without the warning on huge pages, which depends on the machine."""
        return HUGE_PAGES_WARNING.sub("", self.stderr).splitlines()


def check_completed(status: int, stdout: str, stderr: str) -> Completed:
    """Checks that the program ended without a signal and without a sanitizer report."""
    assert status >= 0, f"signal {-status}: {stderr}"
    assert not SANITIZER_REPORT.search(stderr), stderr
    return Completed(status, stdout, stderr)


def check_refused(completed: Completed, *words: str) -> None:
    """Checks for status 2, no output, and one message that contains all `words`."""
    assert (completed.status, completed.stdout) == (2, "")
    (message,) = completed.messages
    assert all(word in message for word in words), message


def stop_process(process: "subprocess.Popen[str]") -> None:
    """Terminates the process if it still runs, by SIGKILL after TIMEOUT."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()


def run(command: Sequence[str | Path], environment: dict[str, str] | None = None) -> Completed:
    done = subprocess.run(
        command,
        env=environment,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return check_completed(done.returncode, done.stdout, done.stderr)


def vcmtsd(*arguments: str | Path) -> Completed:
    """Runs vcmtsd, and replays once more with sanitizers where sanitized.py requires it."""
    files = sanitized.Outputs(arguments)
    done = run([program("vcmtsd"), *arguments])
    if sanitized.SANITIZED_REPLAYS.applies_to(arguments):
        written = files.collect()
        repeated = run([sanitized.program(), *arguments])
        assert (repeated.status, sanitized.without_version(repeated.stdout), repeated.messages) == (
            done.status,
            sanitized.without_version(done.stdout),
            done.messages,
        )
        assert files.contents() == written, "the replay under the sanitizers wrote other files"
    return done


def environment(**more: str) -> dict[str, str]:
    """Environment in which the tool uses the build folder of the tests."""
    build = str(build_directory().resolve())
    return os.environ | {"PYTHONPATH": str(CHECKOUT / "tools"), "VCMTS_BUILD": build} | more


def vcmts(*arguments: str | Path, before: Sequence[str] = ()) -> Completed:
    """Runs the tool with the interpreter of the tests. `before`: a command that starts it."""
    return run([*before, sys.executable, "-m", "vcmts", *arguments], environment())


def replace_values(text: str, **values: str) -> str:
    """The configuration `text` with other values of these keys. Each key must occur once."""
    for key, value in values.items():
        pattern = re.compile(rf"^( *{key}: ).*$", re.MULTILINE)
        text, count = pattern.subn(rf"\g<1>{value}", text)
        assert count == 1, f"key {key} occurs {count} times, allowed: once"
    return text


@dataclass(frozen=True)
class DownstreamReplay:
    """A completed downstream replay: its files, and the result of the independent decoder."""

    config: Config
    sent: list[Record]
    completed: Completed
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
        """Checks flows, drops and counters against the model. Returns what the model expects."""
        expected = expect_downstream(self.sent, self.config)
        check_flows(expected, self.decoded)
        check_stats(expected, self.stats, self.decoded)
        return expected


def replay_files(config: Path, capture: Path, folder: Path) -> tuple[Completed, Path, Path]:
    """Replays a downstream capture. Returns the result, the path of the output, and of counters."""
    out, stats = folder / "out.pcap", folder / "stats.json"
    files = ("--network-in", capture, "--rphy-out", out, "--json", stats)
    return vcmtsd("replay", "--config", config, *files), out, stats


def replay(
    folder: Path, config_text: str, sent: list[Record], model: Config | None = None
) -> DownstreamReplay:
    """Writes configuration and capture, and replays them, which must succeed. `model`: the parsed
    configuration, if the caller has it."""
    folder.mkdir(parents=True, exist_ok=True)
    config, capture = folder / "sg.yaml", folder / "in.pcap"
    config.write_text(config_text)
    write_pcap(capture, sent)
    completed, out, stats = replay_files(config, capture, folder)
    assert completed.status == 0, completed.stderr
    assert completed.messages == []
    return DownstreamReplay(model or load_config(config), sent, completed, out, stats)
