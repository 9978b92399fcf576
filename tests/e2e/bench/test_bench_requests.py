# SPDX-License-Identifier: BSD-3-Clause
"""Runs on request, and `vcmts bench goals`, which asks for them."""

import json
import os
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
LONG = SHORT | {"seconds": 0.5}  # for batches of two cores, of which the system may take one


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Only read."""
    path = tmp_path_factory.mktemp("requests") / "sg.yaml"
    path.write_text(vcmts("profile", PROFILE).stdout, encoding="utf-8")
    return path


def own_core() -> list[str]:
    return ["--core", str(max(os.sched_getaffinity(0)))]


def asked(config: Path, *lines: str, where: Sequence[str] = ()) -> tuple[Json, list[Json]]:
    """What it says first, and the answers to the lines."""
    command = [str(program("vcmts-bench")), "--config", str(config), "--requests"]
    done = subprocess.run(
        [*command, *(where or own_core())],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ready, *answers = map(json.loads, done.stdout.splitlines())
    return ready, answers


def test_a_run_a_line(config: Path) -> None:
    """One after the other, each with its clock and the result of one run."""
    requests = [SHORT, SHORT | {"direction": "upstream", "mix": "upstream-imix"}]
    ready, answers = asked(config, *map(json.dumps, requests))
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


def test_a_run_that_begins_at_a_time(config: Path) -> None:
    due = round((time.monotonic() + 1.5) * 1e6)
    _, (late, at_once) = asked(
        config, json.dumps(SHORT | {"begin_us": due}), json.dumps(SHORT | {"begin_us": due})
    )
    assert late["begin_us"] >= due
    assert at_once["begin_us"] > late["end_us"]


WRONG = [
    ("7", "no request"),
    ("{}", "no request"),
    (json.dumps(SHORT | {"colour": 1}), "colour"),
    (json.dumps(SHORT | {"seconds": 0.001}), "seconds: found 0.001, allowed: 0.01 to 600"),
    (json.dumps(SHORT | {"seconds": "long"}), "no request"),
    (json.dumps(SHORT | {"direction": "up"}), "allowed: downstream, upstream"),
    (json.dumps(SHORT | {"mix": "9"}), "mix: 9"),
    ('{"seconds": 1, "seconds": 1}', "no request"),
    ("x" * 70000, "found a longer line"),
]


def test_requests_that_are_wrong(config: Path) -> None:
    """It says why, and goes on, each time."""
    right = json.dumps(SHORT)
    _, answers = asked(config, *(line for wrong, _ in WRONG for line in (wrong, right)))
    assert len(answers) == 2 * len(WRONG)
    for (line, said), refused, made in zip(WRONG, answers[::2], answers[1::2], strict=True):
        assert said in refused["error"] and "\n" not in refused["error"], line[:80]
        assert made["trial"] == SHORT, line[:80]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_two_threads_rest_between_two_runs(config: Path) -> None:
    """The second core is started for each run; the upstream has no use for it."""
    upstream = SHORT | {"direction": "upstream", "mix": "upstream-imix"}
    requests = [json.dumps(one) for one in (LONG, upstream, LONG)]
    _, (first, refused, second) = asked(config, *requests, where=("--threads", "2"))
    assert refused["error"] == "direction: the upstream runs on one thread"
    for answer in (first, second):
        result, pair = answer["result"], answer["result"]["pair"]
        both = pair["upper_mac"] + pair["lower_mac"]
        assert both == pytest.approx(result["cycles_per_packet"])
        assert pair["gbps"] == pytest.approx(
            result["gbps_per_core"] * both / max(pair["upper_mac"], pair["lower_mac"])
        )


def test_two_threads_choose_their_cores_themselves(config: Path) -> None:
    command = [str(program("vcmts-bench")), "--config", str(config), "--threads", "2"]
    done = subprocess.run([*command, "--core", "0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--threads 2: not with --core" in done.stderr


def test_goals(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    short = ("--json", path, "--runs", "1", "--milliseconds", "20")
    done = vcmts("bench", "goals", *short, "--only", "channels", "--only", "upstream")
    assert done.status == 0, done.stderr
    file = results.read(path)
    goals = ["upstream", "channels", "channels.scheduler"]
    assert [one["goal"] for one in file["results"]] == goals
    assert all(one["value"] > 0 for one in file["results"])
    assert "32 SC-QAM + 2 OFDM / 6 OFDM" in done.stdout
