# SPDX-License-Identifier: BSD-3-Clause
"""vcmts-bench --requests: a run per JSON line. And `vcmts bench goals`, which uses it."""

import json
import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.running import vcmts
from patience import TIMEOUT
from vcmts import results
from vcmts.paths import program

Json = dict[str, Any]

PROFILE = "2ofdm-0sc-qam_20cms_aes"
SHORT: Json = {"seconds": 0.02, "direction": "downstream", "mix": "imix"}
LONGER = SHORT | {"seconds": 0.5}  # for two cores, one of which may be descheduled


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration of PROFILE. Tests do not change it."""
    path = tmp_path_factory.mktemp("requests") / "sg.yaml"
    path.write_text(vcmts("profile", PROFILE).stdout, encoding="utf-8")
    return path


def core_option() -> list[str]:
    return ["--core", str(max(os.sched_getaffinity(0)))]


def ask(config: Path, *lines: str, options: Sequence[str] = ()) -> tuple[Json, list[Json]]:
    """Runs vcmts-bench with these request lines. Returns its first line, and the answers."""
    command = [str(program("vcmts-bench")), "--config", str(config), "--requests"]
    done = subprocess.run(
        [*command, *(options or core_option())],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ready, *answers = map(json.loads, done.stdout.splitlines())
    return ready, answers


def test_each_line_makes_one_run(config: Path) -> None:
    requests = [SHORT, SHORT | {"direction": "upstream", "mix": "upstream-imix"}]
    ready, answers = ask(config, *map(json.dumps, requests))
    assert (ready["ready"], ready["configuration"]) == (True, PROFILE)
    assert ready["memory"]["total"] > 0 and ready["host"]["tsc_hz"] > 0
    assert [answer["trial"] for answer in answers] == requests
    for answer, request in zip(answers, requests, strict=True):
        result = answer["result"]
        assert (result["direction"], result["mix"]) == (request["direction"], request["mix"])
        assert result["runs"] == 1 and result["values"] == [result["cycles_per_packet"]]
        assert sum(result["stages"].values()) == pytest.approx(result["cycles_per_packet"])
        assert answer["end_us"] > answer["begin_us"]
        assert answer["core_hz"] > 0
    assert answers[1]["begin_us"] > answers[0]["end_us"]


def test_run_begins_at_requested_time(config: Path) -> None:
    due = round((time.monotonic() + 1.5) * 1e6)
    _, (late, at_once) = ask(
        config, json.dumps(SHORT | {"begin_us": due}), json.dumps(SHORT | {"begin_us": due})
    )
    assert late["begin_us"] >= due
    assert at_once["begin_us"] > late["end_us"]


INVALID = [
    ("7", "no request"),
    ("{}", "no request"),
    (json.dumps(SHORT | {"colour": 1}), "colour"),
    (json.dumps(SHORT | {"seconds": 0.001}), "seconds: found 0.001, allowed: 0.01 to 600"),
    (json.dumps(SHORT | {"seconds": "long"}), "no request"),
    (json.dumps(SHORT | {"direction": "up"}), "allowed: downstream, upstream"),
    (json.dumps(SHORT | {"mix": "9"}), 'mix: found "9"'),
    ('{"seconds": 1, "seconds": 1}', "no request"),
    (json.dumps(SHORT | {"mix": "x" + 45 * "é"}, ensure_ascii=False), 'mix: found "x???'),
    (json.dumps(SHORT | {100 * "é": 1}, ensure_ascii=False), "no request"),
    ("x" * 70000, "a line of more than 65536 bytes"),
]


def test_invalid_requests_are_rejected(config: Path) -> None:
    """After an error, the next request is executed."""
    valid = json.dumps(SHORT)
    _, answers = ask(config, *(line for invalid, _ in INVALID for line in (invalid, valid)))
    assert len(answers) == 2 * len(INVALID)
    for (line, message), refused, made in zip(INVALID, answers[::2], answers[1::2], strict=True):
        assert message in refused["error"] and "\n" not in refused["error"], line[:80]
        assert made["trial"] == SHORT, line[:80]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_two_threads_run_downstream_only(config: Path) -> None:
    upstream = SHORT | {"direction": "upstream", "mix": "upstream-imix"}
    requests = [json.dumps(request) for request in (LONGER, upstream, LONGER)]
    _, (first, refused, second) = ask(config, *requests, options=("--threads", "2"))
    assert refused["error"] == "direction: the upstream runs on one thread"
    for answer in (first, second):
        result, pair = answer["result"], answer["result"]["pair"]
        total = pair["upper_mac"] + pair["lower_mac"]
        assert total == pytest.approx(result["cycles_per_packet"])
        assert pair["gbps"] == pytest.approx(
            result["gbps_per_core"] * total / max(pair["upper_mac"], pair["lower_mac"])
        )


def test_two_threads_with_core_are_rejected(config: Path) -> None:
    command = [str(program("vcmts-bench")), "--config", str(config), "--threads", "2"]
    done = subprocess.run([*command, "--core", "0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--threads 2: not with --core" in done.stderr


def test_goals_are_measured_and_stored(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    short = ("--json", path, "--runs", "1", "--milliseconds", "20")
    done = vcmts("bench", "goals", *short, "--only", "channels", "--only", "upstream")
    verdict = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"(PASS: |FAIL: missed: .+; )\d of \d goals reached", verdict), verdict
    assert done.status == (0 if verdict.startswith("PASS") else 1), done.stderr
    stored = results.read(path)
    goals = ["upstream", "upstream.over-crypto", "channels", "channels.scheduler"]
    assert [result["goal"] for result in stored["results"]] == goals
    assert all(result["value"] > 0 for result in stored["results"])
    assert "32 SC-QAM + 2 OFDM / 6 OFDM" in done.stdout
