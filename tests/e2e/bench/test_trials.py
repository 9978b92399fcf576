# SPDX-License-Identifier: BSD-3-Clause
"""Trials on request, in one process and in two: answers are exact, and of their own trial alone."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.machine import check_accounts, heard_out
from e2e.ports import memif, serve
from e2e.running import SANITIZER, run, stop, vcmts
from patience import TIMEOUT, until
from vcmts.paths import program
from vcmts.telemetry.plane import plane as connected

CPUS = sorted(os.sched_getaffinity(0))
PROFILE = "6ofdm-0sc-qam_4cms_aes"
LOW = {"seconds": 0.2, "rate": 40e6, "upstream_rate": 10e6}
WAYS = ("rings", "ports")
STREAMS = 40  # of the profile, at most
Json = dict[str, Any]


@cache
def group() -> str:
    written = vcmts("profile", PROFILE)
    assert written.status == 0, written.stderr
    group = yaml.safe_load(written.stdout)
    plane, other = CPUS[-1], CPUS[0]
    group["threads"] = {"downstream": "1ds1t", "main_core": other, "lower_mac_core": other}
    group["threads"] |= {"upper_mac_core": plane, "upstream_core": plane}
    text: str = yaml.safe_dump(group)
    return text


@pytest.fixture
def config(tmp_path: Path) -> Path:
    if len(CPUS) < 2:
        pytest.skip("two threads poll")
    path = tmp_path / "sg.yaml"
    path.write_text(group())
    return path


class Trials:
    """A program that answers requests, a line each."""

    def __init__(self, process: "subprocess.Popen[str]", plane: int | None) -> None:
        self.process = process
        self.plane = plane  # the vcmtsd beside it
        self.ready = self.read()

    def read(self) -> Json:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "ended without an answer"
        answer: Json = json.loads(line)
        return answer

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def begun(self) -> bool:
        """Whether the program has read what was written to it."""
        assert self.process.stdin is not None
        left = fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4))
        return struct.unpack("i", left) == (0,)

    def ask(self, **request: object) -> Json:
        self.write(json.dumps(request))
        answer = self.read()
        if "error" not in answer:
            assert answer["trial"] == request
            if self.plane is not None:
                answer["workers"] = self.workers()
            check_sums(answer)
        return answer

    def workers(self) -> list[Json]:
        """Of the data plane beside it, since they were asked before; as it tells of its own."""
        with connected(self.plane) as asked:
            told = asked.workers(anew=True)
        return [{"descheduled": {"longest_us": one["longest_since_ns"] / 1e3}} for one in told]

    def end(self) -> int:
        """What follows the last request, which is nothing, and the exit status."""
        stdout, _ = self.process.communicate(timeout=TIMEOUT)
        assert stdout == ""
        return self.process.returncode


@contextmanager
def started(way: str, config: Path) -> Iterator[Trials]:
    command = [str(program("vcmts-bench-throughput")), "--config", str(config)]
    messages = config.with_suffix(".stderr")
    with ExitStack() as stack:
        plane = None
        if way == "ports":
            ports = memif(config.parent, "server")
            served = stack.enter_context(serve("--config", config, *ports))
            plane = served.process.pid
            command = [str(program("vcmts-traffic")), "--config", str(config), "--trials"]
            command += memif(config.parent, "client")
            command += ["--core", str(CPUS[0]), "--main-core", str(CPUS[0])]
        stderr = stack.enter_context(messages.open("w"))
        pipe = subprocess.PIPE
        process = stack.enter_context(
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, text=True)
        )
        stack.callback(stop, process)
        yield Trials(process, plane)
    assert not SANITIZER.search(messages.read_text())


def check_sums(answer: Json) -> None:
    for way, rate in (("downstream", "rate"), ("upstream", "upstream_rate")):
        asked = answer["trial"].get(rate, 0)
        assert (way in answer) == (asked != 0)
        if way not in answer:
            continue
        told = answer[way]
        came = told["proven"] + told.get("counted", 0)
        assert told["sent"] == came + told["lost"] + told["corrupted"] > 0
        assert told["corrupted"] == told["duplicated"] == 0
        assert told["asked_gbps"] == (None if asked == "max" else pytest.approx(asked / 1e9))
    assert answer["traffic"]["busy_cycles_per_packet"] > 0
    assert 0 < answer["traffic"]["busy_share"] <= 1


def check_nothing_lost(answer: Json) -> None:
    """But what the machine cost; and nothing of an earlier trial."""
    check_accounts(answer)
    for way in ("downstream", "upstream"):
        if way in answer:
            late = answer[way]["unexpected"].pop("too_old")
            assert late <= answer[way]["lost"]
            assert not any(answer[way]["unexpected"].values()) or not heard_out(answer)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.run
def test_answers(way: str, config: Path) -> None:
    with started(way, config) as trials:
        assert trials.ready["ready"] is True and trials.ready["transport"] == way
        assert trials.ready["host"]["tsc_hz"] > 1e8
        both = trials.ask(**LOW, mix="256")
        check_nothing_lost(both)
        assert both["downstream"]["sent_bytes"] == 256 * both["downstream"]["sent"]
        assert both["downstream"]["sent_bytes"] <= 1.02 * 40e6 / 8 * 0.2 + 2048
        assert both["downstream"]["latency_us"]["max"] > 0
        assert both["downstream"]["counted"] == 0
        up = trials.ask(seconds=0.1, upstream_rate=10e6, upstream_mix="1280", latency=False)
        check_nothing_lost(up)
        assert up["upstream"]["sent_bytes"] == 1280 * up["upstream"]["sent"]
        assert up["upstream"]["latency_us"] is None
        down = trials.ask(seconds=0.2, rate=40e6, mix="84", prove=0.125)
        check_nothing_lost(down)
        told = down["downstream"]
        assert told["counted_bytes"] == 84 * told["counted"]
        # Every eighth number, and the first packets of each of the few streams.
        assert told["sent"] / 8 - STREAMS <= told["proven"] + told["lost"]
        assert told["proven"] <= told["sent"] / 8 + 2 * STREAMS
        check_nothing_lost(trials.ask(**LOW))
        if way == "rings":
            assert [worker["name"] for worker in both["workers"]] == [
                "upper and lower MAC, upstream"
            ]
            assert 0 < both["workers"][0]["busy_share"] <= 1
            assert set(both["workers"][0]["descheduled"]) == {"count", "longest_us"}
            assert down["drops"] == {"downstream": {}, "upstream": {}}
        assert trials.end() == 0


@pytest.mark.parametrize("way", WAYS)
def test_signal_in_a_trial(way: str, config: Path) -> None:
    with started(way, config) as trials:
        check_nothing_lost(trials.ask(**LOW))
        trials.write(json.dumps(LOW | {"seconds": 3600}))
        until(trials.begun, "the request is read")
        trials.process.send_signal(signal.SIGINT)
        assert trials.read() == {"error": "a signal ended the trial"}
        assert trials.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_between_trials(number: signal.Signals, config: Path) -> None:
    with started("rings", config) as trials:
        trials.process.send_signal(number)
        assert trials.process.wait(TIMEOUT) == 0


def test_too_few_cores(config: Path) -> None:
    command: list[str | Path] = [program("vcmts-bench-throughput"), "--config", config]
    alone = run(["taskset", "-c", str(CPUS[-1]), *command])
    assert alone.status == 2 and alone.stdout == ""
    assert "found 1 core, allowed: 2 and more" in alone.messages[0] and len(alone.messages) == 1
    taken = run([*command, "--core", str(CPUS[-1])])
    assert taken.status == 2 and "--core: allowed: a core" in taken.messages[0]
    deep = run([*command, "--depth", "8192"])
    assert deep.status == 2 and "found 8192, allowed: up to 4096" in deep.messages[0]
