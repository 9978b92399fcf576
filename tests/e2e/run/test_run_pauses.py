# SPDX-License-Identifier: BSD-3-Clause
"""Idle workers that pause or sleep lose no packet. A reload changes the kind of pauses."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.control.server import config_folder, config_text, start_server
from e2e.machine import check_balance, run_passed
from e2e.running import vcmts
from patience import TIMEOUT, until
from vcmts.control.client import Client, RefusedError

Json = dict[str, Any]
PROFILE = "2ofdm-0sc-qam_20cms_aes"
RATES = ("--rate", "50Mbps", "--upstream-rate", "10Mbps", "--duration", "300ms")
TPAUSE = "waitpkg" in Path("/proc/cpuinfo").read_text(encoding="utf-8")


@pytest.mark.run
def test_sleeping_workers_prove_every_packet(folder: Path) -> None:
    path = folder / "summary.json"
    done = vcmts("run", "--profile", PROFILE, *RATES, "--idle", "sleep", "--json", path)
    summary: dict[str, Any] = json.loads(path.read_text())
    check_balance(summary)
    assert done.status == (0 if run_passed(summary) else 1), done.stderr
    power = summary["power"]
    assert power["idle"] == "sleep" and power["policy"] == "none"
    (worker,) = power["workers"]
    assert worker["kind"] == "sleep"
    assert worker["pauses"] > 0 and 0 < worker["paused"] <= worker["idle"]
    assert "paused (sleep)" in done.stdout


def with_power(power: str) -> str:
    return power + config_text()


def samples(client: Client, name: str) -> list[Json]:
    result: list[Json] = client.call("metrics.get", names=[name])["samples"]
    return result


def idle_kind(client: Client) -> str:
    (sample,) = samples(client, "vcmts_worker_idle_info")
    return str(sample["labels"]["kind"])


def value(client: Client, name: str) -> float:
    (sample,) = samples(client, name)
    return float(sample["value"])


def reload(client: Client, file: Path, power: str) -> str:
    file.write_text(with_power(power))
    return str(client.call("config.reload")["done"])


def check_sleeps(client: Client, file: Path) -> None:
    assert "idle settings changed" in reload(
        client, file, "power: {idle: sleep, longest_pause: 5us}\n"
    )
    assert idle_kind(client) == "sleep"
    before = value(client, "vcmts_worker_paused_seconds_total")
    until(lambda: value(client, "vcmts_worker_paused_seconds_total") > before, "a worker sleeps")
    assert value(client, "vcmts_worker_idle_seconds_total") > 0


def check_unavailable_kind(client: Client, file: Path) -> None:
    assert value(client, "vcmts_idle_refused_total") == 0
    reload(client, file, "power: {idle: tpause-c0.1}\n")
    assert idle_kind(client) == ("tpause-c0.1" if TPAUSE else "poll")
    assert value(client, "vcmts_idle_refused_total") == (0 if TPAUSE else 1)


def check_coalesces(client: Client, file: Path) -> None:
    power = "power: {idle: poll, coalesce: 30us}\n"
    assert client.call("power.get")["coalesce_us"] == 0
    assert "idle settings changed" in reload(client, file, power)
    assert client.call("power.get")["coalesce_us"] == 30
    assert "nothing changed" in reload(client, file, power)


def check_polls(client: Client, file: Path) -> None:
    reload(client, file, "power: {idle: poll}\n")
    assert idle_kind(client) == "poll"
    pauses = value(client, "vcmts_worker_pauses_total")
    rounds = value(client, "vcmts_worker_rounds_total")
    until(lambda: value(client, "vcmts_worker_rounds_total") > rounds + 1000, "rounds")
    assert value(client, "vcmts_worker_pauses_total") == pauses > 0
    assert "nothing changed" in reload(client, file, "power: {idle: poll}\n")


def test_reload_changes_kind_of_pauses() -> None:
    with config_folder() as folder:
        file = folder / "sg.yaml"
        file.write_text(with_power("power: {idle: spin, empty_rounds: 4}\n"))
        with start_server(folder, idle=()) as (run, path):
            with Client(path, TIMEOUT) as client:
                assert idle_kind(client) == "spin"
                until(lambda: value(client, "vcmts_worker_pauses_total") > 100, "pauses")
                check_sleeps(client, file)
                check_unavailable_kind(client, file)
                check_polls(client, file)
                check_coalesces(client, file)
                with pytest.raises(RefusedError, match="metrics: differs"):
                    reload(client, file, "metrics: 127.0.0.1:0\n")
            done = run.stop()
        assert done.status == 0
        assert ("no such instruction" in done.stderr) is not TPAUSE
