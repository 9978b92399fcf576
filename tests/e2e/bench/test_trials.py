# SPDX-License-Identifier: BSD-3-Clause
"""Trials on request, by a JSON line each: answers are exact, without packets of other trials."""

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

from e2e.machine import check_balance, waited_for_all
from e2e.ports import memifs, serve
from e2e.running import SANITIZER_REPORT, run, stop_process, vcmts
from patience import TIMEOUT, until
from vcmts.paths import program
from vcmts.telemetry.plane import plane as connect_plane

CPUS = sorted(os.sched_getaffinity(0))
PROFILE = "6ofdm-0sc-qam_4cms_aes"
LOW = {"seconds": 0.2, "rate": 40e6, "upstream_rate": 10e6}
TRANSPORTS = ("rings", "ports")
MAX_STREAMS = 40  # of the profile
Json = dict[str, Any]


@cache
def config_yaml() -> str:
    profile = vcmts("profile", PROFILE)
    assert profile.status == 0, profile.stderr
    config = yaml.safe_load(profile.stdout)
    plane, other = CPUS[-1], CPUS[0]
    config["threads"] = {"downstream": "1ds1t", "main_core": other, "lower_mac_core": other}
    config["threads"] |= {"upper_mac_core": plane, "upstream_core": plane}
    text: str = yaml.safe_dump(config)
    return text


@pytest.fixture
def config(tmp_path: Path) -> Path:
    if len(CPUS) < 2:
        pytest.skip("two threads poll")
    path = tmp_path / "sg.yaml"
    path.write_text(config_yaml())
    return path


class Trials:
    """A program that runs a trial per request line, and answers with a line."""

    def __init__(self, process: "subprocess.Popen[str]", plane: int | None) -> None:
        self.process = process
        self.plane = plane  # PID of vcmtsd, if it is another process
        self.ready = self.read()

    def read(self) -> Json:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the program ended without an answer"
        answer: Json = json.loads(line)
        return answer

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def has_read_request(self) -> bool:
        assert self.process.stdin is not None
        unread = fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4))
        return struct.unpack("i", unread) == (0,)

    def run_trial(self, **request: object) -> Json:
        self.write(json.dumps(request))
        answer = self.read()
        if "error" not in answer:
            assert answer["trial"] == request
            if self.plane is not None:
                answer["workers"] = self.workers()
            check_answer(answer)
        return answer

    def workers(self) -> list[Json]:
        """Longest gaps of vcmtsd's workers since the last call, in the format of an answer."""
        with connect_plane(self.plane) as client:
            workers = client.workers(anew=True)
        return [{"descheduled": {"longest_us": one["longest_since_ns"] / 1e3}} for one in workers]

    def end(self) -> int:
        """Closes the input. Returns the exit status; no more output may follow."""
        stdout, _ = self.process.communicate(timeout=TIMEOUT)
        assert stdout == ""
        return self.process.returncode


@contextmanager
def start_trials(transport: str, config: Path) -> Iterator[Trials]:
    command = [str(program("vcmts-bench-throughput")), "--config", str(config)]
    messages = config.with_suffix(".stderr")
    with ExitStack() as stack:
        plane = None
        if transport == "ports":
            ports = memifs(config.parent, "server")
            served = stack.enter_context(serve("--config", config, *ports))
            plane = served.process.pid
            command = [str(program("vcmts-traffic")), "--config", str(config), "--trials"]
            command += memifs(config.parent, "client")
            command += ["--core", str(CPUS[0]), "--main-core", str(CPUS[0])]
        stderr = stack.enter_context(messages.open("w"))
        pipe = subprocess.PIPE
        process = stack.enter_context(
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, text=True)
        )
        stack.callback(stop_process, process)
        yield Trials(process, plane)
    assert not SANITIZER_REPORT.search(messages.read_text())


def check_answer(answer: Json) -> None:
    for direction, rate in (("downstream", "rate"), ("upstream", "upstream_rate")):
        asked = answer["trial"].get(rate, 0)
        assert (direction in answer) == (asked != 0)
        if direction not in answer:
            continue
        counts = answer[direction]
        received = counts["proven"] + counts.get("counted", 0)
        assert counts["sent"] == received + counts["lost"] + counts["corrupted"] > 0
        assert counts["corrupted"] == counts["duplicated"] == 0
        assert counts["asked_gbps"] == (None if asked == "max" else pytest.approx(asked / 1e9))
    assert answer["traffic"]["busy_cycles_per_packet"] > 0
    assert 0 < answer["traffic"]["busy_share"] <= 1


def check_losses(answer: Json) -> None:
    """Checks that only gaps caused losses, and that no packet of another trial arrived."""
    check_balance(answer)
    for direction in ("downstream", "upstream"):
        if direction in answer:
            late = answer[direction]["unexpected"].pop("too_old")
            assert late <= answer[direction]["lost"]
            assert not any(answer[direction]["unexpected"].values()) or not waited_for_all(answer)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.run
def test_answers_match_requests(transport: str, config: Path) -> None:
    with start_trials(transport, config) as trials:
        assert trials.ready["ready"] is True and trials.ready["transport"] == transport
        assert trials.ready["host"]["tsc_hz"] > 1e8
        both = trials.run_trial(**LOW, mix="256")
        check_losses(both)
        assert both["downstream"]["sent_bytes"] == 256 * both["downstream"]["sent"]
        assert both["downstream"]["sent_bytes"] <= 1.02 * 40e6 / 8 * 0.2 + 2048
        assert both["downstream"]["latency_us"]["max"] > 0
        assert both["downstream"]["counted"] == 0
        up = trials.run_trial(seconds=0.1, upstream_rate=10e6, upstream_mix="1280", latency=False)
        check_losses(up)
        assert up["upstream"]["sent_bytes"] == 1280 * up["upstream"]["sent"]
        assert up["upstream"]["latency_us"] is None
        down = trials.run_trial(seconds=0.2, rate=40e6, mix="84", prove=0.125)
        check_losses(down)
        counts = down["downstream"]
        assert counts["counted_bytes"] == 84 * counts["counted"]
        # 1/8 of the packets is proven, and the first packets of each stream
        assert counts["sent"] / 8 - MAX_STREAMS <= counts["proven"] + counts["lost"]
        assert counts["proven"] <= counts["sent"] / 8 + 2 * MAX_STREAMS
        check_losses(trials.run_trial(**LOW))
        if transport == "rings":
            assert [worker["name"] for worker in both["workers"]] == [
                "upper and lower MAC, upstream"
            ]
            assert 0 < both["workers"][0]["busy_share"] <= 1
            assert set(both["workers"][0]["descheduled"]) == {"count", "longest_us"}
            assert down["drops"] == {"downstream": {}, "upstream": {}}
        assert trials.end() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_signal_ends_trial(transport: str, config: Path) -> None:
    with start_trials(transport, config) as trials:
        check_losses(trials.run_trial(**LOW))
        trials.write(json.dumps(LOW | {"seconds": 3600}))
        until(trials.has_read_request, "the request is read")
        trials.process.send_signal(signal.SIGINT)
        assert trials.read() == {"error": "a signal ended the trial"}
        assert trials.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_idle_program(number: signal.Signals, config: Path) -> None:
    with start_trials("rings", config) as trials:
        trials.process.send_signal(number)
        assert trials.process.wait(TIMEOUT) == 0


def test_unusable_cores_and_depth_are_rejected(config: Path) -> None:
    command: list[str | Path] = [program("vcmts-bench-throughput"), "--config", config]
    alone = run(["taskset", "-c", str(CPUS[-1]), *command])
    assert alone.status == 2 and alone.stdout == ""
    assert "found 1 core, needed: 2" in alone.messages[0] and len(alone.messages) == 1
    same_core = run([*command, "--core", str(CPUS[-1])])
    assert same_core.status == 2 and "--core: not free; needed: a core" in same_core.messages[0]
    deep = run([*command, "--depth", "8192"])
    assert deep.status == 2 and "found 8192, allowed: up to 4096" in deep.messages[0]
